# shellcheck shell=bash disable=SC2034
# For the tests of the acre program: run it, and compare what came out. Each script is given the
# program by ACRE_PROGRAM and the bundled traces by ACRE_TRACES; without them it is skipped.
set -u
unset ACRE_CONF

if [ -z "${ACRE_PROGRAM:-}" ] || [ -z "${ACRE_TRACES:-}" ]; then
    echo "ACRE_PROGRAM and ACRE_TRACES are not set"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
header=Thread,Time,Action,Pointer,Size,Stream
failures=0

# run <argument>...: sets status, and writes $work/out and $work/err.
run() {
    command_line="acre $*"
    "$ACRE_PROGRAM" "$@" >"$work/out" 2>"$work/err"
    status=$?
}

complain() {
    failures=$((failures + 1))
    printf 'FAILED: %s\n  after: %s\n  status: %s\n' "$1" "$command_line" "$status"
    sed 's/^/  out: /' "$work/out"
    sed 's/^/  err: /' "$work/err"
}

has_status() {
    [ "$status" = "$1" ] || complain "the exit status is not $1"
}

# Nothing on stderr.
is_quiet() {
    [ ! -s "$work/err" ] || complain "there is something on stderr"
}

# One line on stderr, this one.
errs() {
    printf 'acre: %s\n' "$1" | cmp -s - "$work/err" || complain "stderr is not: acre: $1"
}

# A line on stderr that has this in it.
errs_with() {
    grep -qF -- "$1" "$work/err" || complain "stderr lacks: $1"
}

prints_nothing() {
    [ ! -s "$work/out" ] || complain "there is something on stdout"
}

# A line on stdout that matches.
prints() {
    grep -qE -- "$1" "$work/out" || complain "stdout lacks: $1"
}

prints_lines() {
    [ "$(wc -l <"$work/out")" = "$1" ] || complain "stdout has not $1 lines"
}

# The value of a number's key in the first JSON line.
value() {
    sed -n "1s/.*\"$1\":\([0-9.]*\).*/\1/p" "$work/out"
}

has_value() {
    [ "$(value "$1")" = "$2" ] || complain "$1 is $(value "$1"), not $2"
}

finish() {
    [ "$failures" = 0 ] || exit 1
}
