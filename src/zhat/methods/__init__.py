"""The methods, one a file; `registry()` finds them, and `Method` is what each of them is."""

from zhat.methods._base import Method, method_named, registry

__all__ = ["Method", "method_named", "registry"]
