#!/usr/bin/env bash
# Devices: the same placement to the byte on each, every byte looked at where there are some, and a
# sentence for those that are missing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

small=$work/small.csv
cat >"$small" <<END
$header
0,00:00:00.000000,allocate,0x1,1000000,0
0,00:00:00.000001,allocate,0x2,300,0
0,00:00:00.000002,allocate,0x3,9000000,0
0,00:00:00.000003,free,0x1,1000000,0
0,00:00:00.000004,allocate,0x4,5000001,0
0,00:00:00.000005,free,0x3,9000000,0
0,00:00:00.000006,allocate,0x5,700000,0
0,00:00:00.000007,free,0x2,300,0
END
# At an alignment of 4 KiB host-virtual, which counts whole pages of the system, rounds nothing.
limits="--device-memory 256MiB --max-page 64MiB --alignment 4096"

# What does not depend on how fast a device is.
facts() {
    sed 's/"device":"[^"]*",//; s/,"ns_per_event_first".*//' "$work/out"
}

# shellcheck disable=SC2086 # split on purpose
run replay "$small" --json $limits
has_status 0
facts >"$work/simulated"

run info
cp "$work/out" "$work/info"

tried=""
for device in host host-virtual cuda:0 opencl:0 vulkan:0; do
    kind=${device%:*}
    if ! grep -q "^$device " "$work/info"; then
        case " ${ACRE_REQUIRE_DEVICES:-} " in
        *" $kind "*) complain "acre info knows no $device" ;;
        esac
        # shellcheck disable=SC2086
        run replay "$small" --device "$device" $limits
        has_status 2
        errs_with "acre: $device: "
        continue
    fi
    tried="$tried $device"
    # shellcheck disable=SC2086
    run replay "$small" --device "$device" --json $limits
    has_status 0
    is_quiet
    prints "\"device\":\"$device\""
    facts >"$work/facts"
    cmp -s "$work/simulated" "$work/facts" || complain "$device holds something else"
    # shellcheck disable=SC2086
    run replay "$small" --device "$device" --json --verify $limits
    has_status 0
    facts >"$work/facts"
    cmp -s "$work/simulated" "$work/facts" || complain "$device, verified, holds something else"
    # shellcheck disable=SC2086
    run replay "$small" --device "$device" --layout adaptive --relocate --verify $limits
    has_status 0
    prints "on a $device device of 256 MiB\$"
    # A budget that the trace does not fit: refused requests are counted, not fatal.
    run replay "$small" --device "$device" --layout direct --json --device-memory 8MiB \
        --max-page 8MiB
    has_status 1
done
echo "tried:$tried"

for kind in cuda opencl vulkan; do
    run replay "$small" --device "$kind:9999"
    has_status 2
    errs_with "acre: $kind:9999: "
done

finish
