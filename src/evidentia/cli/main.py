"""``evidentia``: which methods there are, the evidence of a model in a file, models compared, a demonstration.

Commands import what they need when they run, and turn whatever happens into a sentence and an exit code.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence

from evidentia.cli.exits import EPILOG, Exit
from evidentia.cli.terminal import printable


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without ± should print something else, not stop
            stream.reconfigure(errors="replace")
    options = _parser().parse_args(arguments)
    return int(_run(options))


def _run(options: argparse.Namespace) -> Exit:
    from evidentia.errors import EvidentiaError

    try:
        commands = {"methods": _methods, "estimate": _estimate, "compare": _compare, "demo": _demo, "study": _study}
        command = commands[options.command]
        return command(options)
    except KeyboardInterrupt:
        _say("evidentia: interrupted.")
        return Exit.INTERRUPTED
    except (EvidentiaError, OSError) as error:
        _say(f"evidentia: {error}")
        bad_input = isinstance(error, ValueError | TypeError | OSError)
        return Exit.BAD_INPUT if bad_input else Exit.FAILED
    except Exception:
        _say(traceback.format_exc())
        _say("evidentia: the run ended with the error above; if that is not your model's, it is ours.")
        return Exit.FAILED


def _say(text: str) -> None:
    print(printable(text), file=sys.stderr)


def _methods(options: argparse.Namespace) -> Exit:
    from evidentia.cli.methods import run

    return run(options)


def _estimate(options: argparse.Namespace) -> Exit:
    from evidentia.cli.estimate import run

    return run(options)


def _compare(options: argparse.Namespace) -> Exit:
    from evidentia.cli.compare import run

    return run(options)


def _demo(options: argparse.Namespace) -> Exit:
    from evidentia.cli.estimate import exit_of
    from evidentia.studies.demo import compare_pine

    demonstration = compare_pine(options.seed)
    print(printable(demonstration.text))
    return max(exit_of(result) for result in demonstration.evidences)


def _study(options: argparse.Namespace) -> Exit:
    from evidentia.cli.study import run

    return run(options)


# -- the arguments -----------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="evidentia",
        description="How strongly do the data support a model? Bayesian evidence with honest errors.",
        epilog=EPILOG,
        formatter_class=layout,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    methods = commands.add_parser("methods", help="what methods there are, what they need, when to use which")
    methods.add_argument("--markdown", action="store_true", help="the table of the documentation")
    methods.add_argument(
        "--into", nargs="+", default=[], metavar="FILE", help="put that table between the markers of these files"
    )

    estimate = commands.add_parser(
        "estimate",
        help="the evidence of a model in a Python file",
        description="Estimate the evidence of a model: log Z, its error, and a verdict on both.",
        epilog=EPILOG,
        formatter_class=layout,
    )
    estimate.add_argument(
        "target",
        nargs="?",
        metavar="FILE[:name]",
        help="a Python file that defines a Model called `model`, or `name`, or a function returning one; "
        "or zoo:ID for a built-in example, such as zoo:E1",
    )
    estimate.add_argument(
        "--method",
        nargs="+",
        metavar=("NAME", "key=value"),
        help="a name that `evidentia methods` lists, and settings, such as: --method importance n_draws=10_000",
    )
    estimate.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same digits")
    estimate.add_argument("--repeats", type=int, default=1, metavar="K", help="independent runs, combined")
    estimate.add_argument("--budget-likelihoods", type=float, metavar="N", help="stop after this many evaluations")
    estimate.add_argument("--budget-seconds", type=float, metavar="S", help="stop after this time")
    estimate.add_argument("--save", metavar="PATH", help="keep the result in a .json file, its arrays in an .npz")
    estimate.add_argument("--json", action="store_true", help="one JSON object on stdout, everything else on stderr")
    estimate.add_argument("--quiet", action="store_true", help="the result and errors only")

    compare = commands.add_parser(
        "compare",
        help="models, or kept results, side by side",
        description="Compare models: log Bayes factors and posterior probabilities, with errors and a verdict.",
        epilog=EPILOG + "  (for a comparison 0 also means decided, and 1 undecided)\n",
        formatter_class=layout,
    )
    compare.add_argument(
        "targets",
        nargs="+",
        metavar="[name=]TARGET",
        help="FILE.py[:name], zoo:ID, or a result kept by `estimate --save` (.json)",
    )
    compare.add_argument("--method", nargs="+", metavar=("NAME", "key=value"), help="for the models that are run")
    compare.add_argument("--prior", nargs="+", type=float, metavar="P", help="prior probabilities, in the same order")
    compare.add_argument("--seed", type=int, metavar="N", help="the same seed gives the same digits")
    compare.add_argument("--repeats", type=int, default=1, metavar="K", help="independent runs of each model, combined")
    compare.add_argument("--until-decided", action="store_true", help="more runs where the decision is not clear")
    compare.add_argument("--explain", action="store_true", help="all pairs in words, and every reason for doubt")
    form = compare.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="one JSON object on stdout, everything else on stderr")
    form.add_argument("--markdown", action="store_true", help="the table in Markdown")
    form.add_argument("--latex", action="store_true", help="the table in LaTeX")
    compare.add_argument("--quiet", action="store_true", help="the result and errors only")

    demo = commands.add_parser("demo", help="compare the two radiata pine models of Friel & Wyse's review")
    demo.add_argument("--seed", type=int, default=1, metavar="N")

    study = commands.add_parser("study", help="every method on the review's running example, or the review's Table 1")
    study.add_argument("name", choices=("running-example", "table-1"))
    study.add_argument("--seed", type=int, default=1, metavar="N")
    study.add_argument("--sample-seed", type=int, default=0, metavar="N", help="of the simulated sample of Table 1")
    study.add_argument("--out", metavar="FOLDER", help="draw the records of the running example into this folder")
    return parser
