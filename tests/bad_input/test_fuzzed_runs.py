"""Settings thrown together at random, and run: a result or a sentence of ours, in bounded time, and no file."""

from __future__ import annotations

import dataclasses
import math
import random
import signal
import warnings

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat import kernels, proposals, schedules, settings
from zhat.errors import ZhatError
from zhat.methods._base import registry

NAN = float("nan")
# Most are small, because a run is to end; one in `RARE` is what nobody means.
INTEGERS, ABSURD_INTEGERS = [1, 2, 4, 5, 8, 20, 40, 60, 64, 80, 100, 200, 400, 1000, 1000, 2000], [0, -1, 1, 10**9, 10**19]
FLOATS = [0.001, 0.01, 0.1, 0.2, 0.3, 0.5, 0.5, 0.8, 0.9, 0.99, 1.0, 1.5, 2.0, 5.0, 30.0]
ABSURD_FLOATS = [0.0, -1.0, 1e-12, 1e308, math.inf, NAN]
RARE = 25
LADDERS = [(0.0, 1.0), (0.0, 0.1, 0.5, 1.0), tuple(np.linspace(0, 1, 12) ** 3), (0.0, 0.5), (1.0, 0.0), (0.0, 1e-300, 1.0), ()]
# Which classes a setting of this type may be; a concrete class stands for itself.
KINDS = {
    "Kernel": [kernels.CrankNicolson, kernels.HMC, kernels.Independent, kernels.RandomWalk, kernels.Slice],
    "Schedule": [schedules.AdaptiveESS, schedules.FixedLadder, schedules.PowerLadder],
    "Proposal": [proposals.Gaussian, proposals.StudentT],
    "BridgingFamily": [settings.FittedMixture, settings.FittedNormal, settings.FittedT, settings.WarpIII],
    "RegionFamily": [settings.Ellipsoid, settings.Tight, settings.TruncatedNormal],
    "TransitionFamily": [settings.Independent, settings.Walk],
    "Spread": [settings.Curvature, settings.SampleCovariance],
    "Replacement": [settings.FromPrior, settings.MarkovReplacement, settings.RegionReplacement],
    "Stop": [settings.FlatTop, settings.Iterations, settings.RemainingEvidence, settings.SmallContribution],
    "Mass": [settings.ExpectedMass, settings.SimulatedMass],
    "Rule": [settings.SecondOrder, settings.Trapezoid],
    "Direction": [settings.Bridged, settings.Forward, settings.Reverse],
    "Family": [settings.FullRank, settings.MeanField, settings.FlowGuide],
}
VALUES = {
    "int": lambda rng: rng.choice(INTEGERS if rng.randrange(RARE) else ABSURD_INTEGERS),
    "float": lambda rng: rng.choice(FLOATS if rng.randrange(RARE) else ABSURD_FLOATS),
    "bool": lambda rng: rng.random() < 0.5,
    "None": lambda rng: None,
    "tuple[Kernel, ...]": lambda rng: tuple(some("Kernel", rng) for _ in range(rng.randrange(4))),
    "tuple[float, ...]": lambda rng: rng.choice(LADDERS),
    "Array": lambda rng: rng.choice([np.zeros(2), np.eye(2), np.zeros(3), np.full(2, np.nan), 1e200 * np.eye(2), np.zeros((2, 2))]),
    "Mapping[str, Any]": lambda rng: rng.choice([{}, {"x": [0.1, 0.2]}, {"x": [NAN, 0.0]}, {"x": 1.0}, {"y": 2.0}, {"x": [1e300, 0.0]}]),
    "Sequence[Sequence[str]]": lambda rng: rng.choice([[], [["x"]], [["x"], ["x"]], [["y"]], ["x"], [[]]]),
    "tuple[Conditional, ...]": lambda rng: (),
}  # fmt: skip
SECONDS = 60
# Those that these models offer enough for.
METHODS = [kind for name, kind in sorted(registry().items()) if name not in {"exact", "inla", "chib"}]


def box(p):
    return float(-0.5 * np.sum((p["x"] - 0.3) ** 2) / 0.04)


TINY = [
    zhat.Model(lambda p: -0.5 * ((p["x"] - 0.3) ** 2 / 0.04).sum(), {"x": dist.Uniform(-2.0, 2.0).expand([2]).to_event(1)}),
    zhat.Model.black_box(box, {"x": dist.Normal(0.0, 1.0).expand([2]).to_event(1)}, name="box"),
]


def some(of_type, rng):
    """A value of a setting, by the name of its type."""
    part = rng.choice([part.strip() for part in of_type.split("|")]) if "|" in of_type else of_type
    if part in VALUES:
        return VALUES[part](rng)
    return thrown(rng.choice(KINDS.get(part) or [getattr(settings, part)]), rng)


def made(kind, rng):
    """An object of this class that is not refused: most refusals are of sizes below the least."""
    while True:
        try:
            return thrown(kind, rng)
        except ZhatError as error:
            assert is_sentence(error)


def is_sentence(error):
    return str(error).strip().endswith((".", ")", "?", "..."))


def thrown(kind, rng):
    """An object of this class with some of its settings at random."""
    chosen = {}
    for field in dataclasses.fields(kind):
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if field.init and (needed or rng.random() < 0.5):
            chosen[field.name] = some(field.type, rng)
    return kind(**chosen)


def too_long(signum, frame):
    raise TimeoutError


def tried(seed, folder):
    """Whether a call at random gave a result; anything but a result or a sentence of ours fails."""
    rng = random.Random(seed)
    kind = rng.choice(METHODS)
    call = {"seed": seed, "progress": False, "budget": zhat.Budget(likelihoods=20_000, seconds=rng.choice([0.001, 1.0, 5.0]))}
    if rng.random() < 0.2:
        call["repeats"] = rng.choice([1, 2, 3, 0, -1])
    if rng.random() < 0.2:
        call["precision"] = rng.choice([1.0, 0.3, 0.1, 0.0, NAN, -1.0, 1e-9])
    if rng.random() < 0.1:
        call["checkpoint"] = str(folder / f"{seed}.ckpt")
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            found = zhat.evidence(rng.choice(TINY), made(kind, rng), **call)
    except ZhatError as error:
        assert is_sentence(error), (seed, str(error))
        return False
    finally:
        signal.alarm(0)
    assert found.status.level is not None and str(found)
    assert (found.log_evidence_se is None) or found.log_evidence_se >= 0 or math.isnan(found.log_evidence_se), (seed, found)
    return True


@pytest.mark.parametrize("first", [0, pytest.param(40, marks=pytest.mark.slow)])
def test_a_result_or_a_sentence(first, tmp_path, monkeypatch):
    """1,500 calls, of which more than a thousand are run and the others refused; the first forty in `make test`. A hang is ended by the alarm, and fails."""
    monkeypatch.chdir(tmp_path)
    n_results = sum(tried(seed, tmp_path) for seed in range(first, 40 if first == 0 else 1500))
    assert n_results >= (10 if first == 0 else 1000)
    assert all(path.suffix == ".ckpt" for path in tmp_path.iterdir())
