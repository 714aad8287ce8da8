# The same commands here and in CI. Each makes its own .venv when it is missing.
PYTHON ?= python3
BIN := .venv/bin
# uv does not read pip's settings: wheels that pip finds in a folder are handed on.
export PIP_FIND_LINKS ?= $(shell $(PYTHON) -m pip config get global.find-links 2>/dev/null)
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)

# Tests start hundreds of Pythons, and each would compile opperf and its libraries anew, for 0.9 s.
unexport PYTHONDONTWRITEBYTECODE

# What mypy knows of a file holds in each checkout: it compares what is in the files, and not when they were written.
export MYPY_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/opperf-mypy
# So does what Hypothesis reads of one, and the examples that failed.
export HYPOTHESIS_STORAGE_DIRECTORY ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/opperf-hypothesis

# Tests wait for what they start: one process more than there are cores keeps the cores busy.
export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell expr $$(nproc) + 1)

# A file of tests stays in one process, with what it has started; the longest come first (tests/conftest.py).
# `exec`, so that it is what `make` passes SIGTERM to, and no shell between. Its slowest tests are told, so that a new one
# is seen.
PYTEST := exec $(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder --durations 10
# The folders of `make test`. What is slow in them, and all others, is left to `make test-all` (tests/conftest.py).
QUICK := tests/unit tests/functional tests/frameworks tests/docs
COVERED ?= $(QUICK)

.PHONY: demo picture test test-all lint docs site generate coverage check clean

demo: $(BIN)/.ready  ## measure 24 operators on three frameworks, print one table, write demo.json
	$(BIN)/opperf run --framework torch --framework mxnet --framework numpy --trial-budget 0.2 --output demo.json --force \
		add multiply divide exp tanh relu gelu sigmoid softmax log_softmax sum mean argmax matmul batch_matmul linear \
		conv2d max_pool2d layer_norm batch_norm embedding concatenate transpose cross_entropy

picture: $(BIN)/.ready  ## measure again for the picture in README.md: about three minutes
	$(BIN)/opperf compare add exp softmax sum matmul tanh sort cumsum --direction forward \
		--base numpy==1.26.4 --new numpy==2.2.6 --plot docs/comparison.svg

test: $(BIN)/.ready  ## what answers in minutes, without a network: units, and every command on the null framework and NumPy
	$(PYTEST) -m "not slow" $(QUICK)

test-all: test  ## every test: those of `make test` first, then the rest
	$(PYTEST) -m slow

lint: $(BIN)/.ready  ## style, types, what may import what, and the schemas of workflows and forms
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml examples/ci/*.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yml

docs: $(BIN)/.ready site  ## check what the pages show and where they lead, and build the site
	$(BIN)/pytest -q tests/docs

site: $(BIN)/.ready  ## build the pages into build/site; a broken link fails
	$(BIN)/sphinx-build -q -E -W --keep-going -c docs . build/site

generate: $(BIN)/.ready  ## write the parts of the pages that the code knows
	$(BIN)/python docs/keywords.py
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/support.py

coverage: $(BIN)/.ready  ## which lines of the parent, the domain and the catalog the tests of $(COVERED) run
	rm -rf build/coverage
	$(BIN)/coverage run -m pytest -q --numprocesses auto --dist loadfile $(COVERED)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --sort=miss

check: lint docs

clean:
	rm -rf .venv build demo.json

$(BIN)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --group test --group lint --group docs --editable .
	touch $@
