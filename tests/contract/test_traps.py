"""Never confidently wrong: on every trap of the zoo a run is right within its error, or not `ok`.

One seed here; the table over twenty is made by calibration/traps.py. SMC and AIS take part where they are quick.
"""

from __future__ import annotations

import pytest

import zhat
from zhat import zoo
from zhat.model.model import Offer

# Methods that walk the whole path take part where that is short.
WALKS = ("smc", "ais")
QUICK_FOR_WALKS = ("S3", "S4-d2", "S5", "S7", "S9", "S10")
# With every change: the work horses everywhere, every method on a few traps of different kinds. `make contract` runs all cells.
EVERYWHERE = ("importance", "laplace", "prior-mean")
FEW = ("S5", "S7", "S10")
# What every model offers; only for a method that needs more must the model be built to know.
ALL_OFFER = frozenset({Offer.PRIOR_DRAWS, Offer.LIKELIHOOD})
CELLS = [
    (method, id)
    for id in zoo.S_IDS
    for method, cls in zhat.methods.registry().items()
    if (cls.needs <= ALL_OFFER or cls.needs <= zoo.example(id).model.offers) and (method not in WALKS or id in QUICK_FOR_WALKS)
]


def marks(method, id):
    slow = method not in EVERYWHERE and id not in FEW
    return [pytest.mark.xdist_group(id), *([pytest.mark.slow] if slow else [])]


@pytest.mark.parametrize(("method", "id"), [pytest.param(m, i, id=f"{i}-{m}", marks=marks(m, i)) for m, i in CELLS])
def test_a_trap_is_answered_rightly_or_flagged(method, id):
    example = zoo.example(id)
    result = zhat.evidence(example.model, method, seed=11, progress=False)
    if result.status.is_ok:
        assert abs(result.log_evidence - example.log_evidence) <= 4.5 * result.error + 1e-9
    else:
        assert result.log_evidence_se is None
        assert all(reason.sentence for reason in result.status.reasons)


@pytest.mark.xdist_group("S10")
def test_a_constant_likelihood_is_exact_where_nothing_is_proposed():
    for method in ("prior-mean", "smc"):
        result = zhat.evidence(zoo.example("S10").model, method, seed=1, progress=False)
        assert result.log_evidence == pytest.approx(zoo.example("S10").log_evidence, abs=1e-12)
        assert result.log_evidence_se == 0.0
