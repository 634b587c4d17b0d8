#!/bin/sh
# A shared library exports exactly the functions that its public header declares, and needs no
# library beside those named.
# usage: exports.sh COMPILER INCLUDE_DIR HEADER LIBRARY NEEDED (NEEDED: a|b|c)
set -eu
compiler=$1 include=$2 header=$3 library=$4 needed=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# With libacre-trace's header the declarations of libacre come along: they are not its own.
declared() {
    "$compiler" -std=c11 -E -P -I"$include" "$include/acre/$1" | tr '\n' ' ' |
        sed 's/__attribute__((visibility("default")))/\nEXPORTED/g;
             s/__attribute__((warn_unused_result))//g' |
        sed -n 's/^EXPORTED[^(]*[ *]\(acre_[a-z0-9_]*\)(.*/\1/p' | sort -u
}
declared "$header" >"$work/declared"
if [ "$header" != acre.h ]; then
    declared acre.h >"$work/base"
    comm -23 "$work/declared" "$work/base" >"$work/own"
    mv "$work/own" "$work/declared"
fi
nm -D --defined-only --format=posix "$library" | cut -d' ' -f1 | sort -u >"$work/exported"

if ! diff -u --label declared "$work/declared" --label exported "$work/exported"; then
    echo "$library exports something else than <acre/$header> declares"
    exit 1
fi

if readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -Ev "^($needed)([.]|\$)|^ld-linux"; then
    echo "$library needs the libraries above, which it must not"
    exit 1
fi
echo "$(wc -l <"$work/declared") functions"
