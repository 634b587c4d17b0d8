#!/usr/bin/env bash
# Files that are no trace: one sentence with file, line and field, status 2, no table.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
good=$ACRE_TRACES/streams_overlap.csv.gz
cd "$work" || exit 1

# refuses <file> "<sentence>": the file's name and what follows it, for people and for programs.
refuses() {
    local option
    for option in --json --passes=1; do
        run replay "$1" --layout direct "$option"
        has_status 2
        errs "$1$2"
        prints_nothing
    done
}
# bad "<line>..." "<sentence>"
bad() {
    printf '%s\n%b' "$header" "$1" >bad.csv
    refuses bad.csv "$2"
    gzip -c bad.csv >bad.csv.gz
    refuses bad.csv.gz "$2"
}
lacks="the header lacks this column, it should be $header"

# ---- files
: >empty.csv
refuses empty.csv ":1: header: the file is empty"
gzip -c empty.csv >empty.csv.gz
refuses empty.csv.gz ":1: header: the file is empty"
printf '%s\n' "$header" >header.csv
refuses header.csv ":1: header: no event to replay follows it"
mkdir folder
refuses folder ": cannot be read: Is a directory"
refuses missing.csv ": cannot be opened: No such file or directory"
head -c 30000 "$ACRE_PROGRAM" >binary
run replay binary
has_status 2
errs_with "acre: binary:1: "
prints_nothing
zcat "$good" | head -c 70000 >cut.csv # in the midst of a line
run replay cut.csv
has_status 2
errs_with "acre: cut.csv:$(($(wc -l <cut.csv) + 1)): "
head -c 20000 "$good" >cut.csv.gz
run replay cut.csv.gz
has_status 2
errs_with ": gzip: the data end early, the file is truncated"
prints_nothing
{ head -c 20000 "$good"; printf 'damaged here'; tail -c +20013 "$good"; } >damaged.csv.gz
run replay damaged.csv.gz
has_status 2
errs_with "acre: damaged.csv.gz:" # at the damage, or at the first line that it spoilt
prints_nothing
{ printf '%s\n' "$header"; head -c 100000 /dev/zero | tr '\0' x; } >wide.csv
refuses wide.csv ":2: line: it is longer than 64 KiB"

# ---- headers
printf 'Thread,Time,Action,Pointer,Stream\n0,0,free,0x1,0\n' >column.csv
refuses column.csv ":1: Size: $lacks"
printf '0,0,allocate,0x1,1,0\n' >none.csv
refuses none.csv ":1: Thread: $lacks"

# ---- lines
bad '0,0,allocate\n' ":2: Pointer: missing, the line has 3 fields and the header 6"
bad '0,0,allocate,0x1,1,0\n0,0,frob,0x1,1,0\n' \
    ":3: Action: 'frob' is none of allocate, allocate failure, free"
bad '0,0,free,0xa,1,0\n' ":2: Pointer: '0xa' is freed but not allocated"
bad '0,0,allocate,0xa,1,0\n0,0,allocate,0xa,1,0\n' \
    ":3: Pointer: '0xa' is allocated while it lives already"
bad '0,0,allocate,0xa,18446744073709551616,0\n' \
    ":2: Size: '18446744073709551616' does not fit 64 bits"
bad '0,0,allocate,0xa,18446744073709551615,0\n' \
    ":2: Size: '18446744073709551615' makes more than 2^63 bytes live at a time"
bad '0,0,allocate,0xa,-1,0\n' ":2: Size: '-1' is negative"
bad '0,noon,allocate,0xa,1,0\n' ":2: Time: 'noon' is neither HH:MM:SS.micros nor a number"
bad 'x,0,allocate,0xa,1,0\n' ":2: Thread: 'x' is not a number"
bad '0,0,allocate,a,1,0\n' ":2: Pointer: 'a' is neither a hexadecimal address nor (nil)"
bad '0,0,allocate,0xa,1,?\n' ":2: Stream: '?' is neither a number nor a pointer"
bad '0,0,allocate failure,(nil),1,0\n' ":1: header: no event to replay follows it"

# ---- a size that is right and that no device has: refused, not wrong
printf '%s\n0,0,allocate,0xa,9223372036854775808,0\n0,0,allocate,0xb,1,0\n' "$header" >huge.csv
run replay huge.csv --layout all
has_status 2 # the second makes it too much
printf '%s\n0,0,allocate,0xa,9223372036854775808,0\n0,0,free,0xa,1,0\n' "$header" >huge.csv
run replay huge.csv --json
has_status 1
prints_lines 4
has_value failed 3
errs_with "huge.csv on sub-slices: 3 requests failed, the first on line 2 for 9223372036854775808"

# ---- what is no fault
printf 'Stream, Size, Pointer, Action, Time, Thread, Note\r\n' >fine.csv
printf '0, 64, 0x1, allocate, 00:00:01.5, 7, hello\r\n\r\n' >>fine.csv
printf '0,1,(nil),allocate failure,3,7,' >>fine.csv
run replay fine.csv --layout direct
has_status 0
is_quiet
prints '^1 recorded failure is not replayed$'

# ---- the other traces still run
run replay bad.csv fine.csv missing.csv --layout direct --json
has_status 2
prints_lines 1
prints '"trace":"fine.csv"'
[ "$(wc -l <err)" = 2 ] || complain "there are not two sentences"

# ---- lenient: bad lines are passed over, counted, and no reason for a status
printf '%s\nfrob\n0,0,allocate,0x1,9,0\n0,0,free,0x7,1,0\n0,0,free,0x1,x,0\n' "$header" >some.csv
run replay some.csv --lenient --layout direct --json
has_status 0
errs "some.csv: 3 bad lines skipped, the first is some.csv:2: Time: missing, the line has 1 fields \
and the header 6"
has_value events 1
run replay some.csv --lenient --layout direct
has_status 0
prints '^3 bad lines were skipped$'
run replay cut.csv cut.csv.gz --lenient --layout direct --json
has_status 0
prints_lines 2
errs_with "cut.csv: 1 bad line skipped"
errs_with "cut.csv.gz: 1 bad line skipped"
for file in empty.csv header.csv folder missing.csv column.csv; do
    run replay "$file" --lenient
    has_status 2
    prints_nothing
done
printf '%s\nfrob\n' "$header" >nothing.csv
run replay nothing.csv --lenient
has_status 2
prints_nothing
finish
