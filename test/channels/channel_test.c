/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * vireo-channel-test: put a channel in a shared object through the conformance suite.
 *
 * usage: vireo-channel-test [OPTION...] MODULE [CASE]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpid/conn/module.h"
#include "test/channels/conform.h"

static const char help[] =
    "usage: vireo-channel-test [OPTION...] MODULE [CASE]\n"
    "\n"
    "Put the channel in the shared object MODULE through the conformance suite: what\n"
    "channel.h promises, as cases that run in processes of their own. Writes TAP; the\n"
    "exit status is 0 where all cases passed. CASE names one of them.\n"
    "\n"
    "  --alone          the channel joins no processes: it is for one and itself\n"
    "  --notices-death  lost() comes by itself when a peer is killed\n"
    "  --checks-secret  a peer with another secret is refused\n"
    "  --tells-nothing  it is not refused, as it is not answered\n"
    "  --hides-descriptors  a library beneath it has some that a forked child keeps\n"
    "  --needs-receiver  what is sent leaves a process only while its receiver makes progress\n"
    "  --patience N     limits of time are N times as long\n"
    "  --net PATH       processes of a case are in this network namespace, as /proc/PID/ns/net;\n"
    "                   repeated: in all of them in turn\n"
    "  --help           print this\n"
    "\n"
    "Parameters of the channel come from VIREO_CHANNEL_PARAMS.\n";

/* An option that has a word. Returns whether it is one. */
static bool take_word(struct conform_traits *traits, const char *option, const char *word)
{
    if (!word)
        return false;
    if (!strcmp(option, "--patience")) {
        traits->patience = atoi(word);
        return traits->patience >= 1 && traits->patience <= 100;
    }
    if (strcmp(option, "--net") || traits->net_count == CONFORM_NETS)
        return false;
    traits->nets[traits->net_count++] = word;
    return true;
}

int main(int argc, char **argv)
{
    struct conform_traits traits = {.joins_processes = true};
    const struct chan_ops *ops;
    char why[512];
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (!strcmp(argv[at], "--alone"))
            traits.joins_processes = false;
        else if (!strcmp(argv[at], "--notices-death"))
            traits.notices_death = true;
        else if (!strcmp(argv[at], "--checks-secret"))
            traits.checks_secret = true;
        else if (!strcmp(argv[at], "--tells-nothing"))
            traits.tells_nothing = true;
        else if (!strcmp(argv[at], "--hides-descriptors"))
            traits.hides_descriptors = true;
        else if (!strcmp(argv[at], "--needs-receiver"))
            traits.needs_receiver = true;
        else if (take_word(&traits, argv[at], argv[at + 1]))
            at++;
        else
            break;
    }
    bool asked = at < argc && !strcmp(argv[at], "--help");
    if (asked || at >= argc || argc - at > 2 || argv[at][0] == '-') {
        fputs(help, asked ? stdout : stderr);
        return asked ? 0 : 2;
    }
    if (module_load(argv[at], &ops, why, sizeof(why))) {
        fprintf(stderr, "vireo-channel-test: %s: %s\n", argv[at], why);
        return 2;
    }
    return conform_run(ops, &traits, argv[at + 1]) ? 1 : 0;
}
