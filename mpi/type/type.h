/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Datatypes (MPI-5.0 chapter 5). A type is a tree of constructors; commit turns
 * it into a short list of copy kernels. Sizes and extents are 64-bit.
 *
 * Predefined types are the ABI's constants: type_from() maps them through a
 * table, and the point-to-point path needs only their size, which
 * type_constant_size[] holds.
 *
 * A type never changes once it is made, except for commit, the name and the attributes. Types hold
 * references on the types that they were made of.
 */
#ifndef MPI_TYPE_H
#define MPI_TYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpi/handle.h"
#include "mpi/name.h"

struct attr;
struct kernels; /* what commit makes */
struct type_tree;

/* The meaning of a basic type's bits. */
enum type_form {
    TYPE_DERIVED, /* or a pair: none */
    TYPE_BYTES,   /* no number */
    TYPE_SIGNED,
    TYPE_UNSIGNED,
    TYPE_CHARACTER, /* a wide one */
    TYPE_LOGICAL,
    TYPE_FLOATING,
    TYPE_EXTENDED, /* long double, in this host's format */
    TYPE_COMPLEX,  /* two of one kind, two of the other */
    TYPE_EXTENDED_COMPLEX
};

struct type {
    struct object object;
    bool committed;
    bool freed; /* freed by the user; requests and types that use it go on */
    bool predefined;
    bool dense;     /* (once committed) the data of count elements are size * count bytes
                     * without gap, from true_lb on: size == extent == true extent, in
                     * order; or there are no data at all */
    bool extended;  /* it holds long double, which other processes may have in another format */
    bool wide;      /* it holds numbers of several bytes, which have an order */
    bool marked;    /* lb and ub were set by MPI_Type_create_resized, here or within */
    uint8_t align;  /* the largest alignment of a basic element; 0: no data */
    uint8_t form;   /* of a basic type: enum type_form */
    uint8_t place;  /* the row of mpi/type/type_list.inc that it is, or (MPI_Type_create_f90_real and
                     * the like) is the same as; 0: none */
    uint16_t depth; /* of the tree; 0: predefined */
    MPI_Count size; /* data bytes of one element */
    MPI_Count lb, extent;
    MPI_Count true_lb, true_extent;
    MPI_Count elements; /* basic elements in one, for MPI_Get_elements */
    MPI_Count external; /* data bytes of one in external32 */
    MPI_Datatype handle;
    struct kernels *kernels; /* NULL until commit, and for dense types */
    struct type_tree *tree;  /* how it was made, for envelope and contents */
    /* From here on: fields that threads may change at any time. */
    struct attr *attrs;
    struct os_lock lock; /* guards attrs, together with attr.c's lock */
    struct name name;
};

/* Bytes of the predefined type MPI_DATATYPE_NULL + i. 0 if there is none, or if the type is not
 * dense, as the pair types with gaps; then type_from() tells. */
extern const uint8_t type_constant_size[256];

/* The same for the fast paths, which handle nothing of size 0 there; and of whole numbers alone. */
extern uint8_t type_quick_size[256], type_quick_whole[256];
/* The same for type_place(). Where this process turns what it sends (os/turn.h), of types of single bytes alone. */
extern uint8_t type_placed_size[256];
/* Shut these paths: from now on all calls take the slow ones. */
void type_shut_quick(void);

/* A predefined pair of a value and an index. */
struct type_pair {
    const struct type *value, *index;
    MPI_Count index_at; /* offset; the value is first */
};

int type_init(void);
void type_fini(void);

/* The type of a handle, or NULL for a bad one. The memory of a freed type is reused for types
 * alone, so it can be examined. */
struct type *type_from(MPI_Datatype handle);
/* Make a type without bounds; all other fields are 0. It takes over the tree. NULL: no memory. */
struct type *type_create(struct type_tree *tree);
void type_ref(struct type *type);   /* nothing for predefined types */
void type_unref(struct type *type); /* accepts NULL */

/* The predefined type of a row of mpi/type/type_list.inc, which must exist. */
struct type *type_of_place(uint8_t place);

/* Get the parts of a predefined pair type. Returns whether type is one. */
bool type_pair(const struct type *type, struct type_pair *pair);

/* Make ready for communication. Returns 0 or MPI_ERR_NO_MEM. */
int type_commit(struct type *type);

/* Describe count elements at buf for the device. Returns 0, or the error class (MPI_ERR_TYPE,
 * MPI_ERR_COUNT, MPI_ERR_BUFFER). *used is the type if requests must hold a reference on it, or
 * NULL. */
int type_place_slow(MPI_Datatype handle, const void *buf, MPI_Count count, struct mpid_bytes *bytes,
                    struct type **used);
/* The same, and either as the data lie in memory or turned (type_turn.h), whatever the job's byte order is. */
int type_place_in(bool turned, MPI_Datatype handle, const void *buf, MPI_Count count, struct mpid_bytes *bytes,
                  struct type **used);
/* The type of a handle that type_place() takes: of no elements it may be MPI_DATATYPE_NULL, which stands for
 * MPI_BYTE then. */
static inline struct type *type_placed(MPI_Datatype handle)
{
    return type_from(handle == MPI_DATATYPE_NULL ? MPI_BYTE : handle);
}

/* The bytes of count elements of a dense predefined type; -1 where the type is none, or count is
 * negative or huge. */
static inline int64_t type_constant_bytes(MPI_Datatype handle, MPI_Count count)
{
    uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_DATATYPE_NULL;
    if (__builtin_expect(i >= 256 || (uint64_t)count >> 40, 0) || !type_constant_size[i])
        return -1;
    return (int64_t)type_constant_size[i] * count;
}

/* The same of a type that the fast paths may handle. */
static inline int64_t type_quick_bytes(MPI_Datatype handle, MPI_Count count)
{
    uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_DATATYPE_NULL;
    if (__builtin_expect(i >= 256 || (uint64_t)count >> 40, 0) || !type_quick_size[i])
        return -1;
    return (int64_t)type_quick_size[i] * count;
}

/* Not of predefined types that the fast paths handle. */
static inline bool type_may_be_misread(MPI_Datatype handle)
{
    uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_DATATYPE_NULL;
    return __builtin_expect(i >= 256 || !type_quick_size[i], 0);
}

static inline int type_place(MPI_Datatype handle, const void *buf, MPI_Count count,
                             struct mpid_bytes *bytes, struct type **used)
{
    uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_DATATYPE_NULL;
    /* 2^40 elements of 32 bytes: below this the product cannot overflow */
    if (__builtin_expect(i < 256 && (uint64_t)count < (uint64_t)1 << 40 && buf, 1)) {
        size_t size = type_placed_size[i];
        if (__builtin_expect(size != 0, 1)) {
            *bytes =
                (struct mpid_bytes){.base = (void *)(uintptr_t)buf, .len = size * (size_t)count};
            *used = 0;
            return 0;
        }
    }
    return type_place_slow(handle, buf, count, bytes, used);
}

/* Copy the data bytes [offset, offset + len) of a place, laid out or contiguous. */
void type_pack(const struct mpid_bytes *from, size_t offset, void *to, size_t len);
void type_unpack(const struct mpid_bytes *to, size_t offset, const void *from, size_t len);

/* Copy count elements between two places of maybe different types and equal
 * signature; at most the bytes of the smaller. For self messages and collectives. Returns 0,
 * MPI_ERR_TRUNCATE where from had more bytes than to (which is then full), or the error
 * class of a bad argument. */
int type_copy(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
              MPI_Count to_count, MPI_Datatype to_type);
/* The same, where a side of single bytes, as packed data are, has the numbers of the other side as they lie in memory, or
 * turned. type_copy() has them in the byte order of the job. */
int type_copy_in(bool turned, const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                 MPI_Count to_count, MPI_Datatype to_type);

#endif
