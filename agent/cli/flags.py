"""The options several commands take; imported with the commands, once it is known in which language they are told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agent.i18n import tr

Kb = Annotated[Path | None, typer.Option("--kb", metavar="DIR", help=tr("The knowledge base (default: PV_KB_DIR, else ./wissensbasis)."))]
Json = Annotated[bool, typer.Option("--json", help=tr("Print one JSON document and nothing else."))]
Stichtag = Annotated[
    str | None, typer.Option(metavar="DATE", help=tr("The day the answer is for: 2026-01-31, 31.1.2026 or 2026 (default: today)."))
]
NoEmbed = Annotated[bool, typer.Option("--no-embed", help=tr("Words only, no vectors."))]
