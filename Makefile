# make demo   sets up .venv and answers small queries over bundled streams
# make kafka-demo   a Kafka broker of its own, a topic in, alerts out
# make test   sets up .venv and passes the lint, the types, the tests, the case files and the documentation site
# make docs   builds the documentation site into site/; a broken link fails
# One test:   .venv/bin/pytest tests/unit/test_timeline.py -k month

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/set-up.stamp
TYPED := $(wildcard src tests tools)
ENGINE ?= local
# Tests start hundreds of processes, and Spark starts more: without bytecode each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo kafka-demo test lint types unit in-process on-spark cases docs constraints clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# //p' Makefile

$(STAMP): pyproject.toml constraints.txt tools/set-up
	@PYTHON="$(PYTHON)" tools/set-up

demo: $(STAMP)
	@PATH="$(CURDIR)/$(BIN):$$PATH" examples/demo/run

kafka-demo: $(STAMP)
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python examples/kafka-demo/run

# First the types beside the cases, which compile the kernels; then the two halves of the tests, which find them: each half, and
# each of Spark's workers, would compile them for itself. The tests build the documentation site too, as `make docs` does.
test: lint
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target types cases
	@$(MAKE) --no-print-directory unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

types: $(STAMP)
	$(BIN)/mypy --strict $(TYPED)

unit: $(STAMP)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target in-process on-spark

in-process: $(STAMP)
	$(BIN)/python -m pytest -m "not spark"

# only these folders have tests that need a JVM (tests/unit/test_house.py): the others are not even collected
on-spark: $(STAMP)
	$(BIN)/python -m pytest -m spark tests/spark tests/kafka tests/docs

cases: $(STAMP)
	$(BIN)/scepter test cases examples --engine $(ENGINE)

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# Renews constraints.txt and constraints-hashes.txt from what is installed in .venv: upgrade there first, test, then run this.
constraints: $(STAMP)
	@sed -n '/^#/p' constraints.txt > $(VENV)/constraints.new
	@$(BIN)/python -m pip freeze --exclude-editable >> $(VENV)/constraints.new
	@mv $(VENV)/constraints.new constraints.txt
	@$(BIN)/python -m pip install --quiet --target $(VENV)/uv uv
	@sed -n '/^#/p' constraints-hashes.txt > $(VENV)/hashes.new
	@$(VENV)/uv/bin/uv pip compile constraints.txt --quiet --universal --no-deps --generate-hashes --no-annotate --no-header >> $(VENV)/hashes.new
	@mv $(VENV)/hashes.new constraints-hashes.txt

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
