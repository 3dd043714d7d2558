"""Evidence from draws that the caller has: right numbers, nothing sampled, and draws of something else told apart with the reason."""

from __future__ import annotations

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest

import zhat
from zhat import zoo
from zhat.errors import BadInput, BadType, ShapeError
from zhat.results.estimate import Level
from zhat.sampling.backend.backend import constrain_batch
from zhat.sampling.backend.loop import Loop
from zhat.sampling.chains.posterior import ChainSettings, run_chains
from zhat.seeding import Key

pytestmark = pytest.mark.xdist_group("E8")

NO_CHECK = zhat.Bridge(mode_check=False)


@cache
def example():
    return zoo.example("E8")


@cache
def fit():
    """4 x 1000 posterior draws of E8 with their log densities, by this library's own chains."""
    model = example().model
    with jax.enable_x64(True):
        chains = run_chains(model, Key(3), Loop(None, False, "fit"), ChainSettings(4, 200, 1000))
        params, _ = constrain_batch(model, chains.draws.position)
    arrays = {name: np.asarray(x).reshape(4, 1000, *np.shape(x)[1:]) for name, x in params.items()}
    return arrays, (chains.draws.log_prior + chains.draws.log_likelihood).reshape(4, 1000)


def draws():
    return dict(fit()[0])


def tree(posterior=None, lp=None, **groups):
    """An ArviZ-like object: groups are attributes with data_vars."""
    az = pytest.importorskip("arviz_base")
    content = {"posterior": posterior or draws(), **groups}
    if lp is not None:
        content["sample_stats"] = {"lp": lp}
    return az.from_dict(content)


def estimate(source, method=NO_CHECK, model=None):
    return zhat.evidence(model or example().model, method, draws=source, seed=1, progress=False)


def test_draws_give_the_evidence_and_nothing_is_sampled():
    result = estimate(draws())
    assert result.status.is_ok and result.method == "bridge"
    assert abs(result.log_evidence - example().log_evidence) < 4.5 * result.log_evidence_se
    assert result.log_evidence_se < 0.01
    # Prior draws of the first checks, each draw once, its reflection, and two evaluations of as many proposals.
    assert result.cost.n_likelihood <= 1100 + 4 * 4000
    assert result.settings["draws"]["chains"] == 4 and result.diagnostics["given_r_hat"] < 1.02
    assert "not checked" in result.explain()


def test_every_container_gives_the_same_digits(tmp_path):
    arrays, lp = fit()
    first = estimate(arrays).log_evidence
    np.savez(tmp_path / "fit.npz", **arrays)
    others = [tree(lp=lp), tree(lp=-lp), tmp_path / "fit.npz", str(tmp_path / "fit.npz")]
    pytest.importorskip("h5netcdf")
    tree(lp=lp).to_netcdf(tmp_path / "fit.nc")
    others.append(tmp_path / "fit.nc")
    for source in others:
        assert estimate(source).log_evidence == first


def test_by_default_bridge_sampling_runs_with_a_check_for_missed_mass():
    result = zhat.evidence(example().model, draws=draws(), seed=1, progress=False)
    assert result.status.is_ok and result.method == "bridge" and "given" in result.why_this_method
    assert result.diagnostics["mode_check"] == "done" and "not checked" not in result.explain()


def test_numpyros_mcmc_object_is_model_data_and_draws_in_one():
    def program(y):
        mu = numpyro.sample("mu", dist.Normal(0.0, 2.0))
        numpyro.deterministic("twice", 2.0 * mu)
        numpyro.sample("y", dist.Normal(mu, 1.0), obs=y)

    y = np.array([1.2, -0.4, 0.7, 2.1, 0.3])
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(program), num_warmup=300, num_samples=500, num_chains=2, chain_method="vectorized", progress_bar=False
    )
    sampler.run(jax.random.key(1), y, extra_fields=("potential_energy",))
    result = zhat.evidence(sampler, NO_CHECK, seed=1, progress=False)
    assert result.status.is_ok and abs(result.diagnostics["lp_constant"]) < 1e-3
    assert result.diagnostics["ignored_names"] == ["twice"]
    assert abs(result.log_evidence - zoo.example("E1").log_evidence) < 4.5 * result.log_evidence_se
    proposal = zhat.proposal_from_draws(zhat.Model.from_numpyro(program, y), sampler)
    assert np.isfinite(proposal.log_density(np.zeros((1, 1)))).all()


# -- draws of something else ----------------------------------------------------------------------------------------------


def swapped():
    arrays = draws()
    name = next(name for name, x in arrays.items() if x.ndim == 3)
    return {**arrays, name: arrays[name][..., ::-1]}


def test_exchanged_columns_are_named():
    result = estimate(swapped())
    assert result.status.level is Level.FAILED and result.status.reasons[0].code == "foreign-draws"
    assert "Exchanging" in result.status.reasons[0].sentence
    stored = estimate(tree(swapped(), lp=fit()[1]))
    assert "two columns of the draws are exchanged" in stored.status.reasons[0].sentence


def test_other_data_and_another_prior_are_told_apart():
    model = example().model
    x, y = model.data
    other = model.with_data((x, np.asarray(y) + np.linspace(-1.0, 1.0, len(y))))
    assert estimate(draws(), model=other).status.reasons[0].code == "foreign-draws"
    result = estimate(tree(lp=fit()[1]), model=other)
    assert result.status.level is Level.FAILED and "from draw to draw" in result.status.reasons[0].sentence


def test_a_constant_that_one_side_lacks_is_said():
    result = estimate(tree(lp=fit()[1] + 1.75))
    assert str(result.status) == "suspect (constant-differs)" and "+1.75" in result.status.reasons[0].sentence
    stan = tree(lp=fit()[1] + 1.75)
    stan["posterior"].attrs["inference_library"] = "cmdstanpy"
    assert estimate(stan).status.is_ok


def test_stored_totals_tell_the_likelihood_from_the_prior():
    arrays, lp = fit()
    model = example().model
    flat = {name: x.reshape(-1, *x.shape[2:]) for name, x in arrays.items()}
    log_prior = np.array([model.evaluate(**{k: v[i] for k, v in flat.items()}) for i in range(0, 4000, 400)])
    assert np.isfinite(log_prior).all()
    right = estimate(arrays)
    likelihood = right.record.log_likelihood.reshape(4, 1000)
    assert estimate(tree(lp=lp, log_likelihood={"y": likelihood})).status.is_ok
    wrong = estimate(tree(log_likelihood={"y": likelihood * 1.1}))
    assert wrong.status.level is Level.FAILED and "log likelihood stored" in wrong.status.reasons[0].sentence


def test_a_resampled_set_is_flagged():
    rows = np.random.default_rng(1).integers(0, 1000, 1000)
    result = estimate({name: x[:, rows] for name, x in fit()[0].items()})
    assert "repeated-draws" in str(result.status)


def test_clipped_draws_are_flagged():
    """Every parameter cut at its quantiles of 2 and 98 %: bridge sampling was ok at up to 4.6 standard errors from the truth."""
    arrays = {
        name: np.clip(x, np.quantile(x, 0.02, axis=(0, 1)), np.quantile(x, 0.98, axis=(0, 1))) for name, x in fit()[0].items()
    }
    result = zhat.evidence(example().model, NO_CHECK, draws=arrays, seed=1, progress=False)
    assert "repeated-draws" in str(result.status) and "clipped" in result.explain()
    few = {name: x[:, ::20] for name, x in fit()[0].items()}  # one draw stands at each end
    assert "repeated-draws" not in str(estimate(few).status)


def test_chains_that_disagree_are_flagged():
    arrays = draws()
    order = np.argsort(arrays[next(iter(arrays))].reshape(4000, -1)[:, 0])
    result = estimate({name: x.reshape(4000, *x.shape[2:])[order].reshape(x.shape) for name, x in arrays.items()})
    assert "chains-disagree" in str(result.status)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda d: {"other": next(iter(d.values()))}, BadInput, "lack the parameter"),
        (lambda d: {k: v[:, :20] for k, v in d.items()}, BadInput, "too few"),
        (lambda d: {k: v[..., None] for k, v in d.items()}, ShapeError, "a draw of it has shape"),
        (lambda d: {k: np.where(v == v.max(), np.nan, v) for k, v in d.items()}, BadInput, "not finite"),
        (lambda d: 3.0, BadType, "draws is a float"),
        (lambda d: "nowhere.nc", BadInput, "there is no file nowhere.nc"),
    ],
)
def test_what_cannot_be_draws_is_refused_at_the_door(change, error, words):
    with pytest.raises(error, match=words):
        estimate(change(draws()))


def test_draws_outside_of_the_support_are_refused():
    arrays = draws()
    positive = next(site.name for site in example().model.space.sites if "Real" not in site.support)
    arrays[positive] = -arrays[positive]
    with pytest.raises(BadInput, match="outside of the support"):
        estimate(arrays)


def test_methods_and_repeats_that_make_no_sense_are_refused():
    with pytest.raises(BadInput, match="makes its own draws"):
        estimate(draws(), "smc")
    with pytest.raises(BadInput, match="repeats=3"):
        zhat.evidence(example().model, draws=draws(), repeats=3, seed=1, progress=False)


# -- other methods, comparisons -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["reciprocal", "chib-jeliazkov", "laplace-metropolis", "harmonic-mean", "importance"])
def test_other_methods_use_the_draws(method):
    result = estimate(draws(), method)
    assert result.settings["draws"]["draws"] == 1000
    if method == "harmonic-mean":
        assert not result.status.is_ok
        return
    assert result.status.is_ok, result.explain()
    assert abs(result.log_evidence - example().log_evidence) < 4.5 * result.error
    if method not in ("importance", "laplace-metropolis"):
        assert result.record.position.shape[0] if hasattr(result.record, "position") else len(result.record.final.position)


def test_a_result_can_be_read_and_used_as_draws():
    result = estimate(draws())
    again = zhat.read(result, zhat.Reciprocal())
    assert again.cost.n_likelihood == 0 and abs(again.log_evidence - example().log_evidence) < 4.5 * again.log_evidence_se
    assert estimate(result).log_evidence == pytest.approx(result.log_evidence, abs=1e-9)
    with pytest.raises(BadInput, match="draws=result"):
        zhat.read(result, "bridge")


def test_models_with_draws_are_compared():
    model = example().model
    smaller = zoo.example("E8s-slope")
    comparison = zhat.compare({"line": (model, draws()), "slope": smaller.model}, NO_CHECK, seed=1, progress=False)
    truth = example().log_evidence - smaller.log_evidence
    factor = comparison.log_bayes_factor("line", "slope")
    assert abs(factor.value - truth) < 4.5 * factor.se
    assert comparison.evidences["line"].settings["draws"]["chains"] == 4


def test_what_a_comparison_refuses_of_draws_it_refuses_before_anything_runs(monkeypatch):
    smaller = zoo.example("E8s-slope").model
    monkeypatch.setattr("zhat.comparing.compare.run_models", lambda *args, **settings: pytest.fail("a model was run"))
    pair = {"slope": smaller, "line": (example().model, {"other": np.zeros((4, 1000))})}
    with pytest.raises(BadInput, match="lack the parameter"):
        zhat.compare(pair, seed=1, progress=False)
    with pytest.raises(BadInput, match="makes its own draws"):
        zhat.compare({**pair, "line": (example().model, draws())}, "smc", seed=1, progress=False)
    with pytest.raises(BadInput, match=r"'line' failed and cannot be compared \(failed \(foreign-draws\)\): the mean slope"):
        zhat.compare({**pair, "line": (example().model, swapped())}, seed=1, progress=False)


def test_a_comparison_takes_numpyros_mcmc_object():
    y = np.array([1.2, -0.4, 0.7, 2.1, 0.3])

    def free(y):
        numpyro.sample("y", dist.Normal(numpyro.sample("mu", dist.Normal(0.0, 2.0)), 1.0), obs=y)

    def wide(y):
        numpyro.sample("y", dist.Normal(numpyro.sample("mu", dist.Normal(0.0, 20.0)), 1.0), obs=y)

    def sampler(program):
        mcmc = numpyro.infer.MCMC(
            numpyro.infer.NUTS(program),
            num_warmup=200,
            num_samples=500,
            num_chains=2,
            chain_method="vectorized",
            progress_bar=False,
        )
        mcmc.run(jax.random.key(1), y)
        return mcmc

    factor = zhat.compare({"free": sampler(free), "wide": sampler(wide)}, NO_CHECK, seed=1, progress=False).log_bayes_factor(
        "free", "wide"
    )
    s = [np.log(1.0 + 5.0 * v) / 2.0 - 0.5 * y.sum() ** 2 / (5.0 + 1.0 / v) for v in (4.0, 400.0)]
    assert abs(factor.value - (s[1] - s[0])) < 4.5 * factor.se


@pytest.mark.parametrize("method", [None, "importance"])
def test_a_density_fitted_to_draws_is_checked_for_the_mode_that_they_missed(method):
    model = zoo.example("small-mode-10").model
    main = np.random.default_rng(1).standard_normal((4, 1000, 10)) * np.sqrt(100.0 / 101.0)  # exact draws of the mode with 0.97
    result = zhat.evidence(model, method, draws={"x": main}, seed=1, progress=False)
    assert not result.status.is_ok and {"missed-peak", "missed-mode"} & {reason.code for reason in result.status.reasons}


# -- how the arrays are arranged ------------------------------------------------------------------------------------------


def gaussian():
    """A Gaussian in three dimensions whose log evidence is -1.5 log 2."""
    prior = {"x": dist.Normal(0.0, 1.0).expand([3]).to_event(1)}
    return zhat.Model(lambda p: -0.5 * jax.numpy.sum(p["x"] ** 2), prior, name="gaussian")


def slow_chains(n_chains, n_draws, rho=0.7):
    """Exact posterior draws of it, along chains that have the correlation rho."""
    rng = np.random.default_rng(1)
    z = np.empty((n_chains, n_draws, 3))
    z[:, 0] = rng.standard_normal((n_chains, 3))
    for t in range(1, n_draws):
        z[:, t] = rho * z[:, t - 1] + np.sqrt(1.0 - rho**2) * rng.standard_normal((n_chains, 3))
    return z * np.sqrt(0.5)


def test_exchanged_axes_are_refused():
    x = slow_chains(4, 1000)
    assert estimate({"x": x}, model=gaussian()).status.is_ok
    with pytest.raises(BadInput, match=r"the first two axes are exchanged.*x\.swapaxes\(0, 1\)"):
        estimate({"x": x.swapaxes(0, 1)}, model=gaussian())
    with pytest.raises(BadInput, match="4,000 chains of 1 draw each"):
        estimate({"x": x.reshape(4000, 1, 3)}, model=gaussian())


def test_many_short_chains_are_taken():
    result = estimate({"x": slow_chains(1500, 20, rho=0.1)}, model=gaussian())
    assert result.status.is_ok and result.settings["draws"]["chains"] == 750
    moved = estimate({"x": slow_chains(1500, 20, rho=0.1) + 0.3}, model=gaussian())  # every check runs on so short chains
    assert "foreign-draws" in str(moved.status)


def test_interleaved_walkers_are_flagged_and_importance_sampling_answers():
    flattened = {"x": slow_chains(32, 500).swapaxes(0, 1).reshape(-1, 3)}
    result = estimate(flattened, model=gaussian())
    assert "interleaved" in str(result.status) and "32 places later" in result.explain()
    answered = zhat.evidence(gaussian(), draws=flattened, seed=1, progress=False)
    assert answered.method == "importance" and answered.status.is_ok and "interleaved" in answered.why_this_method
    assert abs(answered.log_evidence + 1.5 * np.log(2.0)) < 4.5 * answered.log_evidence_se


@pytest.mark.parametrize(
    ("x", "error", "words"),
    [
        (np.ones((4, 1000, 3)), BadInput, r"'x\[0\]' is the same in every draw"),
        (np.ma.masked_greater(slow_chains(4, 100), 0.5), BadInput, "masked values"),
        (slow_chains(4, 100) * 1j, BadType, "complex numbers"),
        ([[1.0, 2.0], [3.0]], BadType, "not an array of numbers of one shape"),
        (np.full((4, 100, 3), "x"), BadType, "not an array of numbers of one shape"),
        (None, BadType, "is None"),
        (np.zeros((4, 0, 3)), ShapeError, "there are none"),
    ],
)
def test_arrays_that_hold_no_draws_are_refused_at_the_door(x, error, words):
    with pytest.raises(error, match=words):
        estimate({"x": x}, model=gaussian())


def test_a_precision_that_draws_cannot_give_is_refused():
    with pytest.raises(BadInput, match=r"precision=0\.001 with draws"):
        zhat.evidence(gaussian(), draws={"x": slow_chains(4, 1000)}, precision=0.001)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("cut.npz", b"PK\x03\x04 and no more", "cannot be read as an .npz"),
        ("binary.csv", b"\x89HDF\r\n\xff\xfe\x00", "is not a line of numbers"),
        ("garbage.nc", b"garbage", "cannot be opened"),
        ("empty.json", b"{}", "empty.json"),
    ],
)
def test_damaged_files_end_in_a_sentence(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=words):
        estimate(tmp_path / name, model=gaussian())
    with pytest.raises(BadInput, match="is a folder"):
        estimate(tmp_path, model=gaussian())


BOX = zhat.Model.black_box(lambda p: float(-0.5 * np.sum(p["x"] ** 2)), {"x": dist.Normal(jnp.zeros(4), 10.0).to_event(1)})


@pytest.mark.parametrize("change", [lambda x: 1.1 * x, lambda x: 0.9 * x, lambda x: x + 0.3])
def test_a_black_box_tells_foreign_draws_without_gradients(change):
    x = np.random.default_rng(7).standard_normal((4, 1000, 4))
    method = zhat.Bridge(proposal=zhat.settings.FittedNormal(), mode_check=False)
    right, wrong = (zhat.evidence(BOX, method, draws={"x": u}, seed=1, progress=False) for u in (x, change(x)))
    assert right.status.is_ok and "foreign-draws" in [reason.code for reason in wrong.status.reasons]


def test_beyond_a_wall_foreign_draws_are_told_too():
    """Shifted exponential waiting times: the score identities do not hold at the shortest of them, where the likelihood ends."""
    rng = np.random.default_rng(5)
    times = 0.3 + rng.exponential(0.5, 25)

    def log_likelihood(p, t):
        inside = jnp.sum(jnp.log(p["rate"]) - p["rate"] * (t - p["shift"]))
        return jnp.where(p["shift"] < t.min(), inside, -jnp.inf)

    model = zhat.Model(log_likelihood, {"rate": dist.Gamma(2.0, 1.0), "shift": dist.Uniform(0.0, 1.0)}, data=times)
    n, total, grid = len(times), times.sum(), np.linspace(0.0, times.min(), 4001)[:-1]
    density = (1.0 + total - n * grid) ** -(n + 2.0)
    shift = rng.choice(grid, 4000, p=density / density.sum()) + grid[1] * rng.random(4000)
    rate = rng.gamma(n + 2.0, 1.0 / (1.0 + total - n * shift))

    def codes(shift):
        draws = {"rate": rate.reshape(4, -1), "shift": shift.reshape(4, -1)}
        result = zhat.evidence(model, zhat.Bridge(mode_check=False), draws=draws, seed=1, progress=False)
        assert "score_not_tested" in result.diagnostics
        return [reason.code for reason in result.status.reasons]

    assert "foreign-draws" not in codes(shift)
    assert "foreign-draws" in codes(0.5 * (shift + times.min()))
