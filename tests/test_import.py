"""`import zhat` imports no heavy library that a first answer does not use."""

import subprocess
import sys

HEAVY = ["scipy.stats", "scipy.integrate", "scipy.interpolate", "matplotlib", "pandas", "arviz_base", "pymc", "bambi", "bilby"]
HEAVY += ["formulaic", "flowjax", "distributed", "dask"]


def test_heavy_libraries_are_imported_when_they_are_used():
    program = f"import sys, zhat; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
