# One command sets up and runs, one sets up and tests. Needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= auto

.PHONY: help demo test check lint types bench format clean

help:
	@echo "make demo    set up, then learn handwritten digits and explain what was learned"
	@echo "make test    set up, then run all tests"
	@echo "make check   what CI runs: formatting, lint, types, import order, tests"
	@echo "make bench   speed and memory as ratios (some minutes)"
	@echo "make format  bring the code into shape"
	@echo "make clean   remove what was installed and cached here"

$(STAMP): pyproject.toml src/exll/version.py
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'exll needs Python 3.11 or newer'"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(STAMP)
	$(BIN)/exll demo

test: $(STAMP)
	$(BIN)/pytest -q -n $(JOBS)

check: lint types test

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(STAMP)
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python benchmarks/speed.py

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
