# One page of targets. Each makes .venv when it is missing or stale; with a fresh one nothing needs the network.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PEER   := .stamp/inspect
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

MUST_BE_WHOLE := harness/redaction/*,harness/journal/*,harness/rules/*,harness/command/*

.DEFAULT_GOAL := help
.PHONY: help qualify test test-all coverage browser bench bench-peer format lock check-lock clean venv

help: ## this list
	@grep -E '^[a-z-]+:.*## ' Makefile | awk -F ':.*## ' '{ printf "make %-11s %s\n", $$1, $$2 }'

qualify: venv ## install the control plane, run the bundled scenarios with their scripts, write a report
	$(BIN)/harness plane install loopx==0.4.8
	$(BIN)/harness run

test: venv ## style, types and the fast tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n auto -m "not slow"

test-all: venv browser ## the slow suites: fresh clone, wheel, identity of receipts, the docs, mutations, browser, bench
	$(BIN)/pytest -n auto --dist loadgroup -m slow

# Apart from `test`: to measure what tests reach takes half as long again.
coverage: venv ## the fast tests with what they reach of the code
	$(BIN)/coverage erase
	$(BIN)/pytest -n auto -m "not slow" --cov --cov-branch --cov-report=term --cov-fail-under=95
	$(BIN)/coverage report --fail-under=100 --include="$(MUST_BE_WHOLE)"

browser: ## the browser that the tests of the report page drive
	tests/browser/install-chromium

bench: venv bench-peer ## speed and memory, as ratios inside one run, and of the largest run
	$(BIN)/python tests/bench/planes.py --require 10
	$(BIN)/python tests/bench/whole_run.py --require 1
	$(BIN)/python tests/bench/scale.py --require-seconds 30 --require-mb 1000
	$(BIN)/python tests/bench/replay.py --require-flat 1.5 --require-vcr 100
	$(BIN)/python tests/bench/episodes.py --inspect $(PEER)/bin/python --require 15 --require-in-memory 20 --require-memory 20
	$(BIN)/python tests/bench/concurrency.py --inspect $(PEER)/bin/python --episodes 512 --require-bound 0.93 --require-bare 0.45 --require 5

bench-peer: export PROGRAM = $(PEERS)
bench-peer: venv
	@wanted="$$($(BIN)/python -c "$$PROGRAM")"; \
	if [ "$$(cat $(PEER)/stamp 2>/dev/null)" != "$$wanted" ]; then \
	  echo "installing $$wanted beside, about a minute ..." \
	  && rm -rf $(PEER) \
	  && "$(PYTHON)" -m venv $(PEER) \
	  && $(PEER)/bin/python -m pip install --quiet $$wanted \
	  && echo "$$wanted" >$(PEER)/stamp; \
	fi

format: venv ## rewrite the sources in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## resolve requirements.lock anew (needs uv)
	uv pip compile --universal --fork-strategy fewest --generate-hashes --python-version 3.11 --group dev pyproject.toml --output-file requirements.lock

check-lock: export PROGRAM = $(CHECK_LOCK)
check-lock: venv ## the lock pins everything that pyproject.toml asks for, with hashes, and it is what is installed
	$(BIN)/python -c "$$PROGRAM"
	$(BIN)/python -m pip check

clean: ## remove .venv, caches and what tests installed; not the reports
	chmod -R u+w .stamp 2>/dev/null || true
	rm -rf $(VENV) .stamp .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

venv: export PROGRAM = $(STAMP)
venv:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo 'harness needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...' >&2; exit 4; }
	@wanted="$$("$(PYTHON)" -c "$$PROGRAM" requirements.lock pyproject.toml)"; \
	if [ "$$(cat $(VENV)/stamp 2>/dev/null)" != "$$wanted" ]; then \
	  echo "making $(VENV), about a minute ..." \
	  && rm -rf $(VENV) \
	  && "$(PYTHON)" -m venv $(VENV) \
	  && { $(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock \
	    || { echo 'the packages of requirements.lock could not be installed: is there a network?' >&2; exit 1; }; } \
	  && $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --no-index -e . \
	  && echo "$$wanted" >$(VENV)/stamp; \
	fi

# A virtual environment belongs to its place, its interpreter and what was asked for.
define STAMP
import hashlib, os, sys
seen = hashlib.sha256(f"{os.getcwd()}|{os.path.realpath(sys.base_prefix)}|{sys.version}".encode())
for path in sys.argv[1:]:
    seen.update(open(path, "rb").read())
print(seen.hexdigest())
endef

# What the benches compare with.
define PEERS
import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["bench"])
endef

define CHECK_LOCK
import re, sys, tomllib
from importlib.metadata import version
from packaging.requirements import Requirement
project = tomllib.load(open("pyproject.toml", "rb"))
asked = [Requirement(line) for line in project["project"]["dependencies"] + project["dependency-groups"]["dev"]]
asked = [one for one in asked if one.marker is None or one.marker.evaluate()]
blocks = re.split(r"\n(?=[A-Za-z0-9])", open("requirements.lock").read())
pins = {m[1].lower(): (m[2], "--hash=sha256:" in b) for b in blocks if (m := re.match(r"([A-Za-z0-9._-]+)==([^ \\;]+)", b))}
wrong = [f"{r}: the lock has {pins.get(r.name.lower(), ('nothing', 0))[0]}" for r in asked
         if r.name.lower() not in pins or not r.specifier.contains(pins[r.name.lower()][0])]
wrong += [f"{name}: no hash" for name, (_, hashed) in pins.items() if not hashed]
wrong += [f"{r.name}: {version(r.name)} is installed" for r in asked
          if r.name.lower() in pins and version(r.name) != pins[r.name.lower()][0]]
sys.exit("\n".join([*wrong, "type: make lock"]) if wrong else 0)
endef
