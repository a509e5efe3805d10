"""`python -m agent` and the command `pv-agent`: loads the command line, and lets a Ctrl-C end it quietly from the first moment on."""

# Nothing is imported up here: whatever is, is loaded before an interrupt is listened for.


def main() -> None:
    """Run the command line."""
    try:
        from agent.cli import main as run

        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
