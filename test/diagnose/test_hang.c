/* SPDX-License-Identifier: BSD-3-Clause */

/* Reports of hangs from made-up answers: who is named, and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "diagnose/hang.h"
#include "diagnose/hang_text.h"

enum {
    RANKS = 4,
    MANY = 10000
};

#define HEAD HANG_TEXT_HEAD "\n"
/* MPI_COMM_WORLD of rank, which has begun so many collectives there. */
#define WORLD(rank, begun)        "C\t0\t4\t" #rank "\t" #begun "\tMPI_COMM_WORLD\t0-3\t\n"
#define OTHER(rank)               "C\t32\t4\t" #rank "\t0\tother\t0-3\t\n"
#define ROW(members, rank, begun) "C\t32\t3\t" #rank "\t" #begun "\t\t" members "\t\n"
#define PART(peer)                "A\trecv\t33\t" #peer "\t" #peer "\t0\t0\tposted\n"
#define BRIDGE(members, remote)   "C\t64\t2\t0\t2\tbridge\t" members "\t" remote "\n"
#define THREAD(function)          "T\t" function "\twait\t5000\t1f\t/home/u/a.out\t\n"
#define POLLS(function)           "T\t" function "\tpoll\t-1\t1f\t/home/u/a.out\t\n"
#define RECV(peer, tag)           "A\trecv\t0\t" #peer "\t" #peer "\t" #tag "\t0\tposted\n"
#define SEND(peer, tag)           "A\tsend\t0\t" #peer "\t" #peer "\t" #tag "\t99\tasked\n"
#define COLL(peer, number)        "A\trecv\t1\t" #peer "\t" #peer "\t" #number "\t0\tposted\n"
#define ANY(tag)                  "A\trecv\t0\t-1\t-1\t" #tag "\t0\tposted\n"
#define WINDOW(rank)              "C\t32\t4\t" #rank "\t4\twindow counters\t0-3\t\n"
#define WIN(peer, tag)            "A\trecv\t40\t" #peer "\t" #peer "\t" #tag "\t0\tposted\n"
#define CLOSE(peer)               "A\tclose\t0\t" #peer "\t-1\t-1\t0\topen\n"
#define CAME(context, peer, tag)  "U\t" #context "\t" #peer "\t" #peer "\t" #tag "\t1\t4\n"
#define GOT(peer, tag)            "W\t0\t" #peer "\t" #peer "\t" #tag "\t1\t4\n"
/* Behind WORLD: a collective that has been begun there. */
#define CALL(number, root, function) "L\t" #number "\t" #root "\t" function "\n"

static const char silent[] = "silent", late[] = "late", ended[] = "ended", final[] = "final", fresh[] = "fresh";

static const struct {
    const char *claim;
    const char *text[RANKS];
    const char *expect[5];
} cases[] = {
    {"two that receive first",
     {HEAD THREAD("MPI_Recv") RECV(1, 5) WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 5) WORLD(1, 0), HEAD POLLS("MPI_Test") WORLD(2, 0), silent},
     {"Culprits: ranks 0-1 (a deadlock)\n", "A cycle of waits: 0 -> 1 -> 0\n",
      "rank 0 waits in MPI_Recv for a message from rank 1 (tag 5, MPI_COMM_WORLD)\n",
      "rank 1: waits in MPI_Recv for a message from rank 0 (tag 5, MPI_COMM_WORLD)"
      ", at a.out+0x1f, for 5.0 s\n",
      "rank 2: polls in MPI_Test"}},
    {"a message of another job is awaited by one, and by a wildcard",
     {HEAD "J\t0a0b0c0d\n" THREAD("MPI_Recv") "A\trecv\t64\t2147483646\t1\t7\t0\tposted\n" BRIDGE("0-1", "@5f3a1c2b:2-3"),
      HEAD THREAD("MPI_Recv") "A\trecv\t64\t-1\t-1\t7\t0\tposted\n" BRIDGE("0-1", "@5f3a1c2b:2-3")
      "U\t64\t2147483646\t1\t8\t1\t4\n",
      HEAD POLLS("MPI_Test") WORLD(2, 0), HEAD POLLS("MPI_Test") WORLD(3, 0)},
     {"No rank is seen to wait in vain.\n",
      "rank 0: waits in MPI_Recv for a message from rank 3 of job 5f3a1c2b (tag 7, bridge), at",
      "rank 1: waits in MPI_Recv for a message from any rank (tag 7, bridge), at",
      "rank 1: 1 message from rank 3 of job 5f3a1c2b not received (tag 8, bridge)",
      "This job is 0a0b0c0d; vireo ps lists it, and others, by these digits.\n"}},
    {"processes of another job in a group of both",
     {HEAD THREAD("MPI_Recv") "A\trecv\t64\t-1\t-1\t7\t0\tposted\n" "C\t64\t4\t0\t2\t\t0-1,@5f3a1c2b:0-1\t\n",
      HEAD THREAD("MPI_Recv") "A\trecv\t64\t0\t0\t7\t0\tposted\n" "C\t64\t4\t1\t2\t\t0-1,@5f3a1c2b:0-1\t\n",
      HEAD POLLS("MPI_Test") WORLD(2, 0), HEAD POLLS("MPI_Test") WORLD(3, 0)},
     {"No rank is seen to wait in vain.\n",
      "rank 0: waits in MPI_Recv for a message from any rank (tag 7, communicator #4 of 2 ranks and 2 ranks of job "
      "5f3a1c2b)"}},
    {"a cycle stands before the collective that it keeps others in",
     {HEAD THREAD("MPI_Recv") RECV(1, 5) WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 5) WORLD(1, 0),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Barrier") COLL(1, 0) WORLD(3, 1)},
     {"Culprits: ranks 0-1 (a deadlock)\n  A cycle of waits: 0 -> 1 -> 0\n",
      "  MPI_Barrier on MPI_COMM_WORLD: ranks 2-3 wait in it; some members are missing:\n"
      "    not there: ranks 0-1, as told above\n\n"}},
    {"a collective between two groups, each with messages of its own",
     {HEAD THREAD("MPI_Allreduce") "A\trecv\t65\t2\t0\t1\t0\tposted\n" BRIDGE("0-1", "2-3"),
      HEAD THREAD("MPI_Allreduce") "A\trecv\t71\t0\t0\t1\t0\tposted\n" BRIDGE("0-1", "2-3"),
      HEAD THREAD("MPI_Allreduce") "A\trecv\t71\t3\t1\t1\t0\tposted\n" BRIDGE("2-3", "0-1"), ended},
     {"  MPI_Allreduce on bridge: ranks 0-2 wait in it; some members are missing:\n"
      "    not there: rank 3, which has ended"}},
    {"a request that is not started",
     {HEAD THREAD("MPI_Recv") RECV(1, 3) "I\t0\t1\t1\t2\t1\t0\tsend\n" WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 2) WORLD(1, 0), ended, ended},
     {"Culprit: rank 0 (a deadlock)\n  MPI_Start missing? Rank 1 waits in MPI_Recv for a message "
      "from rank 0",
      ",\n    for which rank 0 has a persistent send that it has not started\n\n",
      "  rank 0: 1 persistent send to rank 1 not started (tag 2, MPI_COMM_WORLD)\n"}},
    {"a receive that is not started, from anybody",
     {HEAD THREAD("MPI_Recv") RECV(1, 3) "I\t0\t-1\t-1\t-1\t1\t0\trecv\n" WORLD(0, 0),
      HEAD THREAD("MPI_Ssend") SEND(0, 2) WORLD(1, 0), ended, ended},
     {"Culprit: rank 0 (a deadlock)\n  MPI_Start missing? Rank 1 waits in MPI_Ssend for",
      "rank 0 has a persistent receive that it has not started\n\n"}},
    {"a wait that has just begun, a send without a receive, and nothing of collectives",
     {HEAD "T\tMPI_Recv\twait\t0\t1f\t/a.out\t\n" RECV(
          1, 3) "S\t0\t1\t-1\t3\t2\t8\tasked\nP\t1\t1\t1\t0\t1\t4\nP\t0\t1\t1\t3\t2\t40\n" WORLD(0,
                                                                                                 0),
      silent, ended, ended},
     {", at a.out+0x1f, since just now\n",
      "rank 0: 1 receive from rank 1 without a message (tag 3, MPI_COMM_WORLD), 40 bytes\n"
      "  rank 0: 2 sends to rank 1 not received yet (tag 3, MPI_COMM_WORLD), 8 bytes in all\n",
      "No rank is seen to wait in vain.\n  Others wait for rank 1, which is outside MPI and"}},
    {"another tag",
     {HEAD THREAD("MPI_Recv") RECV(1, 9) WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 8) CAME(0, 0, 7) WORLD(1, 0), silent, silent},
     {"Culprits: ranks 0-1 (a deadlock)\n",
      "Wrong tag? Rank 1 waits in MPI_Recv for a message from rank 0 (tag 8, MPI_COMM_WORLD),\n"
      "    but what has come is a message from rank 0 (tag 7, MPI_COMM_WORLD)\n",
      "rank 1: 1 message from rank 0 not received (tag 7, MPI_COMM_WORLD), 4 bytes\n"}},
    {"another communicator",
     {HEAD THREAD("MPI_Finalize") CLOSE(1) WORLD(0, 0) OTHER(0),
      HEAD THREAD("MPI_Recv") RECV(0, 7) CAME(32, 0, 7) WORLD(1, 0) OTHER(1), silent, silent},
     {"Culprits: ranks 0-1 (a deadlock)\n", "Wrong communicator? Rank 1 waits",
      "message from rank 0 (tag 7, other)\n"}},
    {"a member that receives instead",
     {HEAD THREAD("MPI_Barrier") COLL(3, 2) WORLD(0, 3),
      HEAD THREAD("MPI_Barrier") COLL(0, 2) WORLD(1, 3),
      HEAD THREAD("MPI_Barrier") COLL(1, 2) WORLD(2, 3),
      HEAD THREAD("MPI_Recv") RECV(0, 1) WORLD(3, 2)},
     {"Culprits: ranks 0,3 (a deadlock)\n",
      "Send missing? Rank 3 waits in MPI_Recv for a message from rank 0 (tag 1, MPI_COMM_WORLD),\n"
      "    but rank 0 has none on the way, and waits in MPI_Barrier on MPI_COMM_WORLD (its",
      "MPI_Barrier on MPI_COMM_WORLD: ranks 0-2 wait in it; some members are missing:\n"
      "    not there: rank 3, as told above",
      "ranks 0-2: each waits in MPI_Barrier on MPI_COMM_WORLD (its collective number 3), at"}},
    {"a member that waits for an ended one is not to blame",
     {HEAD THREAD("MPI_Barrier") COLL(3, 2) WORLD(0, 3),
      HEAD THREAD("MPI_Barrier") COLL(0, 2) WORLD(1, 3), ended,
      HEAD THREAD("MPI_Recv") RECV(2, 1) WORLD(3, 2)},
     {"Culprit: rank 2 (a deadlock)\n",
      "    not there: rank 2, which has ended with exit code 0\n"}},
    {"a member in MPI_Finalize",
     {HEAD THREAD("MPI_Bcast") COLL(1, 0) WORLD(0, 1),
      HEAD THREAD("MPI_Finalize") CLOSE(0) WORLD(1, 0),
      HEAD THREAD("MPI_Bcast") COLL(0, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Bcast") COLL(0, 0) WORLD(3, 1)},
     {"Culprit: rank 1 (a deadlock)\n", "not there: rank 1, which is in MPI_Finalize\n"}},
    {"a peer behind MPI_Finalize",
     {HEAD THREAD("MPI_Recv") RECV(1, 0) WORLD(0, 0), final, HEAD POLLS("MPI_Test"), silent},
     {"Culprit: rank 1 (a deadlock)\n", "Rank 1 has called MPI_Finalize, and still runs, but is"}},
    {"sends that wait for each other",
     {HEAD THREAD("MPI_Send") SEND(1, 0) WORLD(0, 0),
      HEAD THREAD("MPI_Send") SEND(0, 0) WORLD(1, 0), silent, silent},
     {"Culprits: ranks 0-1 (a deadlock)\n",
      "rank 0 waits in MPI_Send for rank 1 to receive 99 bytes (tag 0, MPI_COMM_WORLD)\n"}},
    {"one that computes",
     {HEAD THREAD("MPI_Allreduce") COLL(1, 4) WORLD(0, 5),
      HEAD THREAD("MPI_Allreduce") COLL(2, 4) WORLD(1, 5), silent,
      HEAD THREAD("MPI_Allreduce") COLL(1, 4) WORLD(3, 5)},
     {"Culprit: rank 2\n", "not there: rank 2, which is outside MPI and computes (1.5 s"}},
    {"one that has not started",
     {HEAD THREAD("MPI_Send") SEND(3, 0) WORLD(0, 0), HEAD POLLS("MPI_Test"),
      HEAD POLLS("MPI_Test"), fresh},
     {"Culprit: rank 3\n", "Others wait for rank 3, which has not called MPI_Init\n"}},
    {"one without a processor",
     {HEAD THREAD("MPI_Allreduce") COLL(1, 4) WORLD(0, 5),
      HEAD THREAD("MPI_Allreduce") COLL(2, 4) WORLD(1, 5), late,
      HEAD THREAD("MPI_Allreduce") COLL(1, 4) WORLD(3, 5)},
     {"No rank is seen to wait in vain.\n",
      "not there: rank 2, which did not answer in time: it had no processor\n"}},
    {"nonblocking collectives",
     {HEAD THREAD("MPI_Wait") COLL(-1, 4) WORLD(0, 5) CALL(4, -1, "MPI_Barrier"),
      HEAD THREAD("MPI_Waitall") COLL(2, 4) WORLD(1, 5) CALL(4, -1, "MPI_Barrier"),
      HEAD THREAD("MPI_Recv") RECV(0, 7) WORLD(2, 4),
      HEAD THREAD("MPI_Wait") COLL(0, 4) WORLD(3, 5) CALL(4, -1, "MPI_Barrier")},
     {"MPI_Barrier on MPI_COMM_WORLD: ranks 0-1,3 wait in it; some members are missing:\n"
      "    not there: rank 2, "}},
    {"different nonblocking collectives",
     {HEAD THREAD("MPI_Wait") COLL(1, 2) WORLD(0, 3) CALL(2, -1, "MPI_Barrier"),
      HEAD THREAD("MPI_Wait") COLL(0, 2) WORLD(1, 3) CALL(2, -1, "MPI_Barrier"),
      HEAD THREAD("MPI_Wait") COLL(0, 2) WORLD(2, 3),
      HEAD THREAD("MPI_Wait") COLL(2, 2) WORLD(3, 3) CALL(2, -1, "MPI_Scan")},
     {"Culprits: ranks 0-3 (a deadlock)\n", "    MPI_Barrier: ranks 0-1\n    an unknown call: rank 2\n"
                                        "    MPI_Scan: rank 3\n"}},
    {"a persistent collective",
     {HEAD THREAD("MPI_Finalize") CLOSE(1) WORLD(0, 3),
      HEAD THREAD("MPI_Wait") COLL(0, 1073741830) WORLD(1, 3), HEAD THREAD("MPI_Wait")
      COLL(1, 1073741830) WORLD(2, 3), HEAD THREAD("MPI_Wait") COLL(2, 1073741830) WORLD(3, 3)},
     {"Culprit: rank 0 (a deadlock)\n  MPI_Wait on MPI_COMM_WORLD: ranks 1-3 wait in it; some members are "
      "missing:\n    not there: rank 0, which is in MPI_Finalize\n",
      "ranks 1-3: each waits in MPI_Wait on MPI_COMM_WORLD, at"}},
    {"different collectives",
     {HEAD THREAD("MPI_Barrier") COLL(1, 2) WORLD(0, 3),
      HEAD THREAD("MPI_Barrier") COLL(0, 2) WORLD(1, 3),
      HEAD THREAD("MPI_Bcast") COLL(0, 2) WORLD(2, 3),
      HEAD THREAD("MPI_Barrier") COLL(2, 2) WORLD(3, 3)},
     {"Culprit: rank 2 (a deadlock)\n",
      "Different collectives on MPI_COMM_WORLD (its collective number 3):\n"
      "    MPI_Barrier: ranks 0-1,3\n    MPI_Bcast: rank 2\n"}},
    {"a collective that the others have left",
     {HEAD THREAD("MPI_Barrier") COLL(3, 3) WORLD(0, 4),
      HEAD THREAD("MPI_Barrier") COLL(0, 3) WORLD(1, 4),
      HEAD THREAD("MPI_Barrier") COLL(1, 3) WORLD(2, 4),
      HEAD THREAD("MPI_Reduce") COLL(0, 2) WORLD(3, 3)},
     {"Culprit: rank 3 (a deadlock)\n", "not there: rank 3, as told above",
      "MPI_Reduce on MPI_COMM_WORLD: rank 3 waits in it, but ranks 0-2 went past it:\n"
      "    what was called there does not fit\n"}},
    {"one collective more in one rank, and the others are gone but for one that waits for it",
     {HEAD THREAD("MPI_Barrier") COLL(3, 2) CAME(1, 1, 2) CAME(1, 2, 2) WORLD(0, 3),
      HEAD THREAD("MPI_Finalize") CLOSE(0) WORLD(1, 3) CALL(2, -1, "MPI_Allreduce"),
      HEAD THREAD("MPI_Allreduce") COLL(0, 2) WORLD(2, 3),
      HEAD THREAD("MPI_Finalize") CLOSE(2) WORLD(3, 3) CALL(2, -1, "MPI_Allreduce")},
     {"Culprit: rank 0 (a deadlock)\n", "Different collectives on MPI_COMM_WORLD (its",
      "    MPI_Barrier: rank 0\n    MPI_Allreduce: ranks 1-3\n"}},
    {"a collective with another root, which the others have left",
     {HEAD THREAD("MPI_Gather") COLL(2, 3) WORLD(0, 4) CALL(3, 0, "MPI_Gather"),
      HEAD THREAD("MPI_Barrier") COLL(0, 4) WORLD(1, 5) CALL(3, 0, "MPI_Gather"),
      HEAD THREAD("MPI_Barrier") COLL(0, 4) WORLD(2, 5) CALL(3, 1, "MPI_Gather"),
      HEAD THREAD("MPI_Barrier") COLL(0, 4) WORLD(3, 5) CALL(3, 0, "MPI_Gather")},
     {"Culprit: rank 2 (a deadlock)\n",
      "Different roots on MPI_COMM_WORLD (its collective number 4):\n"
      "    MPI_Gather with root 0: ranks 0-1,3\n    MPI_Gather with root 1: rank 2\n"}},
    {"a collective once more in one rank, and all others are in MPI_Finalize",
     {HEAD THREAD("MPI_Finalize") CLOSE(1) WORLD(0, 3),
      HEAD THREAD("MPI_Barrier") COLL(0, 3) WORLD(1, 4),
      HEAD THREAD("MPI_Finalize") CLOSE(1) WORLD(2, 3),
      HEAD THREAD("MPI_Finalize") CLOSE(1) WORLD(3, 3)},
     {"Culprit: rank 1 (a deadlock)\n  MPI_Barrier on MPI_COMM_WORLD: rank 1 waits in it, once "
      "more than the others do:\n    not there: ranks 0,2-3, each of which is in MPI_Finalize\n"}},
    {"a receive with a wildcard has got it",
     {HEAD THREAD("MPI_Recv") RECV(1, 5) GOT(1, 5) WORLD(0, 0),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(1, 1),
      HEAD THREAD("MPI_Barrier") COLL(1, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Barrier") COLL(2, 0) WORLD(3, 1)},
     {"Culprit: rank 0 (a deadlock)\n  Taken by another receive? Rank 0 waits in MPI_Recv for a "
      "message from rank 1 (tag 5, MPI_COMM_WORLD),\n    but a receive with a wildcard has got a "
      "message from rank 1 (tag 5, MPI_COMM_WORLD) before\n"}},
    {"all are there, and wait",
     {HEAD THREAD("MPI_Bcast") COLL(3, 0) WORLD(0, 1),
      HEAD THREAD("MPI_Bcast") COLL(0, 0) WORLD(1, 1),
      HEAD THREAD("MPI_Bcast") COLL(1, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Bcast") COLL(2, 0) WORLD(3, 1)},
     {"MPI_Bcast on MPI_COMM_WORLD: ranks 0-3 wait in it, all its members:\n    the counts "}},
    {"a message of a collective is not a wrong one",
     {HEAD THREAD("MPI_Recv") RECV(1, 0) CAME(1, 1, 0) WORLD(0, 0),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(1, 1),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(3, 1)},
     {"Culprits: ranks 0-1 (a deadlock)\n  Send missing? Rank 0 waits in MPI_Recv for a message "
      "from rank 1 (tag 0, MPI_COMM_WORLD),\n    but rank 1 has none on the way, and waits in "
      "MPI_Barrier on MPI_COMM_WORLD (its collective number 1)\n  MPI_Barrier on MPI_COMM_WORLD"}},
    {"who waits behind one that is on the way may wait in vain",
     {HEAD THREAD("MPI_Barrier") COLL(2, 0) WORLD(0, 1),
      HEAD THREAD("MPI_Recv") RECV(0, 7) CAME(0, 0, 8) WORLD(1, 0), silent,
      HEAD THREAD("MPI_Barrier") COLL(2, 0) WORLD(3, 1)},
     {"Culprits: ranks 0-1 (a deadlock)\n  Wrong tag? Rank 1 waits in MPI_Recv for",
      "not there: rank 1, as told above\n    not there: rank 2, which is outside MPI"}},
    {"of two communicators, who is alone in one",
     {HEAD THREAD("MPI_Barrier") PART(1) WORLD(0, 0) ROW("0-2", 0, 1),
      HEAD THREAD("MPI_Barrier") PART(2) WORLD(1, 0) ROW("0-2", 1, 1),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(2, 1) ROW("0-2", 2, 0),
      HEAD THREAD("MPI_Barrier") COLL(1, 0) WORLD(3, 1)},
     {"Culprit: rank 2 (a deadlock)\n", "MPI_Barrier on communicator #2 of ranks 0-2: ranks 0-1"}},
    {"an early message of one that is kept by others is no wrong one",
     {HEAD THREAD("MPI_Recv") RECV(2, 5) WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 7) CAME(0, 0, 8) WORLD(1, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 5) WORLD(2, 0), ended},
     {"Culprits: ranks 0,2 (a deadlock)\n  A cycle of waits: 0 -> 2 -> 0\n"}},
    {"nor does one miss a send who waits for one that is kept in a broadcast",
     {HEAD THREAD("MPI_Recv") RECV(1, 5) WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 5) WORLD(1, 0),
      HEAD THREAD("MPI_Bcast") COLL(0, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Recv") RECV(2, 7) WORLD(3, 0)},
     {"Culprits: ranks 0-1 (a deadlock)\n  A cycle of waits: 0 -> 1 -> 0\n",
      "MPI_Bcast on MPI_COMM_WORLD: rank 2 waits in it; some members are missing:\n    not there: "
      "ranks 0-1, as told above\n    not there: rank 3, which waits in MPI_Recv"}},
    {"several that wait for the same rank",
     {HEAD THREAD("MPI_Barrier") COLL(1, 0) WORLD(0, 1),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(1, 1),
      HEAD THREAD("MPI_Recv") RECV(0, 3) WORLD(2, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 3) WORLD(3, 0)},
     {"Culprit: rank 0 (a deadlock)\n  Send missing? Ranks 2-3 wait in MPI_Recv for a message from "
      "rank 0 (tag 3, MPI_COMM_WORLD),\n    but rank 0 has none on the way,",
      "not there: ranks 2-3, as told above\n"}},
    {"all have sent with another tag",
     {HEAD THREAD("MPI_Recv") "A\trecv\t0\t-1\t-1\t9\t0\tposted\n" CAME(0, 1, 8) CAME(0, 2, 8)
          WORLD(0, 0),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(1, 1),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(3, 1)},
     {"Culprit: rank 0 (a deadlock)\n  Wrong tag? Rank 0 waits in MPI_Recv "}},
    {"but not where the awaited one is elsewhere",
     {HEAD THREAD("MPI_Bcast") COLL(2, 0) WORLD(0, 1),
      HEAD THREAD("MPI_Recv") RECV(0, 7) CAME(0, 0, 8) WORLD(1, 0), silent,
      HEAD THREAD("MPI_Bcast") COLL(2, 0) WORLD(3, 1)},
     {"Culprit: rank 2\n  MPI_Bcast on MPI_COMM_WORLD: ranks 0,3 wait in it; some members are "
      "missing:\n    not there: rank 1, which waits in MPI_Recv for a message from rank 0 (tag 7"}},
    {"a wrong tag in a loop of MPI_Iprobe",
     {HEAD POLLS("MPI_Iprobe") "A\tprobe\t0\t-1\t-1\t9\t0\t\n" CAME(0, 2, 8) WORLD(0, 0),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(1, 1),
      HEAD THREAD("MPI_Barrier") COLL(1, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Barrier") COLL(2, 0) WORLD(3, 1)},
     {"Culprits: ranks 0,2\n  Wrong tag? Rank 0 polls in MPI_Iprobe for a message from any rank "
      "(tag 9, MPI_COMM_WORLD),\n    but what has come is a message from rank 2 (tag 8,",
      "not there: rank 0, as told above"}},
    {"but not where somebody may send it yet",
     {HEAD POLLS("MPI_Iprobe") "A\tprobe\t0\t-1\t-1\t9\t0\t\n" CAME(0, 2, 8) WORLD(0, 0), silent,
      HEAD THREAD("MPI_Barrier") COLL(1, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Barrier") COLL(2, 0) WORLD(3, 1)},
     {"Culprits: ranks 0-1\n  MPI_Barrier on MPI_COMM_WORLD: ranks 2-3 wait in it; some"}},
    {"a wrong tag in a loop of MPI_Test",
     {HEAD POLLS("MPI_Testall") CAME(0, 2, 8) "P\t0\t2\t2\t9\t1\t4\n" WORLD(0, 0),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(1, 1),
      HEAD THREAD("MPI_Barrier") COLL(1, 0) WORLD(2, 1),
      HEAD THREAD("MPI_Barrier") COLL(2, 0) WORLD(3, 1)},
     {"Culprits: ranks 0,2\n  Wrong tag? Rank 0 polls in MPI_Testall for a message from rank 2"}},
    {"but not where its sender has just begun to wait",
     {HEAD POLLS("MPI_Testall") CAME(0, 2, 8) "P\t0\t2\t2\t9\t1\t4\n" WORLD(0, 0), silent,
      HEAD "T\tMPI_Recv\twait\t9\t1f\t/a.out\t\n" RECV(0, 1) WORLD(2, 0), silent},
     {"in vain.\n  Others wait for rank 0, which polls in MPI_Testall\n"}},
    {"of those that wait for each other, who waits for none of them",
     {HEAD THREAD("MPI_Barrier") COLL(2, 0) WORLD(0, 1) ROW("0-1,3", 0, 1),
      HEAD THREAD("MPI_Barrier") COLL(0, 0) WORLD(1, 1) ROW("0-1,3", 1, 1),
      HEAD THREAD("MPI_Allreduce") "A\trecv\t49\t3\t1\t0\t0\tposted\n" WORLD(
          2, 0) "C\t48\t2\t0\t1\t\t2-3\t\n",
      HEAD THREAD("MPI_Allreduce") "A\trecv\t33\t0\t0\t1\t0\tposted\n" WORLD(3, 0)
          ROW("0-1,3", 2, 2) "C\t48\t2\t1\t0\t\t2-3\t\n"},
     {"Culprit: rank 3 (a deadlock)\n",
      "MPI_Allreduce on communicator #3 of ranks 2-3: rank 2 waits in it"}},
    {"parts that are not ready, and a request at rest",
     {HEAD THREAD("MPI_Wait") "A\tready\t5\t1\t1\t6\t3\t\n"
                              "I\t0\t1\t1\t2\t1\t0\tsend\n" WORLD(0, 0),
      HEAD THREAD("MPI_Wait") "A\trecv\t5\t0\t0\t6\t0\tposted\n" WORLD(1, 0), ended, ended},
     {"Others wait for rank 0, which waits in MPI_Wait for MPI_Pready on 3 partitions of its "
      "message to rank 1 (tag 6,",
      "MPI_COMM_WORLD), at a.out+0x1f, for 5.0 s\n  ranks 2-3"}},
    {"a message of another kind",
     {HEAD THREAD("MPI_Wait") "A\trecv\t5\t1\t1\t3\t0\tposted\n" CAME(0, 1, 3) WORLD(0, 0),
      HEAD THREAD("MPI_Ssend") SEND(0, 3) WORLD(1, 0), ended, ended},
     {"Culprits: ranks 0-1 (a deadlock)\n", "Wrong kind of message? Rank 0 waits in MPI_Wait for"}},
    {"other threads that compute may do what is waited for",
     {HEAD THREAD("MPI_Recv") RECV(1, 5) "M\t2\t0\t1\n" WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 5) WORLD(1, 0), ended, ended},
     {"Culprit: rank 0\n  Others wait for rank 0, which waits in MPI_Recv",
      "rank 0: has 3 other threads outside MPI, 2 computing and 1 asleep\n"}},
    {"those that sleep may do it too",
     {HEAD THREAD("MPI_Recv") RECV(1, 5) "M\t0\t0\t1\n" WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 5) WORLD(1, 0), ended, ended},
     {"No deadlock is certain: threads that sleep outside MPI may call it yet, in rank 0.\nIf "
      "none does, this is what is wrong, and the culprits are ranks 0-1:\n  A cycle of waits",
      "rank 0: has 1 other thread outside MPI, asleep\n"}},
    {"but a deadlock of others is certain",
     {HEAD THREAD("MPI_Recv") RECV(1, 5) WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 5) WORLD(1, 0),
      HEAD THREAD("MPI_Recv") RECV(3, 5) "M\t0\t0\t1\n" WORLD(2, 0),
      HEAD THREAD("MPI_Recv") RECV(2, 5) WORLD(3, 0)},
     {"Culprits: ranks 0-1 (a deadlock)\n  A cycle of waits: 0 -> 1 -> 0\n"}},
    {"but not those that wait for a lock",
     {HEAD THREAD("MPI_Recv") RECV(1, 5) "M\t0\t1\t0\n" WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 5) "M\t0\t1\t0\n" WORLD(1, 0), ended, ended},
     {"Culprits: ranks 0-1 (a deadlock)\n  A cycle of waits",
      "ranks 0-1: each has 1 other thread outside MPI, waiting for a lock or a condition\n"}},
    {"two communicators in different orders",
     {HEAD THREAD("MPI_Barrier") COLL(1, 0) WORLD(0, 1) OTHER(0),
      HEAD THREAD("MPI_Barrier") "A\trecv\t33\t0\t0\t0\t0\tposted\n" WORLD(
          1, 0) "C\t32\t4\t1\t1\tother\t0-3\t\n",
      HEAD THREAD("MPI_Barrier") COLL(1, 0) WORLD(2, 1) OTHER(2),
      HEAD THREAD("MPI_Barrier") COLL(2, 0) WORLD(3, 1) OTHER(3)},
     {"Culprit: rank 1 (a deadlock)\n",
      "not there: rank 1, which waits in MPI_Barrier on other (its",
      "not there: ranks 0,2-3, each of which waits in MPI_Barrier on MPI_COMM_WORLD (its"}},
    {"one that has gone ahead without sending",
     {HEAD THREAD("MPI_Recv") RECV(1, 6) WORLD(0, 2),
      HEAD THREAD("MPI_Barrier") COLL(0, 2) WORLD(1, 3),
      HEAD THREAD("MPI_Recv") RECV(1, 6) WORLD(2, 2),
      HEAD THREAD("MPI_Recv") RECV(2, 6) WORLD(3, 2)},
     {"Culprit: rank 1 (a deadlock)\n", "MPI_Barrier on MPI_COMM_WORLD: rank 1 waits in it; some"}},
    {"one that has gone ahead is not to blame for a cycle behind it",
     {HEAD THREAD("MPI_Recv") RECV(2, 6) WORLD(0, 2),
      HEAD THREAD("MPI_Barrier") COLL(0, 2) WORLD(1, 3),
      HEAD THREAD("MPI_Recv") RECV(3, 6) WORLD(2, 2),
      HEAD THREAD("MPI_Recv") RECV(0, 6) WORLD(3, 2)},
     {"Culprits: ranks 0,2-3 (a deadlock)\n", "A cycle of waits: 0 -> 2 -> 3 -> 0"}},
    {"any source, in a communicator of one",
     {HEAD THREAD("MPI_Recv") "A\trecv\t8\t-1\t-1\t3\t0\tposted\n" WORLD(0, 0)
          "C\t8\t1\t0\t0\tMPI_COMM_SELF\t0\t\n", silent, silent, silent},
     {"Culprit: rank 0 (a deadlock)\n  A rank waits for itself: 0 -> 0\n"}},
    {"any source, and all receive so",
     {HEAD THREAD("MPI_Recv") ANY(3) WORLD(0, 0), HEAD THREAD("MPI_Recv") ANY(3) WORLD(1, 0),
      HEAD THREAD("MPI_Recv") ANY(3) WORLD(2, 0), ended},
     {"Culprits: ranks 0-2 (a deadlock)\n  A cycle of waits: 0 -> 1 -> 0\n"}},
    {"any source, and one of them may send",
     {HEAD THREAD("MPI_Recv") ANY(3) WORLD(0, 0), HEAD THREAD("MPI_Recv") ANY(3) WORLD(1, 0),
      HEAD THREAD("MPI_Recv") ANY(3) WORLD(2, 0), silent},
     {"Culprit: rank 3\n  Others wait for rank 3, which is outside MPI and computes"}},
    {"a send to one that can still end MPI_Finalize",
     {HEAD THREAD("MPI_Ssend") SEND(1, 0) WORLD(0, 0),
      HEAD THREAD("MPI_Finalize") SEND(2, 0) CLOSE(0) WORLD(1, 0), silent, silent},
     {"Culprit: rank 1 (a deadlock)\n  Rank 1 waits in MPI_Finalize"}},
    {"any source, and all others are gone",
     {HEAD "T\tMPI_Probe\twait\t5\t1\t/a\t\nA\tprobe\t0\t-1\t-1\t-1\t0\tposted\n" WORLD(0, 0),
      ended, ended, final},
     {"Culprits: ranks 1-3 (a deadlock)\n", "for a message from any rank (any tag,"}},
    {"all is well",
     {HEAD POLLS("MPI_Test"), silent, silent, final},
     {"No rank is seen to wait in vain.\n"}},
    {"one that waits since the question does not keep the others",
     {HEAD "T\tMPI_Recv\twait\t-1\t1f\t/a.out\t\n" RECV(3, 5) WORLD(0, 0),
      HEAD THREAD("MPI_Recv") RECV(0, 5) WORLD(1, 0), HEAD THREAD("MPI_Recv") RECV(1, 5) WORLD(2, 0),
      HEAD THREAD("MPI_Recv") RECV(2, 5) WORLD(3, 0)},
     {"No rank is seen to wait in vain: the job goes on.\n  Others wait for rank 0, which waits"}},
    {"one of several would do",
     {HEAD "T\tMPI_Waitany\tsome\t900\t1\t/a\t\n" RECV(1, 0) RECV(2, 0) WORLD(0, 0), ended, silent,
      ended},
     {"Culprit: rank 2\n", "waits in MPI_Waitany for one of 2 messages with ranks 1-2"}},
    {"a cycle of a lock and a post",
     {HEAD THREAD("MPI_Win_lock") "A\tlock\t40\t1\t1\t2\t0\t\n" WINDOW(0),
      HEAD THREAD("MPI_Win_start") WIN(0, 1) WINDOW(1), silent, silent},
     {"Culprits: ranks 0-1 (a deadlock)\n", "A cycle of waits: 0 -> 1 -> 0\n",
      "rank 0 waits in MPI_Win_lock for rank 1 to unlock rank 2 (window counters)\n",
      "rank 1 waits in MPI_Win_start for rank 0 to call MPI_Win_post (window counters)\n"}},
    {"an epoch that does not end, and a lock that nobody knows the holder of",
     {HEAD THREAD("MPI_Win_wait") WIN(1, 2) WINDOW(0),
      HEAD THREAD("MPI_Win_flush") WIN(0, 16) WINDOW(1),
      HEAD THREAD("MPI_Win_lock") "A\tlock\t40\t3\t3\t3\t0\t\n" WINDOW(2), silent},
     {"Culprits: ranks 0-1 (a deadlock)\n",
      "rank 0 waits in MPI_Win_wait for rank 1 to call MPI_Win_complete (window counters)\n",
      "rank 1 waits in MPI_Win_flush for rank 0 to answer (window counters)\n",
      "rank 2: waits in MPI_Win_lock for the lock of rank 3 (window counters)"}},
    {"the library's thread alone has answered",
     {HEAD "M\t1\t0\t0\n" WORLD(0, 0), HEAD "M\t0\t0\t1\n" WORLD(1, 0),
      HEAD THREAD("MPI_Win_free") "A\trecv\t33\t0\t0\t4\t0\tposted\n"
      "C\t32\t4\t2\t5\twindow\t0-3\t\n", silent},
     {"rank 0: is outside MPI and computes", "rank 1: is outside MPI and sleeps",
      "rank 2: waits in MPI_Win_free on window #2 of ranks 0-3 (its collective number 5)"}},
    {"rubbish is counted, and reaches no terminal",
     {HEAD "T\tMPI_\033Send\twait\t1\t0\t\t\nA\tsend\t0\t9999999999\t0\t0\t0\t\nQ\n", "no answer",
      "", silent},
     {"waits in MPI_?Send,", "2 lines of the ranks' answers were not understood.\n"}},
};

static struct hang_rank rank_of(const char *text)
{
    struct hang_rank rank = {.state = DIAGNOSE_ANSWERED, .text = text, .len = strlen(text)};
    if (text == silent)
        rank = (struct hang_rank){
            .state = DIAGNOSE_SILENT, .run_state = 'R', .pid = 4711, .cpu_s = 1.5};
    else if (text == late)
        rank = (struct hang_rank){.state = DIAGNOSE_LATE, .run_state = 'R', .pid = 4711};
    else if (text == ended)
        rank = (struct hang_rank){.state = DIAGNOSE_ENDED};
    else if (text == final)
        rank = (struct hang_rank){.state = DIAGNOSE_FINALIZED};
    else if (text == fresh)
        rank = (struct hang_rank){.state = DIAGNOSE_NOT_INIT};
    return rank;
}

/* Whether a report says so, wherever its lines are wrapped: no line that is not begins with so
 * many blanks. */
static bool holds(const char *report, const char *words)
{
    char *whole = strdup(report), *to = whole;
    for (const char *at = whole; *at; at++) {
        size_t blanks = *at == '\n' ? strspn(at + 1, " ") : 0;
        if (blanks > 4)
            at += blanks; /* and one stays */
        *to++ = *at;
    }
    *to = 0;
    bool found = strstr(whole, words) != NULL;
    free(whole);
    return found;
}

static void each_case(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct hang_rank ranks[RANKS];
        for (int r = 0; r < RANKS; r++)
            ranks[r] = rank_of(cases[c].text[r]);
        struct hang_question question = {
            .ranks = ranks, .count = RANKS, .job = "12 (a.out)", .host = "h"};
        char *report = hang_format(&question);
        assert_non_null(report);
        assert_ptr_equal(strstr(report, "Hang report on job 12 (a.out): 4 ranks on h\n"), report);
        for (int e = 0; e < 5 && cases[c].expect[e]; e++)
            if (!holds(report, cases[c].expect[e]))
                fail_msg("%s: not said: %s\n--- the report:\n%s", cases[c].claim,
                         cases[c].expect[e], report);
        assert_null(strchr(report, '\033'));
        assert_null(strstr(report, "tag 0, MPI_COMM_WORLD), of a"));
        for (const char *at = report, *end; (end = strchr(at, '\n')); at = end + 1)
            if (end - at > 100)
                fail_msg("%s: a line is too long:\n%s", cases[c].claim, report);
        free(report);
    }
}

/* What has begun since the question is no deadlock, whatever it looks like. */
static void young(void **state)
{
    struct hang_rank ranks[RANKS];
    (void)state;
    for (int took = 5000; took <= 5001; took++) {
        for (int r = 0; r < RANKS; r++)
            ranks[r] = rank_of(cases[0].text[r]);
        struct hang_question question = {
            .ranks = ranks, .count = RANKS, .took_ms = took, .host = "h"};
        char *report = hang_format(&question);
        assert_non_null(report);
        assert_int_equal(holds(report, "Culprits: ranks 0-1 (a deadlock)\n"), took == 5000);
        assert_int_equal(holds(report, "No rank is seen to wait in vain: the job goes on.\n"),
                         took > 5000);
        free(report);
    }
}

/* A long ring, and many that wait for one: short, and soon there. */
static void many(void **state)
{
    static struct hang_rank ranks[MANY];
    static char text[MANY][300];
    (void)state;
    for (int shape = 0; shape < 2; shape++) {
        for (int r = 0; r < MANY; r++) {
            int peer = shape ? 0 : (r + 1) % MANY;
            snprintf(text[r], sizeof(text[r]),
                     HEAD "T\tMPI_Recv\twait\t%d\t1f\t/a.out\t\nA\trecv\t0\t%d\t%d\t3\t0\tposted\n"
                          "C\t0\t%d\t%d\t0\tMPI_COMM_WORLD\t0-%d\t\n",
                     1000 + r % 7, peer, peer, MANY, r, MANY - 1);
            ranks[r] = rank_of(text[r]);
        }
        if (shape)
            ranks[0] = rank_of(silent);
        struct hang_question question = {.ranks = ranks, .count = MANY, .host = "h"};
        char *report = hang_format(&question);
        assert_non_null(report);
        assert_non_null(strstr(report, shape ? "Culprit: rank 0\n" : "Culprits: ranks 0-9999 (a"));
        assert_non_null(
            strstr(report, shape ? "ranks 1-9999: each waits in MPI_Recv for a message from rank 0 "
                                 : "ranks 0-9999: each waits in MPI_Recv for a message from one of "
                                   "ranks 0-9999"));
        assert_true(strlen(report) < 3000);
        free(report);
    }
}

/* Every second one waits for a neighbour that is in a barrier, each for another one; and for 0. */
static void neighbours(void **state)
{
    static struct hang_rank ranks[MANY];
    static char text[MANY][300];
    (void)state;
    for (int shape = 0; shape < 2; shape++) {
        for (int r = 0; r < MANY; r++) {
            int peer = r % 2 && shape ? 0 : (r + MANY - 1) % MANY;
            snprintf(text[r], sizeof(text[r]),
                     HEAD "T\tMPI_%s\twait\t9\t1f\t/a.out\t\nA\trecv\t%d\t%d\t%d\t0\t0\tposted\n"
                          "C\t0\t%d\t%d\t%d\tMPI_COMM_WORLD\t0-%d\t\n",
                     r % 2 ? "Recv" : "Barrier", r % 2 ? 0 : 1, peer, peer, MANY, r, !(r % 2),
                     MANY - 1);
            ranks[r] = rank_of(text[r]);
        }
        struct hang_question question = {.ranks = ranks, .count = MANY, .host = "h"};
        char *report = hang_format(&question);
        assert_non_null(report);
        assert_true(
            holds(report, shape ? "Culprit: rank 0 (a" : "... and 4988 more of the kind.\n"));
        assert_true(holds(report, shape ? "Send missing? Ranks 1,3,5,7,9,11,13,15,17,19,21,23"
                                        : "Send missing? Rank 1 waits in MPI_Recv for a message"));
        assert_true(strlen(report) < 6000);
        free(report);
    }
}

/* Every second one waits for the next, which has ended: the list is cut, and counted. */
static void scattered(void **state)
{
    static struct hang_rank ranks[MANY];
    static char text[MANY][300];
    (void)state;
    for (int r = 0; r < MANY; r++) {
        snprintf(text[r], sizeof(text[r]),
                 HEAD "T\tMPI_Recv\twait\t9\t1f\t/a.out\t\nA\trecv\t0\t%d\t%d\t3\t0\tposted\n"
                      "C\t0\t%d\t%d\t0\tMPI_COMM_WORLD\t0-%d\t\n",
                 r + 1, r + 1, MANY, r, MANY - 1);
        ranks[r] = rank_of(r % 2 ? ended : text[r]);
    }
    struct hang_question question = {.ranks = ranks, .count = MANY, .host = "h"};
    char *report = hang_format(&question);
    assert_non_null(report);
    assert_true(holds(report, "Culprits: ranks 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,"
                              "35,37,39,... (5000 in all) (a deadlock)\n"));
    assert_true(strlen(report) < 4000);
    free(report);
}

/* A place that the caller can name. */
static void name_site(void *arg, const char *module, uint64_t offset, char *text, size_t size)
{
    (void)arg;
    if (!strcmp(module, "/home/u/a.out") && offset == 0x1f)
        snprintf(text, size, "solver.c:12");
}

static void sites(void **state)
{
    (void)state;
    struct hang_rank ranks[RANKS];
    for (int r = 0; r < RANKS; r++)
        ranks[r] = rank_of(cases[0].text[r]);
    struct hang_question question = {
        .ranks = ranks, .count = RANKS, .host = "h", .site = name_site};
    char *report = hang_format(&question);
    assert_non_null(report);
    assert_true(holds(report, ", at solver.c:12, for 5.0 s\n"));
    assert_null(strstr(report, " on job "));
    free(report);
}

static void ranges(void **state)
{
    (void)state;
    int first, last;
    const char *at = hang_text_range("0-3,5", &first, &last);
    assert_string_equal(at, "5");
    assert_int_equal(last, 3);
    at = hang_text_range(at, &first, &last);
    assert_int_equal(first, 5);
    assert_int_equal(last, 5);
    assert_null(hang_text_range(at, &first, &last));
    static const char *const bad[] = {"",    "-1",         "3-1",         "x",
                                      "1;2", "2147483647", "99999999999", "1-"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_null(hang_text_range(bad[i], &first, &last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_case),  cmocka_unit_test(young),     cmocka_unit_test(many),
        cmocka_unit_test(neighbours), cmocka_unit_test(scattered), cmocka_unit_test(sites),
        cmocka_unit_test(ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
