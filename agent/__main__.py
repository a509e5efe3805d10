"""`python -m agent`: the same as the command `pv-agent`."""

from agent.cli import main

main()
