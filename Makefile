# Two commands do everything on a machine that has only Python and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# Where pip looks for packages; set PIP_INDEX_URL or add options here to use another place.
PIP_OPTIONS ?=
# Installed first, so that a CPU build already on the machine is taken. For another build:
# make test TORCH_OPTIONS="--index-url https://download.pytorch.org/whl/cpu"
TORCH ?= torch==2.13.0
TORCH_OPTIONS ?=
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(PIP_OPTIONS)

.PHONY: demo test check docs train-smoke bench clean

demo: $(VENV)/.model
	@rm -rf demo-corpus
	$(BIN)/interpact sample --out demo-corpus
	$(BIN)/interpact label demo-corpus
	$(BIN)/interpact coverage demo-corpus
	$(BIN)/interpact judge examples/visa.yaml
	$(BIN)/interpact judge examples/housing-grant.yaml --mode propagate --or-exact
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

# Both stages with SmolLM2 on a synthetic corpus; prints what the run predicts of unseen pairs.
train-smoke: $(VENV)/.test
	$(BIN)/interpact fetch smollm2
	@rm -rf runs/train-smoke runs/train-smoke-corpus
	$(BIN)/interpact synth --cases 90 --seed 3 --out runs/train-smoke-corpus
	$(BIN)/interpact train configs/train-smoke.yaml --corpus runs/train-smoke-corpus --out runs/train-smoke
	$(BIN)/interpact evaluate runs/train-smoke --corpus runs/train-smoke-corpus --split test

bench: $(VENV)/.test
	$(BIN)/python benchmarks/start.py
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/cases.py
	$(BIN)/python benchmarks/split.py
	$(BIN)/python benchmarks/synthetic.py
	$(BIN)/python benchmarks/construct.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/evaluate.py
	$(BIN)/python benchmarks/review.py

# A stamp a set of packages: a second run installs nothing until pyproject.toml changes.
$(VENV)/.base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	touch $@

# What a verifier needs; without it the demo judges from given states and says so.
$(VENV)/.model: $(VENV)/.base
	$(PIP) $(TORCH_OPTIONS) $(TORCH) && $(PIP) --editable ".[train]" && touch $@ || \
		echo "torch and transformers could not be installed; the demo goes on without a verifier"

$(VENV)/.test: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) $(TORCH_OPTIONS) $(TORCH)
	$(PIP) --editable ".[test,train,web]"
	touch $(VENV)/.base $@

clean:
	rm -rf $(VENV) demo.html demo-corpus build dist
