#!/bin/sh
# The drawing in docs/architecture.md holds: a folder of src/ includes its own files and those of
# folders above it, never below; the programs and examples include public headers and their own
# files only.
# usage: layers.sh SOURCE_DIR
set -eu
cd "$1"
# Top to bottom; each may use those before it.
layers="base carve storage failure pool relocation manager trace"
failed=0

complain() {
    echo "$1 includes $2"
    failed=1
}

includes() {
    sed -n 's/^ *# *include *"\(.*\)".*/\1/p' "$1"
}

above=""
for layer in $layers; do
    above="$above $layer"
    for file in $(find src/"$layer" -name '*.[ch]'); do
        for name in $(includes "$file"); do
            case $name in
            */*) folder=${name%%/*} ;;
            *) folder=$layer ;;
            esac
            case " $above " in
            *" $folder "*) ;;
            *) complain "$file" "$name" ;;
            esac
        done
    done
done

for folder in src/*/; do
    folder=${folder#src/}
    case " $layers " in
    *" ${folder%/} "*) ;;
    *)
        echo "src/$folder has no place in the list of layers"
        failed=1
        ;;
    esac
done

# The back ends of storage know each other as little as the layers know those below; host_virtual
# shares what host memory is read and written with.
for file in src/storage/*/*.[ch]; do
    own=$(basename "$(dirname "$file")")
    for name in $(includes "$file"); do
        case $name in
        storage/"$own"/* | storage/host/bytes.h) ;;
        storage/*/*) complain "$file" "$name" ;;
        esac
    done
done

for program in cli bench examples/*; do
    for file in "$program"/*.c "$program"/*.cc "$program"/*.h; do
        [ -e "$file" ] || continue
        for name in $(includes "$file"); do
            [ -e "$program/$name" ] || complain "$file" "$name"
        done
    done
done

exit "$failed"
