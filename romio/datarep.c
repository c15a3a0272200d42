/* SPDX-License-Identifier: BSD-3-Clause */

/* Data representations; see datarep.h. */
#include "romio/datarep.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "romio/file.h"
#include "romio/library.h"
#include "romio/types.h"

static struct datarep external = {.name = "external32", .kind = DATAREP_EXTERNAL};
static struct datarep internal = {.next = &external, .name = "internal", .kind = DATAREP_INTERNAL};
static struct datarep native = {.next = &internal, .name = "native"};
const struct datarep *const datarep_native = &native;

const struct datarep *datarep_find(const char *name)
{
    library_lock();
    const struct datarep *rep = &native;
    while (rep && strcmp(name, rep->name) &&
           (rep->kind == DATAREP_USER || strcasecmp(name, rep->name)))
        rep = rep->next;
    library_unlock();
    return rep;
}

int datarep_register(const char *name, const struct io_datarep *user, struct io_error *error)
{
    if (!*name || strlen(name) >= MPI_MAX_DATAREP_STRING)
        return file_wrong(error, MPI_ERR_ARG, "datarep: its name must have 1 to %d characters",
                          MPI_MAX_DATAREP_STRING - 1);
    if (!user->extent)
        return file_wrong(error, MPI_ERR_ARG, "dtype_file_extent_fn is NULL");
    if (datarep_find(name))
        return file_wrong(error, MPI_ERR_DUP_DATAREP, "there is a data representation '%s' already",
                          name);
    struct datarep *made = calloc(1, sizeof(*made));
    if (!made)
        return file_wrong(error, MPI_ERR_NO_MEM, "out of memory");
    strcpy(made->name, name);
    made->kind = DATAREP_USER;
    made->user = *user;
    library_lock();
    made->next = external.next;
    external.next = made;
    library_unlock();
    return MPI_SUCCESS;
}

/* MPI_CONVERSION_FN_NULL is NULL. */
bool datarep_converts(const struct datarep *rep)
{
    const struct io_datarep *user = &rep->user;
    return rep->kind == DATAREP_EXTERNAL || (rep->kind == DATAREP_INTERNAL && library_hooks->is_network()) ||
           (rep->kind == DATAREP_USER && (user->read || user->write || user->read_c || user->write_c));
}

/* The one predefined type that a type consists of, and how many of them are in it; NULL: several
 * types, or none. */
static MPI_Datatype basic_of(MPI_Datatype type, MPI_Count *count)
{
    MPI_Count integers, addresses, larges, types, size, basic_size;
    int combiner;
    PMPI_Type_size_c(type, &size);
    PMPI_Type_get_envelope_c(type, &integers, &addresses, &larges, &types, &combiner);
    *count = 1;
    if (!types)
        return type;
    int *i = calloc((size_t)integers + 1, sizeof(*i));
    MPI_Aint *a = calloc((size_t)addresses + 1, sizeof(*a));
    MPI_Count *l = calloc((size_t)larges + 1, sizeof(*l));
    MPI_Datatype *t = calloc((size_t)types, sizeof(MPI_Datatype));
    MPI_Datatype basic = MPI_DATATYPE_NULL;
    if (i && a && l && t &&
        !PMPI_Type_get_contents_c(type, integers, addresses, larges, types, i, a, l, t)) {
        for (MPI_Count k = 0; k < types; k++) {
            MPI_Datatype inner = basic_of(t[k], count);
            basic = k == 0 || inner == basic ? inner : MPI_DATATYPE_NULL;
            if (!types_is_predefined(t[k]))
                PMPI_Type_free(&t[k]);
            if (basic == MPI_DATATYPE_NULL)
                types = k + 1;
        }
    }
    free(i);
    free(a);
    free(l);
    free(t);
    if (basic != MPI_DATATYPE_NULL) {
        PMPI_Type_size_c(basic, &basic_size);
        *count = basic_size ? size / basic_size : 0;
    }
    return basic;
}

static MPI_Count user_extent(const struct datarep *rep, MPI_Datatype type, struct io_error *error)
{
    MPI_Aint extent = -1;
    if (rep->user.extent(type, &extent, rep->user.extra_state) || extent < 0) {
        (void)file_wrong(error, 0, "the extent function of data representation '%s' fails", rep->name);
        return -1;
    }
    return extent;
}

MPI_Count datarep_size(const struct datarep *rep, MPI_Datatype type, struct io_error *error)
{
    MPI_Count size = -1, count;
    if (rep->kind == DATAREP_EXTERNAL) {
        if (PMPI_Pack_external_size_c("external32", 1, type, &size))
            (void)file_wrong(error, 0, "the type has no representation in external32");
        return size;
    }
    PMPI_Type_size_c(type, &size);
    if (rep->kind != DATAREP_USER || size == 0)
        return size;
    MPI_Datatype basic = basic_of(type, &count);
    if (basic == MPI_DATATYPE_NULL) {
        (void)file_wrong(error, 0, "in data representation '%s' types of several predefined types are "
                                   "not supported: use one predefined type at a time", rep->name);
        return -1;
    }
    MPI_Count extent = user_extent(rep, basic, error);
    return extent < 0 ? -1 : extent * count;
}

MPI_Count datarep_extent(const struct datarep *rep, MPI_Datatype type, struct io_error *error)
{
    MPI_Count lb, extent, size, in_file = datarep_size(rep, type, error);
    PMPI_Type_size_c(type, &size);
    PMPI_Type_get_extent_c(type, &lb, &extent);
    if (in_file < 0 || in_file == size)
        return in_file < 0 ? -1 : extent;
    if (extent == size)
        return in_file;
    if (extent % size == 0) /* gaps of whole elements */
        return extent / size * in_file;
    (void)file_wrong(error, 0, "a type with gaps, whose data have another size in data representation "
                               "'%s', is not supported", rep->name);
    return -1;
}

/* ---- conversion ---- */

static int failed(const struct datarep *rep, struct io_error *error)
{
    return file_wrong(error, MPI_ERR_CONVERSION,
                      "data cannot be converted to or from data representation '%s'", rep->name);
}

/* The user's function, of either form. */
static int convert(const struct datarep *rep, bool write, void *user_buf, MPI_Count count,
                   MPI_Datatype type, void *file_buf)
{
    const struct io_datarep *user = &rep->user;
    MPI_Datarep_conversion_function_c *large = write ? user->write_c : user->read_c;
    MPI_Datarep_conversion_function *small = write ? user->write : user->read;
    if (large)
        return large(user_buf, type, count, file_buf, 0, user->extra_state);
    if (count > INT_MAX)
        return MPI_ERR_COUNT;
    return small(user_buf, type, (int)count, file_buf, 0, user->extra_state);
}

/* No function for this way: data are the same on both sides; or the library's own order. */
static int copy(const struct datarep *rep, bool write, void *user_buf, MPI_Count count, MPI_Datatype type, void *file_buf)
{
    MPI_Count size;
    bool as_job = rep->kind == DATAREP_INTERNAL;
    PMPI_Type_size_c(type, &size);
    return write ? library_hooks->pack(as_job, user_buf, count, type, file_buf, size * count)
                 : library_hooks->unpack(as_job, file_buf, size * count, user_buf, count, type);
}

static int user_convert(const struct datarep *rep, bool write, void *user_buf, MPI_Count count,
                        MPI_Datatype type, void *file_buf)
{
    const struct io_datarep *user = &rep->user;
    bool has = write ? user->write || user->write_c : user->read || user->read_c;
    return has ? convert(rep, write, user_buf, count, type, file_buf)
               : copy(rep, write, user_buf, count, type, file_buf);
}

int datarep_pack(const struct datarep *rep, const void *from, MPI_Count count, MPI_Datatype type,
                 void *to, struct io_error *error)
{
    MPI_Count at = 0, size = datarep_size(rep, type, error);
    void *user_buf = (void *)(uintptr_t)from;
    int rc = rep->kind == DATAREP_EXTERNAL
                 ? PMPI_Pack_external_c("external32", from, count, type, to, size * count, &at)
                 : user_convert(rep, true, user_buf, count, type, to);
    return rc ? failed(rep, error) : MPI_SUCCESS;
}

int datarep_unpack(const struct datarep *rep, const void *from, MPI_Count count, MPI_Datatype type,
                   void *to, struct io_error *error)
{
    MPI_Count at = 0, size = datarep_size(rep, type, error);
    void *file_buf = (void *)(uintptr_t)from;
    int rc = rep->kind == DATAREP_EXTERNAL
                 ? PMPI_Unpack_external_c("external32", from, size * count, &at, to, count, type)
                 : user_convert(rep, false, to, count, type, file_buf);
    return rc ? failed(rep, error) : MPI_SUCCESS;
}
