"""Containers of draws: what is read from each, and what is refused."""

from __future__ import annotations

import zipfile
from types import SimpleNamespace

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat
from zhat.adapters.draws import arrays_of, model_of, read_draws
from zhat.errors import BadInput, BadType

PRIOR = {"mu": dist.Normal(0.0, 1.0), "b": dist.Normal(0.0, 1.0).expand([2, 3]).to_event(2)}
MODEL = zhat.Model(lambda p: -0.5 * p["mu"] ** 2, PRIOR, name="containers")


def test_columns_are_put_together_from_zero_or_from_one():
    columns = {f"b.{i}.{j}": np.full(4, 10.0 * i + j) for i in (1, 2) for j in (1, 2, 3)} | {"mu": np.zeros(4)}
    found = arrays_of(columns)
    assert found["b"].shape == (4, 2, 3) and found["b"][0, 1, 2] == 23.0 and found["mu"].shape == (4,)
    assert arrays_of({"t[0]": np.zeros(2), "t[1]": np.ones(2)})["t"].tolist() == [[0.0, 1.0], [0.0, 1.0]]
    with pytest.raises(BadInput, match="start at 0 or 1"):
        arrays_of({"t[2]": np.zeros(2), "t[3]": np.ones(2)})
    with pytest.raises(BadInput, match="has 2 columns"):
        arrays_of({"t[1]": np.zeros(2), "t[4]": np.ones(2)})


def test_a_frame_with_a_column_of_chains():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"chain": [0, 0, 1, 1], "draw": [0, 1, 0, 1], "mu": [1.0, 2.0, 3.0, 4.0], "b[0]": 0.0, "b[1]": 1.0})
    found = read_draws(frame, MODEL).values
    assert found["mu"].tolist() == [[1.0, 2.0], [3.0, 4.0]] and found["b"].shape == (2, 2, 2) and "draw" not in found


def test_an_ensemble_has_names_by_order_and_walkers_as_chains():
    chain = np.arange(5 * 4 * 7, dtype=float).reshape(5, 4, 7)
    sampler = SimpleNamespace(get_chain=lambda: chain, get_log_prob=lambda: chain[..., 0])
    found = read_draws(sampler, MODEL)
    assert found.coupled and found.lp.shape == (4, 5)
    assert found.values["mu"].shape == (4, 5) and found.values["mu"][1, 0] == chain[0, 1, 0]
    assert found.values["b"].shape == (4, 5, 2, 3) and found.values["b"][0, 0, 1, 2] == 6.0
    short = SimpleNamespace(get_chain=lambda: chain[..., :3], get_log_prob=lambda: chain[..., 0])
    with pytest.raises(BadInput, match="7 numbers"):
        read_draws(short, MODEL)


def test_arviz_keeps_the_walkers_of_emcee_coupled_and_their_density_without_constants():
    arviz = pytest.importorskip("arviz")
    posterior, stats = {"mu": np.zeros((4, 5)), "b": np.zeros((4, 5, 2, 3))}, {"lp": np.zeros((4, 5))}
    fits = [
        arviz.from_dict(posterior, sample_stats=stats, posterior_attrs={"inference_library": name}) for name in ("emcee", "pymc")
    ]
    ensemble, chains = (read_draws(fit, MODEL) for fit in fits)
    assert ensemble.coupled and ensemble.lp_lacks_constants and not chains.coupled and not chains.lp_lacks_constants


def test_the_file_of_an_ensemble_says_how_to_read_it(tmp_path):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("h5netcdf")
    with h5py.File(tmp_path / "run.h5", "w") as file:
        file.create_dataset("mcmc/chain", data=np.zeros((5, 4, 7)))
        file.create_dataset("mcmc/log_prob", data=np.zeros((5, 4)))
    with pytest.raises(BadInput, match="HDFBackend"):
        read_draws(tmp_path / "run.h5", MODEL)


def test_numpyros_fields_become_log_densities_and_divergences():
    sampler = SimpleNamespace(
        get_samples=lambda group_by_chain: {"mu": np.zeros((2, 3))},
        get_extra_fields=lambda group_by_chain: {"potential_energy": np.ones((2, 3)), "diverging": np.eye(2, 3)},
    )
    found = read_draws(sampler, MODEL)
    assert found.lp.tolist() == (-np.ones((2, 3))).tolist() and found.n_divergent == 2
    assert model_of({"mu": 1.0}) is None
    with pytest.raises(BadInput, match="does not hold its model"):
        model_of(SimpleNamespace(get_samples=lambda: 0, sampler=SimpleNamespace(model=None)))


def test_groups_of_arviz_are_read_with_their_meanings():
    az = pytest.importorskip("arviz_base")
    tree = az.from_dict(
        {
            "posterior": {"mu": np.zeros((2, 5)), "b": np.zeros((2, 5, 2, 3))},
            "sample_stats": {"lp": np.ones((2, 5)), "diverging": np.zeros((2, 5), bool)},
            "log_likelihood": {"y": np.ones((2, 5, 4)), "w": np.ones((2, 5))},
            "log_prior": {"mu": np.ones((2, 5)), "b": np.ones((2, 5, 2, 3))},
        }
    )
    found = read_draws(tree, MODEL)
    assert found.log_likelihood.tolist() == np.full((2, 5), 5.0).tolist()
    assert found.log_prior.tolist() == np.full((2, 5), 7.0).tolist() and found.lp[0, 0] == 1.0
    weighted = az.from_dict({"posterior": {"mu": np.zeros((1, 5))}, "sample_stats": {"log_weight": np.arange(5.0)[None]}})
    with pytest.raises(BadInput, match="weighted"):
        read_draws(weighted, MODEL)


def test_files_that_are_not_draws(tmp_path):
    (tmp_path / "fit.txt").write_text("no")
    (tmp_path / "fit.nc").write_text("no")
    with pytest.raises(BadInput, match=r"fit\.txt is not a kind of file"):
        read_draws(tmp_path / "fit.txt", MODEL)
    with pytest.raises(BadInput, match=r"fit\.nc cannot be opened"):
        read_draws(tmp_path / "fit.nc", MODEL)
    with pytest.raises(BadInput, match="no file is called"):
        read_draws(str(tmp_path / "chain_*.csv"), MODEL)
    with pytest.raises(BadType, match="draws is a"):
        read_draws(3, MODEL)


def test_the_csv_files_of_stan_are_the_chains(tmp_path):
    for k in (1, 2):
        lines = ["# save_warmup = 0", "lp__,divergent__,mu," + ",".join(f"b.{i}.{j}" for j in (1, 2, 3) for i in (1, 2))]
        lines += [f"-{k}.5,0,{k},1,2,3,4,5,6"] * 4
        (tmp_path / f"fit_{k}.csv").write_text("\n".join(lines))
    for source in (str(tmp_path / "fit_*.csv"), [tmp_path / "fit_1.csv", tmp_path / "fit_2.csv"]):
        found = read_draws(source, MODEL)
        assert found.values["mu"][:, 0].tolist() == [1.0, 2.0] and found.lp_lacks_constants
        assert found.values["b"].shape == (2, 4, 2, 3) and found.values["b"][0, 0, 1, 0] == 2.0


def test_a_zarr_store_is_known_by_its_name_or_by_what_it_holds(tmp_path):
    """What ArviZ writes, in both formats, and the posterior alone; a damaged one is a sentence."""
    pytest.importorskip("zarr")
    from arviz_base import from_dict

    arrays = {"mu": np.arange(6.0).reshape(2, 3), "b": np.zeros((2, 3, 2, 3))}
    tree = from_dict({"posterior": arrays, "sample_stats": {"diverging": np.eye(2, 3, dtype=bool)}})
    tree.to_zarr(tmp_path / "fit.zarr")
    tree.to_zarr(tmp_path / "folder", zarr_format=2)
    tree["posterior"].to_dataset().to_zarr(tmp_path / "posterior.zarr")
    for name, n_divergent in (("fit.zarr", 2), ("folder", 2), ("posterior.zarr", 0)):
        found = read_draws(tmp_path / name, MODEL)
        assert found.values["mu"].tolist() == arrays["mu"].tolist() and found.n_divergent == n_divergent
    for chunk in (tmp_path / "fit.zarr" / "posterior" / "mu" / "c").rglob("*"):
        if chunk.is_file():
            chunk.write_bytes(b"x")
    with pytest.raises(BadInput, match=r"fit.zarr cannot be opened"):
        read_draws(tmp_path / "fit.zarr", MODEL)


def test_a_zarr_store_without_zarr_and_the_posterior_alone_in_a_file(tmp_path, monkeypatch):
    from arviz_base import from_dict

    (tmp_path / "fit.zarr").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("zhat.adapters.draws.find_spec", lambda name: None)
        with pytest.raises(BadInput, match="pip install zarr"):
            read_draws(tmp_path / "fit.zarr", MODEL)
    arrays = {"mu": np.arange(6.0).reshape(2, 3)}
    from_dict({"posterior": arrays})["posterior"].to_dataset().to_netcdf(tmp_path / "posterior.nc")
    assert read_draws(tmp_path / "posterior.nc", MODEL).values["mu"].tolist() == arrays["mu"].tolist()


def test_what_extract_stacked_is_taken_apart_again_or_refused_where_draws_are_missing():
    from arviz_base import from_dict

    posterior = from_dict({"posterior": {"mu": np.arange(200.0).reshape(4, 50), "b": np.zeros((4, 50, 2, 3))}})[
        "posterior"
    ].to_dataset()
    stacked = posterior.stack(sample=("chain", "draw"))
    found = read_draws(stacked, MODEL)
    assert found.values["mu"].tolist() == np.arange(200.0).reshape(4, 50).tolist() and found.values["b"].shape == (4, 50, 2, 3)
    with pytest.raises(BadInput, match="without their order in chains"):
        read_draws(stacked.isel(sample=np.random.default_rng(1).permutation(200)[:100]), MODEL)


def test_a_small_archive_of_huge_arrays_is_not_read(tmp_path):
    with (
        zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as member,
    ):
        header = {"descr": "<f8", "fortran_order": False, "shape": (2**26,)}
        np.lib.format.write_array_header_1_0(member, header)
        for _ in range(2**9):
            member.write(bytes(2**20))
    with pytest.raises(BadInput, match=r"bomb.npz has 0\.\d MiB and would unpack to 0.5 GiB"):
        read_draws(tmp_path / "bomb.npz", MODEL)
