# verifyplan: everything a person or CI does, by one word each. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTEST := $(BIN)/pytest -p no:cacheprovider -p no:nbval
BROWSER := $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
unexport MAKEFLAGS  # tests run make themselves, without the options of this one
unexport PYTHONDONTWRITEBYTECODE  # tests start many processes, and each would compile the package

.PHONY: help setup demo docs look pictures interface test test-long lint unit unit-tables unit-runs notebooks browser live lab data bench bench-large bench-table bench-growth bench-statistics bench-faults lock clean
help:                 ## list the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

setup: $(STAMP)       ## make .venv with all that developing, testing and the notebooks need
$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup           ## run the main job on bundled data; results in out/
	@$(BIN)/verifyplan demo --out out

docs: setup           ## build the site of the documentation: out/site/html/index.html (DOCS=--quick: nothing is executed)
	$(BIN)/python -m docs.site.build $(DOCS)

look: setup           ## picture every page of the built site, light and dark: out/browser/site/index.html (Chromium is needed)
	$(BIN)/python -m docs.site.look

lint: setup           ## style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# In the browser every notebook runs whole; cell by cell it runs where there is no browser, or where time does not matter.
# Pictures are for people: `make browser` leaves them. The tests of live agents wait as long as they work: -j4 keeps two cores busy.
test: export VERIFYPLAN_PICTURES := none
test: browser unit live $(if $(BROWSER),,notebooks) lint  ## everything CI runs, the longest first; -j4 runs four at a time

test-long: export VERIFYPLAN_TESTS := long
test-long: test notebooks  ## the same with every kill and every random example, not a part of them

unit: unit-tables unit-runs  ## the tests but for those of the browser and of live agents

TABLES := $(addprefix tests/,analysis charts conformance datasets documents frames plans reports repository)

unit-tables: setup    ## that half of them that is about documents, tables, analyses and charts
	$(PYTEST) $(TABLES)

unit-runs: setup      ## the other half: all the rest, and the examples in docstrings
	$(PYTEST) --ignore=tests/live $(TABLES:%=--ignore=%)

notebooks: setup      ## every cell of every notebook
	$(BIN)/pytest --nbval-lax -p no:cacheprovider --nbval-kernel-name python3 notebooks -W default

browser: setup        ## notebooks and widgets in JupyterLab and Voila, in Chromium; pictures in out/browser/
	$(PYTEST) tests/browser

live: setup           ## the tests of live agents, batches and leaks, over HTTP on loopback
	$(PYTEST) tests/live

lab: setup            ## JupyterLab on the notebooks
	$(BIN)/jupyter lab --notebook-dir notebooks $(if $(filter 0,$(shell id -u)),--allow-root) $(LAB_FLAGS)

data: setup          ## record the bundled fixture sets again
	$(BIN)/python data/record.py

PEERS := $(VENV)/.peers
$(PEERS): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(PYTHON) -m venv $(VENV)/inspect_ai  # it needs other versions of packages than this project
	$(VENV)/inspect_ai/bin/python -m pip install --quiet --disable-pip-version-check inspect_ai pandas pyarrow
	@touch $@

bench: $(PEERS)       ## the benchmarks beside named peers; fails where a ratio fell by a fifth (BENCH=classify: that alone)
	$(BIN)/python -m benchmarks.guard $(BENCH)

bench-large: $(PEERS) ## the same at 10 and 100 million votes and 5,000 findings live
	$(BIN)/python -m benchmarks.guard --large $(BENCH)

bench-table: $(PEERS) ## run them, and write benchmarks/figures.csv and the tables of its README anew (BENCH=--large: the large ones)
	$(BIN)/python -m benchmarks.guard --write $(BENCH)

bench-growth: setup   ## how times grow with votes, runs and workers: benchmarks/growth.csv and docs/growth.png
	$(BIN)/python -m benchmarks.growth

bench-statistics: setup  ## how often intervals hold the truth, by simulation: the tables of docs/statistics.md
	$(BIN)/python -m benchmarks.interval_coverage
	$(BIN)/python -m benchmarks.rejection_rates
	$(BIN)/python -m benchmarks.unpaired_coverage
	$(BIN)/python -m benchmarks.agreement_coverage
	$(BIN)/python -m benchmarks.weight_coverage
	$(BIN)/python -m benchmarks.corrected_rates
	$(BIN)/python -m benchmarks.planned_power
	$(BIN)/python -m benchmarks.panel_coverage
	$(BIN)/python -m benchmarks.dawid_skene_losses
	$(BIN)/python -m benchmarks.score_coverage
	$(BIN)/python -m benchmarks.hidden_votes
	$(BIN)/python -m benchmarks.rule_choice
	$(BIN)/python -m benchmarks.settle
	$(BIN)/python -m benchmarks.added_votes

bench-faults: setup   ## every fault of a list on live runs, and what holds after it: the tables of docs/reliability.md
	$(BIN)/python -m benchmarks.faults --write

pictures: setup       ## draw the pictures of the README anew: docs/*.png (Chromium is needed)
	$(BIN)/python -m docs.site.pictures

interface: setup      ## write the sentences of docs/interface.md as the code has them
	$(BIN)/python -m tests.interface_page

lock:                 ## refresh constraints.txt: the newest versions that work together
	rm -rf out/lock && $(PYTHON) -m venv out/lock
	out/lock/bin/python -m pip install --quiet --disable-pip-version-check '.[dev]'
	out/lock/bin/python -m pip freeze --exclude verifyplan | grep -v '@' > constraints.txt
	rm -rf out/lock

clean:                ## remove what the other targets made
	rm -rf $(VENV) out build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
