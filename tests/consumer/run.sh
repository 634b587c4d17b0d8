#!/bin/sh
# Installs the build into a temporary prefix and builds examples/consumer against that copy alone,
# from CMake and from pkg-config, in C11 and in C++17; then runs what came out. The exported targets
# that the example does not use are linked by tests/consumer/CMakeLists.txt.
# usage: CC= CXX= CMAKE= [CFLAGS= CXXFLAGS=] run.sh SOURCE_DIR BUILD_DIR
set -eu
root=$1 build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
export CC CXX CFLAGS CXXFLAGS

"$CMAKE" --install "$build" --prefix "$prefix" >"$work/install.log"
# The copies stand outside the source tree, where nothing of it can be found by accident.
cp -r "$root/examples/consumer" "$work/example"
cp -r "$root/tests/consumer" "$work/targets"
cp "$root"/examples/consumer/consumer.c "$work/targets"

echo "== CMake"
"$CMAKE" -S "$work/example" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log" ||
    { cat "$work/cmake.log"; exit 1; }
"$CMAKE" --build "$work/cmake"
"$work/cmake/consumer-c"
"$work/cmake/consumer-cxx"

echo "== CMake, the other targets"
"$CMAKE" -S "$work/targets" -B "$work/cmake-targets" -DCMAKE_PREFIX_PATH="$prefix" \
    -DEXPECT_TRACE="$([ -e "$prefix/include/acre/trace.h" ] && echo ON || echo OFF)" \
    >"$work/cmake.log" || { cat "$work/cmake.log"; exit 1; }
"$CMAKE" --build "$work/cmake-targets"
for program in "$work"/cmake-targets/consumer-*; do
    "$program" >/dev/null
done

echo "== pkg-config"
pc=$(find "$prefix" -name acre.pc)
PKG_CONFIG_PATH=${pc%/*}
export PKG_CONFIG_PATH
make -C "$work/example" BUILD="$work/make"
for program in "$work/make/consumer-c" "$work/make/consumer-cxx"; do
    LD_LIBRARY_PATH=${pc%/pkgconfig/acre.pc} "$program"
done

if [ -x "$prefix/bin/acre" ]; then
    echo "== the installed program"
    "$prefix/bin/acre" info
fi
