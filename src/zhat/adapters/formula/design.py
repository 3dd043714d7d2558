"""A formula and a table into a `Design`: columns with their names, terms, and an offset, by formulaic.

Two codings of factors. The formula's own (treatment contrasts, unless it names others) is what coefficients of generalised linear
models refer to. Orthonormal contrasts, as Rouder et al. (2012) use them, make the effects of all levels alike under a JZS prior; with
two or more levels they differ from the former in the prior only, not in what the model can fit.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from zhat.adapters.formula.table import check_columns, frame_of
from zhat.errors import BadInput, BadType
from zhat.model.regression.design import Design, Term
from zhat.numerics._checks import FloatArray

_RANDOM = re.compile(r"\([^()~]*\|[^()~]*\)")
OFFSET = "offset("


def parsed(formula: Any) -> Any:
    """The formula as formulaic reads it, with one response."""
    if not isinstance(formula, str):
        raise BadType(f'formula is a {type(formula).__name__}: give a string such as "strength ~ density".')
    if formula.count("~") != 1:
        raise BadInput(f'formula={formula!r}: write response ~ terms, such as "strength ~ density".')
    if _RANDOM.search(formula):
        raise BadInput(
            f"formula={formula!r} has a random effect, {_RANDOM.search(formula).group(0)}: "  # type: ignore[union-attr]
            "fit it with Bambi and give zhat.Model.from_bambi(model), or build it with zhat.latent for INLA."
        )
    try:
        import formulaic
        from formulaic.errors import FormulaicError
    except ImportError as error:
        raise BadInput("zhat.formula needs the package formulaic: pip install 'zhat[formula]'.") from error
    try:
        found = formulaic.Formula(formula)
    except FormulaicError as error:
        text = str(error).split("\n")[0]
        raise BadInput(f"formula={formula!r} cannot be read: {text}") from error
    if len(list(found.lhs)) != 1:
        raise BadInput(f"formula={formula!r} has {len(list(found.lhs))} responses; give one.")
    both = sorted({str(v) for v in found.lhs.required_variables} & {str(v) for v in found.rhs.required_variables})
    if both:
        raise BadInput(
            f"formula={formula!r}: {both[0]!r} is the response and a term of its own mean; leave it out on the right of ~."
        )
    return found


def variables(formula: Any, columns: Any) -> list[str]:
    """Names of the columns that a parsed formula uses, the response's first; ``offset(...)`` is a function unless it is a column."""
    names = [str(name) for name in (*formula.lhs.required_variables, *sorted(formula.rhs.required_variables))]
    return [name for name in dict.fromkeys(names) if name != "offset" or "offset" in columns]


def design_of(formula: str, data: Any, trials: str | int | None = None, orthonormal: bool = False) -> Design:
    """The design of a formula on a table, checked column by column."""
    found, frame = parsed(formula), frame_of(data)
    names = variables(found, frame.columns)
    check_columns(frame, [*names, *([trials] if isinstance(trials, str) else [])], formula)
    lhs, rhs = _matrices(formula, found, frame)
    response = str(lhs.columns[0])
    if lhs.shape[1] != 1:
        raise BadInput(
            f"{formula!r}: the response {names[0]!r} is text with several levels; code it as numbers (0 and 1 for two levels)."
        )
    n = len(frame)
    y = np.asarray(lhs, np.float64)[:, 0]
    spec = rhs.model_spec
    matrix = np.asarray(rhs, np.float64)
    for what, values in (("response", y[:, None]), *((f"column {c!r}", matrix[:, [j]]) for j, c in enumerate(rhs.columns))):
        if not np.isfinite(values).all():
            row = int(np.argmax(~np.isfinite(values[:, 0]))) + 1
            raise BadInput(f"{formula!r}: the {what} is {values[row - 1, 0]} in row {row}; is a logarithm taken of zero or less?")
    offset, terms, columns, keep = np.zeros(n), [], [], []
    has_offset = has_intercept = False
    for term in spec.terms:
        at = list(spec.term_indices[term])
        if str(term) == "1":
            has_intercept = True
        elif str(term).startswith(OFFSET):
            offset, has_offset = offset + matrix[:, at].sum(axis=1), True
        else:
            kinds = [_is_categorical(spec, factor) for factor in term.factors]
            terms.append((str(term), all(kinds), any(kinds), at, term))
    if orthonormal and any(some for _, _, some, _, _ in terms):
        _check_margins(formula, [t[0] for t in terms], terms, has_intercept)
        blocks = [_orthonormal(frame, spec, term) for *_, term in terms]
        labels = [
            _labels(name, b.shape[1], [str(rhs.columns[j]) for j in at])
            for (name, _, _, at, _), b in zip(terms, blocks, strict=True)
        ]
        columns = [name for names_ in labels for name in names_]
        x = np.concatenate(blocks, axis=1)
        widths = [b.shape[1] for b in blocks]
    else:
        keep = [j for _, _, _, at, _ in terms for j in at]
        x, columns = matrix[:, keep], [str(rhs.columns[j]) for j in keep]
        widths = [len(at) for _, _, _, at, _ in terms]
    ends = np.cumsum([0, *widths])
    made = tuple(Term(name, tuple(range(ends[i], ends[i + 1])), is_factor) for i, (name, is_factor, *_) in enumerate(terms))
    return Design(
        formula=formula.strip(),
        response=response,
        y=y,
        x=np.asarray(x, np.float64).reshape(n, -1),
        names=tuple(columns),
        terms=made,
        has_intercept=has_intercept,
        offset=offset if has_offset else None,
        trials=_trials(frame, trials, n),
    )


def _matrices(formula: str, found: Any, frame: Any) -> tuple[Any, Any]:
    from formulaic.errors import FormulaicError

    context = {"offset": lambda values: values}
    try:
        with np.errstate(invalid="ignore", divide="ignore"):  # what is not a number is said below
            matrices = found.get_model_matrix(frame, context=context, na_action="raise")
    except (FormulaicError, ValueError, TypeError, IndexError, ArithmeticError) as error:
        text = str(error).splitlines()[0]
        if "null values" in text:
            which = text.split("`")[1] if "`" in text else "a term"
            raise BadInput(f"{formula!r}: {which} is not a number in some rows; is a logarithm taken of zero or less?") from error
        raise BadInput(f"{formula!r} cannot be evaluated on the data: {text}") from error
    return matrices.lhs, matrices.rhs


def _trials(frame: Any, trials: str | int | None, n: int) -> FloatArray | None:
    if trials is None:
        return None
    return np.asarray(frame[trials], np.float64) if isinstance(trials, str) else np.full(n, float(trials))


def _is_categorical(spec: Any, factor: Any) -> bool:
    kind, _ = spec.encoder_state[str(factor)]
    return bool(kind.value == "categorical")


def _check_margins(formula: str, names: list[str], terms: list[Any], has_intercept: bool) -> None:
    """Orthonormal contrasts of an interaction span what they should only beside the main effects and an intercept."""
    if not has_intercept:
        raise BadInput(
            f"{formula!r}: factors under prior=zhat.priors.JZS() need an intercept; give prior=zhat.priors.ScaledNormal()."
        )
    present = [frozenset(map(str, term.factors)) for *_, term in terms]
    for name, _, some, _, term in terms:
        factors = frozenset(map(str, term.factors))
        missing = [sorted(factors - {f})[0] for f in factors if len(factors) > 1 and some and factors - {f} not in present]
        if missing:
            raise BadInput(
                f"{formula!r}: the interaction {name!r} stands without {missing[0]!r}; write {name.replace(':', '*')}, or choose "
                "prior=zhat.priors.UnitInformation()."
            )


def _orthonormal(frame: Any, spec: Any, term: Any) -> FloatArray:
    """Columns of a term: contrasts of its factors times its centred numbers."""
    import formulaic

    out = np.ones((len(frame), 1))
    for factor in term.factors:
        text = str(factor)
        raw = np.asarray(formulaic.model_matrix(f"0 + {text}", frame, context={}, na_action="raise"), np.float64)
        block = raw @ contrasts(raw.shape[1]) if _is_categorical(spec, factor) else raw - raw.mean(axis=0)
        out = (out[:, :, None] * block[:, None, :]).reshape(len(frame), -1)
    return out


def contrasts(levels: int) -> FloatArray:
    """An orthonormal basis of what sums to zero over the levels."""
    centring = np.eye(levels) - 1.0 / levels
    values, vectors = np.linalg.eigh(centring)
    return np.asarray(vectors[:, values > 0.5])


def _labels(name: str, width: int, given: list[str]) -> list[str]:
    return given if width == 1 and len(given) == 1 and "[" not in given[0] else [f"{name}[{j + 1}]" for j in range(width)]
