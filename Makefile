# Everything runs in .venv, which is made on first use and renewed when pyproject.toml changes.

PYTHON ?= python3
BIN := .venv/bin
USABLE := .venv/.installed-library
READY := .venv/.installed
READY_TO_BENCH := .venv/.installed-bench
# Packages that we are compared with, which ask for other versions of NumPy than we do.
PEERS := .venv-peers
PEERS_READY := $(PEERS)/.installed

.PHONY: help test contract lint demo docs calibrate calibrate-models bench clean

help:
	@echo "make demo       compare the pine and Pima models of Friel & Wyse (2012), write a report of each"
	@echo "make test       lint, check types, run the tests"
	@echo "make contract   every method on every exact model and trap (half an hour)"
	@echo "make docs       build the documentation into site/"
	@echo "make calibrate  are the reported errors honest? (up to an hour)"
	@echo "make calibrate-models  are posterior model probabilities honest? (ten minutes)"
	@echo "make bench      speed and accuracy against other packages"
	@echo "make clean      remove .venv and what tools leave behind"

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadgroup -m "not slow"

contract: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadgroup tests/contract

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/mypy

demo: $(USABLE)
	@$(BIN)/zhat demo --out reports
	@echo "Tables 1 and 2 and Figure 1 of Friel & Wyse (2012), with a tenth of the work ('zhat reproduce friel-wyse' does all of it):"
	@$(BIN)/zhat reproduce friel-wyse --quick --table 1 --table 2 --out reports/friel-wyse --workers 2

docs: $(READY)
	@$(BIN)/zhat methods --into README.md docs/methods.md
	@$(BIN)/zhat methods --codes --into docs/trust.md
	@$(BIN)/python -m sphinx -W --keep-going --quiet --fresh-env --write-all --builder html docs site
	@echo "open site/index.html"

calibrate: $(READY)
	$(BIN)/python calibration/run.py

calibrate-models: $(READY)
	$(BIN)/python calibration/sbc.py

bench: $(READY_TO_BENCH) $(PEERS_READY)
	$(BIN)/python benchmarks/nested_against_peers.py --peers-python $(PEERS)/bin/python
	$(BIN)/python benchmarks/run.py --particles-python $(PEERS)/bin/python

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
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check "dynesty>=2.1" "particles>=0.4" "ultranest>=4.0"
	@touch $@

clean:
	rm -rf .venv $(PEERS) .pytest_cache .mypy_cache .ruff_cache build dist site docs/generated reports
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
