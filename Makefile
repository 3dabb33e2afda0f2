# Needs only Python 3.11+ and make. Every target sets up .venv itself, and again only when pyproject.toml or the version changes.
# Another Python gets an environment of its own: make test PYTHON=python3.13
PYTHON ?= python3
VENV := .venv$(if $(filter python3,$(PYTHON)),,-$(notdir $(PYTHON)))
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := -m pip install --quiet --disable-pip-version-check
# uv installs in seconds what takes pip a minute and more; where it cannot reach an index that pip is set up for, pip does it.
# Without bytecode every process would compile its imports again, which takes seconds, and the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE
INSTALL = $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python $(1) || $(BIN)/python $(PIP) $(1)
TOOLS := .venv-tools
UV := $(TOOLS)/bin/uv
# two processes on two cores: threads of BLAS on top of them would only wait for each other
PYTEST := -m pytest -n 3 --dist loadfile --no-loadscope-reorder
test test-lowest test-newest dist: export OPENBLAS_NUM_THREADS := 1
TESTS ?=
PAPER ?=

.PHONY: help install demo test test-lowest test-newest lint types doctest check docs contract audit dist workflows bench paper clean

help:
	@echo "make demo         the main job on built-in data, into ./demo"
	@echo "make test         run the tests (TESTS=tests/io for some of them, PYTHON=python3.13 for another Python)"
	@echo "make check        lint, types, tests and doctests"
	@echo "make docs         the documentation, into ./docs/_build/html"
	@echo "make bench        speed and memory, beside the peers and the limits"
	@echo "make paper        redo the figures and claims of the paper (docs/paper.md; PAPER=--quick for a small one)"
	@echo "make install      set up .venv and nothing else"
	@echo "make contract     write the public names and options down again, in tests/contract.txt"
	@echo "make test-lowest  the tests on the oldest versions that pyproject.toml allows; test-newest on the newest"
	@echo "make audit        known vulnerabilities of the oldest versions that pyproject.toml allows (asks the package index)"
	@echo "make dist         build and try the distributions; make workflows checks .github/workflows"

$(READY): pyproject.toml src/nearfar/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "nearfar needs Python 3.11 or newer: make PYTHON=/path/to/python3"; exit 1; }
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python $(PIP) --upgrade pip "uv>=0.5"
	@$(call INSTALL,-e ".[dev]")
	@touch $(READY)

$(TOOLS)/.ready: pyproject.toml
	@$(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/python $(PIP) "uv>=0.5" "build>=1.2" "twine>=6.1" "check-jsonschema>=0.31"
	@touch $(TOOLS)/.ready

install: $(READY)

demo: $(READY)
	$(BIN)/nearfar demo demo

test: $(READY)
	$(BIN)/python $(PYTEST) $(TESTS)

test-lowest: $(TOOLS)/.ready
	$(UV) venv --quiet --clear --python $(PYTHON) .venv-lowest
	$(UV) pip install --quiet --compile-bytecode --python .venv-lowest/bin/python --resolution lowest-direct --editable ".[dev]"
	.venv-lowest/bin/python $(PYTEST) $(TESTS)

test-newest: $(TOOLS)/.ready
	$(UV) venv --quiet --clear --python $(PYTHON) .venv-newest
	$(UV) pip install --quiet --compile-bytecode --python .venv-newest/bin/python --resolution highest --upgrade --editable ".[dev]"
	.venv-newest/bin/python $(PYTEST) $(TESTS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

doctest: $(READY)
	$(BIN)/python $(PYTEST) -q --doctest-modules src/nearfar

check: lint types test doctest

$(READY)-docs: $(READY)
	@echo "setting up what the documentation needs (once)"
	@$(call INSTALL,-e ".[docs]")
	@touch $@

docs: $(READY)-docs
	@rm -rf docs/reference/generated
	$(BIN)/sphinx-build -q -E -W --keep-going -j 2 docs docs/_build/html
	@echo "open docs/_build/html/index.html"

contract: $(READY)
	$(BIN)/python tests/contract.py

audit: $(TOOLS)/.ready
	$(TOOLS)/bin/python $(PIP) "pip-audit>=2.10"
	$(UV) pip compile --quiet --resolution lowest-direct --extra all --output-file $(TOOLS)/lowest.txt pyproject.toml
	$(TOOLS)/bin/pip-audit --strict --no-deps --disable-pip --requirement $(TOOLS)/lowest.txt

dist: $(TOOLS)/.ready
	$(TOOLS)/bin/python .ci/dist.py $(TESTS)

workflows: $(TOOLS)/.ready
	.ci/workflows $(TOOLS)/bin

bench: $(READY)
	$(BIN)/python -m benchmarks

paper: $(READY)
	$(BIN)/python -m experiments $(PAPER)

clean:
	rm -rf .venv .venv-* demo dist docs/_build docs/generated docs/gallery docs/tutorials docs/reference/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis
