"""`python -m agent.cli`: the same as the command `pv-agent`."""

from agent.cli import main

main()
