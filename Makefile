# Everything here sets itself up: it needs Python 3.11 or newer with pip, and make, and keeps to this folder.
# `make help` lists what there is.

# The first one that starts and is new enough: a name on the path may be a shim for a version that is not installed.
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
HOST ?= 127.0.0.1
PORT ?= 8000

BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup run local test test-fast proof mutants check bench recall faults load dist clean

help: ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-10s %s\n", $$1, $$2 }'

setup: $(READY) ## Make .venv with everything in it; the other targets do this themselves.

# Made again when the locked dependencies change. uv comes from pip into the same environment.
$(READY): uv.lock pyproject.toml
	@"$(or $(PYTHON),false)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Python 3.11 or newer is needed; install it, or name one: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@test -x $(BIN)/pip || "$(PYTHON)" -m venv .venv || { \
		echo "No virtual environment could be made; on Debian: apt-get install python3-venv"; exit 1; }
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.13,<1'
	@UV_LINK_MODE=copy $(BIN)/uv sync --frozen --quiet --compile-bytecode
	@touch $(READY)

run: $(READY) ## Run a demo shop at http://localhost:8000 (PORT=... to change): web and background worker.
	@$(BIN)/python bin/run.py --host $(HOST) --port $(PORT)

local: $(READY) ## Run two pods with all that they need, behind nginx at port 8100 (PORT=... to change): SHOPS=20 makes shops.
	@$(BIN)/python -m deploy.local $(if $(filter file,$(origin PORT)),,--port $(PORT)) $(if $(SHOPS),--with-shops $(SHOPS))

test: $(READY) ## Run the tests on SQLite, on PostgreSQL and in a browser, but for those that take long.
	@$(BIN)/python bin/test.py

proof: $(READY) ## Run the tests that take long: programs, races, kills, generated calls, walks through every page.
	@$(BIN)/python bin/test.py --proof

mutants: $(READY) ## Change 50 places in rules, stock, prices, secrets and payments, and see that tests fail: SEED=2 others, COUNT=10 fewer.
	@$(BIN)/python bin/mutants.py --seed $(or $(SEED),1) --count $(or $(COUNT),50)

test-fast: $(READY) ## Run what `make test` runs on SQLite, but for the tests of pages.
	@TEST_POSTGRES_URL= $(BIN)/python -m pytest -q -m "not browser and not slow and not proof" -n 2 --dist loadfile \
		--no-loadscope-reorder --ignore=tests/audit --ignore=tests/checkout --ignore=tests/website

check: $(READY) ## Run every static check: style, types, import order, migrations, file sizes, rules, plain words, the API's description, translations.
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	DATABASE_URL= $(BIN)/storefront makemigrations --check --dry-run
	$(BIN)/python bin/sizes.py
	$(BIN)/python bin/migrations.py
	$(BIN)/python bin/rules.py
	$(BIN)/python bin/words.py
	$(BIN)/python bin/admin_words.py
	$(BIN)/python bin/openapi.py
	$(BIN)/python bin/texts.py --gaps
	$(BIN)/python bin/unmarked.py

bench: $(READY) ## Measure speed and memory, up to a million products, and webhooks: QUICK=1 in three minutes, WRITE=1 into docs/performance.md, ANEW=1 with new databases, DROP=1 removes them.
	@$(BIN)/python -m benchmarks.run $(if $(QUICK),--quick) $(if $(ANEW),--anew) $(if $(WRITE),--write) $(if $(DROP),--drop)
	@$(if $(DROP)$(QUICK),:,$(BIN)/python -m benchmarks.deliveries)
	@$(if $(DROP)$(QUICK),:,$(BIN)/python -m benchmarks.partitions)
	@$(if $(DROP),:,$(BIN)/python -m benchmarks.order_cost $(if $(QUICK),--quick) $(if $(or $(WRITE),$(if $(QUICK),,1)),--write))

recall: $(READY) ## Measure how many products a search finds whose words are typed in another way: FILES=... a folder of product files.
	@$(BIN)/python -m benchmarks.recall "$(or $(FILES),$(error Name a folder: make recall FILES=folder))"

faults: $(READY) ## Place orders while processes, databases, disks and clocks fail, in ten minutes: WRITE=1 into docs/failure.md, ONLY="disk" some, DATABASE=sqlite one.
	@$(BIN)/python -m tests.faults $(if $(WRITE),--write) $(if $(ONLY),--only "$(ONLY)") $(if $(DATABASE),--database $(DATABASE))

load: $(READY) ## Shop in two pods for five minutes, while programs are killed and shops moved: SECONDS=60 SHOPS=20 MOVES=0 RATE=20, COSTS=1 measures instead, WRITE=1 into docs/scale.md.
	@$(if $(COSTS),$(BIN)/python -m tests.load.costs $(if $(WRITE),--write),$(BIN)/python -m tests.load $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SHOPS),--shops $(SHOPS)) \
		$(if $(MOVES),--moves $(MOVES)) $(if $(RATE),--rate $(RATE)) $(if $(WRITE),--write))

dist: $(READY) ## Build wheel, source archive and image of the last commit into dist/, from a clone of its own.
	@$(BIN)/python bin/dist.py

clean: ## Remove the virtual environment and every cache; the demo shop in var/ stays.
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find storefront tests bin benchmarks deploy -name __pycache__ -type d -prune -exec rm -rf {} +
