"""The message for an argument that is not a `zhat.Model`, above all for another library's class of the same name."""

from __future__ import annotations

from typing import Any

# CmdStanPy and PyStan give the density without its constants.
STAN = "load the program with BridgeStan and give zhat.Model.from_stan(model)"
# The doors for other libraries' models, by the first part of a class's module; none of them is imported to find out.
DOORS = {
    "pymc": "zhat.Model.from_pymc(model)",
    "bambi": "zhat.Model.from_bambi(model)",
    "bridgestan": "zhat.Model.from_stan(model)",
}
# Libraries whose models cannot be read.
NOT_READ = {"pymc3": "PyMC 3", "cmdstanpy": "CmdStanPy", "stan": "PyStan", "pystan": "PyStan"}
INSTEAD = {
    "pymc3": "write the model for PyMC 5 and give zhat.Model.from_pymc(model)",
    "cmdstanpy": STAN,
    "stan": STAN,
    "pystan": STAN,
}
WRITE_IT = "zhat.Model(log_likelihood, prior, data=...)"


def not_a_model(value: Any, caller: str) -> str:
    """The message for a first argument that is no `zhat.Model`: whose class it is, and what to give instead."""
    kind = type(value)
    library = kind.__module__.split(".")[0]
    shown = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    start = f"{caller}() takes a zhat.Model first, not a {shown}"
    if library in DOORS:
        return f"{start}: give {DOORS[library]}."
    if library in NOT_READ:
        return f"{start}: models of {NOT_READ[library]} are not read; {INSTEAD[library]}, or write likelihood and prior as {WRITE_IT}."
    return f"{start}: give {WRITE_IT}."
