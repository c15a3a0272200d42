/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A main for fuzz targets: runs each file that it is given, and then, from a fixed seed, many
 * changed copies of them. With -DFUZZ_ONLY there is none: libFuzzer brings its own.
 */
#ifndef TEST_FUZZ_MAIN_H
#define TEST_FUZZ_MAIN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static inline void require(int truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

#ifndef FUZZ_ONLY

enum {
    INPUT_MAX = 1 << 17,
    COPIES = 3000
};

/* Bytes changed, taken out, put in twice; lengths too. */
static size_t change(uint8_t *copy, size_t len, unsigned *seed)
{
    for (int j = rand_r(seed) % 8; j >= 0 && len; j--) {
        size_t at = (size_t)rand_r(seed) % len, more = (size_t)rand_r(seed) % 32;
        switch (rand_r(seed) % 6) {
        case 0:
            if (at + more < len) {
                memmove(copy + at, copy + at + more, len - at - more);
                len -= more;
            }
            break;
        case 1:
            if (at + more < len && len + more < INPUT_MAX) {
                memmove(copy + at + more, copy + at, len - at);
                len += more;
            }
            break;
        case 2: copy[at] = (uint8_t)(copy[at] ^ 1u << more % 8); break;
        case 3: copy[at] = more & 1 ? 0xff : 0; break;
        default: copy[at] = (uint8_t)rand_r(seed);
        }
    }
    return len;
}

static void run_file(const char *path)
{
    static uint8_t bytes[INPUT_MAX], copy[INPUT_MAX];
    unsigned seed = 1;
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    size_t len = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, len);
    for (int i = 0; i < COPIES && len; i++) {
        memcpy(copy, bytes, len);
        LLVMFuzzerTestOneInput(copy, change(copy, len, &seed));
    }
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        run_file(argv[i]);
    return argc < 2;
}

#endif
#endif
