# Everything runs in .venv, which is made on first use and renewed when pyproject.toml changes.

PYTHON ?= python3
BIN := .venv/bin
USABLE := .venv/.installed-library
READY := .venv/.installed
READY_TO_BENCH := .venv/.installed-bench
# Packages that we are compared with, which ask for other versions of NumPy than we do. BlackJAX and PyMC live with ours; R's bridgesampling
# is not installed here: without Rscript its runs are rows that say so.
PEERS := .venv-peers
PEERS_READY := $(PEERS)/.installed

# `make test WORKERS=1` for one process; by default one for each physical core. Tests that share a compiled model go to one worker.
WORKERS ?= auto
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

# What `make quick` runs beside the linter, by path, because a list of folders stays right when files are added: the rules of the
# house, all arithmetic, models, results, samplers, refusals of bad input, plots, and of the contract every method on one model.
# Left out: what starts processes (run, cli, docs, browser) and what runs whole methods many times (methods, missed_mass, spaces).
QUICK := $(wildcard tests/test_*.py) $(addprefix tests/,rooms numerics model results sampling bad_input report/pictures \
	comparing/test_comparison.py contract/test_contract.py)
QUICK_OF_CONTRACT := not test_contract or E1-

.PHONY: help quick test slow contract golden lint format demo docs calibrate calibrate-models traps bench measure clean

help:
	@echo "make demo       compare the pine and Pima models of Friel & Wyse (2012), write a report of each"
	@echo "make quick      lint and the quickest tests of every room (a minute and a half): while you work"
	@echo "make test       lint, check types, run the tests (eight minutes on two cores): before you hand in"
	@echo "make lint       ruff check, ruff format --check, mypy;  make format: apply both"
	@echo "make slow       the tests that make test leaves out, but for the next two"
	@echo "make contract   every method on every exact model and trap (half an hour)"
	@echo "make golden     are the digits of every method those that are recorded? (three minutes)"
	@echo "make docs       build the documentation into site/"
	@echo "make calibrate  are the reported standard errors honest? (up to an hour)"
	@echo "make calibrate-models  are posterior model probabilities honest? (ten minutes)"
	@echo "make traps      is any method confidently wrong on a trap? (hours; ONLY='--method smc' for one)"
	@echo "make bench      speed and accuracy against other packages"
	@echo "make measure    the size of rooms, functions and parameter lists"
	@echo "make clean      remove .venv and what tools leave behind"

quick: lint
	$(PYTEST) -m "not slow" -k "$(QUICK_OF_CONTRACT)" $(QUICK)

test: lint
	$(PYTEST) -m "not slow"

slow: $(READY)
	$(PYTEST) -m slow --ignore=tests/contract --ignore=tests/golden

contract: $(READY)
	$(PYTEST) tests/contract

golden: $(READY)
	$(PYTEST) tests/golden

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: $(USABLE)
	@$(BIN)/zhat demo --out reports
	@echo "Tables 1 and 2 and Figure 1 of Friel & Wyse (2012), with a tenth of the work ('zhat reproduce friel-wyse' does all of it):"
	@$(BIN)/zhat reproduce friel-wyse --quick --table 1 --table 2 --out reports/friel-wyse --workers 2

docs: $(READY)
	@$(BIN)/zhat methods --into README.md docs/methods.md
	@$(BIN)/zhat methods --codes --into docs/trust.md
	@$(BIN)/python -m sphinx -W --keep-going --quiet --fresh-env --write-all --builder html docs site
	@echo "open site/index.html"

# ONLY narrows it: make calibrate ONLY="--method smc --model E1 --runs 40"
ONLY ?=

calibrate: $(READY)
	$(BIN)/python calibration/run.py $(ONLY)

calibrate-models: $(READY)
	$(BIN)/python calibration/sbc.py $(ONLY)

traps: $(READY)
	$(BIN)/python calibration/traps.py $(ONLY)

measure: $(READY)
	$(BIN)/python tests/rooms/measure.py

bench: $(READY_TO_BENCH) $(PEERS_READY)
	$(BIN)/python benchmarks/peers.py --peers-python $(PEERS)/bin/python
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/run.py

# pip rather than python: where the venv module is incomplete, a half-made .venv has the one and not the other.
$(USABLE): pyproject.toml
	@test -x $(BIN)/pip || { echo "making .venv ..."; $(PYTHON) -m venv .venv; }
	@echo "installing zhat into .venv ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(READY): $(USABLE)
	@echo "installing the tools for tests and documentation ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

$(READY_TO_BENCH): $(READY)
	@echo "installing what the benchmarks compare with ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable ".[dev,bench]"
	@touch $@

$(PEERS_READY):
	@test -x $(PEERS)/bin/pip || { echo "making $(PEERS) ..."; $(PYTHON) -m venv $(PEERS); }
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check "dynesty>=2.1" "nautilus-sampler>=1.0" "particles>=0.4" "ultranest>=4.0"
	@touch $@

clean:
	rm -rf .venv $(PEERS) .pytest_cache .mypy_cache .ruff_cache build dist site docs/generated reports
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
