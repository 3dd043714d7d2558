"""``python -m zhat``: the command line where the script is not on the path."""

from zhat.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
