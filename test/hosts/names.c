/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rank 0 makes the calls of its standard input, a line each, and prints what each comes to; see test_names.py.
 *
 *     publish NAME TEXT     "published", or the class of the error and its sentence
 *     unpublish NAME        "gone", or the same
 *     find NAME             the text, or the same
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void make_call(const char *call, const char *name, const char *text)
{
    char found[MPI_MAX_PORT_NAME] = "", sentence[MPI_MAX_ERROR_STRING];
    int rc = MPI_ERR_ARG, class, len;
    if (!strcmp(call, "publish"))
        rc = MPI_Publish_name(name, MPI_INFO_NULL, text);
    else if (!strcmp(call, "unpublish"))
        rc = MPI_Unpublish_name(name, MPI_INFO_NULL, text);
    else if (!strcmp(call, "find"))
        rc = MPI_Lookup_name(name, MPI_INFO_NULL, found);
    if (!rc) {
        puts(*found ? found : *call == 'p' ? "published" : "gone");
        return;
    }
    MPI_Error_class(rc, &class);
    MPI_Error_string(rc, sentence, &len);
    sentence[strcspn(sentence, "\n")] = 0;
    printf("%s: %s\n", class == MPI_ERR_NAME ? "MPI_ERR_NAME" : class == MPI_ERR_SERVICE ? "MPI_ERR_SERVICE" : "other", sentence);
}

int main(int argc, char **argv)
{
    char line[256], call[16], name[64], text[64];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (!rank && fgets(line, sizeof(line), stdin)) {
        *text = 0;
        if (sscanf(line, "%15s %63s %63s", call, name, text) < 2)
            break;
        make_call(call, name, text);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
