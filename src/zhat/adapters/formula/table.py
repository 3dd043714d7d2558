"""A table for a formula: a pandas DataFrame, a dictionary of columns, or the path of a CSV file; its columns checked one by one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from zhat.errors import BadInput, BadType

# A text column of which this share can be read as numbers was meant as numbers.
MEANT_AS_NUMBERS = 0.5


def frame_of(data: Any) -> Any:
    """A pandas DataFrame of these data."""
    import pandas as pd

    if isinstance(data, pd.DataFrame):
        frame = data
    elif isinstance(data, str | Path):
        frame = read_csv(data)
    elif isinstance(data, Mapping):
        frame = _frame_of_columns(data)
    elif hasattr(data, "to_pandas"):  # polars, pyarrow
        frame = data.to_pandas()
    else:
        raise BadType(
            f"data is a {type(data).__name__}: give a pandas DataFrame, a dictionary of columns, or the path of a CSV file."
        )
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise BadInput(f"data has the column {twice[0]!r} more than once; rename one of them.")
    if not len(frame):
        raise BadInput("data has no rows.")
    return frame


def read_csv(path: str | Path) -> Any:
    """A CSV file with a header; the separator may be a comma, a semicolon or a tab."""
    import pandas as pd

    path = Path(path)
    if not path.exists():
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*")] if path.parent.exists() else [], n=1)
        raise BadInput(f"there is no file {str(path)!r}.{f' Did you mean {near[0]!r}?' if near else ''}")
    try:
        frame = (
            pd.read_csv(path, sep=None, engine="python", skipinitialspace=True)
            if path.stat().st_size < 1_000_000
            else pd.read_csv(path)
        )
    except (ValueError, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise BadInput(f"{str(path)!r} cannot be read as a table with a header: {error}.") from error
    return frame.rename(columns=lambda name: str(name).strip())


def _frame_of_columns(data: Mapping[Any, Any]) -> Any:
    import pandas as pd

    lengths = {str(name): len(column) for name, column in data.items() if hasattr(column, "__len__")}
    if len(set(lengths.values())) > 1:
        shortest, longest = min(lengths, key=lambda k: lengths[k]), max(lengths, key=lambda k: lengths[k])
        raise BadInput(
            f"data: column {shortest!r} has {lengths[shortest]} entries and {longest!r} has {lengths[longest]}; all need the same number."
        )
    return pd.DataFrame(dict(data))


def check_columns(frame: Any, used: Iterable[str], formula: str) -> None:
    """Refuse columns that are unknown, have missing values, or are numbers written as text."""
    names = [str(name) for name in frame.columns]
    for name in used:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            guess = f" Did you mean {near[0]!r}?" if near else ""
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise BadInput(f"{formula!r}: the data have no column {name!r}.{guess} They have {shown}.")
        column = frame[name]
        missing = column.isna().to_numpy()
        if missing.any():
            raise BadInput(
                f"{formula!r}: column {name!r} has no value in {int(missing.sum())} of {len(column)} rows (the first is row "
                f"{int(np.argmax(missing)) + 1}). Models are only comparable on the same rows, so none are dropped silently: "
                f"data.dropna(subset=[...all columns of all formulas...]), or impute them."
            )
        _check_kind(name, column, formula)


def _check_kind(name: str, column: Any, formula: str) -> None:
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        raise BadType(f"{formula!r}: column {name!r} holds dates; turn them into numbers, such as days since the first.")
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(np.float64)
        if not np.isfinite(values).all():
            raise BadInput(
                f"{formula!r}: column {name!r} has the value {values[~np.isfinite(values)][0]} in row {int(np.argmax(~np.isfinite(values))) + 1}."
            )
        return
    if isinstance(column.dtype, pd.CategoricalDtype):
        return
    numbers = pd.to_numeric(column, errors="coerce")
    share = float(numbers.notna().mean())
    if share >= MEANT_AS_NUMBERS:
        first = int(np.argmax(numbers.isna().to_numpy())) if share < 1.0 else 0
        what = f"{column.iloc[first]!r} in row {first + 1} is not a number" if share < 1.0 else "they are stored as text"
        raise BadInput(
            f"{formula!r}: column {name!r} looks like numbers, but {what}; as text every value would become a level of a factor. Turn it "
            f"into numbers with pandas.to_numeric, or write C({name}) if it is a factor."
        )
