"""Draws a report's three charts as SVG that lives in the page: no script, no network, and the page's own colours in light and dark."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Any

from agent.errors import AgentError
from agent.eval.report import Point, Score, Words
from agent.eval.statistics import quantile
from agent.i18n import tr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# matplotlib wants real colours; each of these is replaced by the page's own, so that the charts follow light and dark.
INK, FAINT, GOOD, BAD, SECOND = "#010101", "#020202", "#030303", "#040404", "#050505"
_OF_THE_PAGE: Mapping[str, str] = {INK: "--ink", FAINT: "--line", GOOD: "--accent", BAD: "--bad", SECOND: "--second"}

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}


def tag_bars(scores: Sequence[Score], words: Words) -> str:
    """A bar for each tag with its interval and the number of questions behind it."""
    shown = [score for score in reversed(scores) if score.get("value") is not None]
    names = [words("tags", score["tag"]) for score in shown]
    values = [score["value"] or 0.0 for score in shown]
    below = [value - (score.get("low") or 0.0) for value, score in zip(values, shown, strict=True)]
    above = [(score.get("high") or 0.0) - value for value, score in zip(values, shown, strict=True)]

    def draw(axes: Axes) -> None:
        axes.barh(names, values, height=0.56, color=GOOD, alpha=0.82)
        axes.errorbar(values, names, xerr=[below, above], fmt="none", ecolor=INK, elinewidth=1.1, capsize=3)
        for place, score in enumerate(shown):
            axes.text(1.05, place, words.number(score["value"], 2), va="center", fontweight="bold")
            axes.text(1.27, place, f"{score.get('n', 0)}", va="center", ha="right")
        axes.text(1.27, len(shown) - 0.42, words("questions_short"), va="bottom", ha="right", fontsize=8.5)
        axes.set(xlim=(0, 1.02), ylim=(-0.6, len(shown) - 0.4))
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x", linewidth=0.7)
        _decimals(axes, words, "x")

    return _chart("tags", (7.0, 0.6 + 0.36 * len(shown)), draw)


def refusal_curve(points: Sequence[Point], words: Words, *, now: float | None = None) -> str:
    """Precision, recall and false refusals over the threshold, with the one in force."""
    thresholds = [point["threshold"] for point in points]
    lines = (
        ("precision", [point["precision"] for point in points], GOOD, "-"),
        ("recall", [point["recall"] for point in points], SECOND, "--"),
        ("false_refusals", [point["false_refusals"] for point in points], BAD, ":"),
    )

    def draw(axes: Axes) -> None:
        for name, values, colour, style in lines:
            known = [float("nan") if value is None else value for value in values]
            axes.plot(thresholds, known, style, color=colour, linewidth=1.9, label=words("measure_names", name), drawstyle="steps-post")
        if now is not None:
            axes.axvline(now, color=INK, linewidth=1)
            axes.text(now, 1.06, f"{words('charts', 'threshold_now')}: {words.number(now, 2)}", va="bottom", ha="center")
        axes.set(ylim=(0, 1.04), xlabel=words("charts", "threshold"))
        axes.grid(axis="y", linewidth=0.7)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, frameon=False, handlelength=2.2, columnspacing=1.4)
        _decimals(axes, words, "xy")

    return _chart("refusal", (5.4, 3.3), draw)


def latencies(times_ms: Sequence[float], words: Words) -> str:
    """How long the answers took, with the median and the 95th percentile."""
    half, most = quantile(times_ms, 0.5) or 0.0, quantile(times_ms, 0.95) or 0.0
    scale, unit = (1000.0, "seconds") if most >= 2000 else (1.0, "milliseconds")

    def draw(axes: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        bins = min(16, max(6, len(times_ms) // 4))
        axes.hist([ms / scale for ms in times_ms], bins=bins, color=GOOD, alpha=0.82, rwidth=0.92)
        top = axes.get_ylim()[1]
        for value, name, style, level in ((half, "half", "-", 1.14), (most, "most", "--", 1.02)):
            axes.axvline(value / scale, color=INK, linewidth=1.1, linestyle=style)
            ahead = value / scale < axes.get_xlim()[1] / 2
            shown = f" {words('charts', name)}: {words.duration(value)} "
            axes.text(value / scale, top * level, shown, va="bottom", ha="left" if ahead else "right")
        axes.set(xlabel=words("charts", unit), ylabel=words("charts", "count"), ylim=(0, top * 1.28))
        axes.set_xlim(left=0)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y", linewidth=0.7)
        _decimals(axes, words, "x")

    return _chart("latency", (5.4, 3.3), draw)


def _chart(name: str, size: tuple[float, float], draw: Callable[[Axes], None]) -> str:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise AgentError(tr("The page's charts need matplotlib."), tr("Install it with: pip install 'pv-agent[report]'")) from error
    # A salt per chart keeps the ids of charts on one page apart, and the same chart the same text.
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        out = StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _for_the_page(out.getvalue())


def _for_the_page(drawing: str) -> str:
    """The bare <svg>, with the page's colours and fonts, as wide as its place, and no ids but those it refers to itself."""
    drawing = drawing[drawing.index("<svg") :]
    for colour, name in _OF_THE_PAGE.items():
        drawing = drawing.replace(colour, f"var({name})")
    for pattern, by in (
        (r"<metadata>.*?</metadata>", ""),
        (r'<style type="text/css">.*?</style>', ""),
        (r"font-family: [^;\"]*;? ?", ""),
        (r'<g id="[^"]*">', "<g>"),
    ):
        drawing = re.sub(pattern, by, drawing, flags=re.DOTALL)
    return re.sub(r'(?:(?:width|height)="[\d.]+pt" ?){2}', 'role="img" ', drawing, count=1)


def _decimals(axes: Axes, words: Words, which: str) -> None:
    """Tick labels with the language's decimal sign."""
    for axis in (axes.xaxis if "x" in which else None, axes.yaxis if "y" in which else None):
        if axis is not None:
            axis.set_major_formatter(lambda value, _: f"{value:g}".replace(".", words("decimal")))
