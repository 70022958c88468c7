# The verbs of this repository. `make run` and `make test` do all their own set-up; a second call finds it done.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

PYTHON3 ?= python3
VENV := .venv
PYTHON := $(VENV)/bin/python
KERNEL := src/twinlog/_kernel.abi3.so
CONSOLE := src/twinlog/servers/http/static
CONSOLE_SOURCES := $(shell find console -type f -not -path '*/node_modules/*')
KERNEL_SOURCES := kernel/Cargo.toml $(shell find kernel/src -name '*.rs')
FUZZ_TARGETS := $(basename $(notdir $(wildcard kernel/fuzz/fuzz_targets/*.rs)))
CARGO := PYO3_PYTHON=$(CURDIR)/$(PYTHON) cargo
PIP := $(PYTHON) -m pip install --quiet --disable-pip-version-check

# How many seeds `make sim` tries, how many cuts `make powercut` makes, for how long `make fuzz` digs at each target.
SEEDS ?= 2000
CUTS ?= 200
FUZZ_SECONDS ?= 60
ROUNDS ?= 50
# Test processes side by side. One thing per core: the clients and brokers of tests/compat are processes, too.
JOBS ?= 2
ARGS ?=

.PHONY: help setup setup-run setup-test setup-lint console rabbitmqadmin run test test-kernel test-python lint format bench sim powercut cutandflip killstorm copyjob fuzz pages docs wheel clean
.PHONY: FORCE sparkfaults demo

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: setup-run setup-test setup-lint setup-spark ## Make .venv, install what is needed, build the kernel

rabbitmqadmin: ## Build RabbitMQ's own rabbitmqadmin, which the tests then use (takes minutes)
	cargo install rabbitmqadmin --version 2.35.0 --locked --root .compat/rabbitmqadmin

console: $(CONSOLE)/.made ## Build the console in the browser (needs npm)

run: setup-run console-if-possible ## Serve on 127.0.0.1 with data in ./twinlog-data; more by ARGS="..."
	@exec $(VENV)/bin/twinlog serve $(ARGS)

test: test-kernel test-python ## Run every test

test-kernel: setup-run
	$(CARGO) test --quiet --manifest-path kernel/Cargo.toml --no-default-features

test-python: setup setup-browser
	$(PYTHON) -m pytest -q -n $(JOBS) --dist worksteal -m 'not slow' $(ARGS)

lint: setup ## Check style, types, import directions and the kernel's style
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy
	$(VENV)/bin/lint-imports
	cargo fmt --manifest-path kernel/Cargo.toml --check
	$(CARGO) clippy --quiet --manifest-path kernel/Cargo.toml --all-targets --no-default-features -- -D warnings

format: setup-lint ## Put the sources into our format
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .
	cargo fmt --manifest-path kernel/Cargo.toml

demo: setup-run setup-test setup-spark console-if-possible ## Orders by AMQP and Kafka, Spark pipelines, checked results: two minutes
	@$(PYTHON) -m demo $(ARGS)

bench: setup ## Measure beside the references: ARGS="kafka|rabbitmq|spark [workload ...]" (needs a JDK and Maven)
	$(PYTHON) -m benchmarks.macro $(ARGS)

sim: setup ## Simulate SEEDS=n runs with faults, then hunt the planted bugs
	$(PYTHON) -m twinlog.sim --seeds $(SEEDS) $(ARGS)
	$(PYTHON) -m twinlog.sim --planted all

powercut: setup ## Cut the power of a loop-mounted disk CUTS=n times (needs root)
	CUTS=$(CUTS) $(PYTHON) -m pytest -q tests/faults -m slow -k powercut --timeout 0 $(ARGS)

cutandflip: setup ## Cut stored files at every length, flip every bit: all starts twice (goes on where it was stopped)
	$(PYTHON) -m tests.faults.cut_and_flip $(ARGS)

killstorm: setup ## kill -9 the broker ROUNDS=n times under real clients of both protocols
	ROUNDS=$(ROUNDS) $(PYTHON) -m pytest -q tests/faults/kill -m slow --timeout 0 $(ARGS)

copyjob: setup ## Copy 100,000 records in transactions, three times, while everything is killed
	$(PYTHON) -m pytest -q -s tests/faults/copy_job -m slow --timeout 0 $(ARGS)

sparkfaults: setup ## Kill drivers and brokers under a running Spark query ROUNDS=n times
	ROUNDS=$(ROUNDS) $(PYTHON) -m pytest -q -s tests/spark/test_faults.py -m slow --timeout 0 $(ARGS)

fuzz: setup ## Fuzz every parser of the kernel for FUZZ_SECONDS each (guided by coverage where cargo-fuzz is installed)
	@if cargo +nightly fuzz --version >/dev/null 2>&1; then \
	  cd kernel && for target in $(FUZZ_TARGETS); do \
	    echo "fuzzing $$target"; cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS); done; \
	else \
	  echo 'Without coverage to guide it; for that: rustup toolchain install nightly && cargo install cargo-fuzz'; \
	  FUZZ_SECONDS=$(FUZZ_SECONDS) $(CARGO) test --release --manifest-path kernel/Cargo.toml --no-default-features \
	    --test hostile -- --nocapture; \
	fi

pages: setup-run ## Write the generated pages of docs/
	$(PYTHON) -m twinlog.app.reference docs
	$(PYTHON) -m twinlog.cli.reference docs

docs: pages $(VENV)/.made-docs ## Write the generated pages, and the documentation as a site in site/
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict

wheel: setup-run console-if-possible ## Build dist/*.whl
	$(VENV)/bin/maturin build --release --quiet --interpreter $(PYTHON) --out dist

clean: ## Remove what was built, keep data
	rm -rf $(VENV) $(KERNEL) $(CONSOLE) console/node_modules kernel/target dist

# ---- set-up: a stamp per step, newer than what the step was made from ----------------------------------------------

setup-run: $(VENV)/.made-kernel

$(CONSOLE)/.made: $(CONSOLE_SOURCES)
	@command -v npm >/dev/null || { \
	  echo 'The console is built by npm, and there is none here: install Node.js 20.19 or later, then run make again.'; exit 1; }
	@echo 'building the console'
	@cd console && npm ci --silent --no-audit --no-fund && npm run --silent check >/dev/null && \
	  { said=$$(npm run --silent build 2>&1) || { echo "$$said"; exit 1; }; }
	@touch $@

.PHONY: console-if-possible setup-browser
console-if-possible:
	@if ! command -v npm >/dev/null; then \
	  test -e $(CONSOLE)/index.html || echo 'There is no npm here: the broker comes without its console, the HTTP API is there.'; \
	else \
	  $(MAKE) --silent console || echo 'The console could not be built: the broker comes without it.'; \
	fi

# The tests drive the console in Debian's Chromium. Where it cannot be had they say so and are skipped.
setup-browser: console-if-possible
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && { \
	  echo 'installing chromium for the tests of the console'; \
	  { apt-get install -y -qq --no-install-recommends chromium || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; }; } \
	  >/dev/null 2>&1; } || echo 'There is no chromium here: the tests of the console are skipped.'; }

setup-test: $(VENV)/.made-test
setup-lint: $(VENV)/.made-lint
setup-spark: $(VENV)/.made-spark

$(VENV)/.made-venv:
	@$(PYTHON3) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo 'Twinlog needs Python 3.11 or later: `$(PYTHON3)` is not. Try: make PYTHON3=python3.12'; exit 1; }
	@echo 'making $(VENV)'
	@test -x $(PYTHON) || $(PYTHON3) -m venv $(VENV) || { \
	  echo 'No virtual environment could be made (on Debian and Ubuntu: apt install python3-venv)'; exit 1; }
	@touch $@

$(VENV)/.made-run: $(VENV)/.made-venv requirements/run.txt requirements/build.txt
	@echo 'installing what the broker needs'
	@$(PIP) -r requirements/run.txt -r requirements/build.txt
	@touch $@

$(VENV)/.made-test: $(VENV)/.made-run requirements/test.txt
	@echo 'installing what the tests need'
	@$(PIP) -r requirements/run.txt -r requirements/test.txt
	@touch $@

$(VENV)/.made-lint: $(VENV)/.made-run requirements/lint.txt
	@echo 'installing what the checks need'
	@$(PIP) -r requirements/run.txt -r requirements/lint.txt
	@touch $@

$(VENV)/.made-spark: $(VENV)/.made-run requirements/spark.txt
	@echo 'installing Spark (some 700 MB)'
	@$(PIP) -r requirements/run.txt -r requirements/spark.txt
	@touch $@

$(VENV)/.made-docs: $(VENV)/.made-run requirements/docs.txt
	@echo 'installing what the site needs'
	@$(PIP) -r requirements/docs.txt
	@touch $@

$(VENV)/.made-kernel: $(VENV)/.made-run $(KERNEL_SOURCES) pyproject.toml $(if $(wildcard $(KERNEL)),,FORCE)
	@command -v cargo >/dev/null || { \
	  echo 'Twinlog needs Rust to build its kernel, and there is no `cargo` here. Get it by your package manager or from rustup, then run make again.'; exit 1; }
	@echo 'building the kernel'
	@env -u CONDA_PREFIX PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/$(VENV) PYO3_PYTHON=$(CURDIR)/$(PYTHON) $(VENV)/bin/maturin develop --release --quiet
	@touch $@
