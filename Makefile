# Two commands do everything: `make demo` and `make test`; `make check` is for while one works.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest --numprocesses 4 --dist worksteal
QUICK := tests/test_hygiene.py tests/test_house.py tests/test_layers.py tests/golden \
	$(addprefix tests/unit/,config core/final_answer core/text tables verifiers/rules/test_gate.py) $(wildcard tests/unit/core/test_*.py)
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test check soak lint bench schemas site screenshot dist clean

$(VENV)/run.stamp: pyproject.toml parts/core/pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable parts/core --editable .
	touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp
	$(INSTALL) --editable parts/core --editable '.[dev]'
	touch $@

demo: $(VENV)/run.stamp  ## sample data, rule verifiers, then the app (or the accuracy table without a terminal)
	$(BIN)/workbench demo

test: $(VENV)/dev.stamp  ## lint, types, layers and the tests
	$(MAKE) --jobs=2 lint $(VENV)/tests.stamp
	$(PYTEST)

check: lint  ## lint, types, layers, frozen texts and the tests of what needs no database: while one works
	$(PYTEST) $(QUICK)

# In a fresh checkout, next to the linters: else each worker would compile all tests for itself.
$(VENV)/tests.stamp: $(VENV)/dev.stamp
	$(BIN)/pytest --collect-only -qqq
	touch $@

lint: $(VENV)/dev.stamp  ## ruff, mypy, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: $(VENV)/dev.stamp  ## the tests that are too long for each run; of some folders with TESTS=tests/soak
	$(BIN)/pytest -m soak --timeout 3600 $(TESTS)

bench: $(VENV)/dev.stamp  ## one JSON line per figure
	$(BIN)/python -m bench

schemas: $(VENV)/dev.stamp  ## write schemas/ from the records
	$(BIN)/python -m schemas.documents

site: $(VENV)/dev.stamp  ## the documentation as a site, in build/site
	$(BIN)/python -m mkdocs build --quiet

screenshot: $(VENV)/dev.stamp  ## every picture of the documentation, from the real app
	$(BIN)/python docs/screenshot.py
	$(BIN)/python docs/recording.py
	$(BIN)/python docs/serve_screenshots.py

dist: $(VENV)/dev.stamp  ## both distributions of this version as wheels, for an index
	$(BIN)/python -m hatchling build --target wheel --directory dist
	cd parts/core && $(CURDIR)/$(BIN)/python -m hatchling build --target wheel --directory $(CURDIR)/dist

clean:
	rm -rf $(VENV) build dist
