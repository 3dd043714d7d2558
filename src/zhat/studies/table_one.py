"""Table 1 of Friel & Wyse (2012): the exact log evidence falls as the prior of the mean widens; the harmonic mean hardly changes.

Normal observations with a normal-gamma prior whose tau0 makes the prior of the mean wide (small tau0) or tight. The paper's
sample is lost; any simulated one shows the same: the exact value moves by 0.5 log(tau0 / (tau0 + n)) and a term of the fit, the
harmonic mean of the likelihoods stays where the likelihoods of the posterior are. The variance of its weights is infinite, and
the result is flagged.
"""

from __future__ import annotations

from dataclasses import dataclass

from zhat import zoo
from zhat.methods.chib import Chib
from zhat.methods.harmonic import HarmonicMean
from zhat.results.estimate import Evidence
from zhat.run.estimate import evidence, read
from zhat.zoo.friel_wyse import TABLE_1_TAU0

HEADER = ("tau0", "exact", "harmonic mean", "off by", "Pareto k", "its verdict", "Chib", "s.e.", "off by")


@dataclass(frozen=True)
class Row:
    """One column of the paper's table."""

    tau0: float
    exact: float
    harmonic: Evidence
    chib: Evidence

    def cells(self) -> tuple[str, ...]:
        """For a table."""
        k = self.harmonic.diagnostics.get("pareto_k", float("nan"))
        return (
            f"{self.tau0:g}",
            f"{self.exact:.3f}",
            f"{self.harmonic.log_evidence:.3f}",
            f"{self.harmonic.log_evidence - self.exact:+.3f}",
            f"{k:.2f}",
            str(self.harmonic.status),
            f"{self.chib.log_evidence:.3f}",
            "?" if self.chib.error is None else f"{self.chib.error:.4f}",
            f"{self.chib.log_evidence - self.exact:+.4f}",
        )


def run_table(seed: int = 1, sample_seed: int = 0) -> list[Row]:
    """All values of tau0 on one simulated sample of a hundred."""
    rows = []
    for i, tau0 in enumerate(TABLE_1_TAU0):
        example = zoo.normal_gamma(tau0, seed=sample_seed)
        assert example.log_evidence is not None
        # The prior of tau is so near to improper that some chains start far away and are long in coming back.
        chib = evidence(example.model, Chib(n_warmup=2000), seed=seed + i, progress=False)
        harmonic = read(chib, HarmonicMean())  # of the same Gibbs draws
        rows.append(Row(tau0, example.log_evidence, harmonic, chib))
    return rows
