#!/usr/bin/env bash
# Every test that docs/scenarios.md names is one that its file registers and that is built, and
# every scenario names one.
# usage: scenarios.sh PROJECT_FOLDER
# shellcheck disable=SC2016 # the backquotes are Markdown's
set -euo pipefail
cd "$1"
page=docs/scenarios.md
failed=0

complain() {
    echo "$page: $1"
    failed=1
}

# A row is a scenario unless it is the head of a table or the rule below it.
rows=0
while IFS= read -r row; do
    rows=$((rows + 1))
    grep -q '`tests/[a-z0-9_]*\.c: [a-z0-9_]*`' <<<"$row" || complain "no test in: $row"
done < <(grep '^|' "$page" | grep -v -e '^| scenario |' -e '^|---|')
[ "$rows" -gt 0 ] || complain "has no scenarios"

# Whatever looks like a reference, so that one misspelt is not passed over.
while IFS= read -r reference; do
    file=${reference%%:*}
    name=${reference##*[: ]}
    if [ ! -f "$file" ]; then
        complain "there is no $file"
    elif ! sed 's,//.*,,' "$file" | tr -d ' \n' |
        grep -q "cmocka_unit_test[a-z_]*(${name}[,)]"; then
        complain "$file has no test $name"
    elif ! grep -q "^ *acre_test(.*[ /]${file##*/}[ )]" tests/CMakeLists.txt; then
        complain "$file is not built"
    fi
done < <(grep -o '`tests/[^`]*`' "$page" | tr -d '`' | grep -v '^tests/scenarios\.sh$' | sort -u)

[ "$failed" -eq 0 ] && echo "$rows scenarios"
exit "$failed"
