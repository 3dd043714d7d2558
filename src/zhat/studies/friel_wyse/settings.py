"""The settings of every run, as Friel & Wyse (2012) state them; where they do not, what is assumed here, and why.

Section 4.1 (pine) and section 4.2 (Pima) are quoted in the comments. `quick` is a tenth of the work with the same code: shorter
chains and fewer runs, never other ladders.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class TractableSettings:
    """Table 1: "n = 100 observations ... 10^6 iterations of a Gibbs sampler"."""

    n_chains: int = 10  # ours: ten chains side by side instead of one; they forget within a few sweeps
    n_draws: int = 100_000
    n_burn: int = 1_000
    n_samples: int = 10  # ours: the paper's sample is lost, so several are shown


@dataclass(frozen=True)
class PineSettings:
    """Table 2 and Figure 1."""

    n_runs: int = 18
    # "a Gibbs sampling run of 505,000, taking 20% of this as a burn-in"
    n_gibbs: int = 505_000
    burn_share: float = 0.2
    # "55,000 burn-in iterations with a subsequent 150,000 ... 150,000 iterations for each of the line parameters in turn"
    chib_burn: int = 55_000
    chib_draws: int = 150_000
    # "1000 samples ... t_i = (1 - i/100)^5 ... sample five times from each tempered posterior"
    ais_samples: int = 1_000
    ais_sweeps: int = 5
    n_rungs: int = 100
    power: float = 5.0
    # "the Gibbs sampling scheme for 5000 iterations using 20% of this as a burn-in"
    rung_draws: int = 5_000
    # "a new contribution ... less than 10^-8"; the number of points and of moves is not stated. A hundred points and one sweep a
    # point give about the printed spread; with perfect moves that would be the spread of thirty points.
    nested_points: int = 100
    nested_sweeps: int = 1
    nested_stop: float = 1e-8
    # Ours, for the column beside it.
    our_nested_points: int = 4_000  # enough for a spread of about 6 % of the Bayes factor
    our_runs: int = 18


@dataclass(frozen=True)
class PimaSettings:
    """Tables 3 and 4."""

    # "the best approximation to BF12 over five runs". Eight chains side by side cost less here than five (they fill the
    # processor's registers), so there are eight; the first five are read as the paper read its five.
    n_runs: int = 8
    n_best_of: int = 5
    precision: float = 2.0  # "we chose tau_p = 2"
    # "Each Monte Carlo method used the equivalent of 200,000 samples"; no burn-in is mentioned, a twentieth comes before.
    n_samples: int = 200_000
    burn_share: float = 0.05
    # "20,000 samples at each of 10 steps", which its figures contradict: those of 10,000 at each of 20 are beside them
    ladders: tuple[tuple[int, int], ...] = ((10, 20_000), (20, 10_000))
    power: float = 5.0
    # "a tempering ladder of 101 to generate 2000 independent samples"
    ais_samples: int = 2_000
    ais_rungs: int = 100
    # "2,000 samples ... 10^-8 times the current value"; moves are not stated. The printed run times leave room for about twenty
    # sweeps a point, of which half are enough; the printed errors are those of one.
    nested_points: int = 2_000
    nested_sweeps: tuple[int, ...] = (1, 10)
    nested_stop: float = 1e-8
    nested_runs: int = 5
    # Reversible jump: "a reduced run restricting to jumps only between these two models", and a long one over all.
    jump_pair: int = 200_000
    jump_all: int = 400_000
    our_power_runs: int = 24  # their mean to 0.01: what is left of the trapezoid's bias is to be seen
    small_library: bool = False  # fewer particles in our own methods too, for a quick look


@dataclass(frozen=True)
class Settings:
    """All of them."""

    quick: bool = False
    tractable: TractableSettings = field(default_factory=TractableSettings)
    pine: PineSettings = field(default_factory=PineSettings)
    pima: PimaSettings = field(default_factory=PimaSettings)

    def of(self, table: str) -> dict[str, Any]:
        """What the parts of one table depend on."""
        part = {"1": "tractable", "2": "pine"}.get(table, "pima")
        return {"quick": self.quick, part: self.plain()[part]}

    def plain(self) -> dict[str, Any]:
        """As JSON has them."""
        found = asdict(self)
        found["pima"]["ladders"] = [list(ladder) for ladder in self.pima.ladders]
        found["pima"]["nested_sweeps"] = list(self.pima.nested_sweeps)
        return found


def paper_settings() -> Settings:
    """As printed."""
    return Settings()


def quick_settings() -> Settings:
    """A tenth of the work and less: a look at everything in a minute or two, and a test."""
    full = Settings()
    return Settings(
        quick=True,
        tractable=replace(full.tractable, n_draws=10_000),
        pine=replace(
            full.pine,
            n_gibbs=50_500,
            chib_burn=5_500,
            chib_draws=15_000,
            ais_samples=100,
            rung_draws=500,
            our_nested_points=400,
            our_runs=2,
        ),
        pima=replace(
            full.pima,
            n_samples=5_000,
            ladders=((10, 500), (20, 250)),
            ais_samples=100,
            nested_points=60,
            nested_sweeps=(1, 5),
            nested_runs=2,
            jump_pair=12_800,
            jump_all=12_800,
            our_power_runs=1,
            small_library=True,
        ),
    )
