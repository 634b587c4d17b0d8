# Short names for the project's commands; CMake builds it (CMakePresets.json).
# make bench ARGS="..." passes ARGS to the benchmark.

build:
	cmake --preset release && cmake --build --preset release

demo:
	scripts/demo

test:
	scripts/test

bench:
	cmake --preset release && cmake --build --preset release --target acre_bench
	build/release/bench/acre-bench $(ARGS)

format:
	scripts/format

tidy:
	scripts/tidy

clean:
	rm -rf build

.PHONY: build demo test bench format tidy clean
