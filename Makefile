# Needs only Python 3.11+ and make. Every target sets up .venv itself, and again only when pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help install demo test lint types check docs bench paper clean

help:
	@echo "make demo     the main job on built-in data, into ./demo"
	@echo "make test     run the tests"
	@echo "make check    lint, types, tests and doctests"
	@echo "make docs     the documentation, into ./docs/_build/html"
	@echo "make bench    speed and memory, beside the peers and the limits"
	@echo "make paper    redo the figures and claims of the paper (docs/paper.md)"
	@echo "make install  set up .venv and nothing else"

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "nearfar needs Python 3.11 or newer: make PYTHON=/path/to/python3"; exit 1; }
	@echo "setting up .venv (once)"
	@$(PYTHON) -m venv .venv
	@$(PIP) --upgrade pip
	@$(PIP) -e ".[dev]"
	@touch $(READY)

install: $(READY)

demo: $(READY)
	$(BIN)/nearfar demo demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

check: lint types test
	$(BIN)/python -m pytest -q --doctest-modules src/nearfar

$(READY)-docs: $(READY)
	@echo "setting up what the documentation needs (once)"
	@$(PIP) -e ".[docs]"
	@touch $@

docs: $(READY)-docs
	$(BIN)/sphinx-build -q -W --keep-going -j 2 docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: $(READY)
	$(BIN)/python -m benchmarks

paper: $(READY)
	$(BIN)/python -m experiments

clean:
	rm -rf .venv demo docs/_build docs/generated docs/gallery docs/tutorials docs/reference/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis
