"""The Pima models of Friel & Wyse (2012) against their reference evidences, ten seeds each: Importance and SMC by default.

python calibration/pima.py
"""

from __future__ import annotations

import sys

import zhat

LIMITS = {"importance": 0.003, "smc": 0.03}
MODEL_1, MODEL_2 = ("NP", "PGC", "BMI", "DP"), ("NP", "PGC", "BMI", "DP", "AGE")
REFERENCE = {(1, 0.01): -257.2323, (2, 0.01): -259.8583, (1, 1.0): -247.3033, (2, 1.0): -247.5627}
REFERENCE_ERROR = 0.0003


def main() -> int:
    """Print a row a method and model, and whether both bars are met."""
    failed = 0
    print("method      model  tau    reference   mean        largest error  largest |z|")
    for (number, tau), reference in REFERENCE.items():
        model = zhat.zoo.pima(MODEL_1 if number == 1 else MODEL_2, tau=tau).model
        for method, limit in LIMITS.items():
            runs = [zhat.evidence(model, method, seed=seed, progress=False) for seed in range(10)]
            assert all(run.status.is_ok for run in runs), [str(run) for run in runs]
            errors = [run.log_evidence_se for run in runs]
            scores = [abs(r.log_evidence - reference) / (r.log_evidence_se**2 + REFERENCE_ERROR**2) ** 0.5 for r in runs]
            mean = sum(run.log_evidence for run in runs) / len(runs)
            good = max(errors) <= limit and max(scores) <= 4.0
            failed += not good
            print(
                f"{method:10s}  {number}      {tau:<5g}  {reference:.4f}  {mean:.4f}  {max(errors):.5f} <= {limit:<6g}"
                f"  {max(scores):.2f}  {'passed' if good else 'FAILED'}"
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
