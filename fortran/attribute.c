/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Attributes (MPI-5.0 7.7 and 19.3.7). What Fortran sets is an integer; C gets the address of one.
 * So the value is kept in a cell, and the cell's address is C's attribute. Fortran gets the integer of
 * a cell, or the address itself where C has set one. Cells of one value are one cell, which stays as
 * long as the process: copies of an attribute share it.
 */
#include "fortran/attribute.h"

#include <pthread.h>
#include <stdlib.h>

#include "fortran/fortran.h"

enum { PLACES = 1024 };

struct cell {
    MPI_Aint value; /* first: C is given its address */
    struct cell *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the cells */
static struct cell *by_value[PLACES];
static struct cell **sorted; /* by address */
static size_t count, room;

static size_t place_of(MPI_Aint value)
{
    return ((uint64_t)value * 0x9e3779b97f4a7c15u) >> 54;
}

/* The first of the sorted cells that does not lie before an address. */
static size_t find(const void *address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)sorted[middle] < (uintptr_t)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct cell *add(MPI_Aint value)
{
    struct cell *cell = malloc(sizeof(*cell));
    if (cell && count == room) {
        struct cell **more = realloc(sorted, (2 * room + 64) * sizeof(struct cell *));
        if (!more)
            fortran_end("out of memory for an attribute");
        sorted = more;
        room = 2 * room + 64;
    }
    if (!cell)
        fortran_end("out of memory for an attribute");
    cell->value = value;
    cell->next = by_value[place_of(value)];
    by_value[place_of(value)] = cell;
    size_t at = find(cell);
    for (size_t i = count; i > at; i--)
        sorted[i] = sorted[i - 1];
    sorted[at] = cell;
    count++;
    return cell;
}

void *attribute_of_value(MPI_Aint value)
{
    pthread_mutex_lock(&lock);
    struct cell *cell = by_value[place_of(value)];
    while (cell && cell->value != value)
        cell = cell->next;
    if (!cell)
        cell = add(value);
    pthread_mutex_unlock(&lock);
    return &cell->value;
}

MPI_Aint attribute_value(void *attribute)
{
    MPI_Aint value = (MPI_Aint)attribute;
    pthread_mutex_lock(&lock);
    size_t at = find(attribute);
    if (at < count && (void *)sorted[at] == attribute)
        value = sorted[at]->value;
    pthread_mutex_unlock(&lock);
    return value;
}

MPI_Aint attribute_of_c(int keyval, void *attribute)
{
    switch (keyval) { /* the library's own: addresses of what Fortran gets */
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE:
    case MPI_UNIVERSE_SIZE:
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL: return *(int *)attribute;
    case MPI_WIN_SIZE: return *(MPI_Aint *)attribute;
    case MPI_WIN_BASE: return (MPI_Aint)attribute;
    default: return attribute_value(attribute);
    }
}
