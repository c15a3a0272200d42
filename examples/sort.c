/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A parallel sample sort of a file's lines, in byte order.
 *
 * Shows: Scatterv and Gatherv of uneven pieces, Alltoall and Alltoallv to exchange data between all
 * ranks, Probe for a message of unknown length.
 *
 *   mpicc -O2 sort.c -o sort
 *   mpiexec -n 4 ./sort words.txt [SORTED.txt]
 *
 * Without a second file the lines go to standard output. Each rank sorts a piece of the file;
 * samples of all pieces give ranks - 1 splitters; each rank sends every other the lines that fall
 * between two splitters, and sorts what it gets. Before anything is written, the program checks the
 * order across ranks and that no line was lost or changed. Sorts up to 2 GiB.
 */

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOT = 0, TAG_LAST_LINE = 1, SAMPLES = 32 /* of each rank */ };

/* Lines in one block of memory, each ended by a NUL. */
struct lines {
    char *text;
    int bytes;
    char **line; /* where each begins */
    int count;
};

static int rank, ranks;

static void *get_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (!memory) {
        fprintf(stderr, "sort: rank %d has no memory for %zu bytes\n", rank, bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

/* Read a whole text file; newlines become NULs. Returns its length, or -1
 * after a message. */
static int read_file(const char *path, char **text)
{
    FILE *file = fopen(path, "r");
    long length = -1;

    if (!file || fseek(file, 0, SEEK_END) != 0 || (length = ftell(file)) < 0 ||
        fseek(file, 0, SEEK_SET) != 0) {
        fprintf(stderr, "sort: %s: %s\n", path, strerror(errno));
        goto error;
    }
    if (length >= INT_MAX) {
        fprintf(stderr, "sort: %s: larger than 2 GiB\n", path);
        goto error;
    }
    *text = get_memory((size_t)length + 1);
    if (fread(*text, 1, (size_t)length, file) != (size_t)length) {
        fprintf(stderr, "sort: %s: cannot be read whole\n", path);
        goto error_text;
    }
    if (memchr(*text, '\0', (size_t)length)) {
        fprintf(stderr, "sort: %s: not a text file\n", path);
        goto error_text;
    }
    fclose(file);
    if (length > 0 && (*text)[length - 1] != '\n')
        (*text)[length++] = '\n';
    for (long i = 0; i < length; i++)
        if ((*text)[i] == '\n')
            (*text)[i] = '\0';
    return (int)length;
error_text:
    free(*text);
error:
    if (file)
        fclose(file);
    return -1;
}

/* Find the lines of a block. */
static void index_lines(struct lines *l)
{
    int at = 0;

    l->count = 0;
    for (int i = 0; i < l->bytes; i++)
        l->count += l->text[i] == '\0';
    l->line = get_memory(sizeof l->line[0] * (size_t)l->count);
    for (int i = 0; i < l->count; i++) {
        l->line[i] = l->text + at;
        at += (int)strlen(l->line[i]) + 1;
    }
}

static void free_lines(struct lines *l)
{
    free(l->text);
    free(l->line);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct lines *l)
{
    qsort(l->line, (size_t)l->count, sizeof l->line[0], compare_lines);
}

/* Offsets of pieces that lie one after the other; returns their sum. */
static int offsets(const int *counts, int *at)
{
    int sum = 0;

    for (int r = 0; r < ranks; r++) {
        at[r] = sum;
        sum += counts[r];
    }
    return sum;
}

/* Deal the file to the ranks, cut at ends of lines. */
static void deal(const char *text, int length, struct lines *mine)
{
    int *counts = get_memory(sizeof counts[0] * (size_t)ranks);
    int *at = get_memory(sizeof at[0] * (size_t)ranks);
    int begin = 0;

    for (int r = 0; rank == ROOT && r < ranks; r++) {
        int end = (int)((long)length * (r + 1) / ranks);

        while (end > 0 && end < length && text[end - 1] != '\0')
            end++;
        end = end > begin ? end : begin;
        counts[r] = end - begin;
        at[r] = begin;
        begin = end;
    }
    MPI_Scatter(counts, 1, MPI_INT, &mine->bytes, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    mine->text = get_memory((size_t)mine->bytes);
    MPI_Scatterv(text, counts, at, MPI_CHAR, mine->text, mine->bytes, MPI_CHAR, ROOT,
                 MPI_COMM_WORLD);
    index_lines(mine);
    free(counts);
    free(at);
}

/* Copy count lines, evenly spaced over all, one after the other. */
static struct lines pick(const struct lines *from, int count)
{
    struct lines l = {.count = count};

    for (int i = 0; i < count; i++)
        l.bytes += (int)strlen(from->line[(long)(i + 1) * from->count / (count + 1)]) + 1;
    l.text = get_memory((size_t)l.bytes);
    char *to = l.text;

    for (int i = 0; i < count; i++) {
        const char *line = from->line[(long)(i + 1) * from->count / (count + 1)];
        size_t n = strlen(line) + 1;

        memcpy(to, line, n);
        to += n;
    }
    return l;
}

/* Gather the blocks of lines of all ranks at rank 0, in rank order. */
static struct lines gather(const char *text, int bytes)
{
    struct lines all = {0};
    int *counts = get_memory(sizeof counts[0] * (size_t)ranks);
    int *at = get_memory(sizeof at[0] * (size_t)ranks);

    MPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    if (rank == ROOT)
        all.bytes = offsets(counts, at);
    all.text = get_memory((size_t)all.bytes);
    MPI_Gatherv(text, bytes, MPI_CHAR, all.text, counts, at, MPI_CHAR, ROOT, MPI_COMM_WORLD);
    free(counts);
    free(at);
    return all;
}

/* Agree on ranks - 1 lines that divide all lines about evenly. There are
 * fewer where the file has hardly any lines. */
static struct lines choose_splitters(const struct lines *mine)
{
    struct lines sample = pick(mine, mine->count < SAMPLES ? mine->count : SAMPLES);
    struct lines all = gather(sample.text, sample.bytes), splitters = {0};

    if (rank == ROOT) {
        index_lines(&all);
        sort_lines(&all);
        splitters = pick(&all, all.count < ranks - 1 ? all.count : ranks - 1);
    }
    MPI_Bcast(&splitters.bytes, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    if (rank != ROOT)
        splitters.text = get_memory((size_t)splitters.bytes);
    MPI_Bcast(splitters.text, splitters.bytes, MPI_CHAR, ROOT, MPI_COMM_WORLD);
    index_lines(&splitters);
    free_lines(&sample);
    free_lines(&all);
    return splitters;
}

/* Lay sorted lines out one after the other; counts[r] becomes the bytes of
 * those that lie between splitters r - 1 and r. */
static char *lay_out(const struct lines *mine, const struct lines *splitters, int *counts)
{
    char *text = get_memory((size_t)mine->bytes), *to = text;
    int r = 0;

    memset(counts, 0, sizeof counts[0] * (size_t)ranks);
    for (int i = 0; i < mine->count; i++) {
        size_t n = strlen(mine->line[i]) + 1;

        while (r < splitters->count && strcmp(mine->line[i], splitters->line[r]) >= 0)
            r++;
        memcpy(to, mine->line[i], n);
        to += n;
        counts[r] += (int)n;
    }
    return text;
}

/* Send each rank its share of mine; return the lines that all ranks sent to this one. */
static struct lines exchange(const struct lines *mine, const struct lines *splitters)
{
    size_t words = sizeof(int) * (size_t)ranks;
    int *out = get_memory(words), *out_at = get_memory(words);
    int *in = get_memory(words), *in_at = get_memory(words);
    char *text = lay_out(mine, splitters, out);
    struct lines got = {0};

    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    offsets(out, out_at);
    got.bytes = offsets(in, in_at);
    got.text = get_memory((size_t)got.bytes);
    MPI_Alltoallv(text, out, out_at, MPI_CHAR, got.text, in, in_at, MPI_CHAR, MPI_COMM_WORLD);
    index_lines(&got);
    free(text);
    free(out);
    free(out_at);
    free(in);
    free(in_at);
    return got;
}

/* Whether all lines are in order, also from each rank to the next. The last line travels along the
 * ranks; a rank without lines passes on the line that it got. */
static int in_order(const struct lines *l)
{
    char *before = NULL;
    int good = 1, all, length = 0;

    if (rank > 0) {
        MPI_Status status;

        /* The message itself says how long it is. */
        MPI_Probe(rank - 1, TAG_LAST_LINE, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &length);
        before = get_memory((size_t)length);
        MPI_Recv(before, length, MPI_CHAR, rank - 1, TAG_LAST_LINE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (length > 0 && l->count > 0)
            good = strcmp(before, l->line[0]) <= 0;
    }
    for (int i = 1; i < l->count; i++)
        good &= strcmp(l->line[i - 1], l->line[i]) <= 0;
    if (rank + 1 < ranks) {
        const char *last = l->count > 0 ? l->line[l->count - 1] : before;

        /* A message without bytes: there is no line so far. */
        if (l->count > 0)
            length = (int)strlen(last) + 1;
        MPI_Send(last, length, MPI_CHAR, rank + 1, TAG_LAST_LINE, MPI_COMM_WORLD);
    }
    free(before);
    MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all;
}

/* Add up, over all ranks, the lines, their bytes and a hash of each. The sum does not depend on
 * which rank has which line. */
static void add_up(const struct lines *l, uint64_t sum[3])
{
    uint64_t mine[3] = {(uint64_t)l->count, (uint64_t)l->bytes, 0};

    for (int i = 0; i < l->count; i++) {
        uint64_t hash = 14695981039346656037u; /* FNV-1a */

        for (const char *c = l->line[i]; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
        mine[2] += hash;
    }
    MPI_Allreduce(mine, sum, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/* Gather the sorted lines and write them. */
static int write_lines(const struct lines *l, const char *path)
{
    int *ignored = get_memory(sizeof ignored[0] * (size_t)ranks), ok = 1;
    struct lines none = {0}, all;
    char *text = lay_out(l, &none, ignored);

    all = gather(text, l->bytes);
    if (rank == ROOT) {
        FILE *file = path ? fopen(path, "w") : stdout;

        for (int i = 0; i < all.bytes; i++)
            if (all.text[i] == '\0')
                all.text[i] = '\n';
        ok = file && fwrite(all.text, 1, (size_t)all.bytes, file) == (size_t)all.bytes;
        if (file && (path ? fclose(file) : fflush(file)) != 0)
            ok = 0;
        if (!ok)
            fprintf(stderr, "sort: %s: %s\n", path ? path : "output", strerror(errno));
    }
    MPI_Bcast(&ok, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    free(ignored);
    free(text);
    free_lines(&all);
    return ok ? 0 : -1;
}

static int sort_file(const char *text, int length, const char *output)
{
    struct lines piece, splitters, sorted;
    uint64_t before[3], after[3];
    int fewest, most, status = 1;
    double start = MPI_Wtime();

    deal(text, length, &piece);
    add_up(&piece, before);
    sort_lines(&piece);
    splitters = choose_splitters(&piece);
    sorted = exchange(&piece, &splitters);
    sort_lines(&sorted);
    add_up(&sorted, after);
    double seconds = MPI_Wtime() - start;

    MPI_Reduce(&sorted.count, &fewest, 1, MPI_INT, MPI_MIN, ROOT, MPI_COMM_WORLD);
    MPI_Reduce(&sorted.count, &most, 1, MPI_INT, MPI_MAX, ROOT, MPI_COMM_WORLD);
    int ordered = in_order(&sorted), same = memcmp(before, after, sizeof before) == 0;

    if (rank == ROOT && !(ordered && same))
        fprintf(stderr, "sort: wrong: %s\n", same ? "out of order" : "lines lost or changed");
    if (ordered && same && write_lines(&sorted, output) == 0) {
        status = 0;
        if (rank == ROOT)
            fprintf(stderr, "sort: %d lines on %d ranks in %.4f s, %d to %d a rank; "
                            "order verified\n", (int)after[0], ranks, seconds, fewest, most);
    }
    free_lines(&piece);
    free_lines(&splitters);
    free_lines(&sorted);
    return status;
}

int main(int argc, char **argv)
{
    char *text = NULL;
    int length = 0, status = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 2) {
        if (rank == ROOT)
            fprintf(stderr, "usage: %s FILE [SORTED]\n", argv[0]);
        status = 2;
    } else {
        if (rank == ROOT)
            length = read_file(argv[1], &text);
        MPI_Bcast(&length, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
        if (length >= 0) {
            status = sort_file(text, length, argc > 2 ? argv[2] : NULL);
            free(text);
        }
    }
    MPI_Finalize();
    return status;
}
