"""``python -m zhat.cli``, for when the script is not on the path."""

import sys

from zhat.cli.program import main

if __name__ == "__main__":
    sys.exit(main())
