/* SPDX-License-Identifier: BSD-3-Clause */

/* The tool interface: starting and ending, enumerations, categories (MPI-5.0 chapter 15). */
#include <mpi.h>
#include <string.h>

#include "mpi/tool/tool.h"

/*
 * Start the tool interface, or use it once more.
 *
 * May be called at any time, before MPI_Init and after MPI_Finalize too, and several times: it ends
 * with as many calls of MPI_T_finalize. Functions of the tool interface call no error handler.
 *
 * required: thread level that is wanted, as of MPI_Init_thread
 * provided: thread level of the tool interface. It is the one required, unless MPI has been
 *   initialized with MPI_THREAD_SINGLE or MPI_THREAD_FUNNELED: then it is MPI_THREAD_SINGLE
 *
 * MPI_T_ERR_CANNOT_INIT: a VIREO_ variable of the environment is wrong; MPI_Init says how.
 * MPI_T_ERR_INVALID: provided is NULL, or required is no thread level.
 *
 * MPI-5.0 15.3.4
 */
int PMPI_T_init_thread(int required, int *provided)
{
    if (!provided || (required != MPI_THREAD_SINGLE && required != MPI_THREAD_FUNNELED &&
                      required != MPI_THREAD_SERIALIZED && required != MPI_THREAD_MULTIPLE))
        return MPI_T_ERR_INVALID;
    return tool_use(required, provided);
}

/*
 * End one use of the tool interface.
 *
 * The last one frees all handles, sessions and registrations. May be called at any time.
 *
 * MPI_T_ERR_NOT_INITIALIZED: MPI_T_init_thread was not called as often.
 *
 * MPI-5.0 15.3.4
 */
int PMPI_T_finalize(void)
{
    return tool_drop();
}

/* ---- enumerations ---- */

/*
 * Tell the name of an enumeration, and how many items it has.
 *
 * This call is local: no other process takes part. Variables whose values have names belong to an
 * enumeration.
 *
 * enumtype: enumeration, of MPI_T_cvar_get_info, MPI_T_pvar_get_info or MPI_T_event_get_info
 * num: number of items
 * name: room for *name_len characters, or NULL; gets the name, with a 0 after it
 * name_len (inout): room in name; then the length of the name, its 0 included; or NULL: no name
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not an enumeration.
 *
 * MPI-5.0 15.3.5
 */
int PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    const struct tool_enum *e = tool_enum_from(enumtype);
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!e)
        return MPI_T_ERR_INVALID_HANDLE;
    if (num)
        *num = tool_enum_count(e);
    tool_string(e->name, name, name_len);
    return MPI_SUCCESS;
}

/*
 * Tell an item of an enumeration.
 *
 * This call is local: no other process takes part. Items are numbered from 0; each has a name, and
 * the value that a variable then has.
 *
 * enumtype: enumeration
 * indx: 0 to the number of items less 1
 * value: the number that stands for it in a variable
 * name: room for *name_len characters, or NULL; gets the name, with a 0 after it
 * name_len (inout): room in name; then the length of the name, its 0 included; or NULL: no name
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_HANDLE: not an enumeration.
 * MPI_T_ERR_INVALID_INDEX: there is no such item.
 *
 * MPI-5.0 15.3.5
 */
int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len)
{
    const struct tool_enum *e = tool_enum_from(enumtype);
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!e)
        return MPI_T_ERR_INVALID_HANDLE;
    const char *word = tool_enum_item(e, indx);
    if (!word)
        return MPI_T_ERR_INVALID_INDEX;
    if (value)
        *value = indx;
    tool_text(word, (int)strcspn(word, "|"), name, name_len);
    return MPI_SUCCESS;
}

/* ---- categories ---- */

/* Whether a category's number is one: MPI_SUCCESS, or what is wrong. */
static int check_category(int i)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    return i >= 0 && i < tool_category_count() ? MPI_SUCCESS : MPI_T_ERR_INVALID_INDEX;
}

/*
 * Tell how many categories of variables and events there are.
 *
 * They form a tree, whose root is the category vireo. There never are more, and none goes.
 *
 * num_cat: number of categories
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID: num_cat is NULL.
 *
 * MPI-5.0 15.3.9
 */
int PMPI_T_category_get_num(int *num_cat)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!num_cat)
        return MPI_T_ERR_INVALID;
    *num_cat = tool_category_count();
    return MPI_SUCCESS;
}

/*
 * Tell what a category is, and how many members of each kind it has.
 *
 * Every pointer may be NULL: then that is not told.
 *
 * cat_index: 0 to the number of categories less 1
 * name, desc: room for *name_len and *desc_len characters; get name and description, with a 0 after
 * name_len, desc_len (inout): room; then the length, its 0 included
 * num_cvars, num_pvars, num_categories: members, those in categories below not counted
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such category.
 *
 * MPI-5.0 15.3.9
 */
int PMPI_T_category_get_info(int cat_index, char *name, int *name_len, char *desc, int *desc_len,
                             int *num_cvars, int *num_pvars, int *num_categories)
{
    int rc = check_category(cat_index);
    if (rc)
        return rc;
    tool_string(tool_category_name(cat_index), name, name_len);
    tool_string(tool_category_about(cat_index), desc, desc_len);
    if (num_cvars)
        *num_cvars = tool_category_members(cat_index, TOOL_OF_CVAR, 0, NULL);
    if (num_pvars)
        *num_pvars = tool_category_members(cat_index, TOOL_OF_PVAR, 0, NULL);
    if (num_categories)
        *num_categories = tool_category_members(cat_index, TOOL_OF_CATEGORY, 0, NULL);
    return MPI_SUCCESS;
}

/*
 * Tell how many types of events a category has.
 *
 * This call is local: no other process takes part. MPI_T_category_get_events lists them.
 *
 * cat_index: 0 to the number of categories less 1
 * num_events: types of events in it, those in categories below not counted
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such category.
 * MPI_T_ERR_INVALID: num_events is NULL.
 *
 * MPI-5.0 15.3.9
 */
int PMPI_T_category_get_num_events(int cat_index, int *num_events)
{
    int rc = check_category(cat_index);
    if (rc)
        return rc;
    if (!num_events)
        return MPI_T_ERR_INVALID;
    *num_events = tool_category_members(cat_index, TOOL_OF_EVENT, 0, NULL);
    return MPI_SUCCESS;
}

/*
 * Find a category by its name.
 *
 * This call is local: no other process takes part. The number of a name stays the same while the
 * program runs.
 *
 * name: its name
 * cat_index: its number
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_NAME: there is no such category.
 * MPI_T_ERR_INVALID: an argument is NULL.
 *
 * MPI-5.0 15.3.9
 */
int PMPI_T_category_get_index(const char *name, int *cat_index)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!name || !cat_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < tool_category_count(); i++) {
        if (!strcmp(tool_category_name(i), name)) {
            *cat_index = i;
            return MPI_SUCCESS;
        }
    }
    return MPI_T_ERR_INVALID_NAME;
}

static int get_members(int category, enum tool_kind kind, int len, int *indices)
{
    int rc = check_category(category);
    if (rc)
        return rc;
    if (len < 0 || (len > 0 && !indices))
        return MPI_T_ERR_INVALID;
    (void)tool_category_members(category, kind, len, indices);
    return MPI_SUCCESS;
}

/*
 * Tell the control variables of a category.
 *
 * This call is local: no other process takes part. The list may grow while the program runs;
 * MPI_T_category_changed tells of that.
 *
 * cat_index: 0 to the number of categories less 1
 * len: room in indices
 * indices: room for len numbers of variables; gets as many as there are
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such category.
 * MPI_T_ERR_INVALID: len is negative, or indices is NULL.
 *
 * MPI-5.0 15.3.9
 */
int PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
    return get_members(cat_index, TOOL_OF_CVAR, len, indices);
}

/*
 * Tell the performance variables of a category.
 *
 * This call is local: no other process takes part. The list may grow while the program runs;
 * MPI_T_category_changed tells of that.
 *
 * cat_index: 0 to the number of categories less 1
 * len: room in indices
 * indices: room for len numbers of variables; gets as many as there are
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such category.
 * MPI_T_ERR_INVALID: len is negative, or indices is NULL.
 *
 * MPI-5.0 15.3.9
 */
int PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
    return get_members(cat_index, TOOL_OF_PVAR, len, indices);
}

/*
 * Tell the types of events of a category.
 *
 * This call is local: no other process takes part. The list may grow while the program runs;
 * MPI_T_category_changed tells of that.
 *
 * cat_index: 0 to the number of categories less 1
 * len: room in indices
 * indices: room for len numbers of types of events; gets as many as there are
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such category.
 * MPI_T_ERR_INVALID: len is negative, or indices is NULL.
 *
 * MPI-5.0 15.3.9
 */
int PMPI_T_category_get_events(int cat_index, int len, int indices[])
{
    return get_members(cat_index, TOOL_OF_EVENT, len, indices);
}

/*
 * Tell the categories right below a category.
 *
 * This call is local: no other process takes part. The list may grow while the program runs;
 * MPI_T_category_changed tells of that.
 *
 * cat_index: 0 to the number of categories less 1
 * len: room in indices
 * indices: room for len numbers of categories; gets as many as there are
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID_INDEX: there is no such category.
 * MPI_T_ERR_INVALID: len is negative, or indices is NULL.
 *
 * MPI-5.0 15.3.9
 */
int PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{
    return get_members(cat_index, TOOL_OF_CATEGORY, len, indices);
}

/*
 * Tell how often categories have changed.
 *
 * They never do here.
 *
 * update_number: the same number as long as nothing has changed
 *
 * MPI_T_ERR_NOT_INITIALIZED: the tool interface is not in use.
 * MPI_T_ERR_INVALID: update_number is NULL.
 *
 * MPI-5.0 15.3.9
 */
int PMPI_T_category_changed(int *update_number)
{
    if (!tool_is_on())
        return MPI_T_ERR_NOT_INITIALIZED;
    if (!update_number)
        return MPI_T_ERR_INVALID;
    *update_number = 0;
    return MPI_SUCCESS;
}

#include "tool.gen.h"
