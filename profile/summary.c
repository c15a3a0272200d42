/* SPDX-License-Identifier: BSD-3-Clause */

/* The summary: a line a rank, as text and as JSON. Messages and bytes are what the library's
 * performance variables count. */
#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

enum figure {
    SENT,
    SENT_BYTES,
    RECEIVED,
    RECEIVED_BYTES,
    CALLS,
    ELAPSED, /* seconds, from here on */
    IN_MPI,
    IDLE,
    BY_KIND,
    FIGURES = BY_KIND + PROFILE_KINDS
};

/* The record that a rank sends to rank 0. */
struct rank_line {
    double figures[FIGURES];
    char host[64];
};

/* The variables that make up a figure. */
static const struct {
    enum figure figure;
    const char *name;
    int class;
} variables[] = {
    {SENT, "eager_messages_sent", MPI_T_PVAR_CLASS_COUNTER},
    {SENT, "rendezvous_messages_sent", MPI_T_PVAR_CLASS_COUNTER},
    {SENT_BYTES, "eager_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE},
    {SENT_BYTES, "rendezvous_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE},
    {RECEIVED, "eager_messages_received", MPI_T_PVAR_CLASS_COUNTER},
    {RECEIVED, "rendezvous_messages_received", MPI_T_PVAR_CLASS_COUNTER},
    {RECEIVED_BYTES, "eager_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE},
    {RECEIVED_BYTES, "rendezvous_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE},
    {IDLE, "wait_idle_time", MPI_T_PVAR_CLASS_TIMER},
};
enum {
    VARIABLES = sizeof(variables) / sizeof(variables[0]),
    WAYS = 4, /* children of a rank in the tree in which the ranks meet */
    UP = 2,   /* tags there */
    DOWN = 3
};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[VARIABLES];
static bool is_there[VARIABLES];

void summary_open(void)
{
    int provided, index, count;
    if (PMPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) || PMPI_T_pvar_session_create(&session))
        return;
    for (int i = 0; i < VARIABLES; i++)
        is_there[i] = !PMPI_T_pvar_get_index(variables[i].name, variables[i].class, &index) &&
                      !PMPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &count) &&
                      !PMPI_T_pvar_start(session, handles[i]);
}

static double counted[FIGURES];

static void count(double figures[FIGURES])
{
    memset(figures, 0, FIGURES * sizeof(*figures));
    for (int i = 0; i < VARIABLES; i++) {
        unsigned long long number = 0;
        double seconds = 0;
        bool is_time = variables[i].class == MPI_T_PVAR_CLASS_TIMER;
        if (is_there[i] &&
            !PMPI_T_pvar_read(session, handles[i], is_time ? (void *)&seconds : &number))
            figures[variables[i].figure] += is_time ? seconds : (double)number;
    }
}

/* Receive the words of children in the tree of ranks that have come. Returns how many there were. */
static int take_words(MPI_Comm comm)
{
    int there = 0, n = 0;
    for (; !PMPI_Iprobe(MPI_ANY_SOURCE, UP, comm, &there, MPI_STATUS_IGNORE) && there; n++)
        PMPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, UP, comm, MPI_STATUS_IGNORE);
    return n;
}

/* End counting. Children may have come here before, and their words are counted as what is received: none
 * may come between the last look for them and the reading, and they are taken off. Returns how many. */
static int stop(MPI_Comm comm)
{
    double again[FIGURES];
    int words = 0, more = 0;
    do {
        words += take_words(comm);
        count(counted);
        words += more = take_words(comm);
        count(again);
    } while (more || again[RECEIVED] != counted[RECEIVED]);
    counted[RECEIVED] -= words;
    (void)PMPI_T_pvar_session_free(&session);
    (void)PMPI_T_finalize();
    return words;
}

void summary_meet(MPI_Comm comm)
{
    int rank, size, words = stop(comm);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    int first = WAYS * rank + 1, end = first + WAYS < size ? first + WAYS : size;
    for (; words < end - first; words++)
        PMPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, UP, comm, MPI_STATUS_IGNORE);
    if (rank) {
        PMPI_Send(NULL, 0, MPI_BYTE, (rank - 1) / WAYS, UP, comm);
        PMPI_Recv(NULL, 0, MPI_BYTE, (rank - 1) / WAYS, DOWN, comm, MPI_STATUS_IGNORE);
    }
    for (int child = first; child < end; child++)
        PMPI_Send(NULL, 0, MPI_BYTE, child, DOWN, comm);
}

/* ---- writing ---- */

static double computing(const struct rank_line *line)
{
    return line->figures[ELAPSED] - line->figures[IN_MPI];
}

struct total {
    double mean, most; /* seconds that ranks compute, outside of MPI */
    int slowest;
};

static struct total add_up(const struct rank_line *lines, int count)
{
    struct total total = {0};
    for (int i = 0; i < count; i++) {
        double seconds = computing(&lines[i]);
        total.mean += seconds / count;
        if (seconds > total.most) {
            total.most = seconds;
            total.slowest = i;
        }
    }
    return total;
}

static double over_mean(const struct total *total, double seconds)
{
    return total->mean > 0 ? seconds / total->mean - 1 : 0;
}

static void put_bytes(FILE *to, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 4; unit++)
        bytes /= 1024;
    fprintf(to, unit ? " %8.1f %-3s" : " %8.0f %-3s", bytes, units[unit]);
}

static void print(const struct rank_line *lines, int count)
{
    struct total total = add_up(lines, count);
    char *text = NULL;
    size_t len;
    FILE *to = open_memstream(&text, &len);
    if (!to)
        return;
    fprintf(to,
            "Summary: %d rank%s, %.3f s from MPI_Init to MPI_Finalize\n\n"
            "  %4s %9s %6s %9s %9s %9s %9s %12s %9s %12s  %9s\n",
            count, count == 1 ? "" : "s", lines[0].figures[ELAPSED], "rank", "in MPI s", "%",
            "waits s", "calls", "compute s", "sent", "bytes", "received", "bytes", "imbalance");
    for (int i = 0; i < count; i++) {
        const double *f = lines[i].figures;
        fprintf(to, "  %4d %9.3f %5.1f%% %9.3f %9.0f %9.3f %9.0f", i, f[IN_MPI],
                f[ELAPSED] > 0 ? 100 * f[IN_MPI] / f[ELAPSED] : 0, f[IDLE], f[CALLS],
                computing(&lines[i]), f[SENT]);
        put_bytes(to, f[SENT_BYTES]);
        fprintf(to, " %9.0f", f[RECEIVED]);
        put_bytes(to, f[RECEIVED_BYTES]);
        fprintf(to, "  %+8.1f%%\n", 100 * over_mean(&total, computing(&lines[i])));
    }
    fprintf(
        to,
        "\n  imbalance: rank %d computes longest, %.3f s, %.1f%% more than the mean of %.3f s\n",
        total.slowest, total.most, 100 * over_mean(&total, total.most), total.mean);
    if (!fclose(to))
        fwrite(text, 1, len, stderr);
    free(text);
}

static json_t *rank_json(const struct rank_line *line, int rank, const struct total *total)
{
    const double *f = line->figures;
    json_t *kinds = json_object();
    for (int i = 0; i < PROFILE_KINDS; i++)
        json_object_set_new(kinds, profile_kind_names[i], json_real(f[BY_KIND + i]));
    return json_pack("{s:i, s:s, s:f, s:f, s:f, s:f, s:f, s:o, s:I, s:I, s:I, s:I, s:I}", "rank",
                     rank, "host", line->host, "elapsed_s", f[ELAPSED], "mpi_s", f[IN_MPI],
                     "wait_s", f[IDLE], "compute_s", computing(line), "imbalance",
                     over_mean(total, computing(line)), "mpi_by_kind_s", kinds, "calls",
                     (json_int_t)f[CALLS], "messages_sent", (json_int_t)f[SENT], "bytes_sent",
                     (json_int_t)f[SENT_BYTES], "messages_received", (json_int_t)f[RECEIVED],
                     "bytes_received", (json_int_t)f[RECEIVED_BYTES]);
}

static void write_json(const struct rank_line *lines, int count, const char *path)
{
    struct total total = add_up(lines, count);
    json_t *ranks = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(ranks, rank_json(&lines[i], i, &total));
    json_t *all = json_pack("{s:s, s:i, s:f, s:i, s:o}", "format", "vireo-summary-1", "size", count,
                            "imbalance", over_mean(&total, total.most), "slowest_rank",
                            total.slowest, "ranks", ranks);
    errno = 0;
    if (!all || json_dump_file(all, path, JSON_INDENT(1) | JSON_REAL_PRECISION(9)))
        fprintf(stderr, "vireo: the summary cannot be written to %s: %s\n", path,
                errno ? strerror(errno) : "out of memory");
    json_decref(all);
}

/* The machines of a job may differ in their byte order. */
static void gather(const struct rank_line *mine, struct rank_line *all, MPI_Comm comm)
{
    const int lengths[] = {FIGURES, sizeof(mine->host)};
    const MPI_Aint at[] = {offsetof(struct rank_line, figures), offsetof(struct rank_line, host)};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype line;
    if (PMPI_Type_create_struct(2, lengths, at, types, &line))
        return;
    PMPI_Type_commit(&line);
    PMPI_Gather(mine, 1, line, all, 1, line, 0, comm);
    PMPI_Type_free(&line);
}

void summary_report(MPI_Comm comm, const char *path, double elapsed, const double *seconds,
                    uint64_t calls)
{
    struct rank_line mine = {0}, *all = NULL;
    char host[MPI_MAX_PROCESSOR_NAME];
    int rank, size, len;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    PMPI_Get_processor_name(host, &len);
    snprintf(mine.host, sizeof(mine.host), "%.63s", host);
    memcpy(mine.figures, counted, sizeof(counted));
    mine.figures[CALLS] = (double)calls;
    mine.figures[ELAPSED] = elapsed;
    for (int i = 0; i < PROFILE_KINDS; i++) {
        mine.figures[BY_KIND + i] = seconds[i];
        mine.figures[IN_MPI] += seconds[i];
    }
    if (rank == 0)
        all = calloc((size_t)size, sizeof(*all));
    if (rank || all)
        gather(&mine, all, comm);
    if (!all)
        return;
    print(all, size);
    if (strcmp(path, "1") != 0)
        write_json(all, size, path);
    free(all);
}
