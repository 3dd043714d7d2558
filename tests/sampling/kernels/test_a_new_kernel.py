"""A kernel is one class: written here, it serves tempered populations, chains up a ladder and nested sampling at once."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

import zhat
from zhat import zoo
from zhat.sampling.kernels._base import log_uniforms, propose, toward
from zhat.sampling.mixing import Moves
from zhat.sampling.nested.replacement import MarkovReplacement


@dataclass(frozen=True)
class BoxWalk:
    """Uniform steps in a box that has the shape of the draws."""

    needs_gradient: ClassVar[bool] = False
    needs_tuning: ClassVar[bool] = True
    moves_parameters: ClassVar[bool] = False

    def first_scale(self, n_dimensions):
        return 2.0

    def next_scale(self, scale, acceptance):
        return toward(scale, acceptance, 0.3)

    def noise(self, rng, n_moves, n, model, target):
        return {
            "step": rng.uniform(-1.0, 1.0, (n_moves, n, model.n_dimensions)),
            "log_uniform": log_uniforms(rng, n_moves, n),
        }

    def init(self, backend, state, target):
        return state

    def step(self, backend, state, noise, tuning, target):
        position = state.position + tuning.scale * tuning.shape(noise["step"])
        return propose(backend, state, position, 0.0, noise["log_uniform"], target)


# Two estimates each within five standard errors: a false alarm once in a million.
@pytest.mark.parametrize(
    "method",
    [
        zhat.SMC(n_particles=500, kernels=(BoxWalk(),)),
        zhat.NestedSampling(n_live=200, replacement=MarkovReplacement(BoxWalk(), Moves(0.1, 16, 400))),
    ],
    ids=["smc", "nested"],
)
def test_a_kernel_of_ones_own_serves_every_sampler(method):
    example = zoo.example("E2")
    result = zhat.evidence(example.model, method, seed=1, progress=False)
    assert result.status.is_ok, result.status
    assert abs(result.log_evidence - example.log_evidence) < 5.0 * result.error
