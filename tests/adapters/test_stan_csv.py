"""Stan's CSV files: comments, warm-up, and what is refused."""

from __future__ import annotations

import pytest

from zhat.adapters.stan_csv import read_stan_csv
from zhat.errors import BadInput


def test_comments_are_skipped_and_saved_warm_up_is_left_out(tmp_path):
    path = tmp_path / "chain.csv"
    path.write_text(
        "# num_warmup = 2\n# save_warmup = 1\n# thin = 1\nlp__,mu\n-1,9\n-1,9\n# Adaptation terminated\n-2,1\n-3,2\n# Elapsed\n"
    )
    found = read_stan_csv(path)
    assert found["mu"].tolist() == [1.0, 2.0] and found["lp__"].tolist() == [-2.0, -3.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [("mu\n1\nx\n", "line 3"), ("mu,s\n1\n", "has 1 values for 2"), ("# no\n", "has no draws"), ("", "has no draws")],
)
def test_what_is_no_chain_is_refused(tmp_path, text, words):
    path = tmp_path / "chain.csv"
    path.write_text(text)
    with pytest.raises(BadInput, match=words):
        read_stan_csv(path)
