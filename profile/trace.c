/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The trace, in Chrome's trace event format, a line an event: chrome://tracing and Perfetto show
 * it. Each rank writes its part to FILE.RANK.part (part.c), which those can read by themselves: a
 * job that does not come to MPI_Finalize leaves these, with the calls that were open. There rank 0
 * makes FILE of all parts. Arrows have both of their ends there: one whose other end is not
 * recorded is left out.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/profile.h"

enum {
    PIECE = 1 << 16, /* bytes of a part that are sent at once */
    LINE_MAX_LEN = 512,
    ROUNDS = 8 /* of messages, to compare two hosts' clocks */
};

/* Ids of arrows. */
struct id_list {
    uint64_t *ids;
    size_t count, room;
};

static struct {
    char path[PATH_MAX], part_path[PATH_MAX];
    int rank;
    int64_t base_ns;        /* of this process's clock: where the trace begins */
    struct id_list ends[2]; /* of receives, of sends */
} trace;

bool trace_is_open(void)
{
    return part_is_open();
}

/* ---- clocks ---- */

static uint64_t boot_hash(void)
{
    char text[64] = "";
    uint64_t hash = 5381;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file) {
        (void)!fgets(text, sizeof(text), file);
        fclose(file);
    }
    for (const char *c = text; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    return hash;
}

/* The number to add to the clock of this process to get that of rank 0, whose clock this one is on the
 * same host. Collective. */
static int64_t clock_offset(MPI_Comm comm, int rank)
{
    int size, is_far;
    uint64_t mine = boot_hash(), root = mine;
    int64_t offset = 0, best = INT64_MAX;
    PMPI_Comm_size(comm, &size);
    PMPI_Bcast(&root, 1, MPI_UINT64_T, 0, comm);
    is_far = root != mine;
    int *far = calloc((size_t)size, sizeof(*far));
    PMPI_Gather(&is_far, 1, MPI_INT, far, 1, MPI_INT, 0, comm);
    for (int i = 1; rank == 0 && far && i < size; i++)
        for (int round = 0; far[i] && round < ROUNDS; round++) {
            uint64_t now;
            PMPI_Recv(&now, 0, MPI_BYTE, i, 0, comm, MPI_STATUS_IGNORE);
            now = profile_now_ns();
            PMPI_Send(&now, 1, MPI_UINT64_T, i, 0, comm);
        }
    for (int round = 0; is_far && round < ROUNDS; round++) {
        uint64_t before = profile_now_ns(), there;
        PMPI_Send(&there, 0, MPI_BYTE, 0, 0, comm);
        PMPI_Recv(&there, 1, MPI_UINT64_T, 0, 0, comm, MPI_STATUS_IGNORE);
        int64_t both = (int64_t)(profile_now_ns() - before);
        if (both < best) {
            best = both;
            offset = (int64_t)(there - before) - both / 2;
        }
    }
    free(far);
    return offset;
}

void trace_open(const char *path, int rank)
{
    MPI_Comm comm;
    char host[MPI_MAX_PROCESSOR_NAME];
    int len;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int64_t offset = clock_offset(comm, rank), now = (int64_t)profile_now_ns() + offset, first;
    PMPI_Allreduce(&now, &first, 1, MPI_INT64_T, MPI_MIN, comm);
    PMPI_Comm_free(&comm);
    PMPI_Get_processor_name(host, &len);
    for (char *c = host; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = '?';
    trace.rank = rank;
    trace.base_ns = first - offset;
    snprintf(trace.path, sizeof(trace.path), "%s", path);
    snprintf(trace.part_path, sizeof(trace.part_path), "%.4000s.%d.part", path, rank);
    char title[LINE_MAX_LEN];
    snprintf(title, sizeof(title),
             "[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"rank "
             "%d on %s\"}},\n",
             rank, rank, host);
    int error = part_open(trace.part_path, title);
    if (error)
        fprintf(stderr,
                "vireo: rank %d on %s cannot write its part of the trace, %s: %s; name a file in "
                "a folder that is on every host, and has room\n",
                rank, host, trace.part_path, strerror(error));
}

/* ---- events ---- */

/* MPI_Init begins before the trace does. */
static double since_base(uint64_t ns)
{
    int64_t at = (int64_t)ns - trace.base_ns;
    return (double)(at < 0 ? 0 : at) / 1e3;
}

/* Write a line. A file system that is full is told once. */
static void __attribute__((format(printf, 1, 2))) put_line(const char *form, ...)
{
    char line[LINE_MAX_LEN];
    va_list args;
    va_start(args, form);
    int len = vsnprintf(line, sizeof(line), form, args);
    va_end(args);
    int error = len > 0 && len < LINE_MAX_LEN ? part_put(line, (size_t)len) : 0;
    if (error)
        fprintf(stderr, "vireo: the trace of rank %d ends here: %s: %s\n", trace.rank,
                trace.part_path, strerror(error));
}

static char *put_text(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

static char *put_number(char *at, uint64_t number)
{
    char digits[24];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *at++ = digits[--count];
    return at;
}

/* Each call comes here, and few stay open until the end: printf() would take longer than some calls. */
void trace_begin(const struct profile_span *span, int thread)
{
    const struct profile_function *function = &profile_functions[span->function];
    char line[LINE_MAX_LEN], *at = line;
    if (!part_is_open())
        return;
    uint64_t ns = (uint64_t)((int64_t)span->begun_ns - trace.base_ns);
    at = put_text(at, "{\"ph\":\"B\",\"name\":\"");
    at = put_text(at, function->name);
    at = put_text(at, "\",\"cat\":\"");
    at = put_text(at, profile_kind_names[function->kind]);
    at = put_text(at, "\",\"pid\":");
    at = put_number(at, (uint64_t)trace.rank);
    at = put_text(at, ",\"tid\":");
    at = put_number(at, (uint64_t)thread);
    at = put_text(at, ",\"ts\":");
    at = put_number(at, ns / 1000);
    *at++ = '.';
    for (uint64_t unit = 100; unit; unit /= 10)
        *at++ = (char)('0' + ns / unit % 10);
    at = put_text(at, ",\"args\":{\"at\":\"");
    at = put_text(at, span->site);
    at = put_text(at, "\"}},");
    part_set_open(thread, line, (size_t)(at - line));
}

void trace_span(const struct profile_span *span, uint64_t ended_ns, int thread)
{
    const struct profile_function *function = &profile_functions[span->function];
    char args[256] = "";
    if (!part_is_open())
        return;
    double begin = since_base(span->begun_ns);
    if (span->peer >= 0 && function->kind == PROFILE_P2P)
        snprintf(args, sizeof(args), ",\"args\":{\"peer\":%d,\"tag\":%d,\"bytes\":%lld,\"at\":\"%s\"}",
                 span->peer, span->tag, (long long)span->bytes, span->site);
    else if (span->peer >= 0 && function->kind == PROFILE_WINDOW)
        snprintf(args, sizeof(args), ",\"args\":{\"target\":%d,\"bytes\":%lld,\"at\":\"%s\"}", span->peer,
                 (long long)span->bytes, span->site);
    else if (*span->site)
        snprintf(args, sizeof(args), ",\"args\":{\"at\":\"%s\"}", span->site);
    put_line("{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"ts\":%.3f,\"dur\":%.3f,\"pid\":%d,"
             "\"tid\":%d%s},\n",
             function->name, profile_kind_names[function->kind], begin,
             since_base(ended_ns) - begin, trace.rank, thread, args);
    part_set_open(thread, "", 0);
}

static void note_id(struct id_list *list, uint64_t id)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 1024;
        uint64_t *more = realloc(list->ids, room * sizeof(*more));
        if (!more)
            return;
        list->ids = more;
        list->room = room;
    }
    list->ids[list->count++] = id;
}

void trace_flow(uint64_t id, bool is_send, uint64_t at_ns, int thread)
{
    if (!part_is_open())
        return;
    put_line("{\"id\":\"0x%016llx\",\"ph\":\"%c\",\"name\":\"message\",\"cat\":\"message\",%s"
             "\"ts\":%.3f,\"pid\":%d,\"tid\":%d},\n",
             (unsigned long long)id, is_send ? 's' : 'f',
            is_send ? "" : "\"bp\":\"e\",", since_base(at_ns), trace.rank, thread);
    note_id(&trace.ends[is_send], id);
}

void trace_epoch(enum profile_epoch kind, int target, uint64_t id, const uint64_t at_ns[2],
                 int thread)
{
    static const char *const names[] = {[PROFILE_FENCE] = "fence", [PROFILE_START] = "start",
                                        [PROFILE_EXPOSURE] = "exposure", [PROFILE_LOCK] = "lock",
                                        [PROFILE_LOCK_ALL] = "lock all"};
    char args[48] = "";
    if (!part_is_open())
        return;
    if (target >= 0)
        snprintf(args, sizeof(args), ",\"args\":{\"target\":%d}", target);
    for (int i = 0; i < 2; i++)
        put_line("{\"ph\":\"%c\",\"name\":\"%s\",\"cat\":\"epoch\",\"id\":\"%d.%llu\",\"ts\":%.3f,\"pid\":%d,"
                 "\"tid\":%d%s},\n",
                 i ? 'e' : 'b', names[kind], trace.rank, (unsigned long long)id, since_base(at_ns[i]),
                 trace.rank, thread, args);
}

/* ---- making one file ---- */

static int compare(const void *va, const void *vb)
{
    const uint64_t *a = va, *b = vb;
    return *a < *b ? -1 : *a > *b;
}

/* The ids of all ranks, sorted, at rank 0. */
static void gather_ids(MPI_Comm comm, struct id_list *list)
{
    int size, more = (int)list->count, total = 0;
    PMPI_Comm_size(comm, &size);
    int *counts = calloc((size_t)size, sizeof(*counts)),
        *places = calloc((size_t)size, sizeof(*places));
    PMPI_Gather(&more, 1, MPI_INT, counts, 1, MPI_INT, 0, comm);
    for (int i = 0; counts && places && trace.rank == 0 && i < size; i++) {
        places[i] = total;
        total += counts[i];
    }
    uint64_t *all = malloc(((size_t)total + 1) * sizeof(*all));
    PMPI_Gatherv(list->ids, more, MPI_UINT64_T, all, counts, places, MPI_UINT64_T, 0, comm);
    free(list->ids);
    free(counts);
    free(places);
    *list = (struct id_list){all, (size_t)total, (size_t)total};
    if (total)
        qsort(all, (size_t)total, sizeof(*all), compare);
}

static bool is_paired(const char *line)
{
    unsigned long long number;
    if (strncmp(line, "{\"id\":\"0x", 9) != 0)
        return true;
    number = strtoull(line + 7, NULL, 16);
    uint64_t id = number;
    for (int i = 0; i < 2; i++)
        if (!trace.ends[i].count ||
            !bsearch(&id, trace.ends[i].ids, trace.ends[i].count, sizeof(id), compare))
            return false;
    return true;
}

/* A part is read piece by piece; a line may be cut by the end of one. */
struct line_reader {
    FILE *to;
    const char *sites; /* of the rank whose part it is: site_lines() */
    bool any;
    char line[LINE_MAX_LEN];
    size_t len;
};

/* Write a line, with that of the source in the place of the object file and offset. */
static void put_resolved(FILE *to, const char *line, const char *sites)
{
    char key[128];
    const char *at = strstr(line, "\"at\":\""), *name = at ? at + strlen("\"at\":\"") : line;
    int len = (int)strcspn(name, "\"");
    const char *known = NULL;
    if (at && sites && len > 0 && len < (int)sizeof(key) - 2) {
        snprintf(key, sizeof(key), "\n%.*s\t", len, name);
        known = strstr(sites, key);
    }
    if (known) {
        known += len + 2;
        fprintf(to, "%.*s%.*s%s", (int)(name - line), line, (int)strcspn(known, "\n"), known, name + len);
    } else {
        fputs(line, to);
    }
}

static void take_line(struct line_reader *reader)
{
    char *line = reader->line;
    line[reader->len] = 0;
    if (reader->len && line[reader->len - 1] == ',')
        line[reader->len - 1] = 0;
    reader->len = 0;
    if (*line != '{' || !is_paired(line))
        return;
    fputs(reader->any ? ",\n" : "", reader->to);
    put_resolved(reader->to, line, reader->sites);
    reader->any = true;
}

static void take_piece(struct line_reader *reader, const char *piece, int len)
{
    for (int i = 0; i < len; i++) {
        if (piece[i] == '\n')
            take_line(reader);
        else if (reader->len < LINE_MAX_LEN - 1)
            reader->line[reader->len++] = piece[i];
    }
}

/* Of another rank, at rank 0; the caller frees it. */
static char *receive_sites(MPI_Comm comm, int rank)
{
    int len = 0;
    PMPI_Recv(&len, 1, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE);
    char *sites = len >= 0 ? malloc((size_t)len + 1) : NULL;
    if (!sites)
        abort();
    PMPI_Recv(sites, len, MPI_BYTE, rank, 1, comm, MPI_STATUS_IGNORE);
    sites[len] = 0;
    return sites;
}

static void send_sites(MPI_Comm comm, const char *sites)
{
    int len = sites ? (int)strlen(sites) : 0;
    PMPI_Send(&len, 1, MPI_INT, 0, 1, comm);
    PMPI_Send(sites, len, MPI_BYTE, 0, 1, comm);
}

/* At rank 0. Returns errno. */
static int write_all(MPI_Comm comm, char *piece, const char *sites)
{
    static struct line_reader reader;
    int size, len, number;
    PMPI_Comm_size(comm, &size);
    reader.to = fopen(trace.path, "w");
    number = reader.to ? 0 : errno;
    FILE *sink = reader.to ? NULL : fopen("/dev/null", "w");
    if (sink)
        reader.to = sink; /* the others send all the same */
    if (!reader.to)
        return number;
    reader.sites = sites;
    fprintf(reader.to, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    while ((len = (int)part_read(piece, PIECE)) > 0)
        take_piece(&reader, piece, len);
    for (int i = 1; i < size; i++) {
        char *others = receive_sites(comm, i);
        reader.sites = others;
        do {
            MPI_Status status;
            len = 0;
            if (!PMPI_Recv(piece, PIECE, MPI_BYTE, i, 1, comm, &status))
                PMPI_Get_count(&status, MPI_BYTE, &len);
            take_piece(&reader, piece, len);
        } while (len);
        free(others);
    }
    fprintf(reader.to, "\n]}\n");
    bool failed = ferror(reader.to);
    if (fclose(reader.to) || failed)
        number = errno ? errno : EIO;
    return number;
}

void trace_merge(MPI_Comm comm)
{
    char *piece = malloc(PIECE), *sites = site_lines();
    int number = 0, len;
    gather_ids(comm, &trace.ends[0]);
    gather_ids(comm, &trace.ends[1]);
    if (!piece)
        abort();
    if (trace.rank == 0)
        number = write_all(comm, piece, sites);
    else {
        send_sites(comm, sites);
        do {
            len = (int)part_read(piece, PIECE);
        } while (!PMPI_Send(piece, len, MPI_BYTE, 0, 1, comm) && len);
    }
    if (number)
        fprintf(stderr,
                "vireo: the trace %s cannot be written: %s; each rank's part is in %s and so on\n",
                trace.path, strerror(number), trace.part_path);
    PMPI_Bcast(&number, 1, MPI_INT, 0, comm);
    bool is_open = part_is_open();
    part_close();
    if (is_open && !number)
        (void)unlink(trace.part_path);
    free(piece);
    free(sites);
}
