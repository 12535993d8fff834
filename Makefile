# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXAMPLES := images text_tags uci masks super_resolution gan own_network vogn_loop

.PHONY: test check demo slow examples clean
.DEFAULT_GOAL := test

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "askwise needs Python 3.11 or newer; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@

test: check
	$(BIN)/python -m pytest -n 2 -m 'not slow'

check: $(VENV)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

demo: $(VENV)/.installed
	$(BIN)/askwise demo

# Data from ASKWISE_DATA, otherwise what can be fetched; an example says in one line what it goes without.
examples: $(VENV)/.installed
	-$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[text]'
	@test -n "$$ASKWISE_DATA" || $(BIN)/askwise data fetch mnist || true
	@set -e; for name in $(EXAMPLES); do echo "== $$name"; $(BIN)/python examples/$$name.py; done

slow: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 -m slow

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
