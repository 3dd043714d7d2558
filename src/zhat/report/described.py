"""A result in full, as text: the verdict and its reasons, the model, settings, versions, and the diagnostics in words."""

from __future__ import annotations

from zhat.formatting import one_line, with_error
from zhat.report.page.recipe import written
from zhat.report.page.words import why_trust
from zhat.results.estimate import Evidence


def described(result: Evidence) -> str:
    """All that a result records, in sentences and lists."""
    lines = [
        result.explain(),
        "",
        f"model     {one_line(result.model)}, {result.n_dimensions} parameters, data {one_line(result.data_id or '') or 'in the functions of the model'}",
        f"settings  {one_line(written(result.settings))}",
        f"versions  {one_line(', '.join(f'{name} {number}' for name, number in result.versions.items()))}",
        "",
        *why_trust(result),
    ]
    if len(result.repeats) > 1:
        shown = [with_error(run.log_evidence, run.log_evidence_se) for run in result.repeats]
        lines += ["", "runs: " + ", ".join(shown)]
    return "\n".join(lines)
