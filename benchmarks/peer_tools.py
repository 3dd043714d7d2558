"""The tools of the comparison with peers: what they are called, which script runs them, and in which Python."""

from __future__ import annotations

from dataclasses import dataclass

import problems


@dataclass(frozen=True)
class Tool:
    """A package at one setting."""

    name: str
    package: str
    script: str
    setting: str = "default"
    apart: bool = False  # in the environment of the peers that ask for other versions of NumPy than we do
    black_box: bool = False  # takes a likelihood without gradients, written in NumPy
    only: tuple[str, ...] = ()  # the problems that it is for; none: all

    def takes(self, problem: str) -> bool:
        """Whether it runs on a problem."""
        if problem == "skewed-6" and not self.black_box:
            return False
        return not self.only or problem in self.only


DEFAULT = "zhat, the default"
TOOLS = {
    tool.name: tool
    for tool in (
        Tool(DEFAULT, "zhat", "ours.py", black_box=True),
        Tool("zhat, the default at precision=0.1", "zhat", "ours.py", "coarse", black_box=True, only=("skewed-6",)),
        Tool("zhat, `Importance`", "zhat", "ours.py", "importance", black_box=True),
        Tool("zhat, `Bridge`", "zhat", "ours.py", "bridge", black_box=True),
        Tool("zhat, `SMC`", "zhat", "ours.py", "smc", black_box=True),
        Tool("zhat, `NestedSampling`", "zhat", "ours.py", "nested", black_box=True),
        Tool("BlackJAX SMC, random walk", "BlackJAX", "peer_blackjax_smc.py", "rw-ess0.9"),
        Tool("BlackJAX SMC, HMC", "BlackJAX", "peer_blackjax_smc.py", "hmc"),
        Tool("BlackJAX SMC, HMC, ESS 0.9", "BlackJAX", "peer_blackjax_smc.py", "hmc-ess0.9"),
        Tool("BlackJAX SMC, HMC, diagonal", "BlackJAX", "peer_blackjax_smc.py", "hmc-diagonal", only=("gaussian-100",)),
        Tool("BlackJAX nested", "BlackJAX", "peer_blackjax_nested.py"),
        Tool("BlackJAX nested, 50 deaths at once", "BlackJAX", "peer_blackjax_nested.py", "50-at-once"),
        Tool("particles, waste-free", "particles", "peer_particles.py", "waste-free", apart=True, black_box=True),
        Tool("particles, standard", "particles", "peer_particles.py", "standard", apart=True, black_box=True),
        Tool("dynesty", "dynesty", "peer_dynesty.py", apart=True, black_box=True),
        Tool("UltraNest", "UltraNest", "peer_ultranest.py", apart=True, black_box=True),
        # Three minutes a run, most of them for its networks: where calls are what counts.
        Tool("nautilus", "nautilus", "peer_nautilus.py", apart=True, black_box=True, only=("skewed-6",)),
        Tool("PyMC SMC", "PyMC", "peer_pymc.py"),
        Tool("NUTS and R bridgesampling, normal", "R bridgesampling", "peer_bridgesampling.py", "normal"),
        Tool("NUTS and R bridgesampling, warp3", "R bridgesampling", "peer_bridgesampling.py", "warp3"),
    )
}
PROBLEMS = tuple(problems.PROBLEMS)
