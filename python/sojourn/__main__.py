"""`sojourn`, and `python -m sojourn`."""

import sys

from sojourn.errors import EXIT_INTERRUPTED


def main() -> None:
    """The command line, which takes a while to import: an interruption until then is one, too."""
    try:
        from sojourn.cli import main as run
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
