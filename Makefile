# Two commands do everything on a machine that has only Python and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Where pip looks for packages; set PIP_INDEX_URL or add options here to use another place.
PIP_OPTIONS ?=

.PHONY: demo test check docs bench clean

demo: $(VENV)/.base
	$(BIN)/interpact judge examples/housing-grant.yaml examples/visa.yaml
	@$(BIN)/interpact judge examples/*.yaml --format html --output demo.html
	@echo "The same for all examples as a page: demo.html"

test: check
	$(BIN)/python -m pytest

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/python -m pytest tests/test_docs.py

docs: $(VENV)/.test
	$(BIN)/python tools/cli_docs.py

bench: $(VENV)/.test
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/cases.py

# A stamp a set of packages: a second run installs nothing until pyproject.toml changes.
$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_OPTIONS) --editable .
	touch $@

$(VENV)/.test: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_OPTIONS) --editable ".[test]"
	touch $(VENV)/.base $@

clean:
	rm -rf $(VENV) demo.html build dist
