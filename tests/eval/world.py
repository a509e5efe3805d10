"""A small knowledge base with its questions, for tests that run the whole program: four entries, six questions, no vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.eval.evaluation import Options
from agent.ingest import build
from agent.ingest.embed import quiet
from agent.settings import Settings, changed
from agent.wiring import Bench, language, place
from tests.ingest.samples import put

WERTE = """
- {key: grenze.monat, row: null, label: "Grenze", value: 551.10, unit: "EUR", period: "monatlich",
   valid_from: 2025-01-01, valid_to: 2026-12-31, norm: "§ 5 ASVG", source: [amt]}
- {key: grenze.monat, row: null, label: "Grenze", value: 518.44, unit: "EUR", period: "monatlich",
   valid_from: 2024-01-01, valid_to: 2024-12-31, norm: "§ 5 ASVG", source: [amt]}
"""

GOLDSET = """
version: 1
boden: {"hit-rate@8": 0.5}
fragen:
  - {id: g1, frage: "Wie hoch ist 2026 die Geringfügigkeitsgrenze im Monat?", stichtag: 2026-11-30,
     erwartete_quellen: [pv-grenze], erwartete_werte: ["551,10 EUR"], tags: [single]}
  - {id: g2, frage: "Bis wann ist die Lohnsteuer ans Finanzamt zu zahlen?", stichtag: 2026-11-30,
     erwartete_quellen: [pv-faelligkeit], tags: [single], halten: true}
  - {id: g3, frage: "Wie lange dauert der Mutterschutz vor der Geburt?", stichtag: 2026-11-30,
     erwartete_quellen: [pv-mutterschutz], tags: [single]}
  - {id: g4, frage: "Wie viele Werktage Urlaub gebühren im Jahr?", stichtag: 2026-11-30,
     erwartete_quellen: {all: [pv-urlaub]}, tags: [multi_hop]}
  - {id: g5, frage: "Hast du ein Rezept für Kaiserschmarrn?", stichtag: 2026-11-30, verweigern: true, tags: [out_of_scope], halten: true}
  - {id: g6, frage: "Was kostet die Autobahnvignette?", stichtag: 2026-11-30, verweigern: true, tags: [out_of_scope]}
"""

TABLE = "| Bezeichnung | Wert | Zeitraum | Norm | Schlüssel |\n| --- | --- | --- | --- | --- |\n"


def world(folder: Path, **settings: Any) -> Bench:
    """The knowledge base in `folder`, indexed; its goldset lies beside it."""
    kb = folder / "wissensbasis"
    (kb / "dokumente").mkdir(parents=True)
    (kb / "werte.yaml").write_text(WERTE, encoding="utf-8")
    (folder / "goldset.yaml").write_text(GOLDSET, encoding="utf-8")
    put(
        kb,
        "pv-grenze",
        "## Zusammenfassung\n\nDie Geringfügigkeitsgrenze beträgt 2026 monatlich 551,10 EUR.\n\n## Kernwerte\n\n"
        f"{TABLE}| Geringfügigkeitsgrenze | 551,10 EUR monatlich | 1.1.2025 bis 31.12.2026 | § 5 ASVG | grenze.monat |\n"
        "| Geringfügigkeitsgrenze | 518,44 EUR monatlich | 1.1.2024 bis 31.12.2024 | § 5 ASVG | grenze.monat |",
        titel="Geringfügigkeitsgrenze",
    )
    put(
        kb,
        "pv-faelligkeit",
        "## Zusammenfassung\n\nDie Lohnsteuer ist bis zum 15. des Folgemonats ans Finanzamt zu zahlen.",
        titel="Fälligkeit der Lohnsteuer",
    )
    put(
        kb,
        "pv-mutterschutz",
        "## Zusammenfassung\n\nDer Mutterschutz dauert acht Wochen vor der Geburt und acht Wochen danach.",
        titel="Mutterschutz",
    )
    put(kb, "pv-urlaub", "## Zusammenfassung\n\nIm Jahr gebühren 30 Werktage Urlaub.", titel="Urlaubsausmaß")
    build.build(kb, language("de"), licence="eigener Text")
    known = changed(Settings(kb_dir=str(kb), embedder="none"), **settings)
    bench = Bench(known, place(known))
    bench.ingest(quiet)
    return bench


def options(folder: Path, *, progress: Callable[[int, int, str], None] = quiet, **given: Any) -> Options:
    """Options of an experiment whose journal lies in `folder`."""
    return Options(folder / "eval.journal", progress, **given)
