/* SPDX-License-Identifier: BSD-3-Clause */

/* mpiexec's command line, as a table of lines and what they must mean. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "bnr/options/option_table.h"
#include "bnr/options/options.h"
#include "test/bnr/command_line.h"

/* Write what was parsed as one line: the job's flags, then each program. */
static void show_list(FILE *to, const char *name, char **list)
{
    for (; list && *list; list++)
        fprintf(to, " %s=%s", name, *list);
}

static void show_env(FILE *to, const struct plan_env *env)
{
    if (env->pass)
        fprintf(to, " pass%d", (int)env->pass);
    show_list(to, "list", env->list);
    show_list(to, "not", env->without);
    show_list(to, "set", env->set);
}

static void show_level(FILE *to, const char *name, enum placement_level level)
{
    static const char words[][9] = {"hwthread", "core", "l1", "l2", "l3", "l4", "l5", "numa", "package"};
    if (level < PLACEMENT_NODE)
        fprintf(to, " %s %s", name, words[level]);
}

static void show_place(FILE *to, const struct start_wish *p)
{
    const struct {
        bool is_set;
        const char *word;
    } flags[] = {{p->is_spanning, "span"},   {p->is_filling, "fill"},   {p->is_spread, "spread"},
                 {p->is_limited, "limited"}, {p->may_overload, "overload"},
                 {p->by_thread, "threads"},  {p->if_supported, "if"},
                 {p->is_ordered, "ordered"}};
    show_level(to, "map", p->map);
    show_level(to, "bind", p->bind);
    show_level(to, "rank", p->rank_by);
    if (p->ppr)
        fprintf(to, " ppr %u", p->ppr);
    if (p->pe)
        fprintf(to, " pe %u", p->pe);
    if (p->width)
        fprintf(to, " width %u", p->width);
    if (p->user)
        fprintf(to, " user %s", p->user);
    if (p->device)
        fprintf(to, " %s %s", p->by_distance ? "by distance from" : "near", p->device);
    if (p->list)
        fprintf(to, " list %s", p->list);
    if (p->allowed)
        fprintf(to, " set %s", p->allowed);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (flags[i].is_set)
            fprintf(to, " %s", flags[i].word);
    if (p->memory)
        fprintf(to, " memory %d %llx", (int)p->memory, (unsigned long long)p->nodes[0]);
}

static void show_remote(FILE *to, const struct plan_remote *remote)
{
    const struct {
        const char *name, *value;
    } texts[] = {{"command", remote->command}, {"program", remote->program}, {"agent", remote->agent},
                 {"ssh +", remote->ssh_more},  {"srun +", remote->srun_more}};
    if (remote->launcher == PLAN_LAUNCHER_SRUN)
        fprintf(to, " srun");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].value)
            fprintf(to, " %s %s", texts[i].name, texts[i].value);
}

static char *show(const struct options *o)
{
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);
    fprintf(to, "%d%s%s%s%s%s%s%s", o->plan.nranks, o->label ? " label" : "", o->plan.verbose ? " verbose" : "",
            o->plan.report ? " report" : "", o->check ? " check" : "", o->version ? " version" : "",
            o->plan.merge ? " merge" : "", o->plan.goes_on ? " goes on" : "");
    if (o->plan.universe_size)
        fprintf(to, " universe %d", o->plan.universe_size);
    for (int i = 0; i < 2; i++)
        if (o->plan.files.pattern[i])
            fprintf(to, " file%d=%s", i + 1, o->plan.files.pattern[i]);
    if (o->plan.start.stop)
        fprintf(to, " stop %d", (int)o->plan.start.stop);
    fprintf(to, "%s%s%s%s", o->has_totalview ? " totalview" : "", o->plan.has_keepalive ? " kept" : "",
            o->plan.start.agent ? " by " : "", o->plan.start.agent ? o->plan.start.agent : "");
    if (o->plan.xml)
        fprintf(to, " xml%s%s", o->xml_file ? " " : "", o->xml_file ? o->xml_file : "");
    if (o->report_pid)
        fprintf(to, " pid %s", o->report_pid);
    fprintf(to, "%s%s%s", o->plan.files.is_copied ? " copied" : "", o->is_background ? " background" : "",
            o->shows_settings ? " settings shown" : "");
    if (o->plan.prefix && strcmp(o->plan.prefix, "[%r] "))
        fprintf(to, " prefix %s", o->plan.prefix);
    show_place(to, &o->plan.start);
    show_remote(to, &o->plan.remote);
    if (o->help)
        fprintf(to, " help%d", (int)o->help);
    if (o->plan.timeout_s > 0)
        fprintf(to, " timeout %g", o->plan.timeout_s);
    if (o->plan.shows_progress)
        fprintf(to, " progress");
    if (!o->plan.start.stdin_to || strcmp(o->plan.start.stdin_to, "0"))
        fprintf(to, " stdin %s", o->plan.start.stdin_to ? o->plan.start.stdin_to : "none");
    show_env(to, &o->plan.env);
    show_list(to, "setting", o->plan.settings);
    for (int i = 0; i < o->plan.napps; i++) {
        fprintf(to, " | %d", o->plan.apps[i].count);
        if (o->plan.apps[i].wdir)
            fprintf(to, " in %s", o->plan.apps[i].wdir);
        fprintf(to, "%s", o->plan.apps[i].in_session ? " in a folder of its own" : "");
        show_env(to, &o->plan.apps[i].env);
        for (char **a = o->plan.apps[i].argv; *a; a++)
            fprintf(to, " %s", *a);
    }
    fclose(to);
    return text;
}

static const struct {
    const char *line;
    const char *expect;
} good[] = {
    {"prog", "1 | 1 prog"},
    {"-n 4 prog a -n 3", "4 | 4 prog a -n 3"},
    {"-np 4 prog", "4 | 4 prog"},
    {"--np 4 prog", "4 | 4 prog"},
    {"--n 4 prog", "4 | 4 prog"},
    {"-c 4 prog", "4 | 4 prog"},
    {"-n=4 prog", "4 | 4 prog"},
    {"--np=4 prog", "4 | 4 prog"},
    {"-N 3 prog", "3 | 3 prog"},
    {"-N 3 -n 2 prog", "2 | 2 prog"},
    {"-n 1 a x : -n 2 b y z : c", "4 | 1 a x | 2 b y z | 1 c"},
    {"-n 2 -- -prog", "2 | 2 -prog"},
    {"-n 2 - x", "2 | 2 - x"},
    {"-l prog", "1 label | 1 prog"},
    {"-prepend-rank prog", "1 label | 1 prog"},
    {"--tag-output prog", "1 label | 1 prog"},
    {"--label prog", "1 label | 1 prog"},
    {"-tag-output prog", "1 label | 1 prog"},
    {"--output tag prog", "1 label | 1 prog"},
    {"--output=tag prog", "1 label | 1 prog"},
    {"-v prog", "1 verbose | 1 prog"},
    {"--check prog", "1 check setting=VIREO_CHECK=1 | 1 prog"},
    {"-verbose --report prog", "1 verbose report setting=VIREO_REPORT=1 | 1 prog"},
    {"--version", "0 version"},
    {"-V", "0 version"},
    {"-n 4 --help", "0 help1"},
    {"-h", "0 help1"},
    {"--help=man", "0 help2"},
    {"--help=settings", "0 help3"},
    {"--help=all", "0 help5"},
    {"--timeout 2.5 prog", "1 timeout 2.5 | 1 prog"},
    {"--timeout 0 prog", "1 | 1 prog"},
    {"-n 4 --stdin 3 prog", "4 stdin 3 | 4 prog"},
    {"-n 4 --stdin 0,2-3 prog", "4 stdin 0,2-3 | 4 prog"},
    {"--stdin all prog", "1 stdin all | 1 prog"},
    {"-s none prog", "1 stdin none | 1 prog"},
    {"-env A 1 prog : -env B 2 prog", "2 | 1 set=A=1 prog | 1 set=B=2 prog"},
    {"-env A=1 prog", "1 | 1 set=A=1 prog"},
    {"-env A= prog", "1 | 1 set=A= prog"},
    {"-genv A 1 prog : prog", "2 set=A=1 | 1 prog | 1 prog"},
    {"prog : -genv A 1 prog", "2 set=A=1 | 1 prog | 1 prog"},
    {"-x A -x B=x=y prog", "1 | 1 list=A set=B=x=y prog"},
    {"-envlist A,B prog", "1 | 1 pass3 list=A list=B prog"},
    {"-genvlist A prog", "1 pass3 list=A | 1 prog"},
    {"-genvnone -envall prog", "1 pass2 | 1 pass1 prog"},
    {"-genvall -envnone prog", "1 pass1 | 1 pass2 prog"},
    {"-wdir /tmp prog : -wd / prog", "2 | 1 in /tmp prog | 1 in / prog"},
    {"--wdir=/tmp prog", "1 | 1 in /tmp prog"},
    {"--set channels=tcp,loopback prog", "1 setting=VIREO_CHANNELS=tcp,loopback | 1 prog"},
    {"--allow-run-as-root --oversubscribe -oversubscribe -q prog", "1 overload | 1 prog"},
    {"-host localhost,127.0.0.1:4,::1,localhost:2 prog", "8 | 8 prog"},
    {"-n 3 -host localhost:2 prog", "3 | 3 prog"},
    {"--host localhost:2 prog", "2 | 2 prog"},
    {"-hosts localhost,localhost prog", "2 | 2 prog"},
    {"-hosts localhost:4 -n 1 a : b", "5 | 1 a | 4 b"},
    {"-ppn 2 prog", "2 | 2 prog"},
    {"-ppn 2 -n 5 prog", "5 | 5 prog"},
    {"-perhost 2 -hosts localhost:4 prog", "2 | 2 prog"},
    {"-npernode 2 -hosts localhost:4 prog", "2 | 2 prog"},
    {"--bind-to none --map-by slot -map-by core:oversubscribe prog", "1 map core | 1 prog"},
    {"--bind-to core prog", "1 map core bind core | 1 prog"},
    {"-bind-to socket:2 prog", "1 map package bind package width 2 | 1 prog"},
    {"-bind-to core:2 -map-by core:2 prog", "1 bind core pe 2 | 1 prog"},
    {"--map-by package:PE=2,span prog", "1 map package bind core pe 2 spread | 1 prog"},
    {"--map-by numa --bind-to none prog", "1 map numa | 1 prog"},
    {"--rank-by core:span --map-by socket prog",
     "1 map package bind package rank core span | 1 prog"},
    {"--rank-by fill --map-by socket prog",
     "1 map package bind package rank package fill | 1 prog"},
    {"--bind-to core:overload-allowed:if-supported prog",
     "1 map core bind core overload if | 1 prog"},
    {"-bind-to user:0+2,1 prog", "1 user 0+2,1 | 1 prog"},
    {"-bind-to rr prog", "1 user  | 1 prog"},
    {"--cpu-list 0,1 --bind-to cpu-list:ordered prog", "1 list 0,1 ordered | 1 prog"},
    {"--map-by pe-list=0,1:ordered prog", "1 list 0,1 ordered | 1 prog"},
    {"--map-by pe-list=0-1 prog", "1 list 0-1 | 1 prog"},
    {"--cpu-set 0-3 --use-hwthread-cpus prog", "1 set 0-3 threads | 1 prog"},
    {"--nooversubscribe prog", "1 limited | 1 prog"},
    {"--map-by ppr:2:node:pe=2 prog", "2 bind core pe 2 | 2 prog"},
    {"--map-by ppr:2:socket -n 3 prog", "3 map package bind package ppr 2 | 3 prog"},
    {"-npersocket 2 -n 2 prog", "2 map package bind package ppr 2 | 2 prog"},
    {"-pernode prog", "1 | 1 prog"},
    {"-rr prog", "1 | 1 prog"},
    {"--nolocal -host localhost:3,other.host:2 prog", "2 | 2 prog"},
    {"-map-by core:2 prog", "1 bind core pe 2 | 1 prog"},
    {"-map-by numa:2 prog", "1 map numa bind numa width 2 | 1 prog"},
    {"--map-by seq:file=/dev/null prog", "1 | 1 prog"},
    {"--output file=F:nocopy,tag:raw prog", "1 label file1=F.%R.out file2=F.%R.err | 1 prog"},
    {"--mca rmaps_rank_file_physical 0 prog", "1 | 1 prog"},
    {"--rtos timeout=5,recoverable,show-progress prog", "1 goes on timeout 5 progress | 1 prog"},
    {"--rtos CONT=0,error prog", "1 | 1 prog"},
    {"--display map,bind,topo,comm prog", "1 report setting=VIREO_REPORT=1 | 1 prog"},
    {"--forward-signals USR1,SIGTERM prog", "1 | 1 prog"},
    {"--max-restarts 0 --with-ft none --gpu-support false prog", "1 | 1 prog"},
    {"-s prog", "1 | 1 prog"},
    {"-s all prog", "1 stdin all | 1 prog"},
    {"--debug-daemons -d -novm --tmpdir /tmp prog", "1 verbose | 1 prog"},
    {"-cpus-per-proc 3 prog", "1 bind core pe 3 | 1 prog"},
    {"--bind-to-socket prog", "1 map package bind package | 1 prog"},
    {"-membind bind:0,2-3 prog", "1 memory 2 d | 1 prog"},
    {"-membind firsttouch -membind none prog", "1 | 1 prog"},
    {"--map-by :OVERSUBSCRIBE prog", "1 | 1 prog"},
    {"--mca mpi_yield_when_idle 1 prog", "1 | 1 prog"},
    {"--mca btl self,vader,tcp prog", "1 | 1 prog"},
    {"--mca btl self,sm prog", "1 setting=VIREO_CHANNELS=loopback,shm | 1 prog"},
    {"-mca btl tcp,self prog", "1 setting=VIREO_CHANNELS=loopback,tcp | 1 prog"},
    {"-mca btl ^tcp,openib prog", "1 setting=VIREO_CHANNELS=loopback,shm | 1 prog"},
    {"-mca btl ^openib prog", "1 | 1 prog"},
    {"-mca btl self prog", "1 setting=VIREO_CHANNELS=loopback | 1 prog"},
    {"--mca pml ob1 --mca mtl ofi -mca osc ucx -mca coll ^tuned -mca io romio321 prog",
     "1 | 1 prog"},
    {"--mca coll_tuned_use_dynamic_rules 1 --mca btl_base_verbose 30 prog", "1 | 1 prog"},
    {"--mca hwloc_base_binding_policy core prog", "1 map core bind core | 1 prog"},
    {"--mca rmaps_base_mapping_policy socket:pe=2 prog", "1 map package bind core pe 2 | 1 prog"},
    {"--mca rmaps_base_oversubscribe true prog", "1 overload | 1 prog"},
    {"--mca rmaps_base_oversubscribe 0 prog", "1 | 1 prog"},
    {"--mca orte_tag_output 1 prog", "1 label | 1 prog"},
    {"--mca btl_tcp_if_include 127.0.0.1/32 prog",
     "1 setting=VIREO_TCP_ADDRESSES=127.0.0.1/32 | 1 prog"},
    {"-iface 127.0.0.1/32 prog", "1 setting=VIREO_TCP_ADDRESSES=127.0.0.1/32 | 1 prog"},
    {"-iface ib7 -host there prog", "1 setting=VIREO_TCP_ADDRESSES=ib7 | 1 prog"},
    {"--mca btl_tcp_if_exclude docker7 prog", "1 setting=VIREO_TCP_ADDRESSES=^docker7 | 1 prog"},
    {"--mca plm_rsh_agent rsh prog", "1 agent rsh | 1 prog"},
    {"--mca plm_rsh_agent no.such:/bin/sh prog", "1 agent /bin/sh | 1 prog"},
    {"--prtemca plm_ssh_agent rsh --mca plm_ssh_args -4 prog", "1 agent rsh ssh + -4 | 1 prog"},
    {"--mca plm_slurm_args -pdebug --mca plm slurm prog", "1 srun srun + -pdebug | 1 prog"},
    {"-launcher rsh prog", "1 agent rsh | 1 prog"},
    {"-launcher rsh -launcher ssh prog", "1 | 1 prog"},
    {"--mca iof_base_redirect_app_stderr_to_stdout 1 prog", "1 merge | 1 prog"},
    {"--mca orte_abort_on_non_zero_status 1 prog", "1 | 1 prog"},
    {"--mca orte_launch_agent /opt/openmpi/bin/orted --launch-agent prted prog", "1 | 1 prog"},
    {"--rtos error-nonzero-status=1,fwd-environment prog", "1 | 1 prog"},
    {"-ppn 2 -launcher ssh prog", "2 | 2 prog"},
    {"--use-hwthread-cpus -soft 1:8:2 -demux poll -byslot prog", "1 threads | 1 prog"},
    {"-usize 9 -n 4 prog", "4 universe 9 | 4 prog"},
    {"-n 4 prog : -usize INFINITE prog", "5 universe 1048576 | 4 prog | 1 prog"},
    {"-disable-auto-cleanup prog", "1 goes on | 1 prog"},
    {"--enable-recovery prog", "1 goes on | 1 prog"},
    {"-enable-auto-cleanup prog", "1 | 1 prog"},
    {"--output-filename F prog",
     "1 file1=F/1/rank.%R/stdout file2=F/1/rank.%R/stderr copied | 1 prog"},
    {"--output-filename=a%b:nocopy prog",
     "1 file1=a%%b/1/rank.%R/stdout file2=a%%b/1/rank.%R/stderr | 1 prog"},
    {"--output-filename F:nojobid,NOCOPY prog",
     "1 file1=F/rank.%R/stdout file2=F/rank.%R/stderr | 1 prog"},
    {"--xml --output-filename F:copy,b prog",
     "1 file1=F:copy,b/1/rank.%R/stdout file2=F:copy,b/1/rank.%R/stderr xml copied | 1 prog"},
    {"--output tag,dir=F prog", "1 label file1=F/rank.%R/stdout file2=F/rank.%R/stderr | 1 prog"},
    {"-outfile-pattern o.%r -errfile-pattern e.%h.%% prog", "1 file1=o.%r file2=e.%h.%% | 1 prog"},
    {"-outfile-pattern a -outfile-pattern b prog", "1 file1=b | 1 prog"},
    {"--merge-stderr-to-stdout --output-filename F:nocopy prog",
     "1 merge file1=F/1/rank.%R/stdout | 1 prog"},
    {"--output timestamp,tag prog", "1 label prefix [%T] [%r]  | 1 prog"},
    {"--timestamp-output prog", "1 prefix [%T]  | 1 prog"},
    {"--output tag-detailed prog", "1 prefix [%r][%h:%i]<%s>:  | 1 prog"},
    {"-l -prepend-pattern %r> prog", "1 label prefix %r> | 1 prog"},
    {"--output file=F prog", "1 file1=F.%R.out file2=F.%R.err | 1 prog"},
    {"--output file=F:copy prog", "1 file1=F.%R.out file2=F.%R.err copied | 1 prog"},
    {"--output json,file=F:copy prog", "1 file1=F.%R.out file2=F.%R.err copied | 1 prog"},
    {"--output dir=F:copy prog", "1 file1=F/rank.%R/stdout file2=F/rank.%R/stderr copied | 1 prog"},
    {"--output-filename F:nojobid,copy prog",
     "1 file1=F/rank.%R/stdout file2=F/rank.%R/stderr copied | 1 prog"},
    {"--xml prog", "1 xml | 1 prog"},
    {"-n 3 --bind-to l4cache:limit=2 prog", "3 map l4 bind l4 ppr 2 | 3 prog"},
    {"-tv --keepalive 0 --exec-agent /bin/env prog", "1 totalview kept by /bin/env | 1 prog"},
    {"-host localhost:2 --add-host localhost:3 prog", "5 | 5 prog"},
    {"--add-host localhost:3 prog", "4 | 4 prog"},
    {"--rtos exec-agent=/bin/env,autorestart=no prog", "1 by /bin/env | 1 prog"},
    {"--set-cwd-to-session-dir prog : b", "2 | 1 in a folder of its own prog | 1 b"},
    {"--pset one a : b : --pset two c", "3 setting=VIREO_PSETS=one,,two | 1 a | 1 b | 1 c"},
    {"-bind-to gpu:1 prog", "1 near gpu:1 | 1 prog"},
    {"-bind-to pci:0000:00:03.0 prog", "1 near pci:0000:00:03.0 | 1 prog"},
    {"-bind-to eth0 prog", "1 near eth0 | 1 prog"},
    {"--map-by dist:eth0 prog", "1 by distance from eth0 | 1 prog"},
    {"--map-by device=gpu prog", "1 by distance from gpu | 1 prog"},
    {"--stop-on-exec prog", "1 stop 1 | 1 prog"},
    {"--rtos stop-on-exec prog", "1 stop 1 | 1 prog"},
    {"--rtos stop-in-init prog", "1 stop 2 | 1 prog"},
    {"--stop-in-init prog", "1 stop 2 | 1 prog"},
    {"--stop-in-app prog", "1 stop 2 | 1 prog"},
    {"--output xml prog", "1 xml | 1 prog"},
    {"--xml-file F prog", "1 xml F | 1 prog"},
    {"--daemonize prog", "1 background | 1 prog"},
    {"--mca mpi_show_mca_params all prog", "1 settings shown | 1 prog"},
    {"--mca mpi_show_mca_params 0 prog", "1 | 1 prog"},
    {"--stream-buffering 1 prog", "1 setting=VIREO_STREAM_BUFFERING=1 | 1 prog"},
    {"--report-uri + prog", "1 pid + | 1 prog"},
    {"--output file=F%r:pattern prog", "1 file1=F%r.out file2=F%r.err | 1 prog"},
    {"-envexcl A,B* prog : -genvexcl C prog", "2 not=C | 1 not=A not=B* prog | 1 prog"},
    {"--unset-env A prog", "1 | 1 not=A prog"},
    {"--set-env A=1 prog", "1 | 1 set=A=1 prog"},
    {"-env A 1 --append-env A[:] 2 --prepend-env A[:] 0 prog",
     "1 | 1 set=A=1 set=A=1:2 set=A=0:1:2 prog"},
    {"--pty -n 2 prog", "2 | 2 prog"},
    {"--pty=3,1 -n 4 prog", "4 stdin 1 | 4 prog"},
    {"--pty=1 --stdin 0 -n 2 prog", "2 | 2 prog"},
    {"--output=merge prog", "1 merge | 1 prog"},
    {"-info", "0 version"},
    {"-localonly -pmi-port -n 2 prog", "2 | 2 prog"},
    {"--personality ompi --get-stack-traces --preload-binary prog", "1 | 1 prog"},
    {"--prtemca rmaps_default_mapping_policy :oversubscribe prog", "1 | 1 prog"},
    {"--pmixmca mpi_yield_when_idle 1 prog", "1 | 1 prog"},
    {"--map-by ppr:3:node prog : -n 1 b", "4 | 3 prog | 1 b"},
    {"--map-by ppr:3:NODE:oversubscribe -n 2 prog", "2 | 2 prog"},
    {"-hostfile /dev/null prog", "1 | 1 prog"},
    {"-initial-errhandler mpi_errors_return prog : prog",
     "2 | 1 set=VIREO_INITIAL_ERRHANDLER=return prog | 1 prog"},
    {"prog : --initial-errhandler=MPI_Errors_Abort prog",
     "2 | 1 prog | 1 set=VIREO_INITIAL_ERRHANDLER=Abort prog"},
    {"-memory-alloc-kinds mpi:alloc_mem:win_allocate,system,cuda:device prog",
     "1 | 1 set=VIREO_MEMORY_ALLOC_KINDS=mpi:alloc_mem:win_allocate,system,cuda:device prog"},
    {"--memory-alloc-kinds= prog", "1 | 1 set=VIREO_MEMORY_ALLOC_KINDS= prog"},
};

static void good_lines_parse(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct options o;
        struct line l;
        char why[256] = "";
        split(&l, good[i].line);
        if (options_parse(&o, l.argc, l.argv, why, sizeof(why)))
            fail_msg("%s: refused: %s", good[i].line, why);
        char *text = show(&o);
        if (strcmp(text, good[i].expect))
            fail_msg("%s: got \"%s\", not \"%s\"", good[i].line, text, good[i].expect);
        free(text);
        options_free(&o);
    }
}

/* Each line must be refused with a sentence that holds the words. */
static const struct {
    const char *line;
    const char *words;
} bad[] = {
    {"", "no program"},
    {"-n 2", "no program"},
    {"-n 2 a :", "':'"},
    {": a", "':'"},
    {"-n", "needs a value"},
    {"-n 0 prog", "1 to"},
    {"-n -3 prog", "'-3'"},
    {"-n 3x prog", "'3x'"},
    {"-n 99999999999999999999 prog", "1 to"},
    {"-n 1048576 a : b", "more than"},
    {"-nq 2 prog", "did you mean '-n"},
    {"--tagoutput prog", "did you mean '--tag-output'"},
    {"--timeot 3 prog", "did you mean '--timeout'"},
    {"--zzzzzz prog", "--help"},
    {"-l=3 prog", "takes no value"},
    {"--timeout x prog", "seconds"},
    {"--timeout -1 prog", "seconds"},
    {"--timeout nan prog", "seconds"},
    {"--stdin some prog", "none, all, ranks as 0,2-5, or a file"},
    {"-n 2 --stdin 2 prog", "last rank is 1"},
    {"-n 2 --stdin 0-2 prog", "last rank is 1"},
    {"-n 2 --stdin 0, prog", "ranks as 0,2-5"},
    {"-env =x prog", "name of a variable"},
    {"-env A", "needs a value"},
    {"-x =1 prog", "name of a variable"},
    {"--set channels prog", "NAME=VALUE"},
    {"--set chanels=tcp prog", "'channels'"},
    {"--set spin_us=fast prog", "cannot be 'fast'"},
    {"--output xlm prog", "'xlm'"},
    {"--xml-file", "needs a value"},
    {"--pset a,b prog", "without blanks and commas"},
    {"--pset mpi://WORLD prog", "mpi:// or vireo://"},
    {"--pset one a : --pset one b", "have that name already"},
    {"--xml --timestamp-output prog", "XML has the rank"},
    {"--xml --output json prog", "not both"},
    {"--xml --outfile f prog", "XML is what mpiexec itself writes"},
    {"--xml --pty prog", "leave out --xml"},
    {"--stream-buffering 3 prog", "auto|0|1|2"},
    {"--help=me", "all, man and settings"},
    {"--launcher-cmd enter prog", "%h"},
    {"-launcher lsf prog", "launcher-cmd"},
    {"--daemon-link udp prog", "tcp or stdio"},
    {"-hostfile no/such/file prog", "cannot read it: No such file"},
    {"-f /etc/passwd prog", "is no name of a host"},
    {"--bind-to corn prog", "not 'corn'"},
    {"--bind-to slot prog", "not 'slot'"},
    {"--bind-to core:2x prog", "not '2x'"},
    {"--bind-to core: prog", "a qualifier is missing"},
    {"--bind-to tpu:1 prog", "not 'tpu'"},
    {"--map-by dist: prog", "not 'dist'"},
    {"--map-by dist:eth0 --bind-to numa prog", "leave --bind-to out"},
    {"--bind-to cpu-list prog", "name it: --cpu-list"},
    {"--map-by dist prog", "not 'dist'"},
    {"--map-by core::pe=2 prog", "a qualifier is missing"},
    {"--map-by core:pe=0 prog", "from 1 to"},
    {"--map-by core:nolocal prog", "leaves no host"},
    {"--nolocal -host localhost,127.0.0.1 prog", "leaves no host"},
    {"--map-by core:2 --bind-to numa prog", "--bind-to OBJECT:2"},
    {"--map-by ppr:2 prog", "takes an object"},
    {"--map-by ppr:2:slot prog", "not 'slot'"},
    {"--map-by rankfile prog", "rankfile:file=FILE"},
    {"--rank-by none prog", "not 'none'"},
    {"--rankfile no/such/file prog", "cannot read it"},
    {"-membind some prog", "not 'some'"},
    {"-membind bind:0- prog", "not '0-'"},
    {"-membind bind:4096 prog", "below 1024"},
    {"-membind nexttouch prog", "no such policy"},
    {"--map-by ppr:x:node prog", "not 'x'"},
    {"--map-by ppr:2:node -n 3 prog", "more than the 2 processes a host"},
    {"-npernode 2 -n 3 prog", "more than the 2 processes a host"},
    {"-np4 prog", "did you mean '-np 4'"},
    {"--rtos timeout=x prog", "seconds"},
    {"--rtos exec-agent prog", "needs the name of a program"},
    {"--rtos autorestart prog", "cannot take its rank's place"},
    {"--rtos re prog", "knows no word 're'"},
    {"--display some prog", "knows no word 'some'"},
    {"--forward-signals USR1,ALRM prog", "'--forward-signals ALRM'"},
    {"--max-restarts 3 prog", "no such thing"},
    {"--ompi-server file:x prog", "publishes none"},
    {"--dvm prog", "each job starts its own daemons"},
    {"--keepalive 99 prog", "no such descriptor is open"},
    {"--add-host a: prog", "--add-host a:"},
    {"--bind-to none:limit=2 prog", "leave --map-by out"},
    {"--debugger ddt prog", "knows gdb and lldb"},
    {"--prtemca of_none x prog", "'--prtemca of_none'"},
    {"--map-by : prog", "qualifiers are expected"},
    {"--mca btl openib prog", "leaves none of the transports"},
    {"--mca btl ^sm,tcp prog", "leaves none of the transports"},
    {"--mca btl", "needs a value"},
    {"--mca rmaps_rank_file_physical 1 prog", "has no like here"},
    {"--mca plm_rsh_agent : prog", "needs the name of a program"},
    {"--mca plm alps prog", "rsh, ssh or slurm, not 'alps'"},
    {"--launch-agent /opt/wrap prog", "--prefix DIR says where"},
    {"--mca orte_abort_on_non_zero_status 0 prog", "--continuous"},
    {"--mca mpi_show_handle_leaks 1 prog", "--check"},
    {"--mca mpi_cuda_support 1 prog", "has no like here"},
    {"--mca hwloc_base_topo_file x.xml prog", "HWLOC_XMLFILE"},
    {"--mca btl_tcp_port_min_v4 5000 prog", "ip_local_port_range"},
    {"--mca oob_tcp_dynamic_ipv4_ports 5000-5100 prog", "ip_local_port_range"},
    {"--mca ras alps prog", "'ras' takes slurm, tm"},
    {"--rtos error-nonzero-status=0 prog", "--continuous"},
    {"--rtos fwd-environment=false prog", "-genvnone"},
    {"-rmk pbs prog", "no variable of the environment tells hosts of such a job"},
    {"-rmk moab prog", "takes slurm, pbs"},
    {"-rankmap (0,2) prog", "--rankfile says"},
    {"-order-nodes DOWN prog", "in the order in which they are named"},
    {"-host +n0 prog", "counts the hosts of a hostfile"},
    {"-host +e:2 prog", "+nK is the Kth host"},
    {"-iface ^127.0.0.0/0,::/0 prog", "leaves no address"},
    {"--mca nothing_of_it x prog", "--help=settings"},
    {"--mca orte_report_uri x prog", "has no like here"},
    {"--mca hwloc_base_binding_policy corn prog", "not 'corn'"},
    {"-iface no.such0 prog", "no interface 'no.such0'"},
    {"-iface 127.0.0.1/33 prog", "no interface"},
    {"-configfile no/such/file", "cannot read it"},
    {"--tune no/such/file prog", "cannot read it"},
    {"-usize 3 -n 4 prog", "no room for the 4 processes"},
    {"-usize 0 prog", "1 to"},
    {"-usize some prog", "'some'"},
    {"-outfile-pattern o.%d prog", "not 'o.%d'"},
    {"-outfile-pattern o% prog", "not 'o%'"},
    {"--output-filename :nocopy prog", "name of a folder"},
    {"--output-filename", "needs a value"},
    {"--output dir= prog", "not 'dir='"},
    {"--output tag,xlm prog", "not 'xlm'"},
    {"-prepend-pattern %x prog", "not '%x'"},
    {"--pty=1- prog", "not '1-'"},
    {"--pty=2,3 -n 2 prog", "the last rank is 1"},
    {"--pty --output file=F prog", "leave out what names files"},
    {"--pty --output-from 0 prog", "leave out --output-from"},
    {"--output json,color prog", "JSON has the rank"},
    {"--output json,file=F prog", "JSON is what mpiexec itself writes"},
    {"--xterm 1- prog", "not '1-'"},
    {"--output-from some prog", "not 'some'"},
    {"-gpus-per-proc x prog", "not 'x'"},
    {"--append-env A 2 prog", "what parts its values"},
    {"--append-env A[:]", "needs a value"},
    {"--rankfile f prog", "cannot read it"},
    {"-soft", "needs a value"},
    {"-initial-errhandler return prog",
     "takes mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, not 'return'"},
    {"-initial-errhandler= prog", "not ''"},
    {"-initial-errhandler", "needs a value"},
    {"--initial-errhander x prog", "did you mean '--initial-errhandler'"},
    {"-arch none.such prog", "'-arch none.such': all hosts of a job have one architecture"},
    {"-memory-alloc-kinds mpi,,system prog", "such as mpi,system"},
    {"-memory-alloc-kinds mpi: prog", "not 'mpi:'"},
    {"-memory-alloc-kinds :alloc_mem prog", "not ':alloc_mem'"},
    {"-memory-alloc-kinds mpi;system prog", "not 'mpi;system'"},
    {"-memory-alloc-kinds system, prog", "not 'system,'"},
};

static void bad_lines_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct options o;
        struct line l;
        char why[256] = "";
        split(&l, bad[i].line);
        int rc = options_parse(&o, l.argc, l.argv, why, sizeof(why));
        if (rc != (-EINVAL))
            fail_msg("%s: returned %d", bad[i].line, rc);
        if (!strstr(why, bad[i].words))
            fail_msg("%s: \"%s\" has no \"%s\"", bad[i].line, why, bad[i].words);
        assert_null(strchr(why, '\n'));
        options_free(&o);
    }
}

static void timeout_comes_from_the_environment(void **state)
{
    char why[256];
    struct options o;
    struct line l;
    (void)state;
    setenv("MPIEXEC_TIMEOUT", "7", 1);
    split(&l, "prog");
    assert_int_equal(options_parse(&o, l.argc, l.argv, why, sizeof(why)), 0);
    assert_true(o.plan.timeout_s == 7);
    options_free(&o);
    split(&l, "--timeout 3 prog");
    assert_int_equal(options_parse(&o, l.argc, l.argv, why, sizeof(why)), 0);
    assert_true(o.plan.timeout_s == 3);
    options_free(&o);
    setenv("MPIEXEC_TIMEOUT", "soon", 1);
    split(&l, "prog");
    assert_int_equal(options_parse(&o, l.argc, l.argv, why, sizeof(why)), -EINVAL);
    assert_non_null(strstr(why, "MPIEXEC_TIMEOUT"));
    unsetenv("MPIEXEC_TIMEOUT");
}

static void parameters_come_from_the_environment(void **state)
{
    static const struct {
        const char *name, *value, *line, *expect;
    } rows[] = {
        {"OMPI_MCA_btl", "tcp,self", "prog", "1 setting=VIREO_CHANNELS=loopback,tcp | 1 prog"},
        {"OMPI_MCA_btl", "openib", "prog", "1 | 1 prog"}, /* for another MPI */
        {"OMPI_MCA_btl", "tcp,self", "-mca btl sm prog",
         "1 setting=VIREO_CHANNELS=loopback,tcp setting=VIREO_CHANNELS=loopback,shm | 1 prog"},
        {"OMPI_MCA_hwloc_base_binding_policy", "socket", "prog",
         "1 map package bind package | 1 prog"},
        {"OMPI_MCA_hwloc_base_binding_policy", "socket", "--bind-to none prog", "1 | 1 prog"},
        {"OMPI_MCA_hwloc_base_binding_policy", "soket", "prog", "1 | 1 prog"},
        {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", "prog", "1 | 1 prog"},
        {"PRTE_MCA_rmaps_default_mapping_policy", "core", "prog", "1 map core bind core | 1 prog"},
        {"PMIX_MCA_gds", "hash", "prog", "1 | 1 prog"},
        {"OMPI_MCA_what_is_this", "1", "prog", "1 | 1 prog"},
        {"HYDRA_BINDING", "core:2", "prog", "1 bind core pe 2 | 1 prog"},
        {"OMPI_MCA_plm_rsh_agent", "rsh", "prog", "1 agent rsh | 1 prog"},
        {"PRTE_MCA_plm_ssh_agent", "ssh -q", "prog", "1 agent ssh -q | 1 prog"},
        {"OMPI_MCA_plm_ssh_args", "'x", "prog", "1 | 1 prog"},
        {"OMPI_MCA_btl_tcp_if_include", "no.such7", "prog", "1 | 1 prog"},
        {"OMPI_MCA_btl_tcp_port_min_v4", "5000", "prog", "1 | 1 prog"},
        {"HYDRA_LAUNCHER_EXEC", "myssh", "prog", "1 program myssh | 1 prog"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct options o;
        struct line l;
        char why[256] = "";
        setenv(rows[i].name, rows[i].value, 1);
        split(&l, rows[i].line);
        if (options_parse(&o, l.argc, l.argv, why, sizeof(why)))
            fail_msg("%s=%s %s: %s", rows[i].name, rows[i].value, rows[i].line, why);
        char *text = show(&o);
        assert_string_equal(text, rows[i].expect);
        free(text);
        options_free(&o);
        unsetenv(rows[i].name);
    }
}

static void files_are_read(void **state)
{
    static const struct {
        const char *text, *line, *expect; /* the file's name stands before prog, or last */
    } rows[] = {
        {"-n 2 a x\n# two\n\n-n 1 -env A 1 b 'y z' \"w\"v\\ u\n", "-l -configfile",
         "3 label | 2 a x | 1 set=A=1 b y z wv u"},
        {"-n 2 a : -n 3 b\n", "--app", "5 | 2 a | 3 b"},
        {"-n 2 a\r\n", "-configfile", "2 | 2 a"},
        {"# none\nbtl = tcp,self\n  hwloc_base_binding_policy=core  \n", "prog --tune",
         "1 map core bind core setting=VIREO_CHANNELS=loopback,tcp | 1 prog"},
        {"-mca btl sm -x A=1\n--bind-to core\n", "prog -am",
         "1 map core bind core setting=VIREO_CHANNELS=loopback,shm | 1 set=A=1 prog"},
    };
    (void)state;
    char name[32];
    int fd = memfd_create("options", MFD_CLOEXEC);
    assert_true(fd >= 0);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct options o;
        struct line l;
        char words[400], why[256] = "";
        bool is_last = strstr(rows[i].line, "prog") != NULL;
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, rows[i].text, strlen(rows[i].text), 0), strlen(rows[i].text));
        snprintf(words, sizeof(words), "%s %s%s", is_last ? rows[i].line + 5 : rows[i].line, name,
                 is_last ? " prog" : "");
        split(&l, words);
        if (options_parse(&o, l.argc, l.argv, why, sizeof(why)))
            fail_msg("%s: %s", rows[i].text, why);
        char *text = show(&o);
        assert_string_equal(text, rows[i].expect);
        free(text);
        options_free(&o);
    }
    struct options o; /* a file that names itself */
    struct line l;
    char words[400], why[256] = "";
    int n = snprintf(words, sizeof(words), "-configfile %s", name);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, words, (size_t)n, 0), n);
    split(&l, words);
    assert_int_equal(options_parse(&o, l.argc, l.argv, why, sizeof(why)), -EINVAL);
    assert_non_null(strstr(why, "files that name files"));
    close(fd);
}

/* No help text is wider than a terminal, and every sentence has its end. */
static void help_fits(void **state)
{
    (void)state;
    for (int help = OPTIONS_HELP_TEXT; help <= OPTIONS_HELP_ALL; help++) {
        char *text;
        size_t len;
        FILE *to = open_memstream(&text, &len);
        options_print_help((enum options_help)help, to);
        fclose(to);
        for (char *line = strtok(text, "\n"); line && help != OPTIONS_HELP_MAN;
             line = strtok(NULL, "\n"))
            if (help != OPTIONS_HELP_TABLE && strlen(line) > 80)
                fail_msg("too wide: %s", line);
        free(text);
    }
    for (int i = 0; i < option_table_count; i++) {
        const char *about = option_table[i].about;
        if ((about[strlen(about) - 1] != '.') != (option_table[i].action == OPTION_REFUSED))
            fail_msg("%s: a period is put behind what is refused", option_table[i].names);
    }
}

/* The options that --help shows are such, and one screen has room for it all. */
static void help_is_a_screen(void **state)
{
    char *text;
    size_t len;
    int lines = 0, options = 0;
    FILE *to = open_memstream(&text, &len);
    (void)state;
    options_print_help(OPTIONS_HELP_TEXT, to);
    fclose(to);
    for (char *at = text, *line; (line = strsep(&at, "\n")) && at; lines++) {
        const char *name = line + strspn(line, " -");
        if (strncmp(line, "  -", 3))
            continue;
        options++;
        if (!option_find(name, strcspn(name, " ")))
            fail_msg("there is no such option: %s", line);
    }
    if (lines > 24 || options != 12)
        fail_msg("%d options in %d lines", options, lines);
    free(text);
}

/* Every spelling in the table is found, is in both help texts, and is in one row only. */
static void help_names_every_spelling(void **state)
{
    static const enum options_help helps[] = {OPTIONS_HELP_ALL, OPTIONS_HELP_MAN};
    (void)state;
    for (size_t h = 0; h < 2; h++) {
        char *text;
        size_t len;
        FILE *to = open_memstream(&text, &len);
        options_print_help(helps[h], to);
        fclose(to);
        for (int i = 0; i < option_table_count; i++) {
            char names[256];
            snprintf(names, sizeof(names), "%s", option_table[i].names);
            for (char *w = strtok(names, " "); w; w = strtok(NULL, " ")) {
                assert_ptr_equal(option_find(w, strlen(w)), &option_table[i]);
                if (h == 0 && !strstr(text, w))
                    fail_msg("--help=all does not name %s", w);
            }
        }
        free(text);
    }
}

/* What is taken for a misspelling of an option. */
static void the_nearest_option_is_named(void **state)
{
    static const struct {
        const char *word, *near;
    } rows[] = {
        {"timeot", "--timeout"},
        {"tagoutput", "--tag-output"},
        {"tiemout", "--timeout"},
        {"lable", "-label"},
        {"zzzzzz", ""},
        {"q2", "-q"},
        {"nn", "-n"},
        {"np4", "-np 4"},
        {"n16", "-n 16"},
        {"NP", "-np"},
        {"j", ""},
        {"foo", ""},
        {"zz", ""},
        {"threads", ""},
        {"slots", ""},
        {"cpus", ""},
        {"bind-to-cores", "--bind-to-core"},
        {"ompi-serve", ""}, /* the nearest is refused */
        {"a-word-that-is-longer-than-any-option-of-any-launcher-could-ever-be-wanted", ""},
    };
    char text[64];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        option_nearest(rows[i].word, strlen(rows[i].word), text, sizeof(text));
        assert_string_equal(text, rows[i].near);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_lines_parse),
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(timeout_comes_from_the_environment),
        cmocka_unit_test(parameters_come_from_the_environment),
        cmocka_unit_test(files_are_read),
        cmocka_unit_test(help_is_a_screen),
        cmocka_unit_test(help_names_every_spelling),
        cmocka_unit_test(help_fits),
        cmocka_unit_test(the_nearest_option_is_named),
    };
    unsetenv("MPIEXEC_TIMEOUT");
    int ends[2]; /* one for --keepalive, which takes no file */
    return pipe(ends) || dup2(ends[0], 0) || cmocka_run_group_tests(tests, NULL, NULL);
}
