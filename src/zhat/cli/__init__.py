"""The command line: parsing and printing only; everything it computes is a function of the library."""

from zhat.cli.program import main

__all__ = ["main"]
