"""The zoo: models whose evidence is known, for tests, documentation and users' own trials.

    from zhat import zoo
    zoo.catalogue()                      # the ids
    shells = zoo.example("S3")           # built on first use, kept
    shells.model, shells.log_evidence

E models (`E_IDS`) are well behaved and exact to twelve digits; S models (`S_IDS`) are made to break methods; `LATENT_IDS` are
latent Gaussian models, beside which stand Ising models and change points; the rest are the models of Friel & Wyse (2012) on data, and Gaussians of any size. Nothing is built when the zoo is imported.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cache, partial

from zhat.errors import BadInput
from zhat.zoo import binary, conjugate, friel_wyse, latent, mixtures, needles, regression, stress
from zhat.zoo._example import Example
from zhat.zoo.conjugate import fixed_mean_log_evidence
from zhat.zoo.datasets import load
from zhat.zoo.fields import change_points, ising, latent_gaussian
from zhat.zoo.friel_wyse import normal_gamma, running_example
from zhat.zoo.gaussian import gaussian
from zhat.zoo.needles import unequal_widths
from zhat.zoo.pima import MODEL_1, MODEL_2, pima, pima_with_mask
from zhat.zoo.pine import COVARIATES, DATA, PRIORS, pine

__all__ = [
    "E_IDS",
    "LATENT_IDS",
    "S_IDS",
    "Example",
    "catalogue",
    "example",
    "fixed_mean_log_evidence",
    "gaussian",
    "load",
    "normal_gamma",
    "pima",
    "pima_with_mask",
    "pine",
    "running_example",
    "unequal_widths",
]

Builder = Callable[[], Example]

_EXACT: dict[str, Builder] = {
    "E1": conjugate.normal_mean,
    "E2": conjugate.normal_gamma,
    "E3a": conjugate.beta_binomial_flat,
    "E3b": conjugate.beta_binomial_informed,
    "E4": conjugate.poisson_rate,
    "E5": conjugate.exponential_rate,
    "E6": conjugate.dirichlet_multinomial,
    "E7": conjugate.geometric_probability,
    "E8": regression.straight_line,
    **{f"E8s-{terms}": partial(regression.straight_line_subset, terms) for terms in ("none", "intercept", "slope")},  # both: E8
    "E9a": regression.cosine_regression_10,
    "E9b": regression.cosine_regression_50,
    "E10": binary.probit,
    "E10c": binary.probit_closed_form,
    "E11": binary.logit,
    "E12": binary.logit_with_intercept,
    "E13": latent.gaussian_process,
    "E14a": latent.noisy_autoregression,
    "E14b": latent.autoregression,
    "E15": latent.eight_schools,
    "E15n": latent.eight_schools_noncentred,
    "E16a": mixtures.mixture,
    "E16b": mixtures.mixture_even,
}

_STRESS: dict[str, Builder] = {
    **{f"S1-d{d}": partial(stress.spike_and_slab, d) for d in stress.SPIKE_AND_SLAB},
    "S2": stress.eggbox,
    "S3": stress.gaussian_shells,
    **{f"S4-d{d}": partial(stress.wedding_cake, d) for d in stress.WEDDING_CAKE},
    "S5": stress.zero_corner,
    "S6": stress.singular_line,
    "S7": stress.cauchy_location,
    "S8": stress.funnel,
    "S9": stress.correlated_gaussian_in_box,
    "S10": stress.constant,
}

_FRIEL_WYSE: dict[str, Builder] = {
    "running-example": running_example,
    **{f"normal-gamma-{tau0:g}": partial(normal_gamma, tau0) for tau0 in friel_wyse.TABLE_1_TAU0},
    **{f"pine-{c}-{d}-{p}": partial(pine, c, d, p) for d in DATA for p in PRIORS for c in COVARIATES},
    **{f"pima-{'-'.join(m)}-tau-{tau:g}": partial(pima, m, tau) for tau in (0.01, 1.0) for m in (MODEL_1, MODEL_2)},
}

_BENCHMARKS: dict[str, Builder] = {
    "gaussian-20": partial(gaussian, 20),
    "gaussian-100": partial(gaussian, 100),
    **{f"label-switching-{k}": partial(mixtures.label_switching, k) for k in mixtures.CLUSTERS},
    **{name: partial(mixtures.hidden_modes, name) for name in mixtures.HIDDEN_MODES},
    "separated-classes": binary.separated_classes,
    "soft-spike-5": needles.soft_spike,
    "flat-funnel": needles.flat_funnel,
    **{name: partial(needles.unequal_widths, *widths, id=name) for name, widths in needles.UNEQUAL_WIDTHS.items()},
    **{
        f"{name}-black-box": partial(needles.unequal_widths, *widths, id=f"{name}-black-box", black_box=True)
        for name, widths in needles.UNEQUAL_WIDTHS_BLACK_BOX.items()
    },
    "tied-mixture": needles.tied_mixture,
    "mirrored-signs-10": needles.mirrored_signs,
}

_FIELDS: dict[str, Builder] = {
    **{id: partial(latent_gaussian.latent_gaussian, id) for id in latent_gaussian.IDS},
    "ar-errors": change_points.ar_errors,
    "coal-one-change": change_points.coal_one_change,
    **{f"ising-lattice-{which}": partial(ising.ising_lattice, which) for which in ising.LATTICE},
    **{f"boltzmann-{edges}": partial(ising.boltzmann, edges) for edges in ising.BOLTZMANN},
}

_BUILDERS: dict[str, Builder] = {**_EXACT, **_STRESS, **_FRIEL_WYSE, **_BENCHMARKS, **_FIELDS}

E_IDS: tuple[str, ...] = tuple(_EXACT)
LATENT_IDS: tuple[str, ...] = latent_gaussian.IDS
S_IDS: tuple[str, ...] = tuple(_STRESS)


def catalogue() -> tuple[str, ...]:
    """The ids of all examples: exact, stress, Friel & Wyse (2012), benchmarks, latent Gaussian models."""
    return tuple(_BUILDERS)


@cache
def example(id: str) -> Example:
    """The example of this id, built on first use and kept, so that what it compiles is compiled once."""
    if id not in _BUILDERS:
        nearest = difflib.get_close_matches(str(id), _BUILDERS, n=1, cutoff=0.0)[0]
        raise BadInput(f"no example {id!r} in the zoo; did you mean {nearest!r}? zoo.catalogue() lists all.")
    return _BUILDERS[id]()
