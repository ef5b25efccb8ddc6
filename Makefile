# Two commands do all the set-up: `make train` trains on the embedded sample, `make test` runs the tests.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: train test lint slow wheel

train: .venv/installed
	$(BIN)/python -m seqtag train

test: .venv/installed
	$(BIN)/python -m pytest -m "not slow and not benchmark" --numprocesses=auto --dist=worksteal

slow: .venv/installed
	$(BIN)/python -m pytest -m "slow or benchmark" --numprocesses=auto --dist=worksteal

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

wheel: .venv/installed
	$(BIN)/python -m build --wheel --no-isolation

.venv/installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "seqtag needs Python 3.11 or newer: make PYTHON=python3.11"'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@
