# `make` alone lists what there is.
SHELL := bash
.DEFAULT_GOAL := help
.PHONY: help setup demo demo-down test test-lab lint unit clean
export PATH := $(CURDIR)/.venv/bin:$(PATH)

help:
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

setup: ## virtual environment and collections, inside the checkout
	@tools/setup

demo: ## a real cluster of four throwaway nodes on this machine (as root; a quarter of an hour the first time)
	@tools/demo

demo-down: ## removes what `make demo` made
	@tests/lab/lab down --name demo

test: setup ## everything that needs no cluster
	@.venv/bin/python tools/check.py

test-lab: setup ## builds, breaks and resets real clusters on this machine (as root)
	@tools/test-lab

lint: setup ## the quick part of `make test`: style, types, documentation
	@.venv/bin/python tools/check.py lint

unit: setup ## only the unit tests
	@.venv/bin/python tools/check.py units

clean: ## removes .venv and .cache; the lab's cache outside the checkout stays
	rm -rf .venv .cache
