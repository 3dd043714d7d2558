"""Draws handed to ArviZ: chains stay chains, weighted draws are resampled, the evidence comes along."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput

pytest.importorskip("arviz_base")


@pytest.mark.parametrize("method", ["importance", "smc", "nested", "ais"])
def test_weighted_draws_are_resampled_with_their_moments(method):
    example = zoo.example("E2")
    result = zhat.evidence(example.model, method, seed=1, progress=False)
    tree = result.to_arviz()
    record = result.record if hasattr(result.record, "position") else result.record.final
    share = np.exp(record.log_weight - record.log_weight.max())
    share /= share.sum()
    for name, values in record.parameters.items():
        found = tree["posterior"][name].values
        assert found.shape[:2] == (1, min(4000, len(values)))
        mean = np.tensordot(share, values, axes=1)
        sd = np.sqrt(np.tensordot(share, (values - mean) ** 2, axes=1))
        # Systematic resampling varies less than independent draws would.
        assert np.all(np.abs(found.mean(axis=(0, 1)) - mean) < 4 * sd / np.sqrt(found.shape[1]))
    assert tree.attrs["log_evidence"] == result.log_evidence and tree.attrs["method"] == method
    assert result.to_arviz(100)["posterior"][name].shape[1] == 100


def test_chains_stay_chains():
    result = zhat.evidence(zoo.example("E2").model, "chib-jeliazkov", seed=1, progress=False)
    tree = result.to_arviz()
    chains = len(np.unique(result.record.final.chain))
    assert {v.shape[0] for v in tree["posterior"].data_vars.values()} == {chains}
    stats = tree["sample_stats"]
    assert "log_likelihood" not in stats  # ArviZ takes that for one value a datum
    total = stats["total_log_likelihood"].values + stats["log_prior_unconstrained"].values
    np.testing.assert_allclose(stats["lp"].values, total)
    again = zhat.evidence(zoo.example("E2").model, zhat.Bridge(mode_check=False), draws=tree, seed=1, progress=False)
    assert again.status.is_ok and abs(again.diagnostics["lp_constant"]) < 1e-6


def test_a_run_without_draws_says_so():
    result = zhat.evidence(zoo.example("E2").model, "importance", seed=1, progress=False)
    with pytest.raises(BadInput, match="left no posterior draws"):
        replace(result, record=None).to_arviz()
    with pytest.raises(BadInput, match="at least one"):
        result.to_arviz(0)
