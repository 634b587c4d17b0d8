#!/usr/bin/env bash
# The program that the README shows compiles without a warning, and runs.
# usage: readme.sh CC PROJECT_FOLDER STATIC_LIBRARY [FLAG...]
set -euo pipefail
compiler=$1
project=$2
library=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```c$/ { shown = 1; next } /^```$/ && shown { exit } shown' "$project/README.md" \
    >"$work/readme.c"
grep -q 'int main' "$work/readme.c"
"$compiler" -std=c11 -Wall -Wextra -Werror "$@" -I"$project/include" "$work/readme.c" "$library" \
    -lpthread -o "$work/readme"
"$work/readme"
