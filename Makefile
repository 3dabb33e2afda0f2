# Needs only Python 3.11+ and make. Every target sets up .venv itself, and again only when pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help install demo test lint types check bench paper clean

help:
	@echo "make demo     the main job on built-in data, into ./demo"
	@echo "make test     run the tests"
	@echo "make check    lint, types, tests and doctests"
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

bench: $(READY)
	$(BIN)/python -m benchmarks

paper: $(READY)
	$(BIN)/python -m experiments

clean:
	rm -rf .venv demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
