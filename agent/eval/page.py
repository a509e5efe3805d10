"""Makes a result's page, one HTML file without network: what a payroll accountant opens to see where the program fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from agent.eval import charts
from agent.eval.page_style import SCRIPT, STYLE
from agent.eval.report import (
    Estimate,
    Figure,
    Result,
    Row,
    Score,
    Words,
    comparison_note,
    complaints,
    failing_first,
    headline,
    labels,
    legs,
    overall,
    parts,
    per_tag,
)

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def html(result: Result) -> str:
    """The whole page. Raises AgentError when the charts' library is not installed."""
    words = Words.of(result)
    title = escape(result.get("title", ""))
    body = "\n".join((_head(result, words), *_sections(result, words), _settings(result, words)))
    return (
        f'<!doctype html>\n<html lang="{escape(result.get("language", "de"))}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _head(result: Result, words: Words) -> str:
    rows = result.get("questions", [])
    outcomes = [row.get("outcome", "not_scored") for row in rows]
    counts = "".join(
        f'<li class="{name}"><b>{outcomes.count(name)}</b> {escape(words("outcomes", name))}</li>'
        for name in ("right", "wrong", "not_scored")
        if name in outcomes
    )
    date = escape(words.date(result.get("created", "")))
    return f'<header><h1>{escape(result.get("title", ""))}</h1><p class="date">{date}</p><ul class="counts">{counts}</ul></header>'


def _sections(result: Result, words: Words) -> Iterator[str]:
    yield _section(words, "scores", "".join(_scores(result, words, part, folded=place > 0) for place, part in enumerate(parts(result))))
    if tags := per_tag(result):
        measure, leg = headline(result)
        shown = " · ".join(escape(word) for word in (words("measure_names", measure), words("legs", leg)) if word)
        yield _section(words, "tags", f'<p class="of">{shown}</p><figure>{charts.tag_bars(tags, words)}</figure>')
    yield f'<div class="pair">{_refusal(result, words)}{_latency(result, words)}</div>'
    note, labelled = labels(result, words)
    if labelled:
        yield _section(words, "labels", _table(labelled), note=note)
    if result.get("comparison"):
        yield _section(words, "comparison", _comparison(result, words), note=comparison_note(result, words))
    yield _section(words, "questions", _filters(result, words) + "".join(_question(row, words) for row in _ordered(result)))


def _section(words: Words, name: str, content: str, *, note: str | None = None) -> str:
    shown = words("intro", name) if note is None else note
    return f'<section id="{name}"><h2>{escape(words("headings", name))}</h2><p class="intro">{escape(shown)}</p>{content}</section>'


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of words as a table; the first is its head, the first cell of each its name."""
    head, *body = [[escape(cell) for cell in row] for row in rows]
    lines = "".join(f"<tr><th>{name}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>" for name, *cells in body)
    names = "".join(f"<th>{cell}</th>" for cell in head)
    return f'<div class="wide"><table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table></div>'


# --- figures --------------------------------------------------------------------------------------


def _scores(result: Result, words: Words, part: str, *, folded: bool) -> str:
    """The table of one part; a folded one shows the headline's figure on its lid."""
    table = overall(result, part=part)
    columns = legs(table)
    n = next((score["n"] for row in table.values() for score in row.values() if "n" in score), 0)
    head = "".join(f"<th>{escape(words('legs', leg) or words('columns', 'value'))}</th>" for leg in columns)
    body = "".join(
        f"<tr><th>{escape(words('measure_names', name))}<small>{_meaning(name, words)}</small></th>"
        + "".join(_score_cell(row.get(leg), words) for leg in columns)
        + "</tr>"
        for name, row in table.items()
    )
    wide = f'<div class="wide"><table><thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    lid = f"{escape(words('parts', part))} <small>{n} {escape(words('questions_short'))}</small>"
    if not folded:
        return f'<h3 class="part">{lid}</h3>{wide}'
    measure, leg = headline(result)
    shown = table.get(measure, {}).get(leg, {})
    figure = (
        f"{escape(words('measure_names', measure))} <b>{escape(words.number(shown.get('value')))}</b> ({escape(words.interval(shown))})"
    )
    return f'<details class="part"><summary>{lid} <span>{figure}</span></summary>{wide}</details>'


def _meaning(measure: str, words: Words) -> str:
    meaning = words("measures", measure)
    return "" if meaning == measure else escape(meaning)


def _score_cell(score: Estimate | Score | None, words: Words) -> str:
    if score is None:
        return f"<td>{escape(words('none'))}</td>"
    value, low, high = score.get("value"), score.get("low"), score.get("high")
    if value is None:
        return f'<td class="unscored">{escape(words("not_scored"))}</td>'
    bar = ""
    if low is not None and high is not None and 0 <= low <= high <= 1:
        span = f'<i style="left:{low:.1%};width:{high - low:.1%}"></i><b style="left:{value:.1%}"></b>'
        bar = f'<span class="range" title="{escape(words("interval"))}">{span}</span>'
    return f"<td>{escape(words.number(value))}{bar}<small>{escape(words.interval(score))}</small></td>"


def _refusal(result: Result, words: Words) -> str:
    refusal = result.get("refusal")
    if not refusal:
        return _section(words, "refusal", f'<p class="empty">{escape(words("empty", "refusal"))}</p>', note="")
    points = result.get("refusal_curve", [])
    drawing = f"<figure>{charts.refusal_curve(points, words, now=result.get('refusal_threshold'))}</figure>" if points else ""
    rows = "".join(
        f"<tr><th>{escape(words('measure_names', name))}<small>{_meaning(name, words)}</small></th>{_score_cell(estimate, words)}</tr>"
        for name, estimate in refusal.items()
    )
    return _section(words, "refusal", f"{drawing}<table><tbody>{rows}</tbody></table>")


def _latency(result: Result, words: Words) -> str:
    times = result.get("latencies_ms", [])
    if not times:
        return _section(words, "latency", f'<p class="empty">{escape(words("empty", "latency"))}</p>', note="")
    return _section(words, "latency", f"<figure>{charts.latencies(times, words)}</figure>")


def _comparison(result: Result, words: Words) -> str:
    names = ("measure", "old", "new", "difference", "p", "verdict")
    head = "".join(f"<th>{escape(words('columns', name))}</th>" for name in names)
    rows = []
    for change in result.get("comparison", []):
        interval = words.interval({"low": change["low"], "high": change["high"]})
        moved = f"{escape(words.number(change['new'] - change['old'], sign=True))}<small>{escape(interval)}</small>"
        figures = "".join(f"<td>{escape(words.number(change[name]))}</td>" for name in ("old", "new"))
        verdict = f'<td class="{escape(change["verdict"])}">{escape(words("verdicts", change["verdict"]))}</td>'
        name = escape(words("measure_names", change["measure"]))
        rows.append(f"<tr><th>{name}</th>{figures}<td>{moved}</td><td>{escape(words.number(change['p']))}</td>{verdict}</tr>")
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _settings(result: Result, words: Words) -> str:
    rows = "".join(
        f"<tr><th>{escape(str(name))}</th><td>{escape(str(value))}</td></tr>" for name, value in result.get("settings", {}).items()
    )
    heading = escape(words("headings", "settings"))
    return f'<details class="settings"><summary>{heading}</summary><table>{rows}</table></details>' if rows else ""


# --- questions ------------------------------------------------------------------------------------


def _ordered(result: Result) -> list[Row]:
    return failing_first(result.get("questions", []))


def _filters(result: Result, words: Words) -> str:
    rows = result.get("questions", [])
    tags = dict.fromkeys(tag for row in rows for tag in row.get("tags", []))
    outcomes = [name for name in ("wrong", "right", "not_scored") if any(row.get("outcome") == name for row in rows)]
    held = ("tuning", "held") if any(row.get("held") for row in rows) else ()
    label = escape(words("filter", "search"))
    return (
        f'<form class="filters"><input type="search" name="text" placeholder="{label}" aria-label="{label}">'
        + _select("outcome", outcomes, words, of="outcomes")
        + _select("tag", tags, words, of="tags")
        + (_select("part", held, words, of="parts") if held else "")
        + f'<output data-text="{escape(words("filter", "shown"))}"></output></form>'
        + f'<p class="empty" id="nothing" hidden>{escape(words("filter", "nothing"))}</p>'
    )


def _select(name: str, choices: Iterable[str], words: Words, *, of: str) -> str:
    options = "".join(f'<option value="{escape(choice)}">{escape(words(of, choice))}</option>' for choice in choices)
    label = escape(words("filter", name))
    return f'<label>{label} <select name="{name}"><option value="">{escape(words("all"))}</option>{options}</select></label>'


def _question(row: Row, words: Words) -> str:
    outcome = row.get("outcome", "not_scored")
    tags = "".join(f'<span class="tag">{escape(words("tags", tag))}</span>' for tag in row.get("tags", []))
    held = f'<span class="tag held">{escape(words("question", "held"))}</span>' if row.get("held") else ""
    wrong = "".join(f'<span class="wrong">{escape(text)}</span>' for text in complaints(row, words))
    data = f'data-outcome="{escape(outcome)}" data-tags=" {escape(" ".join(row.get("tags", [])))} " data-part="{_part(row)}"'
    summary = f'<span class="id">{escape(row["id"])}</span><span class="asked">{escape(row["question"])}</span>'
    mark = f'<span class="mark" title="{escape(words("outcomes", outcome))}"></span>'
    inside = f'<div class="left">{_found(row, words)}</div><div class="right">{_expected(row, words)}{_answer(row, words)}</div>'
    lid = f'<summary>{mark}{summary}<span class="tags">{wrong}{tags}{held}</span></summary>'
    return f'<details class="question {escape(outcome)}" {data}>{lid}<div class="inside">{inside}</div></details>'


def _part(row: Row) -> str:
    return "held" if row.get("held") else "tuning"


def _found(row: Row, words: Words) -> str:
    items = []
    for found in row.get("found", []):
        marks = "".join(f"<em>{escape(words('question', f'{name}_here'))}</em>" for name in ("expected", "cited") if found.get(name))
        place = " · ".join(part for part in (found.get("title", ""), found.get("section", "")) if part)
        hit = ' class="hit"' if found.get("expected") else ""
        items.append(f"<li{hit}><code>{escape(found['id'])}</code> {marks}<small>{escape(place)}</small></li>")
    content = f"<ol>{''.join(items)}</ol>" if items else f'<p class="empty">{escape(words("question", "nothing_found"))}</p>'
    return f"<h3>{escape(words('question', 'found'))}</h3>{content}"


def _expected(row: Row, words: Words) -> str:
    lines = []
    if row.get("should_refuse"):
        lines.append(escape(words("question", "expected_refusal")))
    if sources := row.get("expected"):
        kind = f"{escape(words('question', 'expected_' + row.get('need', 'any')))}: " if len(sources) > 1 else ""
        lines.append(kind + ", ".join(f"<code>{escape(source)}</code>" for source in sources))
    if figures := row.get("figures"):
        shown = ", ".join(_figure(figure, words) for figure in figures)
        lines.append(f"{escape(words('question', 'figures'))}: {shown}")
    if row.get("stichtag"):
        lines.append(f"{escape(words('question', 'stichtag'))}: {escape(_day(row['stichtag']))}")
    if row.get("note"):
        lines.append(f"{escape(words('question', 'note'))}: {escape(row['note'])}")
    return _titled(words("question", "expected"), "".join(f"<p>{line}</p>" for line in lines))


def _answer(row: Row, words: Words) -> str:
    ms = row.get("ms")
    time = f' <small class="time">{escape(words.duration(ms))}</small>' if ms is not None else ""
    answer = row.get("answer")
    if answer is None:
        return _titled(words("question", "answer"), f'<p class="empty">{escape(words("question", "no_answer"))}</p>')
    kind = "refused" if row.get("refused") else "answer"
    reason = f" <code>{escape(row['reason'] or '')}</code>" if row.get("reason") else ""
    beside = ", ".join(f'<span class="absent">{escape(figure)}</span>' for figure in row.get("beside", []))
    note = f"<p>{escape(words('question', 'beside'))}: {beside}</p>" if beside else ""
    return _titled(words("question", kind), f"<blockquote>{escape(answer)}</blockquote>{note}", extra=reason + time)


def _titled(title: str, content: str, *, extra: str = "") -> str:
    return f"<h3>{escape(title)}{extra}</h3>{content}" if content else ""


def _figure(figure: Figure, words: Words) -> str:
    if figure["present"]:
        return f'<span class="present">{escape(figure["figure"])}</span>'
    return f'<span class="absent">{escape(figure["figure"])} {escape(words("question", "absent"))}</span>'


def _day(iso: str) -> str:
    return ".".join(str(int(part)) for part in reversed(iso.split("-")))
