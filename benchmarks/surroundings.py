"""Homes that cannot be written, caches that are shared or damaged, threads and child processes: what a run does in each.

    python benchmarks/surroundings.py

Each case is a process of its own; its last line is printed. A case works, or ends in a sentence of ours; a traceback or a hang fails it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

RUN = "import zhat; m = zhat.zoo.example('E1').model; print(zhat.evidence(m, 'importance', seed=1, progress=False))"
THREADS = (
    "import zhat\nfrom concurrent.futures import ThreadPoolExecutor\nm = zhat.zoo.example('E1').model\n"
    "with ThreadPoolExecutor(4) as pool:\n"
    "    found = {zhat.evidence(m, 'importance', seed=1, progress=False).log_evidence for _ in range(1)}\n"
    "    jobs = [pool.submit(zhat.evidence, m, 'importance', seed=1, progress=False) for _ in range(4)]\n"
    "    found |= {job.result().log_evidence for job in jobs}\nprint(len(found), 'answer from 5 runs', found)"
)
CHILD = (
    "import multiprocessing, zhat\n"
    "def run(q):\n"
    "    try: q.put(str(zhat.evidence(zhat.zoo.example('E1').model, 'importance', seed=1, progress=False)))\n"
    "    except Exception as error: q.put(type(error).__name__ + ': ' + str(error))\n"
    "if __name__ == '__main__':\n"
    "    {before}\n    c = multiprocessing.get_context('{how}'); q = c.Queue(); p = c.Process(target=run, args=(q,)); p.start()\n"
    "    print(q.get(timeout=100)); p.join()"
)


def tried(name: str, code: str, **environment: str) -> bool:
    """Run a case; whether it ended without a traceback."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(code)
        file.flush()
        environ = {k: v for k, v in {**os.environ, **environment}.items() if v != "unset"}
        try:
            done = subprocess.run(
                [sys.executable, file.name], env=environ, capture_output=True, text=True, timeout=200, check=False
            )
        except subprocess.TimeoutExpired:
            print(f"{name}: HANGS")
            return False
    last = ((done.stdout or done.stderr).strip().splitlines() or ["nothing"])[-1]
    good = done.returncode == 0 and "Traceback" not in done.stderr
    print(f"{name}: {'' if good else 'FAILS: '}{last[:200]}", flush=True)
    return good


def main() -> int:
    """All cases."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder, "cache")
        readonly = Path(folder, "readonly")
        readonly.mkdir(mode=0o500)
        own = {"ZHAT_COMPILE_CACHE": str(cache)}
        good = [tried("a cache of its own", RUN, **own)]
        for path in cache.rglob("*-cache"):
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        good.append(tried("a cache whose files are cut in half", RUN, **own))
        for path in cache.rglob("*-cache"):
            path.write_bytes(os.urandom(500))
        good.append(tried("a cache of random bytes", RUN, **own))
        both = f"import subprocess, sys\nps = [subprocess.Popen([sys.executable, '-c', {RUN!r}]) for _ in range(2)]\nprint([p.wait() for p in ps])"
        good.append(tried("two processes and one empty cache", both, ZHAT_COMPILE_CACHE=str(Path(folder, "shared"))))
        none = {"ZHAT_COMPILE_CACHE": "unset", "XDG_CACHE_HOME": "unset"}
        good.append(tried("a home that does not exist and cannot be made", RUN, HOME="/proc/nowhere", **none))
        good.append(tried("a home that is read-only", RUN, HOME="/sys", **none))
        good.append(tried("no home", RUN, HOME="unset", **none))
        good.append(tried("a cache that is a file", RUN, ZHAT_COMPILE_CACHE=__file__))
        good.append(tried("four threads", THREADS))
        for how in ("spawn", "forkserver", "fork"):
            good.append(tried(f"a child by {how}, before any run", CHILD.format(before="pass", how=how)))
            good.append(tried(f"a child by {how}, after a run", CHILD.format(before=RUN, how=how)))
    return int(not all(good))


if __name__ == "__main__":
    sys.exit(main())
