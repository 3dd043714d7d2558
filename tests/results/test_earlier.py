"""Files that the project wrote under its first name still load: the digits, the record, and a reading of it."""

from pathlib import Path

import numpy as np
import pytest

import zhat
from zhat.results.earlier import brought_up_to_date

FOLDER = Path(__file__).with_name("written_as_evidentia")
WRITTEN = {"smc": -7.96, "nested": -7.86, "importance": -8.153, "chib": -8.1452, "laplace": -8.25, "stepping-stone": -7.84}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_file_of_the_first_name_loads(name):
    found = zhat.Evidence.load(FOLDER / f"{name}.json")
    assert found.method == name
    assert found.log_evidence == pytest.approx(WRITTEN[name], abs=0.005)
    assert not {"n_eves", "look_from_mode", "climb"} & {*found.diagnostics, *found.settings}


def test_its_record_can_be_read_by_another_method():
    found = zhat.Evidence.load(FOLDER / "stepping-stone.json")
    assert len(found.record.ancestors) == len(found.record.betas)
    assert np.isfinite(zhat.read(found, "power-posterior").log_evidence)


def test_saved_again_it_is_of_this_schema(tmp_path):
    found = zhat.Evidence.load(FOLDER / "nested.json")
    again = zhat.Evidence.load(found.save(tmp_path / "again.json"))
    assert again.log_evidence == found.log_evidence
    assert "evidentia" not in (tmp_path / "again.json").read_text().replace('"evidentia": "0.1.0"', "")


@pytest.mark.parametrize("hostile", [None, 3, [], {"record": 5, "settings": [1]}])
def test_what_is_not_an_evidence_is_left_for_the_decoder_to_refuse(hostile):
    assert brought_up_to_date(hostile) == hostile
