"""`python -m agent` and the command `pv-agent`: loads the command line, and lets a Ctrl-C end it quietly from the first moment on."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    try:
        from agent.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
