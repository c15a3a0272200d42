/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The message queue interface of debuggers, as the MPI Forum's document of 2013 on it describes it:
 * the types and functions that a debugger and a library which it loads have in common. Names, order
 * and sizes are the interface's. Version 2 of it: without the functions for processes that are spawned.
 */
#ifndef QUEUES_MQS_H
#define QUEUES_MQS_H

#include <stddef.h>

enum {
    MQS_INTERFACE_COMPATIBILITY = 2
};

typedef struct mqs_image_ mqs_image; /* the debugger's */
typedef struct mqs_process_ mqs_process;
typedef struct mqs_type_ mqs_type;
typedef struct _mqs_image_info mqs_image_info; /* the library's */
typedef struct _mqs_process_info mqs_process_info;
typedef unsigned long mqs_taddr_t;
typedef long mqs_tword_t;

typedef struct {
    int short_size, int_size, long_size, long_long_size, pointer_size, bool_size, size_t_size;
} mqs_target_type_sizes;

enum { /* results; from 100 on of the library's own */
    mqs_ok,
    mqs_no_information,
    mqs_end_of_list,
    mqs_first_user_code = 100
};

typedef enum {
    mqs_lang_c = 'c',
    mqs_lang_cplus = 'C',
    mqs_lang_f77 = 'f',
    mqs_lang_f90 = 'F'
} mqs_lang_code;

typedef enum {
    mqs_pending_sends,
    mqs_pending_receives,
    mqs_unexpected_messages
} mqs_op_class;

enum mqs_status {
    mqs_st_pending,
    mqs_st_matched,
    mqs_st_complete
};

typedef struct {
    mqs_taddr_t unique_id;
    mqs_tword_t local_rank, size;
    char name[64];
} mqs_communicator;

typedef struct {
    int status; /* enum mqs_status */
    mqs_tword_t desired_local_rank, desired_global_rank; /* of the peer; -1: any */
    int tag_wild;
    mqs_tword_t desired_tag;
    mqs_tword_t desired_length;
    int system_buffer;
    mqs_taddr_t buffer;
    mqs_tword_t actual_local_rank, actual_global_rank, actual_tag, actual_length;
    char extra_text[5][64];
} mqs_pending_operation;

typedef struct mqs_basic_callbacks {
    void *(*mqs_malloc_fp)(size_t);
    void (*mqs_free_fp)(void *);
    void (*mqs_dprints_fp)(const char *);
    char *(*mqs_errorstring_fp)(int);
    void (*mqs_put_image_info_fp)(mqs_image *, mqs_image_info *);
    mqs_image_info *(*mqs_get_image_info_fp)(mqs_image *);
    void (*mqs_put_process_info_fp)(mqs_process *, mqs_process_info *);
    mqs_process_info *(*mqs_get_process_info_fp)(mqs_process *);
} mqs_basic_callbacks;

typedef struct mqs_image_callbacks {
    void (*mqs_get_type_sizes_fp)(mqs_process *, mqs_target_type_sizes *);
    int (*mqs_find_function_fp)(mqs_image *, char *, mqs_lang_code, mqs_taddr_t *);
    int (*mqs_find_symbol_fp)(mqs_image *, char *, mqs_taddr_t *);
    mqs_type *(*mqs_find_type_fp)(mqs_image *, char *, mqs_lang_code);
    int (*mqs_field_offset_fp)(mqs_type *, char *);
    int (*mqs_sizeof_fp)(mqs_type *);
} mqs_image_callbacks;

typedef struct mqs_process_callbacks {
    int (*mqs_get_global_rank_fp)(mqs_process *);
    mqs_image *(*mqs_get_image_fp)(mqs_process *);
    int (*mqs_fetch_data_fp)(mqs_process *, mqs_taddr_t, int, void *);
    void (*mqs_target_to_host_fp)(mqs_process *, const void *, void *, int);
} mqs_process_callbacks;

#pragma GCC visibility push(default)
void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks);
char *mqs_version_string(void);
int mqs_version_compatibility(void);
int mqs_dll_taddr_width(void);
char *mqs_dll_error_string(int code);

int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks);
int mqs_image_has_queues(mqs_image *image, char **message);
void mqs_destroy_image_info(mqs_image_info *info);

int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks);
int mqs_process_has_queues(mqs_process *process, char **message);
void mqs_destroy_process_info(mqs_process_info *info);

int mqs_update_communicator_list(mqs_process *process);
int mqs_setup_communicator_iterator(mqs_process *process);
int mqs_get_communicator(mqs_process *process, mqs_communicator *communicator);
int mqs_get_comm_group(mqs_process *process, int *ranks);
int mqs_next_communicator(mqs_process *process);
int mqs_setup_operation_iterator(mqs_process *process, int op_class);
int mqs_next_operation(mqs_process *process, mqs_pending_operation *operation);
#pragma GCC visibility pop

#endif
