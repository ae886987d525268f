PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= out

.PHONY: demo demo-cluster test test-all lint chromium compilers frontends bench bench-against bench-swaps bench-jumps bench-zoo bench-discovery bench-screening bench-moves bench-many-dimensions bench-clustering bench-advice bench-verdicts bench-stopping bench-intervals bench-evidence bench-weighing bench-posteriors bench-pools bench-batches bench-peers bench-peers-ours reproduction docs site sheets notebooks gallery interactive soak clean

demo: $(VENV)/.installed
	$(BIN)/temperance demo --out $(OUT)

demo-cluster: $(VENV)/.installed-test
	$(BIN)/python tools/demo_cluster.py

# Chains take all cores already: threads of the linear algebra in each of them only wait for one another.
test test-all: export OPENBLAS_NUM_THREADS = 1

# One process a file, since what a file compiles is of no use to another process; tests/conftest.py says in which order.
IN_TWO_PROCESSES := -n 2 --dist loadfile --no-loadscope-reorder

test: $(VENV)/.installed-test lint
	$(BIN)/pytest $(IN_TWO_PROCESSES) -m "not slow"

test-all: $(VENV)/.installed-test $(VENV)/.installed-docs lint chromium compilers
	$(BIN)/pytest $(IN_TWO_PROCESSES)

# A browser for the test of the report; where there is no apt-get, that test is skipped.
chromium:
	command -v chromium >/dev/null || ! command -v apt-get >/dev/null || \
		(apt-get update --quiet --quiet && apt-get install --quiet --quiet --yes chromium)

# For densities in Fortran and Rust; where there is no apt-get, their tests are skipped.
compilers:
	command -v apt-get >/dev/null || exit 0; \
	for one in gfortran rustc; do \
		command -v $$one >/dev/null || (apt-get update --quiet --quiet && apt-get install --quiet --quiet --yes $$one); \
	done

# The front-ends alone, each in an environment of its own, here and with a newer Python; the output is kept.
frontends: $(VENV)/.installed-test
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest tests/test_frontends.py -m slow -s > docs/models/frontends.txt

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed
	$(BIN)/python benchmarks/speed.py

# Against another commit, or several: make bench-against REV="7278706 HEAD~1".
bench-against: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/against.py $(REV)

bench-swaps: $(VENV)/.installed
	$(BIN)/python benchmarks/swap_strategies.py docs/images/swap_strategies.png

bench-jumps: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/jumps.py
	$(BIN)/python tools/jumps_page.py

# Errors on the whole zoo against another commit: make bench-zoo REV=51dc088.
bench-zoo: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/zoo_against.py $(REV)
	$(BIN)/python tools/jumps_page.py

# How often a mode that is easily missed is found, beside another commit: make bench-discovery REV=51dc088.
bench-discovery: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/discovery.py $(REV)
	$(BIN)/python tools/jumps_page.py

bench-screening: $(VENV)/.installed
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=benchmarks $(BIN)/python benchmarks/screening.py > docs/jumps/screening.md
	$(BIN)/python tools/jumps_page.py

bench-moves: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/moves.py

# Hours: give --row, --runs or --minutes to the program for a part of it.
bench-many-dimensions: $(VENV)/.installed
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=benchmarks $(BIN)/python benchmarks/many_dimensions.py

bench-clustering: $(VENV)/.installed-test
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/clustering.py > docs/jumps/clustering.md

# Whether advice cures, verdicts are right, and runs that end by their goals have errors that hold.
bench-advice bench-verdicts bench-stopping: bench-%: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/$*.py
	$(BIN)/python tools/advice_page.py

# Whether intervals cover, and the evidence beside nested samplers; both take hours.
bench-intervals: $(VENV)/.installed
	$(BIN)/python benchmarks/intervals.py --processes 2
	$(BIN)/python tools/weights_page.py

bench-evidence: $(VENV)/.installed
	$(BIN)/python benchmarks/evidence.py
	$(BIN)/python tools/weights_page.py

bench-weighing: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/weighing.py
	$(BIN)/python tools/weights_page.py

# Real posteriors at 250,000 evaluations, against references by quadrature.
bench-posteriors: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python benchmarks/posteriors.py

bench-pools: $(VENV)/.installed-test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/pools.py --constants docs/parallel/constants.json > docs/parallel/pools.md
	$(BIN)/python benchmarks/pool_simulation.py > docs/parallel/simulation.md

# JAX is in no environment of ours but those of the front-ends: without it its rows are left out.
bench-batches: $(VENV)/.installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/batches.py > docs/parallel/batches.md

bench-peers: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python -m peers

bench-peers-ours: $(VENV)/.installed
	PYTHONPATH=benchmarks $(BIN)/python -m peers --ours --anew

reproduction: $(VENV)/.installed-test
	$(BIN)/temperance reproduce all --out $(OUT)/reproduction --continue
	$(BIN)/python tools/reproduction_page.py $(OUT)/reproduction

# Ten minutes of runs that are killed at random times and gone on with; the output is kept among the docs.
soak: $(VENV)/.installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/soak.py > docs/soak.txt

docs: $(VENV)/.installed-test
	$(BIN)/python tools/refresh_docs.py
	$(BIN)/python tools/reproduction_page.py
	PYTHONPATH=benchmarks $(BIN)/python tools/peers_page.py
	$(BIN)/python tools/jumps_page.py
	$(BIN)/python tools/weights_page.py

# Pictures of all plots and all problems of the zoo with their page, and the page to step through.
gallery: $(VENV)/.installed-test
	MPLBACKEND=Agg $(BIN)/python tools/gallery.py

interactive: $(VENV)/.installed
	$(BIN)/python tools/interactive.py

# The pages of docs/ as a site in out/site: open index.html, no server is needed. A warning is an error.
site: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -E -b html --fail-on-warning --keep-going --quiet docs $(OUT)/site
	$(BIN)/python tools/check_site.py $(OUT)/site
	@echo "$(OUT)/site/index.html"

# All pages of the site wide and narrow, light and dark, on images to look through; takes some minutes.
sheets: site chromium $(VENV)/.installed-test
	$(BIN)/python tools/sheets.py $(OUT)/site $(OUT)/sheets

# The tutorials run again, with their output and figures in the files.
notebooks: $(VENV)/.installed-test $(VENV)/.installed-docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/run_notebooks.py

$(VENV)/.created:
	$(PYTHON) -c "import sys; sys.exit('Python 3.11 or newer is needed') if sys.version_info < (3, 11) else None"
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.installed: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --editable ".[plot]"
	touch $@

$(VENV)/.installed-test: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --editable ".[paper,test]"
	touch $@

$(VENV)/.installed-docs: pyproject.toml $(VENV)/.created
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) $(OUT) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
