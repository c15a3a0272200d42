#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What a build of the whole tree for another machine needs besides a compiler: the libraries of that machine's Debian,
# unpacked below FOLDER/root, and FOLDER/machine.ini for meson setup --cross-file. apt-get fetches them with an index
# of its own: this system is not changed, and this needs no root.
# usage: libraries.sh MACHINE FOLDER
set -eu
. "$(dirname "$0")/machine.sh"
machine=${1:?usage: libraries.sh MACHINE FOLDER}
machine_facts "$machine" || { echo "there is no machine '$machine'" >&2; exit 2; }
mkdir -p "$2"
folder=$(cd "$2" && pwd -P)
root=$folder/root

# By another user's leave apt-get would fetch into a folder that this user may not read.
apt() {
    apt-get -q -o APT::Architecture="$arch" -o APT::Architectures::="$arch" -o APT::Sandbox::User= \
        -o Acquire::Languages=none -o Dir::State="$folder/index" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$folder/cache" "$@"
}

# The libraries themselves are for the programs that qemu runs.
fetch() {
    mkdir -p "$folder/index/lists/partial" "$folder/cache/archives/partial" "$folder/packages"
    apt update || echo "going on with the indexes that there are"
    cd "$folder/packages"
    apt download libc6 libgcc-s1 libatomic1 libuv1 libuv1-dev libjansson4 libjansson-dev libcmocka0 libcmocka-dev \
        libhwloc-dev uthash-dev
    rm -rf "$root"
    for package in *.deb; do
        dpkg-deb -x "$package" "$root"
    done
    find "$root" -type l -lname '/*' | while read -r link; do # they mean the other machine's files
        ln -sfr "$root$(readlink "$link")" "$link"
    done
    rm -rf "$folder/index" "$folder/cache" "$folder/packages"
}

cache=$(command -v ccache >/dev/null && echo "'ccache', " || :)
[ -e "$folder/machine.ini" ] || fetch
cat >"$folder/machine.ini" <<TEXT
[binaries]
c = [$cache'$gnu-gcc']
ar = '$gnu-gcc-ar'
strip = '$gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['$qemu', '-L', '$root']

[built-in options]
c_args = ['-isystem', '$root/usr/include', '-isystem', '$root/usr/include/$gnu']
c_link_args = ['-L$root/usr/lib/$gnu']

[properties]
sys_root = '$root'
pkg_config_libdir = ['$root/usr/lib/$gnu/pkgconfig', '$root/usr/share/pkgconfig']

[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$cpu'
endian = '$endian'
TEXT
