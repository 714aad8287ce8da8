# Five commands, the same here and in CI. Each makes its own .venv when it is missing.
PYTHON ?= python3
BIN := .venv/bin
# uv does not read pip's settings: wheels that pip finds in a folder are handed on.
export PIP_FIND_LINKS ?= $(shell $(PYTHON) -m pip config get global.find-links 2>/dev/null)
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)

# Tests start hundreds of Pythons, and each would compile opperf and its libraries anew, for 0.9 s.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint docs site check clean

demo: $(BIN)/.ready  ## measure 24 operators on three frameworks, print one table, leave demo.json
	$(BIN)/opperf run --framework torch --framework mxnet --framework numpy --trial-budget 0.2 --output demo.json --force \
		add multiply divide exp tanh relu gelu sigmoid softmax log_softmax sum mean argmax matmul batch_matmul linear \
		conv2d max_pool2d layer_norm batch_norm embedding concatenate transpose cross_entropy

test: $(BIN)/.ready  ## every test, real frameworks included; a file stays in one process, with what it has started
	$(BIN)/pytest --numprocesses auto --dist loadfile

lint: $(BIN)/.ready  ## style, types, and what may import what
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(BIN)/.ready site  ## run the examples in docs and docstrings, and build the site
	$(BIN)/pytest -q tests/docs

site: $(BIN)/.ready  ## build the pages into build/site; a broken link fails
	$(BIN)/sphinx-build -q -E -W --keep-going -c docs . build/site

check: lint docs

clean:
	rm -rf .venv build demo.json

$(BIN)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt --group test --group lint --group docs --editable .
	touch $@
