"""``python -m evidentia``: the command line where the script is not on the path."""

from evidentia.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
