"""`python -m agent` and the command `pv-agent`: loads the command line, and lets a Ctrl-C end it quietly from the first moment on."""

# Little else is imported up here: whatever is, is loaded before an interrupt is listened for.
import os
import signal


def main() -> None:
    """Run the command line."""
    # While modules load there is nothing to clear away, and an exception raised inside the import machinery would be printed.
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from agent.cli import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
