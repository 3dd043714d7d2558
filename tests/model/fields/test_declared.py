"""What a model may declare as latent Gaussian."""

from __future__ import annotations

import numpyro.distributions as dist
import pytest

import zhat
from zhat.errors import BadInput, BadType
from zhat.model.fields.declared import Latent
from zhat.model.model import Offer

PRIOR = {"x": dist.Normal(0.0, 1.0).expand([3]).to_event(1), "s": dist.Gamma(2.0, 1.0)}


def model(latent=None):
    return zhat.Model(lambda p: -0.5 * (p["x"] ** 2).sum() / p["s"], PRIOR, latent=latent)


def test_names_unlock_the_offer():
    assert Offer.LATENT_GAUSSIAN not in model().offers
    for declared in (model("x"), model(("x",)), model(["x"]), model().with_latent("x"), model(Latent(("x",), (2, 0, 1), 3, 2))):
        assert Offer.LATENT_GAUSSIAN in declared.offers
        assert declared.latent.names == ("x",)
    assert model("x").named("other").latent is not None


@pytest.mark.parametrize(
    ("latent", "error", "says"),
    [
        (("z",), BadInput, "no parameter"),
        (("s",), BadInput, "support"),
        (("x", "x"), BadInput, "twice"),
        ((), BadType, "names"),
        (3, BadType, "names"),
        (Latent(("x",), (0, 1)), BadInput, "permutation"),
    ],
)
def test_refused(latent, error, says):
    with pytest.raises(error, match=says):
        model(latent)
