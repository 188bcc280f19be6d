# Everything works from a fresh clone with only Python 3.11 or newer, pip and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-spark other-processor check browser java pictures bench bench-accuracy bench-cluster setup clean

demo: .venv/.runs            ## every command on a table, a spam filter, and the lecture's examples
	$(BIN)/candide demo
	$(BIN)/python examples/lecture.py

test: .venv/.develops        ## all tests but those of Spark; CANDIDE_THOROUGH=1 for the long property runs
	$(BIN)/python -m pytest -n auto --dist worksteal

test-spark: .venv/.clusters  ## the tests of clusters with PySpark (500 MB), on a real master and two workers; needs Java
	$(BIN)/python -m pytest -k "spark or executor" tests/test_clusters.py

other-processor: .venv/.develops  ## files and documents as a processor of 2008 has them, beside this one
	CANDIDE_OTHER_PROCESSOR=1 $(BIN)/python -m pytest tests/test_machines.py
	$(BIN)/python tests/other_processor.py $(BIN)/python -m pytest -n auto tests/test_releases.py tests/test_store.py tests/test_documents.py

browser:                     ## a Chromium for the tests of pages, from Debian's packages, unless there is one
	@./.ci/browser

java:                        ## a Java for the tests of Spark, from Debian's packages, unless there is one
	@./.ci/java

check: .venv/.develops       ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.develops       ## speed beside scikit-learn and river, into benchmarks/results/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt river
	$(BIN)/python benchmarks/arrays.py
	$(BIN)/python benchmarks/default.py
	$(BIN)/python benchmarks/shapes.py
	$(BIN)/python benchmarks/text.py
	$(BIN)/python benchmarks/scripts.py
	$(BIN)/python benchmarks/streams.py
	$(BIN)/python benchmarks/start_up.py
	$(BIN)/python benchmarks/out_of_core.py
	$(BIN)/python benchmarks/explain.py
	$(BIN)/python benchmarks/report.py

bench-accuracy: .venv/.develops  ## accuracy, log loss and calibration beside scikit-learn on ../shared/data
	$(BIN)/python benchmarks/accuracy.py
	$(BIN)/python benchmarks/honesty.py
	$(BIN)/python benchmarks/novelty.py
	$(BIN)/python benchmarks/nudges.py
	$(BIN)/python benchmarks/few_rows.py
	$(BIN)/python benchmarks/few_texts.py
	$(BIN)/python benchmarks/refine.py
	$(BIN)/python benchmarks/ebm.py
	$(BIN)/python benchmarks/em.py

bench-cluster: .venv/.clusters  ## Dask and Spark beside one machine, and beside Spark's and Dask's own naive Bayes
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dask-ml
	$(BIN)/python benchmarks/clusters.py

pictures: .venv/.develops    ## every picture of the documents, drawn anew
	$(BIN)/python docs/make_pictures.py

setup: .venv/.develops       ## the virtual environment with everything for development

.venv/.runs: pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Candide needs Python 3.11 or newer: make PYTHON=python3.12 ...')"
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[plot]'
	touch $@

.venv/.develops: .venv/.runs
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

.venv/.clusters: .venv/.develops
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt 'pyspark[connect]>=4.1'
	touch $@

clean:
	rm -rf .venv build src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
