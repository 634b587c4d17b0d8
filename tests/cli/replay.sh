#!/usr/bin/env bash
# What acre replay prints, for people and for programs, under every option.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
small=$work/small.csv
cat >"$small" <<TRACE
$header
0,00:00:00.000001,allocate,0x1,1000,0
0,00:00:00.000002,allocate,0x2,100,0
0,00:00:00.000003,free,0x1,1000,0
0,00:00:00.000004,allocate,0x3,600,0
0,00:00:00.000005,allocate,0x4,990,0
0,00:00:00.000006,free,0x2,100,0
0,00:00:00.000007,free,0x3,600,0
TRACE

# ---- JSON: exactly these keys in this order, one object per line
count='[0-9]+'
time='[0-9]+\.[0-9]{2}'
object="^\{\"trace\":\"[^\"]+\",\"device\":\"(simulated|host)\",\
\"layout\":\"(sub-slices|exclusive|direct|adaptive)\",\"events\":$count,\"passes\":$count,\
\"peak_live_bytes\":$count,\"peak_reserved_bytes\":$count,\"ratio\":[0-9]+\.[0-9]{4},\
\"padding_bytes_at_peak\":$count,\"pages_peak\":$count,\"device_allocs\":$count,\
\"device_frees\":$count,\"failed\":0,\"ns_per_event_first\":$time,\"ns_per_event_warm\":$time\}\$"
run replay "$ACRE_TRACES"/*.csv.gz --layout all --json
has_status 0
is_quiet
prints_lines 12
[ "$(grep -cE "$object" "$work/out")" = 12 ] || complain "a line is not the object it should be"
for trace in gnn_neighbor resnet50_train streams_overlap; do
    for layout in sub-slices exclusive direct adaptive; do
        prints "^\{\"trace\":\"$trace.csv.gz\",\"device\":\"simulated\",\"layout\":\"$layout\","
    done
done
prints '"trace":"gnn_neighbor.csv.gz".*"events":10257,"passes":3,"peak_live_bytes":5496236288,'
cp "$work/out" "$work/first"
run replay --json "$ACRE_TRACES"/*.csv.gz
without_times() { sed 's/,"ns_per_event_first.*//' "$1"; }
cmp -s <(without_times "$work/first") <(without_times "$work/out") ||
    complain "two runs with the same defaults differ in more than times"

# ---- the numbers, on a direct pool where they can be told in advance
run replay "$small" --layout direct --json
has_status 0
has_value events 7
has_value passes 3
has_value peak_live_bytes 1690
has_value peak_reserved_bytes 2048
has_value ratio 1.2118
has_value padding_bytes_at_peak 324
has_value pages_peak 3
has_value device_allocs 3
has_value device_frees 0

run replay "$small" --layout direct --json --alignment 1 --passes 7
has_value passes 7
has_value peak_reserved_bytes 2690 # no size comes twice, so none is used again
has_value padding_bytes_at_peak 0
run replay "$small" --layout direct --json --alignment 1000
has_value peak_reserved_bytes 3000
run replay "$small" --layout direct,sub-slices,direct --json
prints_lines 3
run replay --passes 1 --layout exclusive --json -- "$small"
has_status 0
[ "$(value ns_per_event_first)" = "$(value ns_per_event_warm)" ] ||
    complain "with one pass the first is not the last"

# ---- a device's limits, and refused requests: counted, told, status 1
run replay "$small" --layout direct --json --device-memory 2048 --max-page 1KiB
has_status 0
run replay "$small" --layout direct --json --device-memory 2047 --max-page 1KiB --passes 2
has_status 1
has_value failed 2
errs_with "small.csv on direct: 2 requests failed, the first on line 6 for 990 bytes: "
run replay "$small" --layout direct --json --device-memory 2KiB # largest page 512
has_status 1
has_value failed 9
run replay "$small" --layout direct --device-memory 2047 --max-page 1KiB
has_status 1
prints '^direct .* 3$'

# ---- the table
run replay "$ACRE_TRACES/streams_overlap.csv.gz" "$small" --layout all --passes 2
has_status 0
is_quiet
prints '^streams_overlap.csv.gz: 8689 events, 2 passes on a simulated device of 80.0 GiB$'
prints '^small.csv: 7 events, 2 passes on a simulated device of 80.0 GiB$'
prints '^layout +reserved +live +ratio +at peak +at peak +calls +first +warm$'
prints '^direct +2\.00 KiB +1\.65 KiB +1\.212 +324 B +3 +3 +[0-9.]+k? +[0-9.]+k? +0$'
[ "$(grep -cE '^(sub-slices|exclusive|direct|adaptive) ' "$work/out")" = 8 ] ||
    complain "there are not four rows a table"
[ "$(awk '{ if (length > most) most = length } END { print most }' "$work/out")" -le 80 ] ||
    complain "the table is wider than 80 columns"
run replay "$small" --layout direct --passes 1
prints '^small.csv: 7 events, 1 pass on '

# ---- the host device
run replay "$small" --device host --device-memory 512MiB --layout all --verify --json
has_status 0
is_quiet
prints_lines 4
prints '"device":"host"'
run replay "$small" --device host --device-memory 1G --alignment 8K --verify
has_status 0
prints 'on a host device of 1\.00 GiB$'
prints '^the times include verification$'
prints '^verified: every allocation held its own pattern until it was freed$'
run replay "$small" --device host --layout direct
has_status 0

# ---- relocation: three arrays at the end, one number a pass, and lines below the table
run replay "$ACRE_TRACES"/*.csv.gz --layout adaptive --relocate --json --passes 2
has_status 0
is_quiet
prints_lines 3
pair='\[[0-9]+,[0-9]+\]'
[ "$(grep -cE "\"ns_per_event_warm\":$time,\"moved_bytes\":$pair,\"moves\":$pair,\
\"pages_given_back\":$pair\}\$" "$work/out")" = 3 ] || complain "a line lacks its three arrays"
prints '"trace":"gnn_neighbor.csv.gz".*"ratio":1\.1[0-9]+,' # 1.84 without
prints '"trace":"streams_overlap.csv.gz".*"ratio":1\.0[0-9]+,' # 1.63 without
run replay "$ACRE_TRACES/streams_overlap.csv.gz" --layout adaptive --relocate
has_status 0
prints '^relocation +moved bytes +moves +pages given back$'
prints '^first +[0-9.]+ GiB +[0-9]+ +[0-9]+$'
prints '^all +[0-9.]+ GiB +[0-9]+ +[0-9]+$'
run replay "$small" --device host --device-memory 512MiB --layout adaptive --relocate --verify
has_status 0
prints '^verified: every allocation held its own pattern until it was freed$'

# ---- dry runs: nothing from the device, and the peak that a real replay has
keys="${object%\\\}\$}" # without the end of the object
# field <key>: a number of each line
field() {
    sed -E "s/.*\"$1\":([0-9]+).*/\1/" "$2"
}
run replay "$ACRE_TRACES"/*.csv.gz --json --device-memory 1TiB --max-page 20GiB
cp "$work/out" "$work/real"
run replay "$ACRE_TRACES"/*.csv.gz --json --device-memory 1TiB --max-page 20GiB --dry-run
has_status 0
is_quiet
[ "$(grep -cE "$keys,\"planned_peak_bytes\":$count\}\$" "$work/out")" = 12 ] ||
    complain "a line is not the object of a dry run"
[ "$(grep -cE '"peak_reserved_bytes":0,"ratio":0\.0000,.*"device_allocs":0,"device_frees":0,' \
    "$work/out")" = 12 ] || complain "a dry run took memory from the device"
cmp -s <(field peak_reserved_bytes "$work/real") <(field planned_peak_bytes "$work/out") ||
    complain "what was planned is not what a real replay reserves"
cmp -s <(field pages_peak "$work/real") <(field pages_peak "$work/out") ||
    complain "the pages at the planned peak are not those of a real replay"
run replay "$small" --layout direct --dry-run --device host --device-memory 2047 --max-page 1KiB
has_status 0
is_quiet
prints '^dry run, 0 bytes held from the device: peak reserved is what is planned$'
prints '^direct +2\.00 KiB +1\.65 KiB +1\.212 +324 B +3 +0 +[0-9.]+k? +[0-9.]+k? +0$'

# ---- plans: each pool that has a cap, measured and replayed
run replay "$ACRE_TRACES"/*.csv.gz --json --plan
has_status 0
errs "--plan passes over the layout direct, which has nothing to cap"
prints_lines 9
list='\[[0-9]+(,[0-9]+)*\]'
[ "$(grep -cE "$keys,\"plan_peaks_measured\":$list,\"plan_peaks_replayed\":$list,\
\"plan_equal\":true\}\$" "$work/out")" = 9 ] || complain "a line is not the object of a plan"
lists() {
    sed -E "s/.*\"plan_peaks_$1\":\[([^]]*)\].*/\1/" "$work/out"
}
cmp -s <(lists measured) <(lists replayed) || complain "the peaks are not equal"
run replay "$ACRE_TRACES/streams_overlap.csv.gz" --layout sub-slices,adaptive --plan --passes 2
has_status 0
is_quiet
prints '^plan +pool +page size +peak measured +peak replayed$'
prints '^sub-slices sliced +80\.0 MiB +80\.0 MiB +80\.0 MiB +equal$'
prints '^adaptive +sliced +8\.00 MiB +8\.00 MiB +8\.00 MiB +equal$'
prints '^each pool, capped at the peak it measured, replayed the same peak$'
[ "$(grep -c ' equal$' "$work/out")" = 9 ] || complain "there is not one line for each pool"
run replay "$small" --device host --device-memory 512MiB --layout exclusive,adaptive --plan --verify
has_status 0
prints '^verified: every allocation held its own pattern until it was freed$'

# ---- a device too small for its plan: told by request and by pool, status 1
run replay "$small" --layout exclusive --plan --device-memory 2047 --max-page 1KiB --passes 1
has_status 1
errs_with "small.csv on exclusive: 1 requests failed, the first on line 6 for 990 bytes: "
errs_with "small.csv on exclusive: the plan does not hold: "
prints 'not equal$'
prints '^[0-9]+ of [0-9]+ pools replayed another peak than they measured$'
run replay "$small" --layout exclusive --plan --device-memory 2047 --max-page 1KiB --json
has_status 1
prints '"plan_equal":false\}$'

# ---- names that JSON must escape
odd=$(printf 'a"b\\c\td\001\377\303\251.csv')
cp "$small" "$work/$odd"
run replay "$work/$odd" --layout direct --json
has_status 0
expected=$(printf '{"trace":"a\\"b\\\\c\\u0009d\\u0001\\ufffd\303\251.csv","device"')
grep -qF -- "$expected" "$work/out" || complain "the name is not escaped"

# ---- a full disk
if [ -w /dev/full ]; then
    "$ACRE_PROGRAM" replay "$small" --json >/dev/full 2>"$work/err"
    status=$?
    command_line="acre replay --json >/dev/full"
    : >"$work/out"
    has_status 1
    errs "standard output cannot be written: No space left on device"
fi
finish
