"""The message for an argument that is not a `zhat.Model`, above all for another library's class of the same name."""

from __future__ import annotations

from typing import Any

# Libraries whose models cannot be read yet, by the first part of a class's module; none of them is imported to find out.
NOT_READ = {"pymc": "PyMC", "pymc3": "PyMC", "bambi": "Bambi", "cmdstanpy": "Stan", "stan": "Stan", "pystan": "Stan"}
WRITE_IT = "zhat.Model(log_likelihood, prior, data=...)"


def not_a_model(value: Any, caller: str) -> str:
    """The message for a first argument that is no `zhat.Model`: whose class it is, and what to give instead."""
    kind = type(value)
    library = kind.__module__.split(".")[0]
    shown = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    start = f"{caller}() takes a zhat.Model first, not a {shown}"
    if library in NOT_READ:
        return (
            f"{start}: {NOT_READ[library]} models are not read yet. Write the likelihood and the prior as {WRITE_IT}; posterior "
            "draws that you have shape the proposal, zhat.Importance(proposal=zhat.proposal_from_draws(model, draws))."
        )
    return f"{start}: give {WRITE_IT}."
