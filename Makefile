# Every target makes the virtual environment it needs; a bare machine wants Python >= 3.11 and make.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.made
# Two at a time, each with a server of its own; WORKERS=0 for one process.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
DATABASE_TESTS = $(wildcard $(addprefix tests/, dev db sql storage operations maintenance worker client pooler proofs stress))
STORAGE_TESTS = $(addprefix tests/, db storage operations maintenance worker client bridge testing proofs stress)
PG15_BIN ?= /usr/lib/postgresql/15/bin

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_BUILD_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  %-12s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "awa needs Python 3.11 or newer; name one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "no venv module; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --no-warn-script-location -e '.[server,embedded,dev]'
	@touch $@

.PHONY: setup
setup: $(STAMP) ## Make the virtual environment in .venv

.PHONY: demo
demo: $(STAMP) ## The whole story on an embedded server: enqueue, work, preview, submit, watch, report
	$(BIN)/awa demo

.PHONY: dev
dev: $(STAMP) ## Embedded server, worker and HTTP API, seeded
	$(BIN)/awa dev

.PHONY: test
test: lint types unit ## Style, types, import contract and the whole suite

.PHONY: unit
unit: $(STAMP) ## The suite alone; choose with ARGS="tests/dev -k adopt"
	$(PYTEST) $(ARGS)

.PHONY: unit-pg15
unit-pg15: $(STAMP) ## What talks to the database, on a system PostgreSQL 15 (PG15_BIN)
	@# Not the siege: it kills our processes, whichever server they talk to.
	AWA_POSTGRES_BIN=$(PG15_BIN) AWA_TEST_PG_BIN=$(PG15_BIN) $(PYTEST) --ignore tests/proofs/test_kill.py $(DATABASE_TESTS)

.PHONY: unit-canonical
unit-canonical: $(STAMP) ## What talks to the database, on the canonical storage
	AWA_TEST_STORAGE=canonical $(PYTEST) --ignore tests/proofs/test_kill.py $(STORAGE_TESTS)

.PHONY: lint
lint: $(STAMP) ## Style and import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

.PHONY: format
format: $(STAMP) ## Put the style right where a machine can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: types
types: $(STAMP) ## Strict type check of src and tests
	$(BIN)/mypy

.PHONY: docs
docs: $(STAMP) ## Run the code in the documentation and look for what it leaves out
	$(PYTEST) tests/docs

.PHONY: schema
schema: $(STAMP) ## Renew docs/reference/schema.sql after a migration
	AWA_RENEW_SCHEMA=1 $(PYTEST) tests/db -k committed_schema

.PHONY: bench
bench: $(STAMP) ## The budget table, each row met or missed
	$(BIN)/python -m bench

.PHONY: soak
soak: $(STAMP) ## The long versions of the random tests
	AWA_SOAK=1 $(PYTEST) -m soak --timeout=7200

.PHONY: ci
ci: test ## What a change has to pass: the suite, its core on the canonical storage, and the database part on PostgreSQL 15 if it is here
	$(MAKE) unit-canonical STORAGE_TESTS="tests/storage tests/operations tests/proofs tests/stress"
	@if [ -x $(PG15_BIN)/postgres ]; then $(MAKE) unit-pg15; else echo "no PostgreSQL 15 in $(PG15_BIN): second run left out"; fi

.PHONY: constraints
constraints: ## Renew constraints.txt from a new environment with the newest versions
	rm -rf .cache/constraints && $(PYTHON) -m venv .cache/constraints
	env -u PIP_CONSTRAINT -u PIP_BUILD_CONSTRAINT .cache/constraints/bin/python -m pip install --quiet hatchling editables -e '.[server,embedded,dev]'
	.cache/constraints/bin/python -m pip list --format=freeze --exclude-editable --exclude pip --exclude setuptools > constraints.txt
	rm -rf .cache/constraints

.PHONY: clean
clean: ## Take away what the targets made
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
