PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MINUTES ?= 40

.PHONY: demo test soak check bench clean

demo: $(VENV)/installed  ## set up, then publish a small synthetic log
	rm -rf demo
	$(BIN)/zealous demo -o demo

test: $(VENV)/installed-dev check  ## set up, then run everything that must pass
	$(BIN)/pytest -n 2

soak: $(VENV)/installed-dev  ## what is too long for every run; MINUTES=90, PARTS="kills noise"
	$(BIN)/python tests/support/soak.py --minutes $(MINUTES) $(PARTS)

check: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/installed  ## the ratios of benchmarks/README.md (long: 10M entries)
	$(BIN)/python benchmarks/publish.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[study]'
	touch $@

$(VENV)/installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
