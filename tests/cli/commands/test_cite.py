"""`zhat cite`: entries of a result and of methods, each once."""

from __future__ import annotations

import re

import pytest

import zhat
from zhat.cli import main
from zhat.cli.exits import Exit


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    result = zhat.evidence(zhat.zoo.example("E1").model, "importance", seed=7, repeats=2, progress=False)
    return result.save(tmp_path_factory.mktemp("kept") / "run.json")


def test_cite_gives_each_entry_once(kept, capsys):
    assert main(["cite", str(kept), "importance", "smc"]) == Exit.OK
    keys = re.findall(r"^@\w+\{(\w+),", capsys.readouterr().out, re.MULTILINE)
    assert len(keys) == len(set(keys)) and {"geweke1989", "delmoral2006"} <= set(keys)
