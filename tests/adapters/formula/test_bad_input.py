"""Bad formulas, tables, families and priors: one sentence each, before anything runs."""

from __future__ import annotations

import numpy as np
import numpyro.distributions as dist
import pytest

import zhat

pd = pytest.importorskip("pandas")
pytest.importorskip("formulaic")

RNG = np.random.default_rng(0)
N = 20
TABLE = pd.DataFrame(
    {
        "y": RNG.normal(size=N),
        "a": RNG.normal(size=N),
        "b": RNG.normal(size=N),
        "count": RNG.poisson(3.0, N),
        "group": list("uv") * (N // 2),
        "one": np.ones(N),
        "text": [str(v) for v in range(N)],
        "nearly": ["?", *map(str, range(N - 1))],
        "when": pd.date_range("2020-01-01", periods=N),
    }
).assign(sum=lambda d: d.a + d.b, hole=lambda d: d.a.where(d.index != 4), wide=lambda d: np.where(d.index == 2, np.inf, d.a))


@pytest.mark.parametrize(
    ("formula", "options", "words"),
    [
        ("y ~ aa", {}, r"no column 'aa'. Did you mean 'a'\?"),
        ("y ~ hole", {}, r"column 'hole' has no value in 1 of 20 rows \(the first is row 5\)"),
        ("y ~ wide", {}, "has the value inf in row 3"),
        ("y ~ y + a", {}, "'y' is the response and a term of its own mean"),
        ("log(count) ~ a + count", {}, "'count' is the response and a term"),
        ("y ~ one", {}, "cannot be told from the intercept"),
        ("y ~ a + b + sum", {}, r"column 'sum' is a linear combination of a \+ b"),
        ("y ~ text", {}, "stored as text"),
        ("y ~ nearly", {}, "'\\?' in row 1 is not a number"),
        ("y ~ when", {}, "holds dates"),
        ("y ~ (1|group)", {}, r"random effect, \(1\|group\): fit it with Bambi"),
        ("y ~ a + (a|group)", {}, "zhat.latent"),
        ("y", {}, "write response ~ terms"),
        ("y ~ a +", {}, "cannot be read"),
        ("y + a ~ b", {}, "has 2 responses"),
        ("group ~ a", {}, "text with several levels"),
        ("y ~ log(a)", {}, "is a logarithm taken of zero or less"),
        ("one ~ a", {}, "is the same in all rows"),
        ("sum ~ a + b", {}, "exactly, without any noise"),
        ("y ~ a", {"family": "poison"}, "Did you mean 'poisson'"),
        ("y ~ a", {"family": "poisson"}, "counts are whole numbers"),
        ("y ~ a", {"family": "bernoulli"}, "not only 0 and 1"),
        ("count ~ a", {"family": "bernoulli"}, r"Binomial\(trials"),
        ("one ~ a", {"family": "bernoulli"}, "is 1 in all 20 rows"),
        ("count ~ a", {"family": "binomial"}, "out of how many trials"),
        ("count ~ a", {"family": zhat.families.Binomial(trials=2)}, "successes in 2 trials"),
        ("count ~ a", {"family": zhat.families.Binomial(trials="n")}, "no column 'n'"),
        ("y ~ a", {"priors": {"c": dist.Normal(0, 1)}}, "has no coefficient 'c'"),
        ("y ~ a", {"prior": zhat.priors.JZS(), "priors": {"sigma": dist.Exponential(1.0)}}, "share the reference prior"),
        ("count ~ a", {"family": "poisson", "prior": zhat.priors.JZS()}, "is for linear models"),
        ("y ~ a:group", {}, "stands without"),
        ("y ~ a", {"priors": {"a": dist.Normal(np.zeros(2), 1)}}, "a distribution of one number"),
        ("y ~ a", {"prior": zhat.priors.NormalGamma(1.0, 1.0, precision={"a": 1.0})}, "no entry for 'Intercept'"),
    ],
)
def test_a_sentence(formula, options, words):
    with pytest.raises(zhat.errors.ZhatError, match=words):
        zhat.formula(formula, data=TABLE, **options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((3, TABLE), "formula is a int"),
        (("y ~ a", [1, 2]), "give a pandas DataFrame"),
        (("y ~ a", TABLE.iloc[:1]), "1 row"),
        (("y ~ a", TABLE.iloc[:0]), "no rows"),
        (("y ~ a + b", TABLE.iloc[:3]), "needs at least 4 rows"),
        (("y ~ a", {"y": [1, 2, 3], "a": [1, 2]}), "column 'a' has 2 entries"),
        (("y ~ a", "no_such_file.csv"), "there is no file"),
        (("y ~ a", pd.concat([TABLE, TABLE[["a"]]], axis=1)), "more than once"),
    ],
)
def test_a_sentence_on_the_table(arguments, words):
    with pytest.raises(zhat.errors.ZhatError, match=words):
        zhat.formula(*arguments)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("family", zhat.families.Poisson, r"zhat.families.Poisson\(\)"),
        ("family", 3, "family is a int"),
        ("prior", zhat.priors.JZS, r"zhat.priors.JZS\(\)"),
        ("prior", dist.Normal(0, 1), "priors of single coefficients"),
        ("priors", {"a": 2.0}, "give a NumPyro distribution"),
    ],
)
def test_wrong_kinds(option, value, words):
    with pytest.raises(zhat.errors.BadType, match=words):
        zhat.formula("y ~ a", data=TABLE, **{option: value})


@pytest.mark.parametrize(
    "make",
    [
        lambda: zhat.priors.JZS(slopes=0.0),
        lambda: zhat.priors.ZellnerSiow(scale=-1.0),
        lambda: zhat.priors.ScaledNormal(slopes=np.inf),
    ],
)
def test_scales_are_positive(make):
    with pytest.raises(zhat.errors.BadInput, match="a number above zero"):
        make()


def test_separated_classes_are_told():
    table = {"y": [0, 0, 0, 1, 1, 1], "x": [0.1, 0.5, 0.9, 1.4, 2.0, 2.2], "z": [0.3, -1.0, 0.2, 0.1, 0.4, -0.7]}
    model = zhat.formula("y ~ x", data=table, family="bernoulli")
    assert "separate the zeros" in model.described.warning
    assert "separate the zeros" in zhat.evidence(model, "laplace", seed=1).explain()
    assert not zhat.formula("y ~ z", data=table, family="bernoulli").described.warning
