# `make` lists what there is. `make test` needs nothing but Go (and a C compiler for the race detector).

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

PKGS    := ./pkg/... ./services/...
MODULES := pkg services

# The one place for the linter's version; .ci/run and `make lint` install the same.
GOLANGCI_VERSION := v2.15.0
GOPATH_BIN       := $(firstword $(subst :, ,$(shell go env GOPATH)))/bin
GOLANGCI         := $(GOPATH_BIN)/golangci-lint

TIMEOUT      ?= 10m
LONG_TIMEOUT ?= 90m
FUZZTIME     ?= 30s
BENCH        ?= .
N            ?= 2000
SEED         ?= 1
FOR          ?= 2m

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# Go turns cgo off by itself where there is no C compiler, and the race detector needs one.
RACE := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

# $(call step,NAME,COMMANDS): says what runs and how long it took, and fails when a command fails.
define step
@printf -- '--- %s\n' '$(1)'; \
trap 'code=$$?; [ $$code = 0 ] && word=ok || word=FAILED; printf -- "--- %s: %s, %ds\n" "$(1)" $$word $$SECONDS' EXIT; \
$(2)
endef

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## play: all services in one process, with demo matches (it prints where to look; Ctrl-C ends it)
	@go run -ldflags '-X main.version=$(VERSION)' ./services/umpire serve --demo

.PHONY: build
build: ## build the one static binary, bin/umpire
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/umpire ./services/umpire

.PHONY: test
test: fmt-check vet lint tidy-check unit ## every check that a change must pass

.PHONY: check
check: fmt-check vet ## a quick look while working: no linter, no race detector, cached results
	$(call step,go test,go test -timeout $(TIMEOUT) $(PKGS))
	$(call step,architecture,go test -count=1 ./services)

.PHONY: long
long: ## the tests again at length: more seeds, more faults, more games
	$(call step,go test with UMPIRE_LONG=1,UMPIRE_LONG=1 go test $(RACE) -count=1 -timeout $(LONG_TIMEOUT) $(PKGS))

# Always anew: the architecture tests read files of both modules, which Go's cache of test results doesn't watch.
.PHONY: unit
unit: ## the tests alone
	@$(if $(RACE),,echo 'NOTE: no C compiler, so the tests run WITHOUT the race detector.')
	$(call step,go test $(RACE),go test $(RACE) -count=1 -timeout $(TIMEOUT) $(PKGS))

.PHONY: fmt-check
fmt-check:
	$(call step,gofmt,bad=$$(gofmt -l $(MODULES)); [ -z "$$bad" ] || { echo "make fmt mends these:"; echo "$$bad"; exit 1; })

.PHONY: vet
vet:
	$(call step,go vet,go vet $(PKGS))

.PHONY: lint
lint: lint-tool ## golangci-lint, both modules
	$(call step,golangci-lint,$(GOLANGCI) run $(PKGS))

.PHONY: lint-tool
lint-tool:
	@if [ "$$($(GOLANGCI) version --short 2>/dev/null)" != '$(GOLANGCI_VERSION:v%=%)' ]; then \
		echo 'installing golangci-lint $(GOLANGCI_VERSION) into $(GOPATH_BIN)'; \
		cd / && GOWORK=off GOBIN='$(GOPATH_BIN)' \
			go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION); \
	fi

# Each module by itself, as someone would fetch it: a workspace hides what is missing in a go.mod.
.PHONY: tidy-check
tidy-check:
	$(call step,go mod tidy,for module in $(MODULES); do (cd $$module && GOWORK=off go mod tidy -diff) || exit 1; done)

.PHONY: fmt
fmt: lint-tool ## format, and bring go.mod files in order
	$(GOLANGCI) fmt $(MODULES)
	for module in $(MODULES); do (cd $$module && GOWORK=off go mod tidy); done

.PHONY: generate
generate: ## write *.gen.go and the web app's types anew
	go generate $(PKGS)

.PHONY: fuzz
fuzz: ## every fuzz test for FUZZTIME (30s) each
	@for package in $$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' $(PKGS)); do \
		listed=$$(go test -list '^Fuzz' $$package) || exit 1; \
		for target in $$(sed -n '/^Fuzz/p' <<<"$$listed"); do \
			echo "--- $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

.PHONY: sim
sim: ## the simulation of all services: N seeds from SEED on, on all cores (SIM='-minimise 17' and more: see its doc)
	@go run ./services/sim/simulate $(or $(SIM),-n $(N) -seed $(SEED))

.PHONY: chaos
chaos: ## all services as processes, killed at random for FOR (2m), drawn from SEED, while 200 matches are played
	@UMPIRE_CHAOS_FOR=$(FOR) UMPIRE_CHAOS_SEED=$(SEED) go test -run '^TestChaos$$' -count=1 -v -timeout $(LONG_TIMEOUT) ./services/umpire

.PHONY: bench
bench: ## Go benchmarks (BENCH=regexp); `umpire bench` measures a whole installation
	go test -run '^$$' -bench '$(BENCH)' -benchmem $(PKGS)
