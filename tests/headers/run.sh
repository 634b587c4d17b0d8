#!/bin/sh
# Every public header compiles alone as C11 and as C++17, without a warning, with each compiler
# that is here; so does every initialiser (uses.c).
# usage: run.sh SOURCE_DIR
set -eu
root=$1
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror"
tried=0

for compilers in gcc:g++ clang:clang++; do
    cc=${compilers%%:*}
    cxx=${compilers##*:}
    if ! command -v "$cc" >/dev/null || ! command -v "$cxx" >/dev/null; then
        echo "$cc and $cxx: not here"
        continue
    fi
    for header in "$root"/include/acre/*.h; do
        line="#include <acre/${header##*/}>"
        # Twice: the guard holds.
        printf '%s\n%s\n' "$line" "$line" |
            "$cc" -std=c11 $warnings -Wstrict-prototypes -I"$root/include" -fsyntax-only -x c -
        printf '%s\n%s\n' "$line" "$line" |
            "$cxx" -std=c++17 $warnings -I"$root/include" -fsyntax-only -x c++ -
        tried=$((tried + 2))
    done
    uses=$root/tests/headers/uses.c
    "$cc" -std=c11 $warnings -I"$root/include" -fsyntax-only -x c "$uses"
    "$cxx" -std=c++17 $warnings -I"$root/include" -fsyntax-only -x c++ "$uses"
    tried=$((tried + 2))
done

echo "$tried compilations"
[ "$tried" -gt 0 ]
