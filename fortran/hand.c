/* SPDX-License-Identifier: BSD-3-Clause */

/* Procedures whose arguments need more than tools/gen_fortran.py knows; callbacks are in
 * user.c. Compiled twice: see entry.h. */
#include <string.h>

#include "fortran/begin.h"
#include "fortran/entry.h"

/* ---- beginning ---- */

FORTRAN_ENTRY(init, int *ierror)
{
    fortran_check_program("MPI_INIT");
    int rc = MPI_(Init)(NULL, NULL);
    if (rc == MPI_SUCCESS)
        fortran_begin_process();
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(init_thread, const int *required, int *provided, int *ierror)
{
    fortran_check_program("MPI_INIT_THREAD");
    int rc = MPI_(Init_thread)(NULL, NULL, *required, provided);
    if (rc == MPI_SUCCESS)
        fortran_begin_process();
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(session_init, const int *info, const int *errhandler, int *session, int *ierror)
{
    MPI_Session c_session;
    fortran_check_program("MPI_SESSION_INIT");
    int rc = MPI_(Session_init)(fortran_info(*info), fortran_errhandler(*errhandler), &c_session);
    if (rc == MPI_SUCCESS) {
        *session = fortran_session_int(c_session);
        fortran_begin_process();
    }
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(info_create_env, int *info, int *ierror)
{
    MPI_Info c_info;
    int rc = MPI_(Info_create_env)(0, NULL, &c_info);
    if (rc == MPI_SUCCESS)
        *info = fortran_info_int(c_info);
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(pcontrol, const int *level, int *ierror)
{
    fortran_error(ierror, MPI_(Pcontrol)(*level));
}

/* ---- functions ---- */

FORTRAN_FUNCTION(double, wtime, void)
{
    return MPI_(Wtime)();
}

FORTRAN_FUNCTION(double, wtick, void)
{
    return MPI_(Wtick)();
}

FORTRAN_FUNCTION(MPI_Aint, aint_add, const MPI_Aint *base, const MPI_Aint *disp)
{
    return MPI_(Aint_add)(*base, *disp);
}

FORTRAN_FUNCTION(MPI_Aint, aint_diff, const MPI_Aint *addr1, const MPI_Aint *addr2)
{
    return MPI_(Aint_diff)(*addr1, *addr2);
}

/* ---- memory ---- */

FORTRAN_ENTRY(alloc_mem, const MPI_Aint *size, const int *info, void **baseptr, int *ierror)
{
    fortran_error(ierror, MPI_(Alloc_mem)(*size, fortran_info(*info), baseptr));
}
FORTRAN_ALIAS(void, alloc_mem_, alloc_mem_cptr_, const MPI_Aint *size, const int *info,
              void **baseptr, int *ierror)

/* ---- windows: memory that the library makes or finds ---- */

#define WINDOW_MADE(made, win)             \
    if (rc == MPI_SUCCESS)                 \
        *(win) = fortran_win_int(made);    \
    fortran_error(ierror, rc);

FORTRAN_ENTRY(win_allocate, const MPI_Aint *size, const int *disp_unit, const int *info,
              const int *comm, void **baseptr, int *win, int *ierror)
{
    MPI_Win made;
    int rc = MPI_(Win_allocate)(*size, *disp_unit, fortran_info(*info), fortran_comm(*comm), baseptr,
                                &made);
    WINDOW_MADE(made, win)
}
FORTRAN_ALIAS(void, win_allocate_, win_allocate_cptr_, const MPI_Aint *size, const int *disp_unit,
              const int *info, const int *comm, void **baseptr, int *win, int *ierror)

FORTRAN_ENTRY(win_allocate_shared, const MPI_Aint *size, const int *disp_unit, const int *info,
              const int *comm, void **baseptr, int *win, int *ierror)
{
    MPI_Win made;
    int rc = MPI_(Win_allocate_shared)(*size, *disp_unit, fortran_info(*info), fortran_comm(*comm),
                                       baseptr, &made);
    WINDOW_MADE(made, win)
}
FORTRAN_ALIAS(void, win_allocate_shared_, win_allocate_shared_cptr_, const MPI_Aint *size,
              const int *disp_unit, const int *info, const int *comm, void **baseptr, int *win,
              int *ierror)

FORTRAN_ENTRY(win_shared_query, const int *win, const int *rank, MPI_Aint *size, int *disp_unit,
              void **baseptr, int *ierror)
{
    fortran_error(ierror, MPI_(Win_shared_query)(fortran_win(*win), *rank, size, disp_unit, baseptr));
}
FORTRAN_ALIAS(void, win_shared_query_, win_shared_query_cptr_, const int *win, const int *rank,
              MPI_Aint *size, int *disp_unit, void **baseptr, int *ierror)

FORTRAN_PUBLIC void FORTRAN_NAME(win_allocate_c_f08_)(const MPI_Aint *, const MPI_Aint *, const int *,
                                                      const int *, void **, int *, int *);
FORTRAN_PUBLIC void FORTRAN_NAME(win_allocate_shared_c_f08_)(const MPI_Aint *, const MPI_Aint *,
                                                             const int *, const int *, void **,
                                                             int *, int *);
FORTRAN_PUBLIC void FORTRAN_NAME(win_shared_query_c_f08_)(const int *, const int *, MPI_Aint *,
                                                          MPI_Aint *, void **, int *);

void FORTRAN_NAME(win_allocate_c_f08_)(const MPI_Aint *size, const MPI_Aint *disp_unit,
                                       const int *info, const int *comm, void **baseptr, int *win,
                                       int *ierror)
{
    MPI_Win made;
    int rc = MPI_(Win_allocate_c)(*size, *disp_unit, fortran_info(*info), fortran_comm(*comm),
                                  baseptr, &made);
    WINDOW_MADE(made, win)
}

void FORTRAN_NAME(win_allocate_shared_c_f08_)(const MPI_Aint *size, const MPI_Aint *disp_unit,
                                              const int *info, const int *comm, void **baseptr,
                                              int *win, int *ierror)
{
    MPI_Win made;
    int rc = MPI_(Win_allocate_shared_c)(*size, *disp_unit, fortran_info(*info), fortran_comm(*comm),
                                         baseptr, &made);
    WINDOW_MADE(made, win)
}

void FORTRAN_NAME(win_shared_query_c_f08_)(const int *win, const int *rank, MPI_Aint *size,
                                           MPI_Aint *disp_unit, void **baseptr, int *ierror)
{
    fortran_error(ierror, MPI_(Win_shared_query_c)(fortran_win(*win), *rank, size, disp_unit, baseptr));
}

/* The buffer's address comes back as the program gave it; MPI_BUFFER_AUTOMATIC is a place, too. */
static void *buffer_back(void *buffer)
{
    if (buffer == MPI_BUFFER_AUTOMATIC)
        return (void *)(uintptr_t)&mpi_fortran_sentinels_[2 * FORTRAN_SENTINEL];
    return buffer;
}

/* mpi_f08 has a TYPE(C_PTR) there, mpi and mpif.h a variable which stays as it is. */
#define DETACH_CALL(call)          \
    void *buffer = NULL;           \
    int rc = call;                 \
    if (rc == MPI_SUCCESS && back) \
        *back = buffer_back(buffer);

FORTRAN_PUBLIC void FORTRAN_NAME(buffer_detach_)(void *, int *, int *);
FORTRAN_PUBLIC void FORTRAN_NAME(buffer_detach_f08_)(void **, int *, int *);
FORTRAN_PUBLIC void FORTRAN_NAME(buffer_detach_c_f08_)(void **, MPI_Count *, int *);
FORTRAN_PUBLIC void FORTRAN_NAME(comm_detach_buffer_)(const int *, void *, int *, int *);
FORTRAN_PUBLIC void FORTRAN_NAME(comm_detach_buffer_f08_)(const int *, void **, int *, int *);
FORTRAN_PUBLIC void FORTRAN_NAME(comm_detach_buffer_c_f08_)(const int *, void **, MPI_Count *,
                                                            int *);
FORTRAN_PUBLIC void FORTRAN_NAME(session_detach_buffer_)(const int *, void *, int *, int *);
FORTRAN_PUBLIC void FORTRAN_NAME(session_detach_buffer_f08_)(const int *, void **, int *, int *);
FORTRAN_PUBLIC void FORTRAN_NAME(session_detach_buffer_c_f08_)(const int *, void **, MPI_Count *,
                                                               int *);

void FORTRAN_NAME(buffer_detach_f08_)(void **back, int *size, int *ierror)
{
    DETACH_CALL(MPI_(Buffer_detach)(&buffer, size))
    fortran_error(ierror, rc);
}

void FORTRAN_NAME(buffer_detach_)(void *buffer_addr, int *size, int *ierror)
{
    FORTRAN_NAME(buffer_detach_f08_)(NULL, size, ierror);
}

void FORTRAN_NAME(buffer_detach_c_f08_)(void **back, MPI_Count *size, int *ierror)
{
    DETACH_CALL(MPI_(Buffer_detach_c)(&buffer, size))
    fortran_error(ierror, rc);
}

void FORTRAN_NAME(comm_detach_buffer_f08_)(const int *comm, void **back, int *size, int *ierror)
{
    DETACH_CALL(MPI_(Comm_detach_buffer)(fortran_comm(*comm), &buffer, size))
    fortran_error(ierror, rc);
}

void FORTRAN_NAME(comm_detach_buffer_)(const int *comm, void *buffer_addr, int *size, int *ierror)
{
    FORTRAN_NAME(comm_detach_buffer_f08_)(comm, NULL, size, ierror);
}

void FORTRAN_NAME(comm_detach_buffer_c_f08_)(const int *comm, void **back, MPI_Count *size,
                                             int *ierror)
{
    DETACH_CALL(MPI_(Comm_detach_buffer_c)(fortran_comm(*comm), &buffer, size))
    fortran_error(ierror, rc);
}

void FORTRAN_NAME(session_detach_buffer_f08_)(const int *session, void **back, int *size,
                                              int *ierror)
{
    DETACH_CALL(MPI_(Session_detach_buffer)(fortran_session(*session), &buffer, size))
    fortran_error(ierror, rc);
}

void FORTRAN_NAME(session_detach_buffer_)(const int *session, void *buffer_addr, int *size,
                                          int *ierror)
{
    FORTRAN_NAME(session_detach_buffer_f08_)(session, NULL, size, ierror);
}

void FORTRAN_NAME(session_detach_buffer_c_f08_)(const int *session, void **back, MPI_Count *size,
                                                int *ierror)
{
    DETACH_CALL(MPI_(Session_detach_buffer_c)(fortran_session(*session), &buffer, size))
    fortran_error(ierror, rc);
}

/* ---- strings with lengths of the caller's ---- */

FORTRAN_ENTRY(info_get, const int *info, const char *key, const int *valuelen, char *value,
              int *flag, int *ierror, size_t key_len, size_t value_len)
{
    struct fortran_memory memory = FORTRAN_MEMORY_INIT;
    char *c_key = fortran_string(&memory, key, key_len, true);
    size_t len = *valuelen > 0 ? (size_t)*valuelen : 0;
    char *c_value = fortran_memory_get(&memory, len + 1, 1);
    int c_flag = 0;
    int rc = MPI_(Info_get)(fortran_info(*info), c_key, *valuelen, c_value, &c_flag);
    if (rc == MPI_SUCCESS && c_flag)
        fortran_string_back(value, value_len, c_value, NULL);
    *flag = fortran_logical(c_flag);
    fortran_memory_free(&memory);
    fortran_error(ierror, rc);
}

/* C counts the zero in a length, Fortran has none. Where the length is 0 the string stays. */
FORTRAN_ENTRY(info_get_string, const int *info, const char *key, int *buflen, char *value,
              int *flag, int *ierror, size_t key_len, size_t value_len)
{
    struct fortran_memory memory = FORTRAN_MEMORY_INIT;
    char *c_key = fortran_string(&memory, key, key_len, true);
    int len = *buflen > 0 ? *buflen + 1 : 0, asked = len, c_flag = 0;
    char *c_value = fortran_memory_get(&memory, (size_t)len + 1, 1);
    int rc = MPI_(Info_get_string)(fortran_info(*info), c_key, &len, c_value, &c_flag);
    if (rc == MPI_SUCCESS && c_flag) {
        if (asked > 0)
            fortran_string_back(value, value_len, c_value, NULL);
        *buflen = len > 0 ? len - 1 : 0;
    }
    *flag = fortran_logical(c_flag);
    fortran_memory_free(&memory);
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(session_get_nth_pset, const int *session, const int *info, const int *n,
              int *pset_len, char *pset_name, int *ierror, size_t pset_name_len)
{
    struct fortran_memory memory = FORTRAN_MEMORY_INIT;
    int len = *pset_len > 0 ? *pset_len + 1 : 0, asked = len;
    char *name = fortran_memory_get(&memory, (size_t)len + 1, 1);
    int rc = MPI_(Session_get_nth_pset)(fortran_session(*session), fortran_info(*info), *n, &len,
                                        name);
    if (rc == MPI_SUCCESS) {
        if (asked > 0)
            fortran_string_back(pset_name, pset_name_len, name, NULL);
        *pset_len = len > 0 ? len - 1 : 0;
    }
    fortran_memory_free(&memory);
    fortran_error(ierror, rc);
}

/* ---- Fortran alone ---- */

FORTRAN_PUBLIC void FORTRAN_NAME(sizeof_f08ts_)(const struct fortran_descriptor *, int *, int *);
void FORTRAN_NAME(sizeof_f08ts_)(const struct fortran_descriptor *x, int *size, int *ierror)
{
    *size = (int)x->elem_len;
    fortran_error(ierror, MPI_SUCCESS);
}

/* A call that the compiler knows nothing of: it keeps no variable in a register across it. */
FORTRAN_PUBLIC void FORTRAN_NAME(f_sync_reg_)(void *);
void FORTRAN_NAME(f_sync_reg_)(void *buf)
{
}
FORTRAN_PUBLIC void FORTRAN_NAME(f_sync_reg_f08ts_)(const struct fortran_descriptor *);
void FORTRAN_NAME(f_sync_reg_f08ts_)(const struct fortran_descriptor *buf)
{
}

/* A status of mpi_f08 and one of mpif.h are the same eight words. */
FORTRAN_ENTRY(status_f082f, const MPI_Status *from, MPI_Status *to, int *ierror)
{
    *to = *from;
    fortran_error(ierror, MPI_SUCCESS);
}

FORTRAN_ENTRY(status_f2f08, const MPI_Status *from, MPI_Status *to, int *ierror)
{
    *to = *from;
    fortran_error(ierror, MPI_SUCCESS);
}

/* ---- names that MPI-3.0 removed, and mpif.h's programs still call ---- */

FORTRAN_ENTRY(address, void *location, int *address, int *ierror)
{
    MPI_Aint c_address = 0;
    int rc = MPI_(Get_address)(fortran_address(location), &c_address);
    *address = (int)c_address;
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(type_extent, const int *type, int *extent, int *ierror)
{
    MPI_Aint lb = 0, c_extent = 0;
    int rc = MPI_(Type_get_extent)(fortran_type(*type), &lb, &c_extent);
    *extent = (int)c_extent;
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(type_lb, const int *type, int *displacement, int *ierror)
{
    MPI_Aint lb = 0, extent = 0;
    int rc = MPI_(Type_get_extent)(fortran_type(*type), &lb, &extent);
    *displacement = (int)lb;
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(type_ub, const int *type, int *displacement, int *ierror)
{
    MPI_Aint lb = 0, extent = 0;
    int rc = MPI_(Type_get_extent)(fortran_type(*type), &lb, &extent);
    *displacement = (int)(lb + extent);
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(type_hvector, const int *count, const int *blocklength, const int *stride,
              const int *oldtype, int *newtype, int *ierror)
{
    MPI_Datatype made;
    int rc = MPI_(Type_create_hvector)(*count, *blocklength, *stride, fortran_type(*oldtype), &made);
    if (rc == MPI_SUCCESS)
        *newtype = fortran_type_int(made);
    fortran_error(ierror, rc);
}

/* Displacements were INTEGERs. */
static MPI_Aint *widen(struct fortran_memory *memory, const int *from, int count)
{
    MPI_Aint *to = fortran_memory_get(memory, count > 0 ? (size_t)count : 0, sizeof(*to));
    for (int i = 0; i < count; i++)
        to[i] = from[i];
    return to;
}

FORTRAN_ENTRY(type_hindexed, const int *count, const int *blocklengths, const int *displacements,
              const int *oldtype, int *newtype, int *ierror)
{
    struct fortran_memory memory = FORTRAN_MEMORY_INIT;
    MPI_Datatype made;
    int rc = MPI_(Type_create_hindexed)(*count, blocklengths, widen(&memory, displacements, *count),
                                        fortran_type(*oldtype), &made);
    if (rc == MPI_SUCCESS)
        *newtype = fortran_type_int(made);
    fortran_memory_free(&memory);
    fortran_error(ierror, rc);
}

FORTRAN_ENTRY(type_struct, const int *count, const int *blocklengths, const int *displacements,
              const int *types, int *newtype, int *ierror)
{
    struct fortran_memory memory = FORTRAN_MEMORY_INIT;
    MPI_Datatype made;
    int rc = MPI_(Type_create_struct)(*count, blocklengths, widen(&memory, displacements, *count),
                                      fortran_types(&memory, types, *count), &made);
    if (rc == MPI_SUCCESS)
        *newtype = fortran_type_int(made);
    fortran_memory_free(&memory);
    fortran_error(ierror, rc);
}
