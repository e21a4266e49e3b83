# One command sets up and runs, one sets up and tests. Needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
WITH_TOOLS := $(VENV)/.installed-with-tools
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
JOBS ?= auto

.PHONY: help demo test quick check lint types bench docs docs-serve format clean

help:
	@echo "make demo    set up, then learn drawings of household objects and explain two answers"
	@echo "make test    set up, then run all tests"
	@echo "make quick   set up, then run the tests for the working day: no browser, no processes, nothing slow"
	@echo "make check   what CI runs: formatting, lint, types, import order, tests"
	@echo "make bench   speed and memory as ratios (some minutes)"
	@echo "make docs    build the documentation site into site/; make docs-serve shows it while you write"
	@echo "make format  bring the code into shape"
	@echo "make clean   remove what was installed and cached here"

$(BIN)/python:
	$(PYTHON) -c "import sys; assert sys.version_info >= (3, 11), 'exll needs Python 3.11 or newer'"
	$(PYTHON) -m venv $(VENV)

# What exll itself needs: enough for the demo.
$(INSTALLED): pyproject.toml src/exll/version.py | $(BIN)/python
	$(PIP) --editable .
	@touch $@

# The same with the tools for tests and checks.
$(WITH_TOOLS): pyproject.toml src/exll/version.py | $(BIN)/python
	$(PIP) --editable ".[dev]"
	@touch $(INSTALLED) $@

demo: $(INSTALLED)
	$(BIN)/exll demo

test: $(WITH_TOOLS)
	$(BIN)/pytest -q -n $(JOBS) --dist worksteal

quick: $(WITH_TOOLS)
	$(BIN)/pytest -q -n $(JOBS) --dist worksteal -m "not browser and not process and not fuzz and not slow"

check: lint types test

lint: $(WITH_TOOLS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(WITH_TOOLS)
	$(BIN)/mypy

bench: $(WITH_TOOLS)
	$(BIN)/python benchmarks/speed.py

docs: $(WITH_TOOLS)
	$(BIN)/mkdocs build --strict

docs-serve: $(WITH_TOOLS)
	$(BIN)/mkdocs serve

format: $(WITH_TOOLS)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis site
