"""What every command prints with --json keeps to the schema that `zhat schema` prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import zhat
from zhat.cli import main
from zhat.cli.commands.schema import SCHEMAS, schema_of
from zhat.cli.program import parser

jsonschema = pytest.importorskip("jsonschema")

TWO = ("zoo:E8s-none", "zoo:E8s-slope")


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A result in doubt, with several runs and a float that JSON has no word for."""
    result = zhat.evidence(zhat.zoo.example("E1").model, "harmonic-mean", seed=1, repeats=2, progress=False)
    return str(result.save(tmp_path_factory.mktemp("kept") / "run.json"))


PINE = str(Path(zhat.zoo.__file__).parent / "datasets" / "radiata_pine_friel_wyse.csv")
COMMANDS = {
    "formula": ["formula", PINE, "strength ~ density"],
    "estimate": ["estimate", "zoo:E1", "--method", "smc", "--seed", "1"],
    "estimate failed": ["estimate", "zoo:E1", "--method", "smc", "--seed", "1", "--budget", "2000"],
    "estimate approximate": ["estimate", "zoo:E1", "--method", "laplace", "--repeats", "2"],
    "crosscheck": ["crosscheck", "zoo:E1", "--seed", "1"],
    "show": ["show", "KEPT"],
    "compare": ["compare", *TWO, "--seed", "1"],
    "compare without errors": ["compare", *TWO, "--seed", "1", "--method", "harmonic-mean"],
    "average": ["average", *TWO, "--seed", "1", "--quantity", "QUANTITY"],
    "sensitivity": ["sensitivity", "zoo:E1", "--vary", "scale", "--values", "0.5", "2", "--seed", "1"],
    "methods": ["methods"],
    "cite": ["cite", "KEPT", "smc"],
    "demo": ["demo"],
    "study": ["study", "table-1"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_output_keeps_to_its_schema(name, kept, tmp_path, capsys):
    file = tmp_path / "quantity.py"
    file.write_text(
        "def first(params):\n    return next(iter(params.values())).reshape(len(next(iter(params.values()))), -1)[:, 0]\n"
    )
    words = [kept if word == "KEPT" else f"{file}:first" if word == "QUANTITY" else word for word in COMMANDS[name]]
    main([*words, "--json"])
    out = capsys.readouterr().out
    schema = schema_of(words[0])
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(out), schema)


def test_every_command_with_json_has_a_schema():
    (commands,) = [action for action in parser()._actions if hasattr(action, "choices") and isinstance(action.choices, dict)]
    with_json = {name for name, sub in commands.choices.items() if any("--json" in a.option_strings for a in sub._actions)}
    assert with_json == set(SCHEMAS) == {words[0] for words in COMMANDS.values()}


def test_a_schema_refuses_what_is_not_said(capsys):
    assert main(["schema", "compare"]) == 0
    schema = json.loads(capsys.readouterr().out)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"models": []}, schema)
