/* SPDX-License-Identifier: BSD-3-Clause */

/* A command line being read: what the files that read options share. */
#ifndef BNR_OPTION_READER_H
#define BNR_OPTION_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "bnr/options/option_table.h"
#include "bnr/options/options.h"
#include "bnr/wire/hosts.h"

enum {
    READER_MAX = 1 << 20 /* numbers and ranks */
};

struct reader {
    struct options *o;
    struct plan_app app; /* the program whose options are read */
    struct hosts listed;   /* of -host */
    struct hosts filed;    /* of -hostfile */
    struct hosts standard; /* of -default-hostfile, which the others replace */
    struct hosts allocated; /* by a batch system */
    const struct option_allocation_system *system; /* by this one */
    unsigned not_asked;    /* batch systems whose hosts are not wanted, a bit each */
    const char *rmk;       /* the words of the one that -rmk names, or NULL */
    char **relative;       /* lists of -host with +nK, which counts other hosts; NULL-terminated */
    char *rankfile;        /* its name */
    const char *iface;     /* of -iface, until the hosts are known; or NULL */
    bool is_environment;   /* a variable of mpiexec's is read, which another MPI may mean */
    char **more_lists, **more_files; /* texts of hosts beside those; NULL-terminated */
    uint32_t bind_limit;   /* ranks for each object that they are bound to; 0: not said */
    int files;             /* being read, one in the other */
    bool has_file;         /* programs were read from a file */
    bool is_elsewhere;     /* --nolocal */
    bool has_stdin;        /* --stdin was given */
    int per_host;          /* -ppn; 0: not given */
    const struct options_ask *ask; /* NULL: other hosts cannot be asked */
    int (*read)(struct reader *r); /* reads the option at argv[at]: for reader_words() */
    char **argv;
    int argc;
    int at;
    char *why;
    size_t size;
};

/* Say in one line why the command line is refused. Returns -EINVAL. */
int reader_refuse(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Read text, the value of option, as a number from least to READER_MAX. */
int reader_number(struct reader *r, const char *option, const char *text, int least, int *value);

/* Take the next word of the command line as the value of option. */
int reader_next(struct reader *r, const char *option, const char **value);

/* Append text, which passes to the list also on failure, to a NULL-terminated list. Returns 0 or
 * -ENOMEM. */
int reader_push(char ***list, char *text);

/* Read all of a file, the value of option, into *text, which the options keep. Returns 0, -EINVAL
 * or -ENOMEM. */
int reader_file(struct reader *r, const char *option, const char *name, const char **text);

/* Read words as options, in the place of one: those of format, value in the place of "%" in one of them
 * (NULL: "%" means itself). Returns 0, -EINVAL or
 * -ENOMEM. */
int reader_words(struct reader *r, const char *format, const char *value);

/* Whether the first len bytes of text are one of the words, which blanks part; in any case. */
bool reader_is_word(const char *words, const char *text, size_t len);

/* ---- option_env.c ---- */

/* Act on an option about the environment. */
int option_env_apply(struct reader *r, enum option_action action, const char *option,
                     const char *value);

/* ---- option_streams.c ---- */

/* Send stream i to files by pattern, which passes to the options. */
int option_streams_file(struct reader *r, const char *option, int i, char *pattern);

/* Send both streams to files in folder (len bytes). is_copied: mpiexec's own output gets everything,
 * too, and the job has a folder of its own, 1, in that; words behind the name may say otherwise. */
int option_streams_folder(struct reader *r, const char *option, const char *folder, size_t len,
                          bool is_copied);

/* Have lines begin by a pattern. */
int option_streams_prefix(struct reader *r, const char *option, const char *pattern);

/* Complete what was said, when all is read. */
int option_streams_settle(struct reader *r);

/* Take the words of --output. */
int option_streams_output(struct reader *r, const char *option, const char *words);

/* ---- option_ranks.c ---- */

/* Take ranks as 0,2-5, all or -1, with "!" behind them. */
int option_ranks_take(struct reader *r, const char *option, const char *text, const char **ranks);

/* Take those that read stdin, or the file that rank 0 reads. -s: if ranks follow; otherwise it asks
 * for the program on each host, where it is already. */
int option_ranks_stdin(struct reader *r, const char *option, const char *text);
int option_ranks_short_stdin(struct reader *r, const char *option);

/* When the processes are counted: check that the lists name ranks of the job, and let the first rank
 * with a terminal read stdin, if nothing else was said. */
int option_ranks_settle(struct reader *r);

/* ---- option_hosts.c ---- */

int option_hosts_take_list(struct reader *r, const char *option, const char *list);
int option_hosts_take_file(struct reader *r, const char *option, const char *name);
int option_hosts_take_standard(struct reader *r, const char *option, const char *name);
/* A list, or a file, of hosts beside those. */
int option_hosts_take_more(struct reader *r, const char *text, bool is_file);
int option_hosts_check_arch(struct reader *r, const char *option, const char *arch);

/* Settle the job's hosts, from options and batch systems; then how many processes each program has
 * that did not say it. */
int option_hosts_settle(struct reader *r);
void option_hosts_release(struct reader *r);

/* ---- option_allocation.c ---- */

/* Take a word of -rmk: whose hosts are wanted, of no other batch system. */
int option_allocation_rmk(struct reader *r, const char *option, const char *name);
/* The same from a list of Open MPI's names, or after "^" of all but those. */
int option_allocation_ras(struct reader *r, const char *option, const char *names);
/* Read the hosts that a batch system tells, if one does, into r->allocated. */
int option_allocation_read(struct reader *r);
/* When the hosts are settled: choose how they are reached, if no option says it. */
int option_allocation_settle(struct reader *r);

/* ---- option_remote.c ---- */

/* Take an option about how other hosts are reached. */
int option_remote_take(struct reader *r, enum option_action action, const char *option,
                       const char *value);
/* Take a program with its options in place of ssh: of several, which colons part, the first that is
 * installed. */
int option_remote_agent(struct reader *r, const char *option, const char *agents);
/* Whether the first word of a command is a program that is installed here. */
bool option_remote_finds(const char *command);
/* Take options more for ssh and the like, or for srun. */
int option_remote_more(struct reader *r, const char *option, const char *words, bool is_srun);

/* ---- option_mca.c, option_iface.c ---- */

/* Take a parameter, whose value is the next word. */
int option_mca(struct reader *r, const char *option, const char *name);
/* Take the name of Open MPI's own daemon, and no other. */
int option_mca_daemon(struct reader *r, const char *option, const char *value);
/* Take those of mpiexec's environment, and what Hydra reads there. */
int option_mca_environment(struct reader *r);
/* Take those of files, parted by commas. */
int option_mca_files(struct reader *r, const char *option, const char *names);

/* Have the tcp channel use the addresses of interfaces, or in networks, parted by commas; after "^" all
 * but those. Each host looks them up for itself. */
int option_iface(struct reader *r, const char *option, const char *list);
/* When the hosts are settled: refuse missing interfaces, if this is the only host. */
int option_iface_settle(struct reader *r);

/* ---- option_words.c: options whose value is a list of words ---- */

int option_words_display(struct reader *r, const char *option, const char *text);
int option_words_runtime(struct reader *r, const char *option, const char *text);
int option_words_signals(struct reader *r, const char *option, const char *text);
int option_words_off(struct reader *r, const char *option, const char *text);

/* ---- option_place.c ---- */

int option_place_rankfile(struct reader *r, const char *option, const char *name);
int option_place_map(struct reader *r, const char *option, const char *text);
int option_place_rank(struct reader *r, const char *option, const char *text);
int option_place_bind(struct reader *r, const char *option, const char *text);
int option_place_memory(struct reader *r, const char *option, const char *text);

/* Complete what was said, when all is read. */
int option_place_settle(struct reader *r);

/* When the processes are counted: obey a limit of them for each object that they are bound to. */
int option_place_limit(struct reader *r);

/* How many objects of the kind that --map-by ppr:N:OBJECT names the job's hosts have. */
int option_place_objects(struct reader *r, uint64_t *objects);

#endif
