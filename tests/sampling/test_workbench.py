"""Prior draws of a run: more of them where the likelihood is zero at the first ones."""

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.errors import NoSupport
from zhat.sampling.backend.loop import Loop
from zhat.sampling.workbench import FEW, Workbench
from zhat.seeding import Key


def above(limit):
    """A likelihood that is one beyond a limit and zero below it, with u ~ Uniform(0, 1)."""
    return zhat.Model.black_box(lambda p: np.where(p["u"] > limit, 0.0, -np.inf), {"u": dist.Uniform(0.0, 1.0)}, batched=True)


def test_a_small_support_is_met_by_more_draws():
    sizes = {Workbench(above(0.998), Key(seed), Loop(progress=False)).prior().n_drawn for seed in range(12)}
    assert sizes == {FEW, 16 * FEW}  # one of 512 draws lies in the support, so 256 miss it in three of five runs


def test_no_support_is_said_after_as_many_as_are_worth_it():
    with pytest.raises(NoSupport, match="no draw in 65,536"):
        Workbench(above(1.0), Key(1), Loop(progress=False)).prior()


def test_a_run_ends_with_its_number_where_the_few_starts_of_a_check_meet_no_support():
    """Five of 500 live points are in the support, so the run flags itself."""
    found = zhat.evidence(above(0.99), "nested", seed=1, progress=False)
    assert abs(found.log_evidence - np.log(0.01)) < 1.0 and found.status.reasons[0].code == "few-ancestors"
