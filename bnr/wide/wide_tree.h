/* SPDX-License-Identifier: BSD-3-Clause */

/* mpiexec as the root of the tree of a job over several machines (wide.h): its node (mesh.h), and who gets the messages
 * that come to it. */
#ifndef BNR_WIDE_TREE_H
#define BNR_WIDE_TREE_H

struct wide;

/* Be node 0, and listen. Returns 0 or -errno. */
int wide_tree_start(struct wide *w);
/* Daemons are about to end. This and the following accept one that was not started, or not wholly. */
void wide_tree_expect_end(struct wide *w);
/* Close everything; the loop must run once more, then wide_tree_free(). */
void wide_tree_stop(struct wide *w);
void wide_tree_free(struct wide *w);

#endif
