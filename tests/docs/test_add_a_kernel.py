"""docs/add_a_kernel.md, followed to the letter in a copy of the repository: one file, for tempering and nested sampling."""

from __future__ import annotations

import re

import pytest

from zhat import zoo

pytestmark = pytest.mark.xdist_group("clone")


def test_one_kernel_serves_smc_and_nested_sampling(run, code_of):
    results = "\nfor r in (smc, nested):\n    print(r.log_evidence, r.error, r.status)"
    lines = run("-c", code_of("add_a_kernel.md")[1] + results).splitlines()[-2:]
    truth = zoo.example("E12").log_evidence
    for line in lines:
        log_evidence, error, status = line.split()
        assert status == "ok" and abs(float(log_evidence) - truth) < 4 * float(error)


def test_the_tests_of_kernels_find_it(run):
    said = run("-m", "pytest", "tests/sampling/kernels/test_kernels.py", "-k", "StudentWalk")
    assert int(re.search(r"(\d+) passed", said).group(1)) >= 2
