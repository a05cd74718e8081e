PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MINUTES ?= 40
# Processes that run tests: one more than two cores, since some tests wait for others' programs.
PROCESSES ?= 3
# What takes little time, and needs neither Spark nor a browser.
QUICK := $(addprefix tests/,counting engines logs noise owner planning privacy record synthetic \
	study/theory)

# Compiled modules are kept, whatever the environment says: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo quick test tests extended soak coverage check style types site bench clean

demo: $(VENV)/installed  ## set up, then show on a synthetic log what zealous does
	@rm -rf demo
	@$(BIN)/zealous demo -o demo

quick: $(VENV)/installed-dev  ## what takes 90 seconds: no Spark, no commands, no types
	$(BIN)/ruff check .
	$(BIN)/pytest -n $(PROCESSES) --quick $(QUICK)

# Types are checked beside the tests, which leave a tenth of two cores idle.
test: $(VENV)/installed-dev style  ## set up, then run everything that must pass
	@$(MAKE) --no-print-directory -j 2 types tests

tests: $(VENV)/installed-dev
	$(BIN)/pytest -n $(PROCESSES)

extended: $(VENV)/installed-dev  ## the cases that `make test` leaves out of long lists
	$(BIN)/pytest -n $(PROCESSES) -m extended

soak: $(VENV)/installed-dev  ## what is too long for every run; MINUTES=90, PARTS="kills noise"
	$(BIN)/python tests/support/soak.py --minutes $(MINUTES) $(PARTS)

coverage: $(VENV)/installed-dev  ## how much of the package the tests run, with a floor
	$(BIN)/python tests/support/coverage_floor.py

check: style types

style: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

site: $(VENV)/installed-dev  ## the documentation as a site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "To read it: $(BIN)/python -m http.server --directory site --bind 127.0.0.1 8000"

bench: $(VENV)/installed-dev  ## the ratios of benchmarks/README.md (long: 10M entries)
	$(BIN)/python benchmarks/publish.py

$(VENV)/bin/python:
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	@echo "Installing zealous in $(VENV) (once) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/installed

clean:
	rm -rf $(VENV) demo site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
