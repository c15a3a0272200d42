/* SPDX-License-Identifier: BSD-3-Clause */

/* Makes a step end before each atomic operation: included before all else in sources under test.
 * The second argument of each is what stdatomic.h has there. */
#ifndef TEST_STEPS_ATOMICS_H
#define TEST_STEPS_ATOMICS_H

#include <stdatomic.h>

#include "os/memory/segment.h"
#include "test/steps/steps.h"

#undef atomic_load_explicit
#undef atomic_load
#undef atomic_store_explicit
#undef atomic_store
#undef atomic_fetch_add_explicit
#undef atomic_fetch_add
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_or_explicit
#undef atomic_fetch_or
#undef atomic_fetch_and_explicit
#undef atomic_fetch_and
#undef atomic_exchange_explicit
#undef atomic_exchange
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_strong
#undef atomic_thread_fence

#define atomic_load_explicit(from, order)                             \
    __extension__({                                                   \
        steps_point();                                                \
        __auto_type steps_from = (from);                              \
        __typeof__((void)0, *steps_from) steps_loaded;                 \
        if ((order) == memory_order_seq_cst)                          \
            steps_load_total();                                       \
        steps_load(steps_from, &steps_loaded, sizeof(steps_loaded));   \
        steps_loaded;                                                  \
    })
#define atomic_store_explicit(to, value, order)                       \
    __extension__({                                                   \
        __auto_type steps_at = (to);                                  \
        __typeof__((void)0, *steps_at) steps_stored = (value);         \
        steps_point();                                                \
        steps_store(steps_at, &steps_stored, sizeof(steps_stored), order); \
    })
#define atomic_fetch_add_explicit(to, value, order) \
    (steps_point(), steps_fence(), __atomic_fetch_add(to, value, order))
#define atomic_fetch_sub_explicit(to, value, order) \
    (steps_point(), steps_fence(), __atomic_fetch_sub(to, value, order))
#define atomic_fetch_or_explicit(to, value, order) \
    (steps_point(), steps_fence(), __atomic_fetch_or(to, value, order))
#define atomic_fetch_and_explicit(to, value, order) \
    (steps_point(), steps_fence(), __atomic_fetch_and(to, value, order))
#define atomic_exchange_explicit(to, value, order) \
    (steps_point(), steps_fence(), __atomic_exchange_n(to, value, order))
#define atomic_compare_exchange_strong_explicit(to, old, value, good, bad)                     \
    __extension__({                                                                            \
        __auto_type steps_to = (to);                                                           \
        __typeof__((void)0, *steps_to) steps_wanted = (value);                                  \
        steps_point();                                                                         \
        steps_fence();                                                                         \
        __atomic_compare_exchange(steps_to, old, &steps_wanted, 0, good, bad);                  \
    })
#define atomic_thread_fence(order) \
    (steps_point(), (order) == memory_order_seq_cst ? steps_fence() : (void)0)
#define os_heavy_fence          steps_heavy_fence
#define os_heavy_fence_register steps_register
/* Late stores go to memory that is mapped. */
#define os_segment_unmap(memory, size) (steps_point(), steps_fence(), (os_segment_unmap)(memory, size))
#define atomic_load(from)           atomic_load_explicit(from, memory_order_seq_cst)
#define atomic_store(to, value)     atomic_store_explicit(to, value, memory_order_seq_cst)
#define atomic_fetch_add(to, value) atomic_fetch_add_explicit(to, value, memory_order_seq_cst)
#define atomic_fetch_sub(to, value) atomic_fetch_sub_explicit(to, value, memory_order_seq_cst)
#define atomic_fetch_or(to, value)  atomic_fetch_or_explicit(to, value, memory_order_seq_cst)
#define atomic_fetch_and(to, value) atomic_fetch_and_explicit(to, value, memory_order_seq_cst)
#define atomic_exchange(to, value)  atomic_exchange_explicit(to, value, memory_order_seq_cst)
#define atomic_compare_exchange_strong(to, old, value) \
    atomic_compare_exchange_strong_explicit(to, old, value, memory_order_seq_cst, memory_order_relaxed)

#endif
