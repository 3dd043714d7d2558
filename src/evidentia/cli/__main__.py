"""``python -m evidentia.cli``, for when the script is not on the path."""

import sys

from evidentia.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
