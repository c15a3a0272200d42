/* SPDX-License-Identifier: BSD-3-Clause */

/* What is known of processes of other groups; see foreign.h. */
#include "mpid/conn/foreign.h"

#include <stdlib.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"

void foreign_free(struct foreign *foreign)
{
    if (!foreign)
        return;
    free(foreign->card);
    free(foreign->host);
    free(foreign);
}

void foreign_forget(struct vc *vc)
{
    device.foreign_count -= vc->foreign != NULL;
    foreign_free(vc->foreign);
    vc->foreign = NULL;
}
