# make demo and make test do all the set-up themselves; the second time they start at once.
PYTHON ?= python3
BIN := .venv/bin
# Tests start Python hundreds of times: compiled modules are kept, whatever the caller's shell says.
unexport PYTHONDONTWRITEBYTECODE
# Tests also wait, for sandboxes, servers and other programs: one process more than there are cores.
PARALLEL := -n $(shell expr 1 + $$(nproc)) --maxprocesses=16 --dist worksteal

.PHONY: setup demo test pytest test-slow test-bridges test-browser test-research test-aideml test-coding-agents test-constraints test-docker test-model test-cluster test-slurm test-packaging test-oracle test-interpreter test-open-tables test-fields docs test-docs lint ruff mypy format screenshots index fields constraints clean

setup: .venv/.installed

.venv/.installed: pyproject.toml constraints.txt scripts/setup.sh
	PYTHON="$(PYTHON)" sh scripts/setup.sh

demo: setup
	rm -rf demo
	$(BIN)/podium demo

# Types are checked while tests run: without its cache mypy takes a core for a minute.
test: setup ruff
	$(MAKE) --no-print-directory --jobs=2 mypy pytest

pytest: setup
	sh scripts/in_memory.sh $(BIN)/python -m pytest $(PARALLEL)

test-slow: setup
	$(BIN)/python -m pytest $(PARALLEL) -m 'slow and not docker'

test-aideml: setup
	PYTHON="$(PYTHON)" sh scripts/aideml_env.sh .venv-aideml
	PODIUM_AIDEML_ENV=$(CURDIR)/.venv-aideml $(BIN)/python -m pytest -m slow tests/agents/test_aideml.py

test-bridges: setup
	PYTHON="$(PYTHON)" sh scripts/bridges_env.sh .venv-bridges
	.venv-bridges/bin/python -m pytest -m bridges tests/interop tests/environment

test-browser: setup
	sh scripts/install_chromium.sh
	$(BIN)/python -m pytest -m browser

# Scripts of recipes in the environment that is offered for them, whose pandas is newer than Podium's.
test-interpreter: setup
	$(BIN)/podium env build cpu
	folder=$$($(BIN)/python -c 'from podium.sandbox.interpreters.pinned_environments import folder_of; print(folder_of("cpu"))') && \
		PODIUM_TEST_INTERPRETER="$$folder" $(BIN)/python -m pytest $(PARALLEL) tests/recipes

test-model: setup
	PYTHON="$(PYTHON)" sh scripts/model_env.sh .venv-model
	.venv-model/bin/python -m pytest -m model tests/agents

test-docker: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,docker]'
	$(BIN)/python scripts/with_docker_engine.py $(BIN)/python -m pytest -m docker tests/sandbox tests/runs

test-oracle: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt copydetect==0.5.0
	$(BIN)/python -m pytest -m oracle tests/integrity

test-fields: setup
	$(BIN)/python -m pytest -m fields tests/catalog

test-open-tables: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,open-tables]'
	$(BIN)/python -m pytest -m open_tables tests/catalog

test-cluster: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,cluster]' 'moto[server]'
	$(BIN)/python -m pytest -m cluster tests/cluster

test-slurm: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,cluster]'
	$(BIN)/python scripts/with_slurm.py $(BIN)/python -m pytest -m slurm tests/cluster

test-coding-agents: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,coding]'
	PODIUM_CODING_AGENTS=$(CURDIR)/.coding-agents $(BIN)/python -m pytest -m coding tests/agents

test-packaging: setup
	$(BIN)/python -m pytest -m packaging

docs: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,docs]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean --quiet
	@echo 'site/index.html; to search it as well: python3 -m http.server --directory site'

test-docs: docs
	$(BIN)/python -m pytest -m docs

test-research: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,research]'
	$(BIN)/python -m pytest -m research tests/catalog/research

lint: ruff mypy

ruff: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python scripts/check_style.py

mypy: setup
	$(BIN)/mypy

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

screenshots: setup
	sh scripts/install_chromium.sh
	$(BIN)/python scripts/screenshots.py

index: setup
	$(BIN)/python -m podium.catalog.build_index

fields: setup
	$(BIN)/python scripts/measure_fields.py

constraints: setup
	$(BIN)/python scripts/constraints.py write

test-constraints: setup
	$(BIN)/python scripts/constraints.py check

clean:
	rm -rf .venv .venv-aideml .venv-bridges .venv-model .coding-agents demo .workspaces site .pytest_cache .mypy_cache .ruff_cache .hypothesis
