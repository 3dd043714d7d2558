"""Two evidences of one model, by different methods or seeds: how far apart they are, in their joint standard error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from zhat.formatting import with_error
from zhat.results.estimate import Evidence

# Joint standard errors: estimates within the first agree, beyond the second they disagree.
AGREE, DISAGREE = 2.0, 3.0


@dataclass(frozen=True)
class Agreement:
    """An evidence, and a second one of the same model."""

    first: Evidence
    second: Evidence

    @property
    def difference(self) -> float:
        """The second log evidence minus the first."""
        return self.second.log_evidence - self.first.log_evidence

    @property
    def joint_error(self) -> float | None:
        """The error of the difference, the runs being independent; None where one of the two has none."""
        if self.first.error is None or self.second.error is None:
            return None
        return math.hypot(self.first.error, self.second.error)

    @property
    def z(self) -> float | None:
        """The difference in joint errors; None where it cannot be judged."""
        joint = self.joint_error
        if joint is None or joint == 0.0:
            return None
        return self.difference / joint

    @property
    def disagrees(self) -> bool:
        """Whether the two are more than three joint errors apart."""
        joint = self.joint_error
        return joint is not None and abs(self.difference) > DISAGREE * joint

    @property
    def can_be_judged(self) -> bool:
        """Whether both have an error."""
        return self.joint_error is not None

    def __str__(self) -> str:
        """A sentence: the second number, the difference in joint standard errors, and whether the two agree."""
        number = with_error(self.second.log_evidence, self.second.error)
        doubt = "" if self.second.status.is_ok else f" ({self.second.status})"
        begin = f"{self.second.method} (seed {self.second.seed}) gives {number}{doubt}, {self.difference:+.3g} from {self.first.method}"
        joint = self.joint_error
        if joint is None:
            return f"{begin}; one of the two has no standard error, so their agreement cannot be judged."
        if self.z is None:
            return f"{begin}."
        size = abs(self.z)
        if size < AGREE:
            words = f"they agree (within {AGREE:g})"
        elif size <= DISAGREE:
            words = f"they differ, but not beyond {DISAGREE:g}"
        else:
            words = f"they disagree (beyond {DISAGREE:g}); do not rely on either"
        return f"{begin}: {size:.1f} joint standard errors of {joint:.2g}; {words}."

    def to_dict(self) -> dict[str, Any]:
        """For JSON: the second evidence and how far it is from the first; null where that cannot be said."""
        return {
            "method": self.second.method,
            "seed": self.second.seed,
            "log_evidence": _finite(self.second.log_evidence),
            "error": _finite(self.second.error),
            "status": self.second.status.level.value,
            "difference": _finite(self.difference),
            "z": _finite(self.z),
            "agrees": not self.disagrees if self.can_be_judged else None,
            "sentence": str(self),
        }


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)
