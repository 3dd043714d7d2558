"""Settings and processes under which nothing can run: a sentence each."""

from __future__ import annotations

import os

import jax
import pytest

import zhat
from zhat import surroundings, zoo
from zhat.errors import BadInput
from zhat.surroundings import check_surroundings


def test_a_sentence_for_each(monkeypatch):
    check_surroundings()
    with jax.numpy_dtype_promotion("strict"), pytest.raises(BadInput, match=r"numpy_dtype_promotion\('standard'\)"):
        check_surroundings()
    with jax.transfer_guard("disallow"), pytest.raises(BadInput, match=r"transfer_guard\('allow'\)"):
        check_surroundings()
    with pytest.raises(BadInput, match="call it outside"):
        jax.jit(lambda x: (check_surroundings(), x)[1])(1.0)

    def no_device(array):
        raise RuntimeError("Unable to initialize backend 'cuda'")

    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    monkeypatch.setattr(surroundings.jax, "device_put", no_device)
    with pytest.raises(BadInput, match=r"no device \(JAX_PLATFORMS='cuda';.*JAX_PLATFORMS=cpu"):
        check_surroundings()


def test_evidence_checks_them_first():
    model = zoo.example("E1").model
    with pytest.raises(BadInput, match="call it outside"):
        jax.jit(lambda x: (zhat.evidence(model), x)[1])(1.0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:os.fork")
def test_a_forked_child_says_so_instead_of_hanging():
    check_surroundings()
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            check_surroundings()
            os.write(writes, b"ran")
        except BadInput as error:
            os.write(writes, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert b"'spawn'" in os.read(reads, 1000)
    os.close(reads)
    os.close(writes)
