/* SPDX-License-Identifier: BSD-3-Clause */

/* Signals on the loop; see signals.h. */
#include "bnr/io/signals.h"

#include <signal.h>

#include "bnr/launch/start_signals.h"

static void on_signal(uv_signal_t *handle, int number)
{
    struct signals *s = handle->data;
    if (number != s->again_number || !uv_is_active((uv_handle_t *)&s->again))
        s->heard(s->arg, number);
}

static void on_again(uv_idle_t *idle)
{
    struct signals *s = idle->data;
    uv_idle_stop(idle);
    s->heard(s->arg, s->again_number);
}

static int is_ignored(int number)
{
    struct sigaction now;
    return !sigaction(number, NULL, &now) && now.sa_handler == SIG_IGN;
}

int signals_start(struct signals *s, uv_loop_t *loop, void (*heard)(void *arg, int signal),
                  void *arg)
{
    s->count = 0;
    s->heard = heard;
    s->arg = arg;
    uv_idle_init(loop, &s->again);
    s->again.data = s;
    for (size_t i = 0; i < START_SIGNALS_HEARD; i++) {
        int wanted = start_signals_heard[i];
        if (wanted != SIGCHLD && wanted != SIGQUIT && is_ignored(wanted))
            continue;
        uv_signal_t *handle = &s->handle[s->count];
        int rc = uv_signal_init(loop, handle);
        if (rc)
            return rc;
        s->count++;
        handle->data = s;
        rc = uv_signal_start(handle, on_signal, wanted);
        if (rc)
            return rc;
    }
    return 0;
}

void signals_again(struct signals *s, int number)
{
    s->again_number = number;
    uv_idle_start(&s->again, on_again);
}

void signals_stop(struct signals *s)
{
    uv_close((uv_handle_t *)&s->again, NULL);
    for (int i = 0; i < s->count; i++)
        uv_close((uv_handle_t *)&s->handle[i], NULL);
    s->count = 0;
}
