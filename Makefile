# Everything runs in .venv, which is built from requirements.lock when it is missing or the lock has changed.
# Another interpreter: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
# Ray, RLlib and the Gymnasium that RLlib pins have a lock and an environment of their own.
SCALE_VENV := .venv-scale
SCALE_STAMP := $(SCALE_VENV)/installed
# So have other libraries' examples; AgileRL pins an old PettingZoo.
CLIENTS_STAMP := .venv-clients/installed
AGILERL_STAMP := .venv-clients-agilerl/installed

# `make lock` takes the newest of everything but of torch (large, and its builds differ by machine): change it here.
# soupsieve 3 refuses Python 3.11.0 to 3.11.4.
LOCK_PINS := 'torch==2.13.0' 'soupsieve<3'

# Another environment's packages must not be found in place of those in .venv.
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME
# Tests start some hundred processes, each of which would compile the modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install install-scale test test-main test-scale test-clients test-peers lint format demo notebooks docs bench lock \
	clean distclean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP)  ## build .venv from requirements.lock

install-scale: $(SCALE_STAMP)  ## build .venv-scale from requirements-scale.lock: Ray and RLlib

$(STAMP): requirements.lock pyproject.toml
$(SCALE_STAMP): requirements-scale.lock pyproject.toml
$(CLIENTS_STAMP): requirements-clients.lock pyproject.toml
$(AGILERL_STAMP): requirements-clients-agilerl.lock pyproject.toml

# $< is the lock, $(@D) the environment. The stamp is written last, so that an install that broke off is done again.
$(STAMP) $(SCALE_STAMP) $(CLIENTS_STAMP) $(AGILERL_STAMP):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "ginrummy_env needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1);" \
			"name another: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Each part runs to its end whatever the others find, and one that failed makes the whole fail.
# One thread of torch and BLAS per process: two processes with as many threads as cores hold each other up.
# A file stays in one process (loadfile), which makes its fixtures once.
test:  ## all checks: lint, then all tests
	@$(MAKE) --keep-going --no-print-directory lint test-main test-scale

test-main: $(STAMP)  ## the tests but for those of what runs on Ray, part of `make test`
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

# Ray starts processes of its own, so these tests run one after another. RLlib pins an old Gymnasium: the environments'
# tests run with it too, but for those that learn.
test-scale: $(SCALE_STAMP)  ## the tests of what runs on Ray, part of `make test`
	OMP_NUM_THREADS=1 $(SCALE_VENV)/bin/python -m pytest -k 'not learns' tests/envs tests/test_api.py tests/cluster

# Not part of `make test`, where the examples run whose libraries the project's own environments have.
test-clients: $(CLIENTS_STAMP) $(AGILERL_STAMP) $(SCALE_STAMP)  ## the examples for TorchRL, Tianshou, AgileRL and RLlib
	@failed=0; for venv in .venv-clients .venv-clients-agilerl $(SCALE_VENV); do \
		OMP_NUM_THREADS=1 $$venv/bin/python -m pytest tests/test_client_examples.py || failed=1; done; exit $$failed

# Resumable: what is done is kept in build/peers. Some 30 minutes on one core.
test-peers: $(STAMP)  ## 100,000 deals each against RLCard and OpenSpiel, step by step
	OMP_NUM_THREADS=1 $(BIN)/python tests/helpers/peers.py

lint: $(STAMP)  ## ruff, its formatter as a check, mypy
	@failed=0; for check in "ruff check ." "ruff format --check ." mypy; do \
		echo "$$check"; $(BIN)/$$check || failed=1; done; exit $$failed

format: $(STAMP)  ## let ruff mend and format what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: $(STAMP)  ## a match, an agent that learns, a ladder and a game to look at, in about a minute
	$(BIN)/ginrummy demo

# Results are cached in build/notebooks: an interrupted run resumes.
notebooks: $(STAMP)  ## execute notebooks/*.ipynb on full settings, in under an hour on two cores
	$(BIN)/ginrummy notebooks --force

# The pages open from the disk: no server is needed.
docs: $(STAMP)  ## build the documentation site into build/docs; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "open build/docs/index.html in a browser"

bench: $(STAMP)  ## measure speed against OpenSpiel and RLCard
	$(BIN)/python -m benchmarks

# $(call freeze,LOCK,REQUIREMENTS): LOCK's own comment, then what pip installs for REQUIREMENTS.
define freeze
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet --disable-pip-version-check $(LOCK_PINS) $(2)
	{ sed '/^[^#]/,$$d' $(1); \
		build/lock/bin/pip freeze --all --exclude-editable | grep -Ev '^(pip|ginrummy_env)[ =]' | sed 's/+[a-z0-9.]*$$//'; \
	} > build/$(1)
	mv build/$(1) $(1)
	rm -rf build/lock
endef

lock:  ## make the lock files again with the newest versions
	$(call freeze,requirements.lock,'.[dev]')
	$(call freeze,requirements-scale.lock,'.[scale]' pytest hypothesis hatchling editables)
	$(call freeze,requirements-clients.lock,torchrl tianshou sb3-contrib 'pettingzoo>=1.27' pytest hypothesis hatchling editables)
	$(call freeze,requirements-clients-agilerl.lock,agilerl peft pytest hypothesis hatchling editables)

clean:  ## remove caches and what builds leave behind
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean  ## clean, and remove .venv
	rm -rf $(VENV) $(SCALE_VENV) .venv-clients .venv-clients-agilerl
