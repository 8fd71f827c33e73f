# Every target sets itself up from a bare Python 3.11+: `make demo`, `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := pyproject.toml analyzer/pyproject.toml

.PHONY: demo test frameworks oldest lint format bench clean

demo: $(VENV)/.demo
	@rm -rf demo-traces
	@$(BIN)/python -m examples.support_agent

test: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile

# Real frameworks, each in an environment of its own below .frameworks/; needs Node and npm.
frameworks: $(VENV)/.frameworks
	PYTHONPATH=tests $(BIN)/python -m frameworks.record
	$(BIN)/python -m pytest tests/frameworks --matrix docs/frameworks.md

# The export, with the oldest versions that pyproject.toml admits.
oldest: $(VENV)/.oldest
	$(VENV)/oldest/bin/python -m pytest tests/sdk/export

lint: $(VENV)/.lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench:
	$(MAKE) -C benchmarks PYTHON=$(PYTHON)

clean:
	rm -rf $(VENV) demo-traces

$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	@touch $@

$(VENV)/.packages: $(VENV)/.venv $(SOURCES)
	$(PIP) install -e ".[parquet]" -e analyzer
	@touch $@

$(VENV)/.demo: $(VENV)/.packages
	$(PIP) install "openai>=2,<4"
	@touch $@

$(VENV)/.test: $(VENV)/.packages
	$(PIP) install --group test
	@touch $@

$(VENV)/.frameworks: $(VENV)/.test
	$(PIP) install --group frameworks
	@touch $@

$(VENV)/.oldest: $(VENV)/.venv $(SOURCES)
	$(PIP) install uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)/oldest
	$(BIN)/uv pip install --quiet --python $(VENV)/oldest/bin/python --resolution lowest-direct -e ".[parquet]" -e analyzer
	$(BIN)/uv pip install --quiet --python $(VENV)/oldest/bin/python duckdb fsspec hypothesis "moto[server]" pytest sybil
	@touch $@

$(VENV)/.lint: $(VENV)/.test
	$(PIP) install --group lint
	@touch $@
