/* SPDX-License-Identifier: BSD-3-Clause */

/* The texts that --help prints: a screen of what people use, the table of options as text and as a manual
 * page, and the settings. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "bnr/options/option_table.h"
#include "bnr/options/options.h"
#include "include/version.h"
#include "os/settings.h"

enum {
    COLUMN = 30,
    WIDTH = 79 /* the last may be a period */
};

/* Compose "-n, -np N" into text. */
static void spell_all(const struct option_row *row, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (const char *at = row->names; *at && used < size;) {
        char one[64];
        size_t len = strcspn(at, " ");
        option_spell(at, len, one, sizeof(one));
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", one);
        at += len + strspn(at + len, " ");
    }
    if (row->value && used < size)
        snprintf(text + used, size - used, "%s%s", row->value[0] == '[' ? "" : " ", row->value);
}

/* Print text in words from this column on, the cursor being at column at. */
static void print_words(FILE *to, const char *text, int column, int at)
{
    bool first = true;
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (at + !first + len > WIDTH) {
            fprintf(to, "\n%*s", column, "");
            at = column;
            first = true;
        }
        at += fprintf(to, "%s%.*s", first ? "" : " ", len, text);
        first = false;
        text += len + (int)strspn(text + len, " ");
    }
}

static void print_text_row(FILE *to, const struct option_row *row)
{
    char names[256];
    spell_all(row, names, sizeof(names));
    fputs("  ", to);
    print_words(to, names, 6, 2);
    if (strlen(names) + 4 > COLUMN)
        fprintf(to, "\n%*s", COLUMN, "");
    else
        fprintf(to, "%*s", COLUMN - 2 - (int)strlen(names), "");
    if (row->action == OPTION_REFUSED)
        fprintf(to, "Refused: ");
    print_words(to, row->about, COLUMN, COLUMN + (row->action == OPTION_REFUSED ? 9 : 0));
    fputs(row->action == OPTION_REFUSED ? ".\n" : "\n", to);
}

/* What people use, and how it is said shortly. The names are in the table. */
static const struct {
    const char *name, *value, *about;
} used[] = {
    {"n", "N", "start N processes"},
    {"host", "a:4,b:4", "on these hosts, with so many slots each"},
    {"hostfile", "FILE", "on those of a file, a line each: NAME slots=4"},
    {"ppn", "N", "give each host N processes at a time"},
    {"x", "NAME[=VALUE]", "set a variable for the processes, or pass it on"},
    {"wdir", "DIR", "start them in DIR"},
    {"l", "", "begin each line of output with its rank"},
    {"output-filename", "DIR", "write the output of each rank to files in DIR, too"},
    {"bind-to", "core", "bind each process to a core; or numa, package, none"},
    {"timeout", "SECONDS", "end the job after that, and say who waits for what"},
    {"debugger", "gdb", "open a debugger for each process"},
    {"report", "", "tell at the end by what channel each pair talked"},
};

static void print_short(FILE *to)
{
    fprintf(to, "Usage: mpiexec [options] program [arguments] [: [options] program ...]\n\n"
                "Start the processes of an MPI job, and forward their output.\n\n");
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
        char name[64], whole[128];
        option_spell(used[i].name, strlen(used[i].name), name, sizeof(name));
        snprintf(whole, sizeof(whole), "%s%s%s", name, *used[i].value ? " " : "", used[i].value);
        fprintf(to, "  %-23s%s\n", whole, used[i].about);
    }
    fprintf(to, "\nExamples\n"
                "  mpiexec -n 4 ./a.out\n"
                "  mpiexec -host node1:8,node2:8 -n 16 --bind-to core ./a.out\n"
                "  mpiexec -l -n 1 ./server : -n 8 ./worker\n\n"
                "--help=all has all options, those of MPICH's and Open MPI's launchers too,\n"
                "--help=settings the settings of the library, --help=man the manual page.\n");
}

static void print_text(FILE *to)
{
    fprintf(to, "Usage: mpiexec [options] program [arguments] [: [options] program ...]\n\n"
                "Start the processes of an MPI job, on this host or on those that options name,\n"
                "and forward their output. Each option works with one dash or two; its value is\n"
                "the next word or follows \"=\"; where it is in brackets, only that.\n");
    for (int section = 0; section < OPTION_SECTIONS; section++) {
        fprintf(to, "\n%s\n", option_section_titles[section]);
        for (int i = 0; i < option_table_count; i++)
            if (option_table[i].section == (enum option_section)section)
                print_text_row(to, &option_table[i]);
    }
}

/* Print text with what roff would take for its own escaped. */
static void print_roff(FILE *to, const char *text)
{
    for (; *text; text++) {
        if (*text == '-')
            fputs("\\-", to);
        else if (*text == '\\')
            fputs("\\e", to);
        else
            fputc(*text, to);
    }
}

static void print_man_options(FILE *to)
{
    char names[256];
    fprintf(to, ".SH OPTIONS\nEach option works with one dash or two; its value is the next "
                "word or follows \"=\".\n");
    for (int section = 0; section < OPTION_SECTIONS; section++) {
        fprintf(to, ".SS %s\n", option_section_titles[section]);
        for (int i = 0; i < option_table_count; i++) {
            const struct option_row *row = &option_table[i];
            if (row->section != (enum option_section)section)
                continue;
            spell_all(row, names, sizeof(names));
            fprintf(to, ".TP\n.B ");
            print_roff(to, names);
            fprintf(to, "\n%s", row->action == OPTION_REFUSED ? "Refused: " : "");
            print_roff(to, row->about);
            fputs(row->action == OPTION_REFUSED ? ".\n" : "\n", to);
        }
    }
}

static void print_man(FILE *to)
{
    fprintf(to,
            ".TH MPIEXEC 1 \"\" \"Vireo MPI %s\"\n.ad l\n.nh\n"
            ".SH NAME\nmpiexec, mpirun \\- start an MPI job\n"
            ".SH SYNOPSIS\n.B mpiexec\n[options] program [arguments]\n"
            "[: [options] program [arguments]]...\n"
            ".SH DESCRIPTION\nStart the processes of an MPI job, on this host or on those that "
            "options name, forward\ntheir output, and end\nwhen the last of them has ended. Programs separated by "
            "\":\" form one job;\ntheir ranks follow one another.\n",
            VIREO_VERSION);
    print_man_options(to);
    fprintf(to, ".SH STANDARD STREAMS\n"
                "Output is forwarded exactly, in whole lines where the program writes lines. With "
                "labels,\nthe rest of a line that another rank's line had to interrupt begins "
                "with \"[rank]+\".\nOne rank reads mpiexec's stdin; the others have an empty "
                "one.\nA stdin that is no terminal is inherited by its rank, so that nothing is "
                "taken\nwhich the rank does not read.\n"
                ".SH JOBS THAT DO NOT GO ON\nAt SIGQUIT (Ctrl\\-\\e), and before "
                "\\-\\-timeout ends the job, mpiexec writes to\nstderr what each rank waits "
                "for: the function, the communicator, the peer, the tag,\nsince when; which "
                "ranks are to blame for a deadlock, and why.\n.B vireo report\n[process number "
                "of mpiexec] does the same from another terminal.\n"
                ".SH ENVIRONMENT\n.TP\n.B MPIEXEC_TIMEOUT\n"
                "Seconds after which the job is ended, where \\-\\-timeout is not given.\n"
                ".TP\n.B VIREO_*\nSettings of the library; mpiexec \\-\\-help=settings lists "
                "them.\n"
                ".SH EXIT STATUS\n0 where every rank ended well; else as the first that did "
                "not has ended: its exit code;\n128 and the number of the signal that killed "
                "it; the last 8 bits of what it gave MPI_Abort\n(1 where they are 0); 1 "
                "where it left without MPI_Finalize, or without the\nMPI_Init that others "
                "called.\n2 for a wrong command line; 124 after "
                "\\-\\-timeout; 126 where a program cannot be run,\n127 where there is none; "
                "128 and the number of the signal that ended mpiexec.\n"
                ".SH EXAMPLES\n.nf\nmpiexec \\-n 4 ./a.out\n"
                "mpiexec \\-l \\-n 1 ./server : \\-n 8 ./worker\n.fi\n"
                ".SH SEE ALSO\n.BR mpicc (1),\n.BR vireo (1)\n");
}

static void print_settings(FILE *to)
{
    for (int i = 0; i < OS_SETTING_COUNT; i++) {
        const struct os_setting_row *row = &os_settings[i];
        fprintf(to, "VIREO_");
        for (const char *c = row->name; *c; c++)
            fputc(toupper((unsigned char)*c), to);
        fprintf(to, "%s%s%s (default: %s)\n    ", row->unit[0] ? " [" : "", row->unit,
                row->unit[0] ? "]" : "", row->initial[0] ? row->initial : "empty");
        print_words(to, row->about, 4, 4);
        fputc('\n', to);
    }
}

/* For programs: names, how they are taken, what they do. */
static void print_table(FILE *to)
{
    for (int i = 0; i < option_table_count; i++) {
        const struct option_row *row = &option_table[i];
        const char *how = row->action == OPTION_REFUSED                                ? "refused"
                          : row->action == OPTION_IGNORED || row->action == OPTION_OFF ? "ignored"
                                                                                       : "done";
        fprintf(to, "%s\t%s\t%s\n", row->names, how, row->about);
    }
    option_mca_print(to);
}

void options_print_help(enum options_help help, FILE *to)
{
    if (help == OPTIONS_HELP_MAN)
        print_man(to);
    else if (help == OPTIONS_HELP_SETTINGS)
        print_settings(to);
    else if (help == OPTIONS_HELP_TABLE)
        print_table(to);
    else if (help == OPTIONS_HELP_ALL)
        print_text(to);
    else
        print_short(to);
}
