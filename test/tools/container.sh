#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The image that tools/package/Containerfile describes: it is built by buildah, and its demo runs. The image that it
# begins with is made by debootstrap, so no registry is asked. By root; it takes a few minutes.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
for program in buildah debootstrap; do
    command -v "$program" >/dev/null || { echo "$program is missing"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
done
there=$(mktemp -d)
trap 'rm -rf --one-file-system "$there"' EXIT
failed=0

images() {
    buildah --root "$there/store" --runroot "$there/run" --storage-driver vfs "$@"
}

# claim WORDS COMMAND...: it does what it should
claim() {
    words=$1
    shift
    if "$@" >"$there/log" 2>&1; then
        echo "ok: $words"
        return
    fi
    echo "not so: $words"
    tail -n 20 "$there/log"
    failed=$((failed + 1))
}

# inside ARGUMENT...: what podman run does, in the container that is made of the image
inside() {
    images run --isolation chroot "$@"
}

base=$(sed -n 's/^FROM \([^ ]*\)$/\1/p' "$top/tools/package/Containerfile")
debootstrap --variant=minbase bookworm "$there/base" >/dev/null
tar -C "$there/base" -cf "$there/base.tar" .
empty=$(images from scratch)
images add -q "$empty" "$there/base.tar" / >/dev/null
images commit -q "$empty" "docker.io/library/$base" >/dev/null
images rm "$empty" >/dev/null

claim "the image is made" images build --pull-never --isolation chroot --network host \
    -f "$top/tools/package/Containerfile" -t vireo "$top"
container=$(images from --pull-never localhost/vireo)
claim "its demo runs" inside "$container" -- mpiexec -n 4 vireo-ring
grep 'token is 18' "$there/log" || failed=$((failed + 1))
mkdir "$there/user"
cp "$top/examples/hello.c" "$there/user/prog.c"
claim "a program of the user is compiled and runs" inside -v "$there/user:/work" --workingdir /work "$container" -- \
    sh -c 'mpicc prog.c -o prog && mpiexec -n 4 ./prog'
[ "$(grep -c '^Hello from rank' "$there/log")" = 4 ] || failed=$((failed + 1))
[ "$failed" = 0 ]
