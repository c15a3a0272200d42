/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The simulator's command line.
 *
 *     sim short [N [COUNT]]  what the suite runs: N seeds, and one machine of COUNT daemons
 *     sim seeds FIRST N [COUNT]  so many machines of up to 60 nodes, or of COUNT, each mode of xcast in turn
 *     sim scale            the figures of doc/scale.md
 *     sim modes            those of its table of xcasts
 *     sim job [HOSTS [RANKS]]  a job on so many hosts, of so many ranks each; without, those of its table
 */
#include "test/sim/sim.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A machine whose settings are all drawn: small, or of so many nodes, then without a chain of all. */
static struct sim_settings draw(uint64_t seed, uint32_t count)
{
    static const uint32_t radices[] = {1, 2, 3, 8, 64};
    struct sim s = {.random = seed * 0x2545f4914f6cdd1du + 7};
    for (int i = 0; i < 8; i++)
        sim_random(&s, 2);
    struct sim_settings set = {
        .seed = seed, .choice = xcast_choice_default, .liveness_ns = 10 * SIM_S};
    set.count = 1 + (uint32_t)sim_random(&s, sim_random(&s, 4) ? 20 : 60);
    set.radix = radices[sim_random(&s, 5)];
    if (count) {
        set.count = count;
        set.radix = set.radix == 1 ? 2 : set.radix;
    }
    set.ranks_each = 1 + (uint32_t)sim_random(&s, 3);
    set.choice.is_forced = seed % (TREE_MODE_END + 1) != TREE_MODE_END;
    set.choice.mode = (enum tree_mode)(seed % (TREE_MODE_END + 1));
    set.delay_ns = SIM_MS / 10 << sim_random(&s, 8);
    set.jitter_ns = sim_random(&s, 3) ? set.delay_ns << sim_random(&s, 3) : 0;
    set.send_ns = 8000;
    set.byte_ns = 0.8;
    set.deaths = sim_random(&s, 3) ? (uint32_t)sim_random(&s, set.count / 2 + 1) : 0;
    set.stops = (uint32_t)sim_random(&s, 3);
    set.breaks = sim_random(&s, 2) ? (uint32_t)sim_random(&s, 10) : 0;
    set.gets = 2;
    set.rounds = 1 + (uint32_t)sim_random(&s, 3);
    set.submits = (uint32_t)sim_random(&s, 40);
    set.is_hostile = sim_random(&s, 4) == 0;
    if (sim_random(&s, 2))
        set.choice.part_bytes = 8 + (uint32_t)sim_random(&s, 24);
    set.has_flow = sim_random(&s, 2) != 0;
    return set;
}

/* A machine where all is played. */
static void start(struct sim *s, struct sim_settings settings)
{
    settings.acts = &play_acts;
    sim_init(s, &settings);
    play_init(s);
    flow_init(s);
}

static void stop(struct sim *s)
{
    play_fini(s);
    flow_fini(s);
    sim_fini(s);
}

static uint64_t play(const struct sim_settings *settings)
{
    struct sim s;
    start(&s, *settings);
    sim_run(&s, 600 * SIM_S, play_is_done);
    /* Until all is at rest: the last word takes a beat for each level of the tree. */
    sim_run(&s, s.now + (settings->radix == 1 ? 60 + 3 * settings->count : 60) * SIM_S, NULL);
    play_check_end(&s);
    uint64_t steps = s.steps;
    stop(&s);
    return steps;
}

static void run_seeds(uint64_t first, uint64_t count, uint32_t nodes)
{
    double begin = seconds();
    uint64_t steps = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct sim_settings settings = draw(seed, nodes);
        steps += play(&settings);
    }
    printf("seeds %llu to %llu: all holds after each of %llu steps, in %.1f s\n",
           (unsigned long long)first, (unsigned long long)(first + count - 1),
           (unsigned long long)steps, seconds() - begin);
}

/* One machine of any size: what its daemons need, and how long things take by the model. */
static void run_large(uint32_t count, uint32_t radix, uint32_t ranks_each, uint32_t deaths)
{
    struct sim_settings settings = {.seed = 1,
                                    .count = count,
                                    .radix = radix,
                                    .ranks_each = ranks_each,
                                    .liveness_ns = 10 * SIM_S,
                                    .choice = xcast_choice_default,
                                    .delay_ns = 50000,
                                    .send_ns = 8000,
                                    .byte_ns = 0.8,
                                    .rounds = 1,
                                    .submits = 1,
                                    .deaths = deaths,
                                    .is_lazy = (uint64_t)count * ranks_each > 20000};
    struct sim s;
    double begin = seconds();
    size_t before = mallinfo2().uordblks;
    start(&s, settings);
    size_t memory = (mallinfo2().uordblks - before) / count;
    sim_run(&s, 600 * SIM_S, play_is_done);
    uint64_t messages = 0, bytes = 0, most = 0, depth = 0;
    for (uint32_t i = count - 1; i; i = tree_parent(&s.nodes[0].node.tree, i))
        depth++;
    sim_run(&s, s.now + (int64_t)((deaths ? 60 : 5) + 3 * depth) * SIM_S, NULL);
    play_check_end(&s);
    for (uint32_t i = 0; i < count; i++) {
        messages += s.nodes[i].sent.messages;
        bytes += s.nodes[i].sent.bytes;
        if (s.nodes[i].sent.bytes > most)
            most = s.nodes[i].sent.bytes;
    }
    printf("| %6u | %5u | %2llu | %5.1f | %6.0f | %9llu | %5zu | %6.2f | %6.2f | %6.2f |\n", count,
           radix, (unsigned long long)depth, (double)messages / count, (double)bytes / count,
           (unsigned long long)most, memory, (double)play_time(&s, PLAY_XCAST) / 1e6,
           (double)play_time(&s, PLAY_FENCE) / 1e6, (double)play_time(&s, PLAY_END) / 1e6);
    fprintf(stderr, "%u nodes, %llu steps: %.1f s\n", count, (unsigned long long)s.steps,
            seconds() - begin);
    stop(&s);
}

static void run_scale(void)
{
    static const uint32_t counts[] = {1, 2, 17, 64, 1024, 10000, 100000};
    static const uint32_t radices[] = {2, 8, 64};
    puts("| daemons | radix | depth | messages | bytes | most bytes | memory | xcast ms | "
         "fence ms | end ms |\n|---|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        for (size_t r = 0; r < sizeof(radices) / sizeof(radices[0]); r++)
            run_large(counts[i], radices[r], 64, 0);
}

/* One xcast of so many bytes in one shape: when the last has it, in ms. */
static double time_mode(uint32_t count, size_t len, enum tree_mode mode)
{
    struct sim_settings settings = {.seed = 1,
                                    .count = count,
                                    .radix = TREE_RADIX_DEFAULT,
                                    .ranks_each = 1,
                                    .liveness_ns = 10 * SIM_S,
                                    .choice = xcast_choice_default,
                                    .delay_ns = 50000,
                                    .send_ns = 8000,
                                    .byte_ns = 0.8};
    struct sim s;
    settings.choice.is_forced = true;
    settings.choice.mode = mode;
    start(&s, settings);
    sim_run(&s, SIM_S, NULL); /* until the links are there */
    int64_t begin = s.now;
    play_send(&s, len);
    sim_run(&s, s.now + 100 * SIM_S, play_is_told);
    double took = (double)(play_time(&s, PLAY_XCAST) - begin) / 1e6;
    stop(&s);
    return took;
}

static void run_modes(void)
{
    static const uint32_t counts[] = {2, 4, 8, 16, 32, 64, 256, 1024};
    static const size_t lens[] = {256, 16 << 10, 1 << 20};
    puts("| daemons | 256 bytes | 16 KiB | 1 MiB |\n|---|---|---|---|");
    for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
        printf("| %u |", counts[c]);
        for (size_t l = 0; l < sizeof(lens) / sizeof(lens[0]); l++)
            printf(" %.2f / %.2f / %.2f / %.2f |", time_mode(counts[c], lens[l], TREE_LINEAR),
                   time_mode(counts[c], lens[l], TREE_RADIX),
                   time_mode(counts[c], lens[l], TREE_BINOMIAL),
                   time_mode(counts[c], lens[l], TREE_BINARY));
        putchar('\n');
    }
}

static void run_jobs(int count, char **words)
{
    uint32_t each = count > 1 ? (uint32_t)strtoul(words[1], NULL, 10) : 128;
    puts("hosts,part,ms,messages,bytes,memory,engine_ms");
    if (count > 0)
        job_run((uint32_t)strtoul(words[0], NULL, 10), each);
    for (uint32_t hosts = 16; count == 0 && hosts <= 4096; hosts *= 4)
        job_run(hosts, each);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "short";
    if (strcmp(what, "short") == 0) {
        run_seeds(1, argc > 2 ? strtoull(argv[2], NULL, 10) : 2000, 0);
        run_large(2000, TREE_RADIX_DEFAULT, 64, 20);
        run_large(argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 20000, TREE_RADIX_DEFAULT, 2,
                  0);
    } else if (strcmp(what, "seeds") == 0 && argc >= 4) {
        run_seeds(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10),
                  argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0);
    } else if (strcmp(what, "scale") == 0) {
        run_scale();
    } else if (strcmp(what, "modes") == 0) {
        run_modes();
    } else if (strcmp(what, "job") == 0) {
        run_jobs(argc - 2, argv + 2);
    } else {
        fputs("usage: sim short [N [COUNT]] | seeds FIRST N [COUNT] | scale | modes | job [HOSTS [RANKS]]\n", stderr);
        return 2;
    }
    return 0;
}
