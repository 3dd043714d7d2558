"""The order of families: each run has a name and a number of its own, and what is too expensive does not run."""

import numpyro.distributions as dist
import pytest

from zhat import Model, zoo
from zhat.run.families import End, first, following, thorough


def model(d, black_box=False):
    prior = {"x": dist.Normal(0.0, 1.0).expand([d]).to_event(1)}
    return Model.black_box(lambda p: 0.0, prior) if black_box else Model(lambda p: 0.0, prior)


@pytest.mark.parametrize("d", [2, 31, 65, 250, 1000])
@pytest.mark.parametrize("black_box", [False, True])
def test_no_two_runs_share_random_numbers(d, black_box):
    for families in (following(model(d, black_box), False), following(model(d, black_box), True), thorough(model(d, black_box))):
        keys = [(family.method.name, family.number) for family in families]
        assert len(keys) == len(set(keys))


def test_thresholds_come_first_where_importance_sampling_is_accepted_or_regions_are_cheap():
    for d, accepted, end in ((5, True, End.THRESHOLDS), (5, False, End.TEMPERING), (4, False, End.THRESHOLDS)):
        assert next(iter(following(model(d), accepted))).end is end


def test_nested_sampling_runs_in_few_dimensions_and_gradients_where_there_are_some():
    labels = {family.label for family in thorough(model(31))}
    assert labels == {"importance", "smc", "bridge", "smc by HMC"}
    assert "smc by HMC" not in {family.label for family in thorough(model(31, black_box=True))}


def test_posterior_chains_come_first_where_nested_sampling_takes_long():
    assert [family.end for family in following(model(31), False)][:3] == [End.CHAINS, End.THRESHOLDS, End.TEMPERING]
    assert [family.end for family in following(model(65), False)][:2] == [End.CHAINS, End.TEMPERING]
    assert [family.end for family in following(model(30), False)].index(End.CHAINS) == 3
    assert End.CHAINS not in {family.end for family in following(model(401), False)}, "the draws would take gigabytes"


def test_a_path_from_the_mode_comes_first_in_hundreds_of_dimensions():
    assert first(model(201)).label == "smc from the mode"
    assert first(model(201, black_box=True)).label == first(model(200)).label == "importance"
    assert [family.label for family in following(model(1000), True)] == ["smc by HMC"]
    assert not list(following(model(1000), False)), "nobody would confirm the path from the prior"
    assert [family.label for family in thorough(model(300))] == ["smc from the mode", "bridge", "smc by HMC"]


def test_a_crosscheck_has_all_four_ends_and_repeats_come_last():
    families = list(thorough(model(5)))
    assert {family.end for family in families} == set(End)
    first_repeat = [family.repeats for family in families].index(True)
    assert all(family.repeats for family in families[first_repeat:])
    before = {family.label for family in families[:first_repeat]}
    assert {family.label for family in families[first_repeat:]} <= before


def test_declared_latents_are_integrated_first_where_that_leaves_a_standard_error():
    counts = zoo.example("coal-smooth").model
    assert first(counts).label == "inla"
    assert next(iter(following(counts, False))).label == "importance"
    assert "inla" in {family.label for family in thorough(counts)}
    for other in ("noisy-ar", "E13", "E1"):  # Gaussian observations, latents declared by name, none
        assert first(zoo.example(other).model).label == "importance"


def test_draws_of_nested_sampling_from_regions_shape_a_second_view():
    after = [family.shaped_by for family in following(model(4, black_box=True), False)]
    assert after[:2] == ["", "nested"]
    after = [family.shaped_by for family in following(model(4), False)]
    assert after[:2] == ["", "nested"]
    assert not any(family.shaped_by for family in (*following(model(4), True), *following(model(5), False)))


def test_a_black_box_of_many_parameters_has_a_rough_view_and_more_draws_before_millions_of_moves():
    few, many = (list(following(model(d, black_box=True), False)) for d in (6, 7))
    assert [family.label for family in many][:3] == ["nested", "importance at nested draws", "importance"]
    assert [family.label for family in few][:3] == ["nested", "importance at nested draws", "nested"]
    assert many[0].suffices == next(following(model(6, black_box=True), True)).suffices > few[0].suffices
    assert [family.grows_from for family in many if family.label == "importance"] == [0.25]
