"""The command line: argument parsing only, nothing that a user of the library could want."""

from zhat.cli.program import main

__all__ = ["main"]
