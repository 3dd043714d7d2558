"""Posterior draws from where users have them, recognised by what they offer; none of these libraries is imported to find out.

    a mapping of arrays                     (draw, ...) or (chain, draw, ...) by parameter
    ArviZ InferenceData or DataTree         the group posterior; sample_stats (lp, diverging), log_likelihood, log_prior if they are there
    an xarray Dataset, or a pandas frame    of the posterior
    NumPyro's MCMC object                   its samples by chain, and its potential energy if that was kept
    an emcee sampler or backend             steps x walkers; names by the order of the model's parameters
    a path                                  NetCDF or Zarr (xarray), .npz, Stan CSV (one file a chain: a list of them, or one), JSON of `save`
    an Evidence of this library             with a record of posterior draws

What the groups mean: `lp` is the log density of the *unconstrained* vector, Jacobian included (PyMC, NumPyro; Stan up to a
constant); `log_prior` and `log_likelihood` are those of the parameters themselves, without Jacobian.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from zhat.adapters.stan_csv import read_stan_csv
from zhat.errors import BadInput, BadType
from zhat.model.model import Model
from zhat.results.estimate import Evidence
from zhat.results.records import Array, Draws
from zhat.sampling.chains.given import Brought

HOW = (
    "give a dict of arrays (chains, draws, ...) by parameter, an ArviZ DataTree or InferenceData, NumPyro's MCMC object, or the path "
    "of a NetCDF, Zarr, .npz or Stan CSV file"
)
# Suffixes of files that xarray opens as a tree of groups.
TREES = {".nc", ".netcdf", ".h5", ".hdf5"}
# Files by which a folder is a Zarr store (of format 3, and of format 2).
MARKS_OF_ZARR = ("zarr.json", ".zgroup")
# An archive that unpacks to more bytes than this, and to so many times its own, is refused: draws are noise, which hardly compresses, and chains
# that stay where they are for ten moves make it ten times smaller.
MOST_UNPACKED, MOST_TIMES = 2**28, 50
# Writers of `lp` that leave out constants: Stan itself, and the users of emcee, whose own function it is.
LACK_CONSTANTS = ("stan", "emcee")


def read_draws(source: Any, model: Model) -> Brought:
    """The draws in any of these forms; `model` gives the names to an array that has none."""
    if isinstance(source, Brought):
        return source
    if isinstance(source, str | Path):
        return _file(Path(source), model)
    if isinstance(source, Evidence):
        return _evidence(source)
    if callable(getattr(source, "get_samples", None)):
        return _numpyro(source)
    if callable(getattr(source, "get_chain", None)) and callable(getattr(source, "get_log_prob", None)):
        return _emcee(source, model)
    posterior = _group(source, "posterior")
    if posterior is not None:
        return _arviz(source, posterior, model)
    if hasattr(source, "data_vars"):
        return Brought(_variables(_unstacked(source)), "a Dataset")
    if hasattr(source, "columns") and hasattr(source, "to_numpy"):
        return _frame(source)
    if isinstance(source, Mapping):
        return Brought({str(name): values for name, values in source.items()})
    if isinstance(source, Sequence) and source and all(isinstance(item, str | Path) for item in source):
        return _stan([Path(item) for item in source])
    kind = type(source)
    shown = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    raise BadType(f"draws is a {shown}: {HOW}.")


def model_of(source: Any) -> Model | None:
    """The model, with its data, behind NumPyro's MCMC object after a run; None for anything else."""
    if not callable(getattr(source, "get_samples", None)) or not hasattr(source, "sampler"):
        return None
    function, args, kwargs = (
        getattr(source.sampler, "model", None),
        getattr(source, "_args", None),
        getattr(source, "_kwargs", None),
    )
    if function is None or args is None or kwargs is None:
        raise BadInput(
            "this MCMC object does not hold its model and data (it has not run, or has a potential function instead of a model): "
            "give both, zhat.evidence(zhat.Model.from_numpyro(function, ...), draws=mcmc)."
        )
    return Model.from_numpyro(function, *args, **kwargs)


# -- containers ----------------------------------------------------------------------------------------------------------


def _numpyro(source: Any) -> Brought:
    if not getattr(source, "_states", True):
        raise BadInput("draws: this MCMC object has no draws yet; call its run(...) first.")
    values = {str(name): np.asarray(array) for name, array in source.get_samples(group_by_chain=True).items()}
    extra = source.get_extra_fields(group_by_chain=True) if callable(getattr(source, "get_extra_fields", None)) else {}
    energy, diverging = extra.get("potential_energy"), extra.get("diverging")
    return Brought(
        values,
        "NumPyro's MCMC",
        lp=None if energy is None else -np.asarray(energy, np.float64),
        n_divergent=0 if diverging is None else int(np.sum(diverging)),
    )


def _arviz(source: Any, posterior: Any, model: Model) -> Brought:
    stats = _group(source, "sample_stats")
    kept = {} if stats is None else _variables(stats)
    if "log_weight" in kept and np.ptp(kept["log_weight"]) > 0.0:
        raise BadInput(
            "draws: sample_stats has log_weight, so these draws are weighted; resample them, or give equally weighted ones."
        )
    writer = str(getattr(posterior, "attrs", {}).get("inference_library", "")).lower()
    return Brought(
        _variables(posterior),
        f"ArviZ ({writer})" if writer else "ArviZ",
        lp=kept.get("lp"),
        lp_lacks_constants=any(name in writer for name in LACK_CONSTANTS) or any(getattr(model.space, "constants", ())),
        log_likelihood=_total(_group(source, "log_likelihood")),
        log_prior=_total(_group(source, "log_prior")),
        n_divergent=int(np.sum(kept.get("diverging", 0))),
        coupled="emcee" in writer,
    )


def _group(source: Any, name: str) -> Any:
    """A group of InferenceData or DataTree as something with `data_vars`; None where there is none."""
    found = getattr(source, name, None)
    if found is None and isinstance(source, Mapping) and name in source:
        found = source[name]
    return found if hasattr(found, "data_vars") else None


def _unstacked(dataset: Any) -> Any:
    """The data set with its chains apart, if ArviZ's `extract` has stacked all of them."""
    if "sample" not in dataset.dims:
        return dataset
    whole = {"chain", "draw"} <= set(dataset.coords) and dataset.sizes["sample"] == np.prod(
        [len(np.unique(dataset[name])) for name in ("chain", "draw")]
    )
    if not whole:
        raise BadInput(
            "draws: this Dataset holds some of the draws, without their order in chains (arviz.extract), so their standard error cannot be "
            "known; give the InferenceData or DataTree itself."
        )
    return dataset.unstack("sample")


def _variables(group: Any) -> dict[str, Array]:
    """The variables with chain and draw first."""
    out = {}
    for name in group.data_vars:
        variable = group[name]
        leading = [dim for dim in ("chain", "draw") if dim in variable.dims]
        if leading:
            out[str(name)] = np.asarray(variable.transpose(*leading, ...).values)
    return out


def _total(group: Any) -> Array | None:
    """The sum over everything but chain and draw, over all variables of a group."""
    if group is None:
        return None
    parts = [np.asarray(x, np.float64).reshape(*x.shape[:2], -1).sum(axis=2) for x in _variables(group).values() if x.ndim >= 2]
    return np.sum(parts, axis=0) if parts else None


def _emcee(source: Any, model: Model) -> Brought:
    chain, lp = np.asarray(source.get_chain(), np.float64), np.asarray(source.get_log_prob(), np.float64)
    sizes = [int(np.prod(site.shape, dtype=np.int64)) for site in model.space.sites]
    if chain.ndim != 3 or chain.shape[2] != sum(sizes):
        raise BadInput(
            f"draws: the chain has shape {chain.shape}, steps x walkers x parameters, and {model.name!r} has {sum(sizes)} numbers "
            f"({', '.join(model.space.names)}); give a dict of arrays by name."
        )
    by_walker = chain.swapaxes(0, 1)
    ends = np.cumsum([0, *sizes])
    values = {
        site.name: by_walker[..., ends[i] : ends[i + 1]].reshape(*by_walker.shape[:2], *site.shape)
        for i, site in enumerate(model.space.sites)
    }
    # Its density is that of the parameters themselves, and often not normalised; the comparison allows for both.
    return Brought(values, "emcee", lp=lp.swapaxes(0, 1), lp_lacks_constants=True, coupled=True)


def _evidence(source: Evidence) -> Brought:
    record = source.record
    draws = record if isinstance(record, Draws) else getattr(record, "final", None)
    if not isinstance(draws, Draws) or not draws.parameters:
        raise BadInput(f"draws: this Evidence by {source.method} has no posterior draws in its record.")
    if draws.log_weight is not None and np.ptp(draws.log_weight) > 0.0:
        raise BadInput(f"draws: the posterior draws of this Evidence by {source.method} are weighted; give draws of chains.")
    n_chains = 1 if draws.chain is None else len(np.unique(draws.chain))
    values = {name: x.reshape(n_chains, -1, *x.shape[1:]) for name, x in draws.parameters.items()}
    total = (draws.log_prior + draws.log_likelihood).reshape(n_chains, -1)
    return Brought(values, f"an Evidence by {source.method}", lp=total)


def _frame(source: Any) -> Brought:
    columns = {str(name): np.asarray(source[name], np.float64) for name in source.columns}
    chain = next((columns.pop(name) for name in ("chain", ".chain") if name in columns), None)
    for name in ("draw", ".draw", ".iteration"):
        columns.pop(name, None)
    if chain is not None:
        names, counts = np.unique(chain, return_counts=True)
        if len(set(counts)) > 1:
            raise BadInput(f"draws: the chains of the frame have {', '.join(map(str, counts))} draws; give chains of one length.")
        columns = {name: np.stack([x[chain == one] for one in names]) for name, x in columns.items()}
    return Brought(arrays_of(columns), "a frame")


# -- files ---------------------------------------------------------------------------------------------------------------


def _file(path: Path, model: Model) -> Brought:
    if any(c in path.name for c in "*?["):
        files = sorted(path.parent.glob(path.name))
        if not files:
            raise BadInput(f"draws: no file is called {path}.")
        return _stan(files)
    if not path.exists():
        raise BadInput(f"draws: there is no file {path}.")
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return _stan([path])
    if suffix == ".npz":
        return _npz(path, model)
    if suffix == ".json":
        return _evidence(Evidence.load(path))
    if suffix in TREES or _is_zarr(path):
        return read_draws(_tree(path), model)
    if path.is_dir():
        raise BadInput(f"draws: {path} is a folder; give the file, or a pattern such as {path / '*.csv'!s}.")
    raise BadInput(f"draws: {path.name} is not a kind of file that is read; {HOW}.")


def _npz(path: Path, model: Model) -> Brought:
    """The arrays of the model's parameters; the names of the others, which are not read."""
    _check_size(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            names = set(model.space.names)
            return Brought({name: arrays[name] if name in names else np.empty(0) for name in arrays.files}, path.name)
    except (Exception, MemoryError) as error:  # parsers of damaged archives raise nearly anything
        raise BadInput(
            f"draws: {path.name} cannot be read as an .npz file of arrays ({error or type(error).__name__}); write it anew with np.savez(...)."
        ) from error


def _is_zarr(path: Path) -> bool:
    """A Zarr store by its name, or a folder that is one whatever it is called."""
    return path.name.lower().endswith(".zarr") or any((path / mark).exists() for mark in MARKS_OF_ZARR)


def _is_of_emcee(path: Path) -> bool:
    """Whether an HDF5 file has the data sets of emcee's backend."""
    if not path.is_file() or not find_spec("h5py"):
        return False
    import h5py

    try:
        with h5py.File(path, "r") as file:
            return "mcmc/chain" in file and "mcmc/log_prob" in file
    except OSError:  # another format, or damaged: opening it says what is wrong
        return False


def _check_size(path: Path) -> None:
    """Refuse a small archive of huge arrays, before any is made."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except (OSError, ValueError, zipfile.BadZipFile):  # reading it says what is wrong
        return
    if size > MOST_UNPACKED and size > MOST_TIMES * path.stat().st_size:
        raise BadInput(
            f"draws: {path.name} has {path.stat().st_size / 2**20:.1f} MiB and would unpack to {size / 2**30:.1f} GiB, which draws do not; if "
            "they are yours, write them anew with np.savez(...), which does not compress."
        )


def _tree(path: Path) -> Any:
    """The tree of groups in a file, or the data set where there are no groups but draws."""
    try:
        import xarray
    except ImportError as error:
        raise BadInput(f"draws: reading {path.name} needs xarray: pip install 'zhat[arviz]'.") from error
    if _is_of_emcee(path):
        raise BadInput(
            f"draws: {path.name} is a file of emcee's, in which parameters have no names; give "
            f"emcee.backends.HDFBackend({str(path)!r}, read_only=True), or a dict of arrays by name."
        )
    zarr = _is_zarr(path)
    if zarr and find_spec("zarr") is None:
        raise BadInput(f"draws: reading {path.name} needs zarr: pip install zarr.")
    try:
        with xarray.open_datatree(path, engine="zarr" if zarr else None) as tree:
            loaded = tree.load()
    except Exception as error:  # parsers of damaged files raise nearly anything
        reason = str(error).splitlines()[0].split(". ")[0] if str(error) else type(error).__name__
        engines = (
            "" if find_spec("h5netcdf") or find_spec("netCDF4") else "; NetCDF files of ArviZ need h5netcdf: pip install h5netcdf"
        )
        raise BadInput(f"draws: {path.name} cannot be opened: {reason.rstrip('.')}{engines}.") from error
    if _group(loaded, "posterior") is None:
        if any("draw" in variable.dims for variable in loaded.data_vars.values()):
            return loaded.to_dataset()
        raise BadInput(
            f"draws: {path.name} has no group posterior; it has {', '.join(map(str, loaded.children)) or 'no groups'}."
        )
    return loaded


def _stan(paths: list[Path]) -> Brought:
    chains = [read_stan_csv(path) for path in paths]
    names = list(chains[0])
    for path, chain in zip(paths, chains, strict=True):
        if list(chain) != names:
            raise BadInput(f"draws: {path.name} and {paths[0].name} have different columns; give the chains of one fit.")
    shortest = min(len(chain[names[0]]) for chain in chains)
    columns = {name: np.stack([chain[name][:shortest] for chain in chains]) for name in names}
    return Brought(
        arrays_of({name: x for name, x in columns.items() if not name.endswith("__")}),
        "Stan CSV",
        lp=columns.get("lp__"),
        lp_lacks_constants=True,
        n_divergent=int(np.sum(columns.get("divergent__", 0))),
    )


INDEXED = re.compile(r"^(?P<name>.+?)(?:\[(?P<brackets>[\d, ]+)\]|\.(?P<dots>\d+(?:\.\d+)*))$")


def arrays_of(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Columns such as ``theta[0]``, ``theta[1,2]`` (ArviZ, R) or ``theta.1`` (Stan) put together to arrays by name.

    Whether indices start at zero or at one is seen from the smallest of each name.
    """
    single: dict[str, Array] = {}
    parts: dict[str, dict[tuple[int, ...], Array]] = {}
    for column, values in columns.items():
        match = INDEXED.match(column)
        if match is None:
            single[column] = values
            continue
        index = tuple(int(i) for i in re.findall(r"\d+", match["brackets"] or match["dots"]))
        parts.setdefault(match["name"], {})[index] = values
    for name, by_index in parts.items():
        low = min(min(index) for index in by_index)
        if low > 1:
            raise BadInput(f"draws: the indices of {name!r} start at {low}; they must start at 0 or 1.")
        indices = np.array(list(by_index)) - low
        shape = tuple(indices.max(axis=0) + 1)
        if len(by_index) != np.prod(shape):
            raise BadInput(f"draws: {name!r} has {len(by_index)} columns, and its largest indices need {int(np.prod(shape))}.")
        first = next(iter(by_index.values()))
        out = np.empty((*first.shape, *shape))
        for index, values in zip(indices, by_index.values(), strict=True):
            out[(..., *index)] = values
        single[name] = out
    return single
