"""Table 1: the exact log evidence falls as the prior of the mean widens; the harmonic mean of a million draws hardly changes.

    y_i ~ N(mu, 1/tau),  mu ~ N(0, 1/(tau0 tau)),  tau ~ Ga(0.001, 0.001),  n = 100 simulated from N(0, 1)

The sample of Friel & Wyse (2012) is lost. How far the values move does not depend on it: the exact one by 0.5 log(tau0 / (tau0 + n))
and a small term of the fit. Ten samples show the same ten times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from zhat import zoo
from zhat.methods.chib import Chib
from zhat.model.model import Model
from zhat.run.estimate import evidence
from zhat.sampling.backend.evaluation import state_at, unconstrained
from zhat.sampling.backend.loop import Loop
from zhat.sampling.kernels.gibbs import Gibbs
from zhat.seeding import Key
from zhat.studies.friel_wyse.parts import Part, seed_of
from zhat.studies.friel_wyse.samplers.long_chains import after, harmonic_of, sweeps, untuned
from zhat.studies.friel_wyse.settings import Settings, TractableSettings
from zhat.zoo.friel_wyse import TABLE_1_TAU0


def _values(settings: Settings, key: Key, loop: Loop) -> dict[str, Any]:
    """Sample by sample, prior by prior: the exact value and the harmonic mean; and Chib's value for the first sample."""
    base = zoo.normal_gamma(1.0).model
    exact, harmonic, chib = [], [], []
    for sample in range(settings.tractable.n_samples):
        examples = [zoo.normal_gamma(tau0, seed=sample) for tau0 in TABLE_1_TAU0]
        models = [_on(base, example.model) for example in examples]
        exact.append([float(example.log_evidence or np.nan) for example in examples])
        here = key.child("sample", sample)
        harmonic.append([_harmonic(model, settings.tractable, here.child(i), loop).tolist() for i, model in enumerate(models)])
        if sample == 0:
            chib = [_chib(model, here.child("chib", i), loop) for i, model in enumerate(models)]
    return {"tau0": list(TABLE_1_TAU0), "exact": exact, "harmonic": harmonic, "chib": chib}


def _on(base: Model, model: Model) -> Model:
    """The model on the compiled functions of another that differs in data and hyperparameters only."""
    return base.with_data(model.data, name=model.name).with_hyper(model.hyper)


def _harmonic(model: Model, settings: TractableSettings, key: Key, loop: Loop) -> np.ndarray:
    """Harmonic mean over all chains, and of each chain, in logs."""
    rng, kernel = key.generator(), Gibbs(model.conditionals)
    y, n = np.asarray(model.data), settings.n_chains
    point = {"mu": np.full(n, y.mean()), "tau": np.full(n, 1.0 / y.var())}
    start, moving = state_at(model, unconstrained(model, point), loop), untuned(model, kernel)
    here = after(start, sweeps(model, moving, start, settings.n_burn, rng, loop))
    values = harmonic_of(sweeps(model, moving, here, settings.n_draws, rng, loop))
    return np.concatenate([[-np.log(np.mean(np.exp(values.min() - values))) + values.min()], values])


def _chib(model: Model, key: Key, loop: Loop) -> list[float | None]:
    # The prior of tau is so near to improper that some chains start far away and are long in coming back.
    result = evidence(model, Chib(n_warmup=2000), seed=seed_of(key), progress=False)
    loop.count(result.cost.n_likelihood, result.cost.n_gradient)
    return [result.log_evidence, result.error]


def parts() -> list[Part]:
    """One part: it takes seconds."""
    return [Part("table-1/values", "1", "Table 1, ten samples", _values, 20.0)]
