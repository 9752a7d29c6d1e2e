# Every target sets up what it needs: a virtual environment in .venv, from PyPI wheels alone.
# Needs Python 3.11 or newer and make; no root, no system packages, no Node, no `dot`.

PYTHON      ?= python3
VENV        ?= .venv
BENCH_VENV  ?= .venv-bench
MODELS_VENV ?= .venv-models
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
WORKLOADS   ?=
PEERS       ?=
ISA         ?=
BENCH_ARGS  ?=
LAB_ARGS    ?=
PYTEST_ARGS ?=
CPUS        ?= haswell skylake-avx512
LIMIT       ?= 0
TESTS       ?=
SUITE       ?= array-api-tests
TEST_SEED   ?= $(shell date +%j%H%M)
PART        ?=

BIN       := $(VENV)/bin
STAMP     := $(VENV)/.installed
BENCH     := $(BENCH_VENV)/.installed
MODELLED  := $(MODELS_VENV)/.installed
MODELS    ?=
OPERATORS ?=
NOTEBOOKS := $(wildcard notebooks/*.ipynb)
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)

# Notebooks call `svodviz` as a shell command, so the environment's bin comes first on their PATH.
RUN := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m

PYTEST = pytest -n auto --dist loadscope --no-loadscope-reorder --nbval --nbval-current-env \
  --nbval-cell-timeout=120

comma := ,
fail = { echo "make: $(1)" >&2; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help setup lab test test-all cpus aarch64 arrayapi demo check bench models opinfo notebooks pictures types wheel clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## make .venv and install everything into it (the other targets do it by themselves)

$(STAMP): EXTRA := dev
$(BENCH): EXTRA := bench
$(MODELLED): EXTRA := models
# This index has builds of torch without the libraries of graphics cards: where it is in reach.
IS_IN_REACH = $(PYTHON) -c 'import urllib.request as u; print(u.urlopen("$(TORCH_INDEX)/torch/", timeout=5).status)'
$(BENCH) $(MODELLED): INSTALL = $(if $(shell $(IS_IN_REACH) 2>/dev/null),--extra-index-url $(TORCH_INDEX))
$(STAMP) $(BENCH) $(MODELLED): pyproject.toml
	@$(@D)/bin/python -m pip --version >/dev/null 2>&1 || { \
	  command -v "$(PYTHON)" >/dev/null \
	    || $(call fail,$(PYTHON) not found: install Python 3.11 or newer$(comma) or name one: make PYTHON=/path/to/python3.12); \
	  "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || $(call fail,$(PYTHON) is too old: svodviz needs Python 3.11 or newer. Name one: make PYTHON=python3.12); \
	  "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null \
	    || $(call fail,$(PYTHON) cannot make virtual environments. On Debian and Ubuntu: apt install python3-venv); \
	  echo "making $(@D)"; \
	  "$(PYTHON)" -m venv --clear $(@D); }
	@echo "installing svodviz and .[$(EXTRA)] into $(@D) (one to three minutes)"
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(INSTALL) --editable '.[$(EXTRA)]'
	@touch $@

# Settings that JupyterLab begins with: it keeps widgets when it saves a notebook.
lab: export JUPYTER_CONFIG_PATH := $(CURDIR)/binder/jupyter$(if $(JUPYTER_CONFIG_PATH),:$(JUPYTER_CONFIG_PATH))
lab: $(STAMP) ## open JupyterLab on notebooks/ (LAB_ARGS= are passed on)
	@$(RUN) jupyterlab $(ROOT_FLAG) --LabApp.default_url=/lab/tree/notebooks $(LAB_ARGS)

# A sample has each operation, engine, type and notebook, and a test of each module (tests/sample.py).
# The seed is printed; TEST_SEED=n repeats a sample.
test: check ## check, every notebook, and a sample of the tests (PYTEST_ARGS= are passed on)
	@$(RUN) $(PYTEST) --sample $(TEST_SEED) $(PYTEST_ARGS)

# PART=2/3 is the second of three parts of all tests, without the sample of TEST_SEED.
test-all: check ## everything: all tests, every notebook (PART=k/n: a part, without what `make test` runs)
	@$(RUN) $(PYTEST) $(if $(PART),--sample $(TEST_SEED) --part $(PART)) $(PYTEST_ARGS)

cpus: $(STAMP) ## notebooks and tests of machine code, the host taken for other processors (CPUS="a b")
	@$(RUN) tools.cpus $(CPUS) -- -n auto $(PYTEST_ARGS)

# Debian's packages and wheels are unpacked below build/: no root, and nothing of this system changes.
aarch64: $(STAMP) ## tests of machine code on AArch64, emulated where need be (TESTS="a b"; LIMIT=: seconds)
	@$(RUN) tools.aarch64 --seconds $(LIMIT) $(if $(TESTS)$(PYTEST_ARGS),-- $(PYTEST_ARGS) $(TESTS))

# The suite is another project: a checkout of data-apis/array-api-tests with its submodule.
arrayapi: $(STAMP) ## the array API standard's own tests on compiler.array_api (SUITE=folder of its checkout)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r '$(SUITE)/requirements.txt'
	@$(RUN) tools.array_api_suite '$(SUITE)' -- $(PYTEST_ARGS)

check: $(STAMP) ## lint everything, type-check the compiler and the explorer
	@$(RUN) ruff check .
	@$(RUN) mypy --strict

demo: $(STAMP) ## explore examples/digits.py without a browser: build/digits.html and a summary
	@mkdir -p build
	@$(BIN)/svodviz explore examples/digits.py -o build/digits.html
	@$(BIN)/svodviz show examples/digits.py --stage summary
	@echo "the explorer is in build/digits.html: open it in any browser"

# tinygrad's CPU device needs clang and libLLVM from the system; without them its entries are missing.
# Other measurements: .venv-bench/bin/python -m benchmarks cold_compile (growth, memory, …).
bench: $(BENCH) ## measure against numpy, numba, torch, jax, tinygrad (WORKLOADS=a,b PEERS=x,y: a part; ISA=avx2)
	@$(BENCH_VENV)/bin/python -m benchmarks --workloads '$(WORKLOADS)' --peers '$(PEERS)' --isa '$(ISA)' $(BENCH_ARGS)

# PyTorch and JAX are too large for .venv: what needs them has an environment of its own.
# All models take more than an hour. Rows are kept in build/models.json: it goes on where it was ended.
models: $(MODELLED) ## tests of from_torch and from_jax, then models of torchvision and transformers (MODELS="bert swin*": some)
	@$(MODELS_VENV)/bin/python -m pytest -q tests/imported/torch tests/imported/jax tests/imported/test_reached.py
	@$(MODELS_VENV)/bin/python -m tools.models --out build/models.json $(foreach name,$(MODELS),'$(name)')

# All operators take about an hour. Rows are kept in build/opinfo.json: it goes on where it was ended.
opinfo: $(MODELLED) ## samples of PyTorch's own database of operators through from_torch (OPERATORS="softmax linalg*": some)
	@$(MODELS_VENV)/bin/python -m tools.opinfo --out build/opinfo.json $(foreach name,$(OPERATORS),'$(name)')

# What is stored is what loops for one machine print, as in the tests: conftest.py.
notebooks: export SVODVIZ_MACHINE := x86-avx512
notebooks: $(STAMP) ## run every notebook and store its results in it
ifneq ($(NOTEBOOKS),)
	@$(RUN) nbconvert --to notebook --execute --inplace $(NOTEBOOKS)
	@$(RUN) nbconvert --to notebook --coalesce-streams --inplace $(NOTEBOOKS)
else
	@echo "there are no notebooks yet"
endif

pictures: $(STAMP) ## take the pictures of docs/features.md again (needs Chromium)
	@$(RUN) tools.pictures

types: $(STAMP) ## write docs/*schema.json, wire.d.ts and the glossary again, from the tables they come from
	@$(RUN) tools.wire_types
	@$(RUN) tools.glossary

# Nothing but the wheel and what it asks for is there: what only .venv has is missed here.
wheel: $(STAMP) ## build dist/*.whl and try it in an environment of its own
	@rm -rf dist build/wheel
	@$(RUN) hatchling build -t wheel -d dist >/dev/null
	@"$(PYTHON)" -m venv build/wheel
	@build/wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	@printf '%s\n' 'from compiler import Tensor' 'y = (Tensor([[1.0, 2.0]]) @ Tensor([[3.0], [4.0]])).relu()' \
	  'assert y.tolist() == [[11.0]]' > build/wheel/program.py
	@cd build/wheel && bin/svodviz --version && bin/svodviz explore program.py -o page.html \
	  && bin/svodviz show program.py --stage asm | grep -q ret
	@echo "dist/ has a wheel that works by itself"

clean: ## remove results and caches (keeps .venv and .venv-bench)
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . \( -path ./$(VENV) -o -path ./$(BENCH_VENV) -o -path ./$(MODELS_VENV) \) -prune -o \( -name __pycache__ -o -name .ipynb_checkpoints \) -type d -print \
	  | while read -r folder; do rm -rf "$$folder"; done
