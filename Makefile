# `make reproduce` and `make test` are all that a fresh machine needs; `make` alone says what there is.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.ONESHELL:
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help ask setup tex fresh reproduce test bench clean
unexport GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

SCALE ?= laptop
JOBS ?= 2
PYTHON ?= $(shell command -v python3.11 || echo python3)
TEX := texlive-latex-recommended texlive-science lmodern latexmk poppler-utils
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export DVC_NO_ANALYTICS := 1

# The scale of the committed results is recomputed in this checkout, as `dvc repro` would; git keeps the committed
# records. Any other scale is computed in a clone under build/ and never touches them.
COMMITTED := $(shell git show HEAD:params.yaml 2>/dev/null | sed -n 's/^scale: *\([a-z]*\).*/\1/p')
WORK := $(if $(filter $(SCALE),$(COMMITTED)),.,build/$(SCALE))
MARK := build/$(SCALE).started
STARTED := $(shell date +%s)
define SAY
stop() { echo "make: $$*" >&2; exit 2; }
going_on() { [ -d $(WORK) ] && [ "$$(cat $(MARK) 2>/dev/null)" = "$$(git rev-parse HEAD)" ]; }
have_tex() { type -P latexmk && type -P pdftotext && kpsewhich siunitx.sty && kpsewhich lmodern.sty; } >/dev/null 2>&1
endef

help: ## this list
	@echo "usage: make TARGET [SCALE=smoke|laptop|paper]"
	sed -n 's/^\([a-z]*\):.*## /  \1|/p' Makefile | while IFS='|' read -r target text; do printf '%-12s %s\n' "$$target" "$$text"; done

reproduce: ask setup tex fresh ## recompute everything and build the paper; run again after an interruption, it goes on
	@$(SAY)
	cd $(WORK)
	if have_tex; then stages=; else stages="audit render"; fi
	for pid in $$(grep -os '"pid": [0-9]*' .dvc/tmp/rwlock | grep -o '[0-9]*'); do
		! grep -qs '^State:.Z' /proc/$$pid/status || rm -f .dvc/tmp/rwlock # a killed DVC that nobody reaped still looks busy
	done
	dvc repro --no-run-cache $$stages || stop "a stage stopped (its own line is above); after the cure, make reproduce SCALE=$(SCALE) goes on from there"
	rm -f $(CURDIR)/$(MARK)
	code=0
	printf '\n== paper\n'
	pdf=$$PWD/manuscript/paper.pdf
	if have_tex; then echo "$$pdf, $$(pdfinfo "$$pdf" | sed -n 's/^Pages: *//p') pages"; else echo "not built, TeX is missing"; fi
	printf '\n== audit\n'
	python -m audit verify || code=$$?
	printf '\n== recomputed against committed\n'
	python -m audit compare || code=$$?
	printf '\n== done in %d seconds\n' $$(($$(date +%s) - $(STARTED)))
	exit $$code

ask: ## can this checkout be reproduced at all? asked before anything is installed
	@$(SAY)
	case "$(SCALE)" in smoke|laptop|paper) ;; *) stop "unknown SCALE; expected smoke, laptop or paper; found '$(SCALE)'";; esac
	type -P git >/dev/null || stop "git is not installed; cure: apt-get install git"
	reason=$$(git ls-files --error-unmatch audit.toml 2>&1 >/dev/null) || stop "not a git clone of this project, so nothing shows what came first; found: $${reason%%$$'\n'*}; cure: git clone it (a ZIP has no history)"
	[ "$$(git rev-parse --is-shallow-repository)" = false ] || stop "the clone is shallow, so the order of seal and run cannot be checked; cure: git fetch --unshallow"
	! git config --get-regexp '^remote\..*\.partialclonefilter$$' >/dev/null || stop "the clone is partial (--filter); cure: clone without --filter"
	if [ $(WORK) = . ] && ! going_on; then
		[ -z "$$(git status --porcelain -- results dvc.lock params.yaml)" ] || stop "results/, dvc.lock or params.yaml hold changes that recomputing would overwrite; cure: commit them, or git checkout -- results dvc.lock params.yaml"
	fi

fresh:
	@$(SAY)
	if going_on; then echo "reproduce: going on where the last call stopped"; exit 0; fi
	mkdir -p build
	if [ $(WORK) = . ]; then
		echo "reproduce: recomputing all stages at scale $(SCALE)"
		rm -rf .checkpoints
	else
		echo "reproduce: computing scale $(SCALE) in the clone $(WORK)"
		rm -rf $(WORK)
		git clone -q . $(WORK)
		sed -i 's/^scale: .*/scale: $(SCALE)/' $(WORK)/params.yaml
	fi
	rm -f $(WORK)/dvc.lock # without it no stage counts as done
	git rev-parse HEAD > $(MARK)

setup: .venv/.installed ## one virtual environment, .venv, with the versions of requirements.lock

.venv/.installed: requirements.lock pyproject.toml
	@$(SAY)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || stop "Python 3.11 is needed; found $$($(PYTHON) --version 2>&1); cure: make PYTHON=/path/to/python3.11 ..."
	[ -x .venv/bin/pip ] || $(PYTHON) -m venv .venv || stop "no virtual environment; cure: apt-get install python3-venv"
	echo "setup: installing $$(grep -c == requirements.lock) pinned packages into .venv (1.5 GB)"
	.venv/bin/pip install --disable-pip-version-check --no-input -r requirements.lock
	.venv/bin/pip install --disable-pip-version-check --no-input -q --no-deps --no-build-isolation -e .
	touch $@

.venv/.tests-installed: requirements-test.lock .venv/.installed
	@.venv/bin/pip install --disable-pip-version-check --no-input -q -r requirements-test.lock -c requirements.lock
	touch $@

tex: ## LaTeX for the paper: installed when run as root, otherwise named
	@$(SAY)
	if have_tex; then exit 0; fi
	if [ "$$(id -u)" = 0 ] && type -P apt-get >/dev/null; then
		echo "tex: installing $(TEX) (330 MB)"
		export DEBIAN_FRONTEND=noninteractive
		apt-get update -q && apt-get install -q -y --no-install-recommends $(TEX) || true
	fi
	have_tex || echo "tex: LaTeX is missing, so the paper will not be built; cure, as root: apt-get install --no-install-recommends $(TEX)"

test: .venv/.tests-installed tex ## all tests; ARGS='-k seal' for some
	@OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 .venv/bin/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

bench: setup ## the engine against an honest loop, side by side: eight minutes, results/bench.json
	@PYTHONPATH=.:src .venv/bin/python benchmarks/bench.py

clean: ## remove the environment, clones and checkpoints; what git tracks stays
	@rm -rf .venv build .checkpoints *.egg-info src/*.egg-info .pytest_cache .hypothesis
