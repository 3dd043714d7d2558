"""Design: a response, the columns that explain it, and which columns belong to one term. Arrays only; adapters make it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zhat.errors import BadInput
from zhat.numerics._checks import FloatArray
from zhat.numerics.exact.g_priors import Sums
from zhat.numerics.exact.normal_linear import RawSums

# A column is a combination of others where what they leave of its variance is below this share.
COLLINEAR = 1e-10
# A linear response is explained exactly where the residual sum of squares is below this share of the total.
EXACT_FIT = 1e-20


@dataclass(frozen=True)
class Term:
    """One term of a formula and the columns that it has in the design; `is_factor` if only categorical variables are in it."""

    name: str
    columns: tuple[int, ...]
    is_factor: bool = False


@dataclass(frozen=True)
class Design:
    """Response and columns of a regression.

    Attributes
    ----------
    formula, response : str
        As the user wrote them.
    y : (n,) array
    x : (n, p) array
        Columns without the intercept, as they are; `centred` is what models use.
    names : tuple of str
        Of the columns.
    terms : tuple of Term
    has_intercept : bool
    offset, trials : (n,) arrays or None
    """

    formula: str
    response: str
    y: FloatArray
    x: FloatArray
    names: tuple[str, ...]
    terms: tuple[Term, ...]
    has_intercept: bool = True
    offset: FloatArray | None = None
    trials: FloatArray | None = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def p(self) -> int:
        """Number of columns without the intercept."""
        return int(self.x.shape[1])

    @property
    def centred(self) -> FloatArray:
        """The columns minus their means where there is an intercept, which then is the predictor at the columns' means."""
        return self.x - self.x.mean(axis=0) if self.has_intercept and self.p else self.x

    @property
    def spread(self) -> FloatArray:
        """Standard deviations of the columns, with n - 1."""
        return np.std(self.x, axis=0, ddof=1) if self.p else np.zeros(0)

    @property
    def target(self) -> FloatArray:
        """The response minus the offset, for linear models."""
        return self.y if self.offset is None else self.y - self.offset

    def check(self) -> Design:
        """Itself, unless there are too few rows, or columns without information of their own."""
        if self.n < 2:
            raise BadInput(
                f"{self.formula!r}: the data have {self.n} row{'' if self.n == 1 else 's'}; a regression needs two or more."
            )
        for name, column in zip(self.names, self.x.T, strict=True):
            if self.has_intercept and np.ptp(column) == 0.0:
                raise BadInput(
                    f"{self.formula!r}: column {name!r} has the value {column[0]:g} in all {self.n} rows, so that it cannot be told from "
                    "the intercept; leave it out of the formula."
                )
        self._check_collinear()
        return self

    def _check_collinear(self) -> None:
        x = self.centred
        size = np.sqrt(np.sum(x**2, axis=0))
        if not self.p or (size == 0.0).any():
            return
        # Gram-Schmidt in the order of the columns: the first one that the others before it explain is named.
        r = np.linalg.qr(x / size, mode="r")
        left = np.zeros(self.p)
        left[: min(self.n, self.p)] = np.abs(np.diag(r))
        bad = np.flatnonzero(left**2 < COLLINEAR)
        if not len(bad):
            return
        j = int(bad[0])
        share = np.abs(np.linalg.lstsq((x / size)[:, :j], (x / size)[:, j], rcond=None)[0]) if j else np.zeros(0)
        others = [self.names[i] for i in np.flatnonzero(share > 1e-6)]
        raise BadInput(
            f"{self.formula!r}: column {self.names[j]!r} is a linear combination of {' + '.join(others[:4]) or 'the others'}"
            f"{' + ...' if len(others) > 4 else ''}, so that the data cannot tell their coefficients apart; leave one of them out."
        )

    def check_linear(self) -> Design:
        """Itself, unless a linear model would fit it exactly."""
        needed = self.p + int(self.has_intercept) + 1
        if self.n < needed:
            raise BadInput(
                f"{self.formula!r}: {self.n} rows for {self.p} columns{' and an intercept' if self.has_intercept else ''}; a linear "
                f"model needs at least {needed} rows."
            )
        y = self.target - (self.target.mean() if self.has_intercept else 0.0)
        if float(y @ y) == 0.0:
            raise BadInput(
                f"{self.formula!r}: the response {self.response!r} is the same in all rows; there is nothing to explain."
            )
        if self.raw_sums().least <= EXACT_FIT * float(y @ y):
            raise BadInput(
                f"{self.formula!r}: the columns give the response {self.response!r} exactly, without any noise, so that the evidence is "
                "infinite; is one of them computed from it?"
            )
        return self

    def sums(self) -> Sums:
        """Of centred columns and response, for models that share a reference prior of the intercept."""
        y = self.target - (self.target.mean() if self.has_intercept else 0.0)
        x = self.centred
        return Sums(self.n, float(y @ y), x.T @ y, x.T @ x, self.has_intercept)

    def raw_sums(self) -> RawSums:
        """Of centred columns with the intercept's in front, for models whose priors are all proper."""
        x = np.concatenate([np.ones((self.n, 1)), self.centred], axis=1) if self.has_intercept else self.x
        best = np.asarray(np.linalg.lstsq(x, self.target, rcond=None)[0], np.float64)
        return RawSums(self.n, x.T @ x, best, float(np.sum((self.target - x @ best) ** 2)))
