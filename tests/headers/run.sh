#!/bin/sh
# Every public header compiles alone as C11 and as C++17, without a warning, with each compiler
# that is here, and so does a use of each of its initialisers. In C++ they name every field by
# position: a field that was added to a struct alone is a warning here.
# usage: run.sh SOURCE_DIR
set -eu
root=$1
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror"
tried=0

# The header twice, because its guard must hold, then each ACRE_SOME_THING_INIT without parameters
# in a variable of type acre_some_thing. Those with parameters are in initialisers.c.
program() {
    printf '#include <acre/%s>\n#include <acre/%s>\nvoid uses(void);\nvoid uses(void) {\n' "$1" "$1"
    sed -n 's/^#define \(ACRE_[A-Z_]*\)_INIT\( .*\)*$/\1/p' "$root/include/acre/$1" | sort -u |
        while read -r name; do
            type=$(echo "$name" | tr A-Z a-z)
            printf '    %s a_%s = %s_INIT;\n    (void)a_%s;\n' "$type" "$type" "$name" "$type"
        done
    printf '}\n'
}

compile() { # of the program on the standard input
    if [ "$1" = C ]; then
        "$cc" -std=c11 $warnings -Wstrict-prototypes -I"$root/include" -fsyntax-only -x c -
    else
        "$cxx" -std=c++17 $warnings -I"$root/include" -fsyntax-only -x c++ -
    fi
    tried=$((tried + 1))
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for compilers in gcc:g++ clang:clang++; do
    cc=${compilers%%:*}
    cxx=${compilers##*:}
    if ! command -v "$cc" >/dev/null || ! command -v "$cxx" >/dev/null; then
        echo "$cc and $cxx: not here"
        continue
    fi
    for header in "$root"/include/acre/*.h; do
        program "${header##*/}" >"$work/program"
        compile C <"$work/program"
        compile C++ <"$work/program"
    done
    compile C <"$root/tests/headers/initialisers.c"
    compile C++ <"$root/tests/headers/initialisers.c"
done

echo "$tried compilations"
[ "$tried" -gt 0 ]
