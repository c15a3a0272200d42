/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Messages between random types of equal signature: the same basic elements in the same order,
 * laid out in different ways by sender and receiver. Every element must arrive, every byte of a
 * gap stay, and of a message that is cut short MPI_Get_elements must know how much it was.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum {
    ELEMENTS = 24, /* most in a signature */
    TIMES = 60,    /* most repetitions in a message; even */
    ROUNDS = 150
};

static uint64_t state;

static int draw(int below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int)((state >> 33) % (uint64_t)below);
}

static const struct {
    MPI_Datatype type;
    int size;
} basic[] = {{MPI_BYTE, 1}, {MPI_SHORT, 2}, {MPI_INT, 4}, {MPI_DOUBLE, 8}, {MPI_FLOAT, 4}};

/* A signature: indices of basic[]. */
struct signature {
    int n;
    int elements[2 * ELEMENTS];
};

/* One way to lay it out: where each element is, in so many bytes. */
struct layout {
    MPI_Datatype type;
    MPI_Aint at[2 * ELEMENTS];
    MPI_Aint span;
};

static int is_uniform(const struct signature *s, int first, int n)
{
    for (int i = 1; i < n; i++)
        if (s->elements[first + i] != s->elements[first])
            return 0;
    return 1;
}

/* n elements of one type at equal distances, forth or back. */
static MPI_Datatype lay_out_vector(const struct signature *s, int first, int n, struct layout *l)
{
    MPI_Datatype type, old = basic[s->elements[first]].type;
    MPI_Aint step = basic[s->elements[first]].size + draw(9), shift = 0;
    int back = draw(2), lengths = 1;

    OK(MPI_Type_create_hvector(n, 1, back ? -step : step, old, &type));
    if (back) { /* begin at the last place */
        MPI_Datatype moved;
        shift = (n - 1) * step;
        OK(MPI_Type_create_hindexed(1, &lengths, &shift, type, &moved));
        OK(MPI_Type_free(&type));
        type = moved;
    }
    for (int i = 0; i < n; i++)
        l->at[first + i] = back ? shift - i * step : i * step;
    l->span = n * step;
    return type;
}

static MPI_Datatype lay_out(const struct signature *s, int first, int n, struct layout *l);

/* Two to four runs of the elements, each laid out on its own, in any order in memory. */
static MPI_Datatype lay_out_struct(const struct signature *s, int first, int n, struct layout *l)
{
    MPI_Datatype types[4] = {0}, type;
    MPI_Aint spans[4], displacements[4] = {0}, next = 0;
    int starts[5] = {0}, lengths[4] = {1, 1, 1, 1}, order[4] = {0}, parts = n < 4 ? n : 2 + draw(3);

    for (int i = 0; i < parts; i++) {
        int left = n - starts[i], others = parts - i - 1;
        starts[i + 1] = others ? starts[i] + 1 + draw(left - others) : n;
        types[i] = lay_out(s, first + starts[i], starts[i + 1] - starts[i], l);
        spans[i] = l->span;
        int j = draw(i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int k = 0; k < parts; k++) {
        int i = order[k];
        next += draw(6);
        displacements[i] = next;
        next += spans[i];
        for (int e = starts[i]; e < starts[i + 1]; e++)
            l->at[first + e] += displacements[i];
    }
    OK(MPI_Type_create_struct(parts, lengths, displacements, types, &type));
    for (int i = 0; i < parts; i++)
        OK(MPI_Type_free(&types[i]));
    l->span = next + draw(5);
    return type;
}

static MPI_Datatype lay_out(const struct signature *s, int first, int n, struct layout *l)
{
    MPI_Datatype type;

    if (n == 1) {
        l->at[first] = 0;
        l->span = basic[s->elements[first]].size;
        OK(MPI_Type_dup(basic[s->elements[first]].type, &type));
        return type;
    }
    return is_uniform(s, first, n) && draw(3) ? lay_out_vector(s, first, n, l)
                                              : lay_out_struct(s, first, n, l);
}

static void make(const struct signature *s, struct layout *l)
{
    MPI_Datatype type = lay_out(s, 0, s->n, l);

    OK(MPI_Type_create_resized(type, 0, l->span, &l->type));
    OK(MPI_Type_commit(&l->type));
    OK(MPI_Type_free(&type));
}

/* Byte b of element i of a message. */
static char value(uint32_t seed, int i, int b)
{
    return (char)((seed + (uint32_t)i) * 2654435761u >> (b & 3) * 8 ^ (uint32_t)(b * 29));
}

/* Element i of times repetitions in memory. */
static char *element(const struct signature *s, const struct layout *l, char *memory, int i)
{
    return memory + i / s->n * l->span + l->at[i % s->n];
}

static void fill(const struct signature *s, const struct layout *l, char *memory, int times,
                 uint32_t seed)
{
    memset(memory, 0x55, (size_t)(l->span * times));
    for (int i = 0; i < s->n * times; i++)
        for (int b = 0; b < basic[s->elements[i % s->n]].size; b++)
            element(s, l, memory, i)[b] = value(seed, i, b);
}

/* The first elements have arrived, and nothing else has changed. */
static void verify(const struct signature *s, const struct layout *l, char *memory, int times,
                   uint32_t seed, int arrived)
{
    for (int i = 0; i < arrived; i++)
        for (int b = 0; b < basic[s->elements[i % s->n]].size; b++) {
            CHECK(element(s, l, memory, i)[b] == value(seed, i, b));
            element(s, l, memory, i)[b] = 0x66;
        }
    for (MPI_Aint i = 0; i < l->span * times; i++)
        CHECK(memory[i] == 0x66);
}

/* Both ranks draw the same signature, and each its own layouts. */
static void pass(int round, int me, int to, int from)
{
    struct signature one = {0}, two;
    struct layout out, in;
    MPI_Status status;
    int times, sent, count;

    state = 0x9e3779b97f4a7c15u * (uint64_t)(round + 1);
    one.n = 1 + draw(ELEMENTS);
    for (int i = 0, same = 0; i < one.n; i++) {
        same = i && draw(3) ? same : draw(5);
        one.elements[i] = same;
    }
    two = one;
    two.n = 2 * one.n;
    memcpy(two.elements + one.n, one.elements, sizeof(int) * (size_t)one.n);
    times = 2 + 2 * draw(draw(4) ? TIMES / 10 : TIMES / 2);
    sent = draw(3) ? times : 1 + draw(times); /* how many repetitions */
    state += (uint64_t)me * 77777 + 1;
    make(&one, &out);
    make(&two, &in);
    char *send = malloc((size_t)(out.span * times)), *recv = malloc((size_t)(in.span * times / 2));
    CHECK(send && recv);
    fill(&one, &out, send, times, (uint32_t)(round * 100 + me));
    memset(recv, 0x66, (size_t)(in.span * times / 2));
    OK(MPI_Sendrecv(send, sent, out.type, to, 1, recv, times / 2, in.type, from, 1, MPI_COMM_WORLD,
                    &status));
    OK(MPI_Get_elements(&status, in.type, &count));
    CHECK(count == sent * one.n);
    OK(MPI_Get_count(&status, in.type, &count));
    CHECK(count == (sent % 2 ? MPI_UNDEFINED : sent / 2));
    verify(&two, &in, recv, times / 2, (uint32_t)(round * 100 + from), sent * one.n);
    free(send);
    free(recv);
    OK(MPI_Type_free(&out.type));
    OK(MPI_Type_free(&in.type));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++)
        pass(round, me, (me + 1) % size, (me + size - 1) % size);
    OK(MPI_Finalize());
    return 0;
}
