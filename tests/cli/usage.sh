#!/usr/bin/env bash
# Help, version, info, and every wrong use: one sentence on stderr, status 2.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
trace=$ACRE_TRACES/streams_overlap.csv.gz

# ---- what is asked for is printed, status 0
for arguments in --help -h help "replay --help" "replay -h" "info --help" --version -V info \
    "replay --layout direct --help"; do
    # shellcheck disable=SC2086 # split on purpose
    run $arguments
    has_status 0
    is_quiet
    prints .
done
run --version
prints '^acre [0-9]+\.[0-9]+\.[0-9]+$'
run info
prints '^version +[0-9]+\.[0-9]+\.[0-9]+$'
prints '^build +[^ ]'
prints '^simulated +80\.0 GiB +20\.0 GiB +256 B +sub-slices exclusive direct adaptive$'
prints '^host +[0-9]'
run replay --help
for option in layout device device-memory max-page alignment passes verify relocate dry-run plan \
    lenient json; do
    prints "^  --$option"
done

# ---- wrong use
# refuses "<sentence>" <argument>...
refuses() {
    local sentence=$1
    shift
    run "$@"
    has_status 2
    errs "$sentence"
    prints_nothing
}
refuses "a command is missing: replay or info; acre --help tells more"
refuses "'frob' is no command, they are replay and info; acre --help tells more" frob
refuses "acre info takes no 'x'" info x
for layouts in "" "--layout all" "--layout direct" "--layout adaptive,direct"; do
    # shellcheck disable=SC2086 # split on purpose
    refuses "--relocate needs --layout adaptive: no other layout moves what lives" \
        replay "$trace" $layouts --relocate
done
refuses "acre info has no option --frob; acre info --help tells more" info --frob
refuses "no trace to replay; acre replay --help tells more" replay
refuses "no trace to replay; acre replay --help tells more" replay --json
refuses "acre replay has no option --frob; acre replay --help tells more" replay "$trace" --frob
refuses "acre replay has no option -x; acre replay --help tells more" replay "$trace" -x
refuses "--layout needs a value; acre replay --help tells more" replay "$trace" --layout

names="they are sub-slices, exclusive, direct, adaptive, or all"
refuses "--layout: 'frob' is no layout, $names" replay "$trace" --layout frob
refuses "--layout: '' is no layout, $names" replay "$trace" --layout ""
refuses "--layout: '' is no layout, $names" replay "$trace" --layout direct,
refuses "--layout: 'al' is no layout, $names" replay "$trace" --layout direct,al,exclusive
refuses "--layout: 'all' is no layout, $names" replay "$trace" --layout direct,all
for name in cud cuda: cuda:x cuda:1x cuda:-1 cuda:123456 host:0 simulated:1 hostvirtual "" host-; do
    refuses "--device: '$name' is no device, they are simulated, host, host-virtual, cuda:N, \
opencl:N and vulkan:N" replay "$trace" --device "$name"
done

unit="is not a size: bytes, or a number with the unit KiB, MiB, GiB or TiB, are"
for option in device-memory max-page alignment; do
    refuses "--$option: '-5' is negative" replay "$trace" "--$option" -5
    refuses "--$option: '-5' is negative" replay "$trace" "--$option=-5"
    refuses "--$option: '' $unit" replay "$trace" "--$option" ""
    refuses "--$option: 'GiB' $unit" replay "$trace" "--$option" GiB
    refuses "--$option: '1.5GiB' $unit" replay "$trace" "--$option" 1.5GiB
    refuses "--$option: '12 MiB' $unit" replay "$trace" "--$option" "12 MiB"
    refuses "--$option: '1GB' $unit" replay "$trace" "--$option" 1GB
    refuses "--$option: '18446744073709551616' does not fit 64 bits" \
        replay "$trace" "--$option" 18446744073709551616
    refuses "--$option: '16777216TiB' does not fit 64 bits" replay "$trace" "--$option" 16777216TiB
    refuses "--$option: '99999999999999999999999KiB' does not fit 64 bits" \
        replay "$trace" "--$option" 99999999999999999999999KiB
    refuses "--$option: 0 is too small, it is 1 at least" replay "$trace" "--$option" 0
    refuses "--$option: 0 is too small, it is 1 at least" replay "$trace" "--$option" 0GiB
done
for passes in "" 0 -1 x 3x 1000001 4294967299 99999999999999999999; do
    refuses "--passes: '$passes' is not a number from 1 to 1000000" \
        replay "$trace" --passes "$passes"
done
refuses "--alignment: 2.00 GiB is over the most, 1 GiB" replay "$trace" --alignment 2GiB
refuses "the alignment, 256 B, is over the largest page, 128 B: --max-page and --device-memory \
change that" replay "$trace" --max-page 128
refuses "--verify needs a device with bytes, such as --device host: a simulated one has \
none to look at" \
    replay "$trace" --verify
for other in "--device host --verify" "--verify --device host --layout direct"; do
    # shellcheck disable=SC2086 # split on purpose
    refuses "--dry-run does not go with --verify: a dry run has no bytes to look at" \
        replay "$trace" $other --dry-run
done
refuses "--dry-run does not go with --plan, which replays for real what it measured dry" \
    replay "$trace" --dry-run --plan
for option in dry-run plan; do
    refuses "--$option does not go with --relocate: pages without memory hold no bytes to move, so \
dry passes relocate otherwise than real ones" \
        replay "$trace" --layout adaptive --relocate "--$option"
done
for layouts in direct adaptive,direct; do
    refuses "--plan: the layout direct has nothing to cap" \
        replay "$trace" --plan --layout "$layouts"
done

# ---- settings from the environment are the manager's, and wrong ones are told
export ACRE_CONF=frob:1
run replay "$trace" --layout direct
has_status 2
errs_with frob
finish
