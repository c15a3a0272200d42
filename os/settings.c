/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of settings and its reader; see settings.h. */
#include "os/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "os/lock.h"
#include "os/cpu/nearest.h"

extern char **environ;

const struct os_setting_row os_settings[OS_SETTING_COUNT] = {
    [OS_SETTING_LOG] = {"log", OS_TYPE_CHOICE, "warn", "error|warn|info|debug",
                        "How much the library says on stderr.", OS_UNTIL_END, false},
    [OS_SETTING_CHANNELS] = {"channels", OS_TYPE_TEXT, "", "",
                             "Channels that may be used, separated by commas; empty means all.",
                             OS_UNTIL_START, false},
    [OS_SETTING_CHANNEL_PATH] = {"channel_path", OS_TYPE_TEXT, "", "",
                                 "Shared objects that hold channels, and folders of such, "
                                 "separated by colons; each is tried in a copy of the process "
                                 "first. A tool that writes the variable while MPI runs has what "
                                 "is new loaded.",
                                 OS_UNTIL_END, false},
    [OS_SETTING_CHANNEL_PARAMS] = {"channel_params", OS_TYPE_TEXT, "", "",
                                   "Parameters of channels, as CHANNEL.PARAMETER=VALUE, separated "
                                   "by commas; `vireo info` lists them.",
                                   OS_UNTIL_START, false},
    [OS_SETTING_BYTE_ORDER] = {"byte_order", OS_TYPE_CHOICE, "host", "host|network",
                               "In which byte order all that crosses between processes is: that of the "
                               "host, or network order. mpiexec sets it where the machines of a job differ.",
                               OS_UNTIL_START, true},
    [OS_SETTING_SINGLE_COPY] = {"single_copy", OS_TYPE_BOOL, "1", "",
                                "Whether large messages on one host may be copied once, from "
                                "process to process, where a probe shows that it works.",
                                OS_UNTIL_START, false},
    [OS_SETTING_SPIN_US] = {"spin_us", OS_TYPE_INT, "-1", "us",
                            "How long a wait spins before it yields; -1 chooses by the cores "
                            "that this rank has.",
                            OS_UNTIL_START, false},
    [OS_SETTING_YIELDS] = {"yields", OS_TYPE_INT, "-1", "calls",
                           "How often a wait yields before it sleeps; -1 chooses by the cores "
                           "that this rank has. 0: calls that poll do not yield either.",
                           OS_UNTIL_START, false},
    [OS_SETTING_EAGER_CREDIT] = {"eager_credit", OS_TYPE_SIZE, "16M", "bytes",
                                 "How much eager data a peer may hold unreceived before sends to "
                                 "it wait for the receiver.",
                                 OS_UNTIL_START, true},
    [OS_SETTING_CONNECT_TIMEOUT_MS] = {"connect_timeout_ms", OS_TYPE_INT, "20000", "ms",
                                       "How long it may take until a peer's host takes a "
                                       "connection; the peer itself may be computing, and take "
                                       "longer. Also how long nothing may come of what a process "
                                       "has sent that has ended.",
                                       OS_UNTIL_END, false},
    [OS_SETTING_CONNECTIONS_MOST] = {"connections_most", OS_TYPE_INT, "1024", "",
                                     "How many connections over tcp a process has before idle ones "
                                     "are closed, from the one that was used longest ago; they come "
                                     "back at the next message. No more than half of the descriptors "
                                     "that the process may have. 0: all are kept.",
                                     OS_UNTIL_START, false},
    [OS_SETTING_CONNECTIONS_IDLE_MS] = {"connections_idle_ms", OS_TYPE_INT, "1000", "ms",
                                        "How long no message has gone either way before a "
                                        "connection counts as idle; 0 while three quarters of the "
                                        "descriptors are in use.",
                                        OS_UNTIL_START, false},
    [OS_SETTING_REPORT] = {"report", OS_TYPE_BOOL, "0", "",
                           "Whether ranks tell mpiexec at the end which channel each pair used; "
                           "mpiexec --report sets it.",
                           OS_UNTIL_END, true},
    [OS_SETTING_CRASH_LINES] = {"crash_lines", OS_TYPE_BOOL, "1", "",
                                "Whether a process that crashes in a call of MPI says in which, "
                                "and the line of the program, where that handles no such signal.",
                                OS_UNTIL_START, false},
    [OS_SETTING_SINGLETON] = {"singleton", OS_TYPE_BOOL, "0", "",
                              "Whether to start alone although a launcher's variables are there.",
                              OS_UNTIL_START, false},
    [OS_SETTING_TCP_ADDRESSES] = {"tcp_addresses", OS_TYPE_TEXT, "", "",
                                  "Addresses that the tcp channel publishes, separated by commas: "
                                  "literal ones, and those that a host has at an interface (eth0) or "
                                  "in a network (10.0.0.0/8); after ^ all others of the host; empty "
                                  "means every one. mpiexec -iface sets it.",
                                  OS_UNTIL_START, false},
    [OS_SETTING_INITIAL_ERRHANDLER] = {"initial_errhandler", OS_TYPE_CHOICE, "are_fatal",
                                       "are_fatal|abort|return",
                                       "The error handler that MPI begins with; mpiexec "
                                       "--initial-errhandler sets it.",
                                       OS_UNTIL_START, false},
    [OS_SETTING_MEMORY_ALLOC_KINDS] = {"memory_alloc_kinds", OS_TYPE_TEXT, "mpi,system", "",
                                       "Kinds of memory that the program asks for, of which "
                                       "there are mpi and system; mpiexec --memory-alloc-kinds "
                                       "sets it.",
                                       OS_UNTIL_START, false},
    [OS_SETTING_KILL_AFTER_MS] = {"kill_after_ms", OS_TYPE_INT, "1000", "ms",
                                  "How long mpiexec leaves ranks between SIGTERM and SIGKILL when "
                                  "it ends a job, and how long processes may still hold the "
                                  "output of a rank that has ended.",
                                  OS_UNTIL_NEVER, true},
    [OS_SETTING_LEAVE_LIMIT_MS] = {"leave_limit_ms", OS_TYPE_INT, "30000", "ms",
                                   "How long ranks may take to end after a SIGTERM or SIGHUP that "
                                   "mpiexec was sent, before they are killed; after a second one "
                                   "they have kill_after_ms.",
                                   OS_UNTIL_NEVER, true},
    [OS_SETTING_OUTPUT_UNREAD] = {"output_unread", OS_TYPE_CHOICE, "sigpipe", "sigpipe|drop",
                                  "What becomes of ranks that write to mpiexec's stdout or stderr "
                                  "when its reader has gone, as in mpiexec a.out | head: SIGPIPE, "
                                  "as without mpiexec, or nothing, and what they write is dropped.",
                                  OS_UNTIL_NEVER, false},
    [OS_SETTING_READER_WAIT_MS] = {"reader_wait_ms", OS_TYPE_INT, "10000", "ms",
                                   "How long mpiexec, when all ranks have ended, waits for a "
                                   "reliable reader of their streams that takes nothing. One that "
                                   "takes bytes is waited for.",
                                   OS_UNTIL_NEVER, true},
    [OS_SETTING_STREAM_WINDOW] = {"stream_window", OS_TYPE_SIZE, "4M", "bytes",
                                  "How much of what a rank on another host writes or reads may be "
                                  "on its way, where the network takes long. With 64K or less "
                                  "windows do not grow.",
                                  OS_UNTIL_NEVER, false},
    [OS_SETTING_IO_REPORT] = {"io_report", OS_TYPE_BOOL, "0", "",
                              "Whether MPI_File_open says on stderr how the file will be accessed, "
                              "and each function of files what has failed, where the error handler "
                              "returns.", OS_UNTIL_END, false},
    [OS_SETTING_STREAM_BUFFERING] = {"stream_buffering", OS_TYPE_CHOICE, "auto", "auto|0|1|2",
                                     "How C's stdout and stderr are buffered from MPI_Init on: not "
                                     "(0), by lines (1), in full (2), or as C has it; mpiexec "
                                     "--stream-buffering sets it.",
                                     OS_UNTIL_START, false},
    [OS_SETTING_PSETS] = {"psets", OS_TYPE_TEXT, "", "",
                          "Names of process sets, separated by commas: of the processes of each "
                          "program of mpiexec's command line, empty where they have none; mpiexec "
                          "--pset sets it.",
                          OS_UNTIL_START, false},
    [OS_SETTING_SUMMARY] = {"summary", OS_TYPE_TEXT, "", "",
                            "Where mpiexec has a line a rank printed at the end, with time in MPI, "
                            "waits, messages and imbalance: 1, or a file that also gets it as JSON; "
                            "mpiexec --summary sets it.",
                            OS_UNTIL_NEVER, true},
    [OS_SETTING_TRACE] = {"trace", OS_TYPE_TEXT, "", "",
                          "The file that gets a trace of all MPI calls, in Chrome's format; mpiexec "
                          "--trace sets it.",
                          OS_UNTIL_NEVER, true},
    [OS_SETTING_REGION_AFTER] = {"region_after", OS_TYPE_INT, "8", "collectives",
                                 "At which collective a communicator whose members are on one host "
                                 "gets memory that they share; 0: at none.", OS_UNTIL_START, true},
    [OS_SETTING_RMA_THREAD] = {"rma_thread", OS_TYPE_BOOL, "1", "",
                               "Whether a thread serves windows that get messages while the program "
                               "computes. It sleeps until one comes.", OS_UNTIL_START, false},
    [OS_SETTING_COLL_BARRIER] = {"coll_barrier", OS_TYPE_CHOICE, "auto", "auto|dissemination|tree|hosts",
                        "Algorithm of MPI_Barrier wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_BCAST] = {"coll_bcast", OS_TYPE_CHOICE, "auto", "auto|tree|spread|chain|binary|hosts",
                        "Algorithm of MPI_Bcast wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_REDUCE] = {"coll_reduce", OS_TYPE_CHOICE, "auto", "auto|tree|spread|hosts",
                        "Algorithm of MPI_Reduce wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_ALLREDUCE] = {"coll_allreduce", OS_TYPE_CHOICE, "auto", "auto|doubling|halving|ring|hosts",
                        "Algorithm of MPI_Allreduce wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_GATHER] = {"coll_gather", OS_TYPE_CHOICE, "auto", "auto|linear|tree|hosts",
                        "Algorithm of MPI_Gather wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_SCATTER] = {"coll_scatter", OS_TYPE_CHOICE, "auto", "auto|linear|tree|hosts",
                        "Algorithm of MPI_Scatter wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_ALLGATHER] = {"coll_allgather", OS_TYPE_CHOICE, "auto", "auto|ring|doubling|bruck|neighbor|hosts",
                        "Algorithm of MPI_Allgather wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_ALLTOALL] = {"coll_alltoall", OS_TYPE_CHOICE, "auto", "auto|linear|pairwise|bruck|hosts",
                        "Algorithm of MPI_Alltoall wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_REDUCE_SCATTER] = {"coll_reduce_scatter", OS_TYPE_CHOICE, "auto", "auto|doubling|halving|pairwise|hosts",
                        "Algorithm of MPI_Reduce_scatter and MPI_Reduce_scatter_block wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_SCAN] = {"coll_scan", OS_TYPE_CHOICE, "auto", "auto|doubling|hosts",
                        "Algorithm of MPI_Scan wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_COLL_EXSCAN] = {"coll_exscan", OS_TYPE_CHOICE, "auto", "auto|doubling|hosts",
                        "Algorithm of MPI_Exscan wherever it can run.",
                        OS_UNTIL_START, true},
    [OS_SETTING_CHECK] = {"check", OS_TYPE_BOOL, "0", "",
                          "Whether collective calls are compared across ranks, and receives "
                          "with sends, by their types, and accesses to windows with each other, and objects and messages that are left at "
                          "MPI_Finalize are named; mpiexec --check sets it for all ranks.", OS_UNTIL_START, true},
    [OS_SETTING_COLL_TUNING] = {"coll_tuning", OS_TYPE_TEXT, "", "",
                        "File of rows that say which algorithm a collective runs, the same on "
                        "every host; doc/collectives.md has the format.", OS_UNTIL_START, true},
    [OS_SETTING_LIVENESS_MS] = {"liveness_ms", OS_TYPE_INT, "10000", "ms",
                                "After how long a host of the job that says nothing is taken for "
                                "lost.", OS_UNTIL_NEVER, false},
    [OS_SETTING_TREE_RADIX] = {"tree_radix", OS_TYPE_INT, "8", "",
                               "How many daemons each daemon passes messages on to.",
                               OS_UNTIL_NEVER, false},
    [OS_SETTING_XCAST_MODE] = {"xcast_mode", OS_TYPE_CHOICE, "auto",
                               "auto|direct|linear|binomial|radix|binary",
                               "How messages to all daemons spread, where BNR_Xcast does not say "
                               "it; auto chooses by the next five.", OS_UNTIL_NEVER, false},
    [OS_SETTING_XCAST_DIRECT_HOSTS] = {"xcast_direct_hosts", OS_TYPE_INT, "2", "",
                                       "On fewer hosts they go from mpiexec, a copy for each "
                                       "process.", OS_UNTIL_NEVER, false},
    [OS_SETTING_XCAST_LINEAR_HOSTS] = {"xcast_linear_hosts", OS_TYPE_INT, "16", "",
                                       "Else on fewer hosts than this, where they are shorter than "
                                       "the next, from mpiexec, a copy for each host.",
                                       OS_UNTIL_NEVER, false},
    [OS_SETTING_XCAST_LINEAR_BYTES] = {"xcast_linear_bytes", OS_TYPE_SIZE, "64K", "bytes",
                                       "From how many bytes on messages do not go to each host "
                                       "from mpiexec.", OS_UNTIL_NEVER, false},
    [OS_SETTING_XCAST_RADIX_BYTES] = {"xcast_radix_bytes", OS_TYPE_SIZE, "16K", "bytes",
                                      "From how many bytes on the others spread by a binomial "
                                      "tree, else by the tree of tree_radix.", OS_UNTIL_NEVER, false},
    [OS_SETTING_XCAST_BINOMIAL_BYTES] = {"xcast_binomial_bytes", OS_TYPE_SIZE, "16K", "bytes",
                                         "From how many bytes on messages spread by a binary tree, "
                                         "in parts.", OS_UNTIL_NEVER, false},
    [OS_SETTING_LAUNCH_FAN_OUT] = {"launch_fan_out", OS_TYPE_INT, "64", "",
                                   "How many daemons mpiexec starts at a time.", OS_UNTIL_NEVER, false},
    [OS_SETTING_LAUNCH_LIMIT_MS] = {"launch_limit_ms", OS_TYPE_INT, "30000", "ms",
                                    "How long the start of a daemon may take, each time that it "
                                    "is tried.", OS_UNTIL_NEVER, false},
};

/* A value from the environment or from os_setting_put(). It is never freed, as another thread may
 * be reading it. Equal texts share one copy, so there are no more copies than different texts. */
struct kept_text {
    struct kept_text *next;
    char text[];
};

static struct {
    pthread_once_t once;
    int rc;
    char why[512];
    _Atomic int64_t value[OS_SETTING_COUNT];
    const char *_Atomic text[OS_SETTING_COUNT];
    struct os_lock put; /* guards the rest */
    struct kept_text *kept;
} settings = {.once = PTHREAD_ONCE_INIT, .put = OS_LOCK_INIT};

static int parse_choice(const char *words, const char *text, int64_t *value)
{
    size_t len = strlen(text);
    for (int i = 0;; i++) {
        size_t n = strcspn(words, "|");
        if (n == len && !strncasecmp(words, text, n)) {
            *value = i;
            return 0;
        }
        if (!words[n])
            return -EINVAL;
        words += n + 1;
    }
}

static int parse_number(const char *text, bool size, int64_t *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 0);
    if (end == text || errno)
        return -EINVAL;
    static const char units[] = "kmg";
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    if (size && unit) {
        int shift = 10 * (int)(unit - units + 1);
        if (v < 0 || v > (INT64_MAX >> shift))
            return -EINVAL;
        v <<= shift;
        end++;
    }
    if (*end || (size && v < 0))
        return -EINVAL;
    *value = v;
    return 0;
}

/* The only negative value is -1, and only if it has a meaning: then it is the initial value. No
 * time and no count exceeds INT_MOST. */
enum {
    INT_MOST = 1000000000
};

/* Nothing would go on with 0 of these. */
static const bool is_positive[OS_SETTING_COUNT] = {[OS_SETTING_LIVENESS_MS] = true,
                                                   [OS_SETTING_TREE_RADIX] = true,
                                                   [OS_SETTING_LAUNCH_FAN_OUT] = true,
                                                   [OS_SETTING_LAUNCH_LIMIT_MS] = true};

static int least_of(const struct os_setting_row *row)
{
    return row->initial[0] == '-' ? -1 : is_positive[row - os_settings];
}

static int parse_int(const struct os_setting_row *row, const char *text, int64_t *value)
{
    int rc = parse_number(text, false, value);
    return rc ? rc : *value < least_of(row) || *value > INT_MOST ? -ERANGE : 0;
}

static int parse(const struct os_setting_row *row, const char *text, int64_t *value)
{
    static const char yes_no[] = "0|1|no|yes|false|true|off|on";
    int rc = 0;
    *value = 0;
    switch (row->type) {
    case OS_TYPE_INT: rc = parse_int(row, text, value); break;
    case OS_TYPE_SIZE: rc = parse_number(text, true, value); break;
    case OS_TYPE_CHOICE: rc = parse_choice(row->unit, text, value); break;
    case OS_TYPE_BOOL:
        rc = parse_choice(yes_no, text, value);
        *value &= 1;
        break;
    case OS_TYPE_TEXT: break;
    }
    return rc;
}

static int find(const char *name, const char **nearest)
{
    int best = OS_NEAREST_FAR;
    for (int i = 0; i < OS_SETTING_COUNT; i++) {
        const char *one = os_settings[i].name;
        if (!strcasecmp(one, name))
            return i;
        int d = os_nearest_distance(name, strlen(name), one, strlen(one));
        if (d < best && os_nearest_is_near(d, strlen(name), strlen(one))) {
            best = d;
            *nearest = one;
        }
    }
    return -1;
}

static int check(const char *name, const char *text, int *id, int64_t *value, char *why,
                 size_t size)
{
    char lower[64];
    const char *nearest = "";
    snprintf(lower, sizeof(lower), "%s", name);
    for (char *c = lower; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c |= 0x20;
    *id = find(lower, &nearest);
    if (*id < 0) {
        snprintf(why, size, "no setting is called '%s'; %s%s%s", lower,
                 *nearest ? "did you mean '" : "mpiexec --help=settings lists them", nearest,
                 *nearest ? "'?" : "");
        return -EINVAL;
    }
    const struct os_setting_row *row = &os_settings[*id];
    if (parse(row, text, value)) {
        const char *kind = row->type == OS_TYPE_CHOICE ? "one of"
                           : row->type == OS_TYPE_BOOL ? "0 or 1"
                                                       : "a number of";
        char limits[40] = "";
        if (row->type == OS_TYPE_INT)
            snprintf(limits, sizeof(limits), ", from %d to %d", least_of(row), INT_MOST);
        snprintf(why, size, "setting '%s' cannot be '%s'; it takes %s%s%s%s", row->name, text, kind,
                 row->unit[0] ? " " : "", row->unit, limits);
        return -EINVAL;
    }
    return 0;
}

int os_setting_check(const char *name, const char *value, char *why, size_t size)
{
    int id;
    int64_t number;
    return check(name, value, &id, &number, why, size);
}

static void load_defaults(void)
{
    for (int i = 0; i < OS_SETTING_COUNT; i++) {
        int64_t value;
        (void)parse(&os_settings[i], os_settings[i].initial, &value);
        settings.value[i] = value;
        settings.text[i] = os_settings[i].initial;
    }
}

/* Variables that are not settings: mpiexec and the wrappers use them. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {
        "CC=", "CXX=", "FC=", "BNR_", "CONFORMANCE_DIR=", "TEST_", "BENCH_"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

static int load_environment(void)
{
    for (char **e = environ; e && *e; e++) {
        char name[64];
        const char *equals = strchr(*e, '=');
        if (strncmp(*e, "VIREO_", 6) || !equals || is_reserved(*e + 6))
            continue;
        size_t n = (size_t)(equals - *e - 6);
        if (n >= sizeof(name))
            n = sizeof(name) - 1;
        memcpy(name, *e + 6, n);
        name[n] = 0;
        int id;
        int64_t value;
        char why[400];
        int rc = check(name, equals + 1, &id, &value, why, sizeof(why));
        if (rc) {
            snprintf(settings.why, sizeof(settings.why), "VIREO_%s: %s", name, why);
            return rc;
        }
        settings.value[id] = value;
        settings.text[id] = equals + 1;
    }
    return 0;
}

/* A copy that is never freed; NULL: no memory. Called with the lock held, or before any thread can
 * put. */
static const char *keep(const char *text)
{
    size_t len = strlen(text) + 1;
    struct kept_text *kept = settings.kept;
    while (kept && strcmp(kept->text, text))
        kept = kept->next;
    if (kept)
        return kept->text;
    kept = malloc(sizeof(*kept) + len);
    if (!kept)
        return NULL;
    kept->next = settings.kept;
    memcpy(kept->text, text, len);
    settings.kept = kept;
    return kept->text;
}

static void load(void)
{
    load_defaults();
    settings.rc = load_environment();
    for (int i = 0; i < OS_SETTING_COUNT; i++) /* setenv() may free the value that it replaces */
        if (settings.text[i] != os_settings[i].initial)
            settings.text[i] = keep(settings.text[i]);
}

int os_settings_load(char *why, size_t size)
{
    pthread_once(&settings.once, load);
    if (settings.rc && why)
        snprintf(why, size, "%s", settings.why);
    return settings.rc;
}

int64_t os_setting(enum os_setting_id id)
{
    (void)os_settings_load(NULL, 0);
    return atomic_load_explicit(&settings.value[id], memory_order_relaxed);
}

int64_t os_setting_initial(enum os_setting_id id)
{
    int64_t value;
    (void)parse(&os_settings[id], os_settings[id].initial, &value);
    return value;
}

const char *os_setting_text(enum os_setting_id id)
{
    (void)os_settings_load(NULL, 0);
    const char *text = settings.text[id];
    return text ? text : "";
}

int os_setting_put(enum os_setting_id id, const char *text)
{
    const struct os_setting_row *row = &os_settings[id];
    int64_t value;
    (void)os_settings_load(NULL, 0);
    if (parse(row, text, &value))
        return -EINVAL;
    char number[24];
    if (row->type != OS_TYPE_TEXT) {
        snprintf(number, sizeof(number), "%lld", (long long)value);
        text = number;
    }
    os_lock_slow(&settings.put);
    const char *kept = keep(text);
    if (kept) {
        settings.text[id] = kept;
        settings.value[id] = value;
    }
    os_unlock_slow(&settings.put);
    return kept ? 0 : -ENOMEM;
}
