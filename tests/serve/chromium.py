"""A real Chromium for the page's tests, and what is true of every visit: nothing leaves the origin, nothing is refused or thrown."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("playwright", reason="the extra `browser` is not installed: no test drives the page")

from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SLOW = 15_000
"""Milliseconds for what a loaded machine may take."""
expect.set_options(timeout=SLOW)


def launched(playwright: Playwright) -> Browser:
    """The browser of this machine; the test is skipped where there is none."""
    path = next((found for name in NAMES if (found := shutil.which(name)) and _runs(found)), None)
    if path is None:
        pytest.skip(f"there is no Chromium that runs on this machine (none of {', '.join(NAMES)}): the page is not driven")
    sandbox = [] if os.geteuid() else ["--no-sandbox"]  # Chromium has no sandbox for root
    return playwright.chromium.launch(executable_path=path, args=[*sandbox, "--disable-dev-shm-usage"])


def _runs(path: str) -> bool:
    """Whether it is a browser, and not a note that one is to be had elsewhere."""
    return subprocess.run([path, "--version"], capture_output=True, check=False, timeout=60).returncode == 0


class Visit:
    """One visitor: a page, and all that was requested, thrown and refused while it was open."""

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self.context, self.origin = context, origin
        self.requests: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.faults: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(SLOW)
        self.page.on("request", self._requested)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda message: self._said(message.type, message.text))
        self.page.add_init_script("document.addEventListener('securitypolicyviolation', (e) => console.error('CSP', e.violatedDirective))")
        self.open()

    def _requested(self, request: Any) -> None:
        self.requests.append(request.url)
        if request.url.endswith("/ask/stream"):
            self.bodies.append(json.loads(request.post_data))

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning") and "Failed to load resource" not in text:  # that is how a status is told, not a fault
            self.faults.append(text)

    def open(self, address: str = "/") -> None:
        self.page.goto(self.origin + address)
        self.page.wait_for_selector("html.ready")
        expect(self.page.locator("#about")).not_to_be_empty()

    def ask(self, question: str) -> Any:
        """The turn of a question that was typed and sent, once there is something to read."""
        before = self.page.locator(".turn").count()
        self.page.fill("#question", question)
        self.page.press("#question", "Enter")
        turn = self.page.locator(".turn").nth(before)
        expect(turn).to_have_attribute("aria-busy", "false")
        return turn

    def answers(self, document: dict[str, Any]) -> None:
        """From now on every question gets this answer."""
        body = f"event: answer\ndata: {json.dumps(document)}\n\n"
        self.page.route("**/ask/stream", lambda route: route.fulfill(status=200, content_type="text/event-stream", body=body))

    def check(self) -> None:
        """What is true of every visit."""
        assert self.faults == []
        assert [url for url in self.requests if not url.startswith((f"{self.origin}/", "data:"))] == []


@contextmanager
def visiting(browser: Browser, origin: str, **options: Any) -> Iterator[Visit]:
    """A visit with a fresh profile; `options` are those of Playwright's new_context."""
    context = browser.new_context(**{"locale": "de-AT", "viewport": {"width": 1280, "height": 860}, **options})
    try:
        visit = Visit(context, origin)
        yield visit
        visit.check()
    finally:
        context.close()


def inside(page: Page, selector: str, frame: str) -> bool:
    """Whether an element lies wholly within what can be seen of another, and of the window."""
    return bool(
        page.evaluate(
            """([selector, frame]) => {
              const inner = document.querySelector(selector).getBoundingClientRect();
              const outer = document.querySelector(frame).getBoundingClientRect();
              return inner.height > 0 && inner.top >= Math.max(outer.top, 0) && inner.bottom <= Math.min(outer.bottom, innerHeight)
                && inner.left >= Math.max(outer.left, 0) && inner.right <= Math.min(outer.right, innerWidth) + 1;
            }""",
            [selector, frame],
        )
    )


CONTRASTS = """() => {
  const colour = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = colour(getComputedStyle(at).backgroundColor);
      if (found[3] > 0.99) return found;
    }
    return colour(getComputedStyle(document.body).backgroundColor);
  };
  const weak = [];
  let measured = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest('noscript, .unseen')) continue;
    const [a, b] = [light(colour(getComputedStyle(element).color)), light(ground(element))].sort((x, y) => y - x);
    measured += 1;
    if ((a + 0.05) / (b + 0.05) < 4.5) weak.push(walker.currentNode.data.trim().slice(0, 40));
  }
  return { measured, weak };
}"""
"""What text on the page has less contrast than 4.5 with its ground (WCAG 2.2, 1.4.3)."""
