# SPDX-License-Identifier: BSD-3-Clause
#
# What the tests on other machines know of one, by the name that ./bootstrap test takes. Read by sh.

# machine_facts NAME: sets gnu, which begins the name of its compiler, and qemu, the program that runs its programs;
# arch, what Debian calls it; elf, its number in ELF files; family, cpu and endian, as Meson does. Fails if there is no
# such machine.
machine_facts() {
    endian=little
    case $1 in
        aarch64) gnu=aarch64-linux-gnu qemu=qemu-aarch64 arch=arm64 elf=183 family=aarch64 cpu=aarch64 ;;
        s390x) gnu=s390x-linux-gnu qemu=qemu-s390x arch=s390x elf=22 family=s390x cpu=s390x endian=big ;;
        ppc64el) gnu=powerpc64le-linux-gnu qemu=qemu-ppc64le arch=ppc64el elf=21 family=ppc64 cpu=ppc64le ;;
        riscv64) gnu=riscv64-linux-gnu qemu=qemu-riscv64 arch=riscv64 elf=243 family=riscv64 cpu=riscv64 ;;
        *) return 1 ;;
    esac
}
