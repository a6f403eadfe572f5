# make demo   learn from a table with gaps and show probability intervals
# make test   run the tests
# make check  formatting, lint, types, import contract; each must look at something
# Each makes .venv when it is not there or when the dependencies have changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test check coverage bench clean

demo: $(READY)
	$(BIN)/python examples/learn_with_gaps.py
	@echo
	$(BIN)/python examples/paper_example.py

test: $(READY)
	$(BIN)/python -m pytest

check: $(READY)
	$(BIN)/python tools/check.py

# Compiled code hides its lines from the counter, so the kernels run as plain Python here.
coverage: $(READY)
	NUMBA_DISABLE_JIT=1 HYPOTHESIS_PROFILE=plain $(BIN)/python -m pytest --cov --cov-report=term-missing:skip-covered

bench: $(READY)
	$(BIN)/python -m benchmarks.likelihood
	$(BIN)/python -m benchmarks.structures
	$(BIN)/python -m benchmarks.learning $(if $(YARDSTICK),--yardstick $(YARDSTICK))

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Credo needs Python 3.11 or newer; '$(PYTHON)' is older or missing. Name another one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(READY)
