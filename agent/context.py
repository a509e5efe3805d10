"""Writes evidence as a model reads it, and no more of it than its window holds beside the rules and the answer; pure.

A prompt that is too long is cut at its head by some servers, where the rules stand. So tokens are counted on the safe side, and blocks
that do not fit are left out whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from agent.errors import ModelError
from agent.i18n import tr
from agent.interfaces import Parts
from agent.language import Language
from agent.settings import Settings
from agent.values import Hit

CHARACTERS_A_TOKEN = 3
"""Fewer than any usual tokenizer needs for a token of German; digits count one each, as many models split them so."""
OVERHEAD = 64
"""Tokens of a chat's own marks."""


def tokens(text: str) -> int:
    """How many tokens a text has at most, by estimate."""
    digits = sum(character.isdigit() for character in text)
    return digits + ceil((len(text) - digits) / CHARACTERS_A_TOKEN)


def answer_tokens(settings: Settings) -> int:
    """The longest answer: never more than half the window, so that a prompt always has the other half."""
    return min(settings.max_answer_tokens, settings.num_ctx // 2)


def fitting(blocks: Sequence[str], *, beside: str, parts: Parts) -> str:
    """As many of the blocks as fit beside the rest of the prompt, the first ones first, each whole. Raises ModelError where none does."""
    return "\n\n".join(kept(blocks, beside=beside, parts=parts))


def kept(blocks: Sequence[str], *, beside: str, parts: Parts) -> list[str]:
    """The blocks that fit. Raises ModelError where none does."""
    settings = parts.settings
    left = settings.num_ctx - answer_tokens(settings) - OVERHEAD - tokens(beside)
    characters = settings.max_context_chars
    fit: list[str] = []
    for block in blocks:
        cost = tokens(block) + 1
        if cost <= left and (len(block) <= characters or not fit):
            fit.append(block)
            left, characters = left - cost, characters - len(block)
    if blocks and not fit:
        told = tr("A window of {tokens} tokens has no room for one entry beside the rules and the question.", tokens=settings.num_ctx)
        raise ModelError(told, tr("Raise PV_NUM_CTX, or lower PV_MAX_ANSWER_TOKENS."))
    if len(fit) < len(blocks):
        parts.log.step("shortened", blocks=len(fit), of=len(blocks))
    return fit


def block(hit: Hit, language: Language, text: str = "", *, source: str = "") -> str:
    """A hit as a block with its id (and its source), its Stand and validity in its head; `text` may stand for the chunk's own."""
    entry = hit.entry
    stand, validity = language.message("stand", stand=language.day(entry.stand)), language.validity(entry.valid_from, entry.valid_to)
    head = " · ".join(part for part in (entry.title, hit.chunk.section, stand, validity) if part)
    told = f' source="{source}"' if source else ""
    return f'<block id="{entry.id}"{told}>\n{head}\n{harmless(text or hit.chunk.text)}\n</block>'


def harmless(text: str) -> str:
    """Evidence text that cannot close its block or open another: it is data, never an instruction."""
    return text.replace("<block", "‹block").replace("</block", "‹/block")
