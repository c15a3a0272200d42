/* SPDX-License-Identifier: BSD-3-Clause */

/* The stack of the calling thread. Some C libraries have no backtrace(); the compiler's unwinder serves there. */
#ifndef OS_STACK_H
#define OS_STACK_H

#if __has_include(<execinfo.h>)
#include <execinfo.h>

/* Fills frames with up to count addresses to return to, the nearest first, and returns their number. Safe in a
 * signal handler after the first call. */
static inline int os_stack(void **frames, int count)
{
    return backtrace(frames, count);
}

#else
#include <unwind.h>

struct os_stack {
    void **frames;
    int room, count;
};

static inline _Unwind_Reason_Code os_stack_step(struct _Unwind_Context *at, void *arg)
{
    struct os_stack *stack = arg;
    if (stack->count == stack->room)
        return _URC_END_OF_STACK;
    stack->frames[stack->count++] = (void *)_Unwind_GetIP(at);
    return _URC_NO_REASON;
}

static inline int os_stack(void **frames, int count)
{
    struct os_stack stack = {frames, count, 0};
    (void)_Unwind_Backtrace(os_stack_step, &stack);
    return stack.count;
}
#endif

#endif
