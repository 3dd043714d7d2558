"""zhat as a sampler of bilby: ``bilby.run_sampler(likelihood, priors, sampler="zhat")``.

bilby finds this class by its entry point (group `bilby.samplers`) and imports the module only when it is asked for. The result has log Z
with its standard error, equally weighted posterior samples and the number of likelihood calls. A bilby result has no place for a verdict:
the status, its reasons and the method stand in ``result.meta_data["zhat"]``, and the standard error is NaN where the status is not ok.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bilby.core.sampler.base_sampler import NestedSampler

from zhat.adapters.arviz import rows_of
from zhat.adapters.cube.bilby import log_mass_inside
from zhat.adapters.cube.prior_transform import How
from zhat.adapters.cube.prior_transform import model as from_transform
from zhat.comparing.averaging import posterior_draws
from zhat.errors import BadInput
from zhat.run.estimate import evidence


class Zhat(NestedSampler):
    """Evidence and posterior samples by zhat.

    Parameters
    ----------
    method : str, optional
        A method of zhat that leaves posterior draws, such as "nested", "smc" or "importance"; by default zhat chooses.
    seed : int, optional
    precision : float, optional
        The standard error of log Z that is wanted.
    """

    sampler_name = "zhat"
    sampling_seed_key = "seed"
    default_kwargs = {"method": None, "seed": None, "precision": None}

    @property
    def external_sampler_name(self) -> str:
        """The package that bilby looks for."""
        return "zhat"

    def run_sampler(self) -> Any:
        """Run, and fill bilby's result."""
        keys = list(self.search_parameter_keys)
        log_mass = log_mass_inside(self.priors, keys)

        def transform(u: Any) -> dict[str, Any]:
            return dict(zip(keys, self.prior_transform(list(u)), strict=True))

        def log_likelihood(theta: dict[str, Any]) -> float:
            value = float(self.log_likelihood([float(theta[key]) for key in keys]))
            return -np.inf if value < -1e300 else value - log_mass

        model = from_transform(log_likelihood, transform, len(keys), how=How(traced=False), about={"name": self.label})
        found = evidence(model, self.kwargs["method"], seed=self.kwargs["seed"], precision=self.kwargs["precision"])
        self._fill(found, keys, log_mass)
        return self.result

    def _fill(self, found: Any, keys: list[str], log_mass: float) -> None:
        result = self.result
        result.log_evidence = found.log_evidence
        result.log_evidence_err = np.nan if found.log_evidence_se is None else found.log_evidence_se
        result.num_likelihood_evaluations = found.cost.n_likelihood
        result.meta_data = {
            **(result.meta_data or {}),
            "zhat": {
                "status": found.status.level.value,
                "reasons": [reason.sentence for reason in found.status.reasons],
                "method": found.method,
                "seed": found.seed,
                "log_constraint_factor": log_mass,
            },
        }
        try:
            draws = posterior_draws(found)
        except BadInput:  # a failed run, or a method that leaves none
            result.samples = np.empty((0, len(keys)))
            result.log_likelihood_evaluations = np.empty(0)
            return
        rows = rows_of(draws, found.seed, None).ravel()
        result.samples = np.stack([np.asarray(draws.parameters[key])[rows] for key in keys], axis=1)
        result.log_likelihood_evaluations = draws.log_likelihood[rows] + log_mass

    def write_current_state(self) -> None:
        """A run has no state on disk for bilby."""

    @classmethod
    def get_expected_outputs(cls, outdir: Any = None, label: Any = None) -> tuple[list[str], list[str]]:
        """No files beside bilby's own."""
        return [], []
