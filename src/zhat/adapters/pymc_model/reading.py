"""The parts of a PyMC model: its data, and its densities, transforms and prior draws as graphs of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from zhat.adapters.pymc_model.graphs import Graph, Statement, draws_of, widened
from zhat.adapters.pymc_model.standard import Standard, standard_maps


@dataclass(frozen=True)
class Draw:
    """One draw from the prior as a function of a JAX key and the data."""

    graph: Graph
    n_states: int

    def __call__(self, key: jax.Array, given: list[Any]) -> list[Any]:
        """The free variables."""
        keys = jax.random.key_data(jax.random.split(key, self.n_states))
        return self.graph(*[{"jax_state": keys[i]} for i in range(self.n_states)], *given)


@dataclass(frozen=True)
class Graphs:
    """The graphs of the prior. The first two are functions of the coordinates, the next two of the parameters; all also of the data."""

    constrained: Graph
    prior: Graph
    prior_of_parameters: Graph
    coordinates: Graph
    drawn: Draw


@dataclass(frozen=True)
class Read:
    """What was read: data by name with the types of the graphs' inputs, observed values, graphs, standard coordinates if there are any."""

    data: dict[str, Any]
    dtypes: tuple[tuple[str, str], ...]
    observed: list[Any]
    graphs: Graphs
    likelihood: Graph
    statement: Statement
    standard: Standard | None


def read_model(model: Any) -> Read:
    """All parts of a model that `refusals` has admitted."""
    from pymc.logprob.basic import transformed_conditional_logp
    from pytensor.graph.replace import graph_replace

    data, inputs, replace, values = _data(model)
    free, own = model.free_RVs, [x.type(name=x.name) for x in model.free_RVs]
    coordinates = [model.rvs_to_values[x] for x in free]
    transforms = {x: model.rvs_to_transforms[x] for x in free}
    untransformed = dict.fromkeys((*free, *model.observed_RVs))

    def densities(of: list[Any], at: list[Any], by: dict[Any, Any]) -> list[Any]:
        all_values = {**dict(zip(free, at, strict=True)), **values}
        return transformed_conditional_logp(of, rvs_to_values=all_values, rvs_to_transforms=by)

    to_coordinates = [
        x if transforms[rv] is None else transforms[rv].forward(x, *rv.owner.inputs) for rv, x in zip(free, own, strict=True)
    ]
    at_own = {**dict(zip(free, own, strict=True)), **values}
    likelihood = densities(model.observed_RVs, own, untransformed) if model.observed_RVs else []
    if model.potentials:
        likelihood = [*likelihood, *graph_replace(list(model.potentials), at_own, strict=False)]
    states, drawn = draws_of(free, replace)
    given = list(inputs.values())

    def graph(of: list[Any], outputs: list[Any]) -> Graph:
        return Graph([*of, *given], widened(outputs, replace))

    graphs = Graphs(
        constrained=graph(coordinates, model.replace_rvs_by_values(free)),
        prior=graph(coordinates, densities(free, coordinates, {**untransformed, **transforms})),
        prior_of_parameters=graph(own, densities(free, own, untransformed)),
        coordinates=graph(own, graph_replace(to_coordinates, at_own, strict=False)),
        drawn=Draw(Graph([*states, *given], drawn), len(states)),
    )
    of_parameters = graph(own, likelihood)
    names = (*(x.name for x in free), *data)
    stated = Statement(names, of_parameters.inputs, [*graphs.prior_of_parameters.outputs, *of_parameters.outputs])
    dtypes = tuple((name, str(x.type.dtype)) for name, x in inputs.items())
    standard = standard_maps(model, own, given, replace)
    return Read(data, dtypes, _observed(model), graphs, of_parameters, stated, standard)


def default_transform(variable: Any) -> Any:
    """The transform that PyMC gives a variable by default, None for a variable that takes every real value."""
    from pymc.distributions.transforms import _default_transform

    return _default_transform(variable.owner.op, variable)


def _data(model: Any) -> tuple[dict[str, Any], dict[str, Any], dict[Any, Any], dict[Any, Any]]:
    """Values by name; the inputs that stand for them; what they replace in graphs; the value of each observed variable in a graph.

    A single integer stays fixed: it may be the length of something, which JAX must know.
    """
    from pytensor.graph.basic import Constant
    from pytensor.tensor import tensor

    data: dict[str, Any] = {}
    inputs: dict[str, Any] = {}
    replace: dict[Any, Any] = {}
    values: dict[Any, Any] = {}

    def add(name: str, value: Any) -> Any:
        data[name] = value
        inputs[name] = tensor(name, dtype=value.dtype, shape=value.shape)
        return inputs[name]

    for shared in model.data_vars:
        value = np.asarray(shared.get_value())
        if value.ndim or value.dtype.kind == "f":
            replace[shared] = add(shared.name, value)
    for variable in model.observed_RVs:
        value = model.rvs_to_values[variable]
        is_constant = isinstance(value, Constant) and value.data.dtype.kind in "iufb"
        values[variable] = add(variable.name, np.asarray(value.data)) if is_constant else value
    return data, inputs, replace, values


def _observed(model: Any) -> list[Any]:
    """The observed values, whatever they are computed from."""
    return [np.asarray(Graph([], [model.rvs_to_values[x]])()[0]) for x in model.observed_RVs]
