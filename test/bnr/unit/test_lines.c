/* SPDX-License-Identifier: BSD-3-Clause */

/* The line assembler: scripted cases, then random ones against what must hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/core/stream/lines.h"

enum {
    SOURCES = 3,
    MS = 1000000
};

/* One step of a script; at is in ms. */
struct step {
    enum {
        END_OF_SCRIPT,
        PUT,
        TICK,
        END,
        RESTART
    } what;
    int source;
    unsigned at;
    const char *data;
};

struct script {
    const char *claim;
    bool label;
    const char *expect;
    struct step steps[8];
};

static const struct script scripts[] = {
    {"a whole line comes out at once", false, "one\n", {{PUT, 0, 0, "one\n"}}},
    {"a line without a newline waits", false, "", {{PUT, 0, 0, "one"}, {TICK, 0, 49, ""}}},
    {"it comes out after 50 ms", false, "one", {{PUT, 0, 0, "one"}, {TICK, 0, 50, ""}}},
    {"the wait counts from its first byte",
     false,
     "ab",
     {{PUT, 0, 0, "a"}, {PUT, 0, 40, "b"}, {TICK, 0, 50, ""}}},
    {"it comes out when its source ends", false, "one", {{PUT, 0, 0, "one"}, {END, 0, 1, ""}}},
    {"it waits on while another source is busy",
     false,
     "x\ny\n",
     {{PUT, 0, 0, "one"},
      {PUT, 1, 30, "x\n"},
      {TICK, 0, 60, ""},
      {PUT, 1, 70, "y\n"},
      {TICK, 0, 119, ""}}},
    {"until that one has been quiet",
     false,
     "x\none",
     {{PUT, 0, 0, "one"}, {PUT, 1, 30, "x\n"}, {TICK, 0, 60, ""}, {TICK, 0, 80, ""}}},
    {"but not for ever",
     false,
     "x\nx\none",
     {{PUT, 0, 0, "one"}, {PUT, 1, 500, "x\n"}, {PUT, 1, 990, "x\n"}, {TICK, 0, 1000, ""}}},
    {"its own bytes do not keep it waiting",
     false,
     "ab",
     {{PUT, 1, 0, ""}, {PUT, 0, 1, "a"}, {PUT, 0, 50, "b"}, {TICK, 0, 51, ""}}},
    {"time in which nobody could be read does not count",
     false,
     "",
     {{PUT, 0, 0, "one"}, {RESTART, 0, 2000, ""}, {TICK, 0, 2049, ""}}},
    {"parts of a line join before they come out",
     false,
     "two\nonetwo\n",
     {{PUT, 0, 0, "one"}, {PUT, 1, 1, "two\n"}, {PUT, 0, 2, "two\n"}}},
    {"without labels nothing is added behind an open line",
     false,
     "onetwo\n",
     {{PUT, 0, 0, "one"}, {TICK, 0, 50, ""}, {PUT, 1, 51, "two\n"}}},
    {"the last source left passes straight through",
     false,
     "one",
     {{END, 1, 0, ""}, {END, 2, 0, ""}, {PUT, 0, 0, "one"}}},
    {"what it held before comes first",
     false,
     "one two",
     {{PUT, 0, 0, "one"}, {END, 1, 0, ""}, {END, 2, 0, ""}, {PUT, 0, 0, " two"}}},
    {"each line is labelled",
     true,
     "[0] a\n[0] b\n[2] c\n",
     {{PUT, 0, 0, "a\nb\n"}, {PUT, 2, 0, "c\n"}}},
    {"an empty line has a label too", true, "[1] \n[1] \n", {{PUT, 1, 0, "\n\n"}}},
    {"an open line goes on without a label",
     true,
     "[0] ab\n",
     {{PUT, 0, 0, "a"}, {TICK, 0, 50, ""}, {PUT, 0, 60, "b\n"}}},
    {"another rank ends an open line, whose rest is marked",
     true,
     "[0] a\n[1] x\n[0]+ b\n",
     {{PUT, 0, 0, "a"}, {TICK, 0, 50, ""}, {PUT, 1, 60, "x\n"}, {PUT, 0, 70, "b\n"}}},
    {"a line after a marked rest has a plain label",
     true,
     "[0] a\n[1] x\n[0]+ b\n[0] c\n",
     {{PUT, 0, 0, "a"}, {TICK, 0, 50, ""}, {PUT, 1, 60, "x\n"}, {PUT, 0, 70, "b\nc\n"}}},
    {"a last line without newline gets none", true, "[0] a", {{PUT, 0, 0, "a"}, {END, 0, 1, ""}}},
    {"a source that has ended brings nothing more at its second end",
     true,
     "[0] a",
     {{PUT, 0, 0, "a"}, {END, 0, 1, ""}, {END, 0, 1, ""}}},
};

static void run_script(const struct script *s)
{
    static const int labels[SOURCES] = {0, 1, 2}, plain[SOURCES] = {-1, -1, -1};
    struct lines_buffer out = {0};
    struct lines *l;
    assert_int_equal(lines_create(&l, SOURCES, s->label ? labels : plain), 0);
    for (const struct step *p = s->steps; p->what; p++) {
        uint64_t now = (uint64_t)p->at * MS;
        int rc = 0;
        if (p->what == PUT)
            rc = lines_put(l, p->source, p->data, strlen(p->data), now, &out);
        else if (p->what == TICK)
            rc = lines_tick(l, now, &out);
        else if (p->what == RESTART)
            lines_restart(l, now);
        else
            rc = lines_end(l, p->source, &out);
        assert_int_equal(rc, 0);
    }
    assert_int_equal(lines_append(&out, "", 1), 0);
    if (strcmp(out.data, s->expect))
        fail_msg("%s: got \"%s\", not \"%s\"", s->claim, out.data, s->expect);
    lines_destroy(l);
    free(out.data);
}

static void scripts_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        run_script(&scripts[i]);
}

static void own_lines_stand_alone(void **state)
{
    static const int labels[2] = {LINES_PLAIN, LINES_OWN};
    struct lines_buffer out = {0};
    struct lines *l;
    (void)state;
    assert_int_equal(lines_create(&l, 2, labels), 0);
    lines_put(l, 0, "a", 1, 0, &out);
    assert_true(lines_is_open(l));
    lines_put(l, 1, "own\n", 4, 0, &out);
    assert_false(lines_is_open(l));
    lines_put(l, 0, "b", 1, 0, &out);
    lines_append(&out, "", 1);
    assert_string_equal(out.data, "a\nown\nb");
    lines_destroy(l);
    free(out.data);
}

static void long_lines_are_not_held(void **state)
{
    static const int plain[2] = {-1, -1};
    static char half[LINES_HOLD / 2];
    struct lines_buffer out = {0};
    struct lines *l;
    (void)state;
    memset(half, 'x', sizeof(half));
    assert_int_equal(lines_create(&l, 2, plain), 0);
    lines_put(l, 0, half, sizeof(half), 0, &out);
    assert_int_equal(out.len, 0);
    assert_true(lines_deadline(l) == LINES_WAIT_NS);
    lines_put(l, 0, half, sizeof(half), 0, &out);
    assert_int_equal(out.len, LINES_HOLD);
    lines_destroy(l);
    free(out.data);
}

static void deadline_names_the_earliest_line(void **state)
{
    static const int plain[SOURCES] = {-1, -1, -1};
    struct lines_buffer out = {0};
    struct lines *l;
    (void)state;
    assert_int_equal(lines_create(&l, SOURCES, plain), 0);
    assert_true(lines_deadline(l) == UINT64_MAX);
    lines_put(l, 0, "a", 1, 5 * MS, &out);
    lines_put(l, 1, "b", 1, 20 * MS, &out);
    assert_true(lines_deadline(l) <= 70 * MS);
    lines_tick(l, 69 * MS, &out);
    assert_int_equal(out.len, 0);
    assert_true(lines_deadline(l) == 70 * MS);
    lines_tick(l, 70 * MS, &out);
    assert_int_equal(out.len, 2);
    assert_true(lines_deadline(l) == UINT64_MAX);
    lines_destroy(l);
    free(out.data);
}

/* What a source brought, and what the reader of the labelled output makes of it. */
struct sides {
    struct lines_buffer in[SOURCES];
    struct lines_buffer back[SOURCES];
};

/* Join the labelled output again, as lines.h says it can be. */
static void rejoin(struct sides *s, const char *out, size_t len)
{
    while (len) {
        const char *newline = memchr(out, '\n', len);
        size_t n = newline ? (size_t)(newline - out) + 1 : len;
        int source = out[1] - '0';
        bool rest = out[3] == '+';
        assert_true(n >= 4 && out[0] == '[' && out[2] == ']' && source >= 0 && source < SOURCES);
        assert_true(out[3 + rest] == ' ');
        struct lines_buffer *back = &s->back[source];
        if (rest) {
            assert_true(back->len && back->data[back->len - 1] == '\n');
            back->len--;
        }
        assert_int_equal(lines_append(back, out + 4 + rest, n - 4 - rest), 0);
        out += n;
        len -= n;
    }
}

static void random_labelled_output_rejoins(void **state)
{
    static const int labels[SOURCES] = {0, 1, 2};
    struct lines_buffer out = {0};
    struct sides s = {0};
    struct lines *l;
    uint64_t now = 0;
    (void)state;
    srand(7);
    assert_int_equal(lines_create(&l, SOURCES, labels), 0);
    for (int i = 0; i < 20000; i++) {
        char data[16];
        int source = rand() % SOURCES, n = rand() % 16;
        for (int j = 0; j < n; j++)
            data[j] = "abc\n"[rand() % 4];
        now += (uint64_t)(rand() % 8 ? rand() % 20 : 100) * MS;
        assert_int_equal(lines_tick(l, now, &out), 0);
        assert_int_equal(lines_append(&s.in[source], data, (size_t)n), 0);
        assert_int_equal(lines_put(l, source, data, (size_t)n, now, &out), 0);
    }
    for (int i = 0; i < SOURCES; i++)
        assert_int_equal(lines_end(l, i, &out), 0);
    assert_non_null(memmem(out.data, out.len, "]+ ", 3));
    rejoin(&s, out.data, out.len);
    for (int i = 0; i < SOURCES; i++) {
        /* A newline that only another's line made necessary stands at most at the end. */
        size_t extra = s.back[i].len - s.in[i].len;
        assert_true(extra <= 1);
        assert_memory_equal(s.in[i].data, s.back[i].data, s.in[i].len);
        free(s.in[i].data);
        free(s.back[i].data);
    }
    lines_destroy(l);
    free(out.data);
}

static int record(const void *arg, const struct lines_line *line, struct lines_buffer *out)
{
    char text[64];
    int n = snprintf(text, sizeof(text), "<%d %.*s%s>", line->label, (int)line->len, line->data,
                     line->has_newline ? "" : "...");
    (void)arg;
    return lines_append(out, text, (size_t)n);
}

static void records_are_whole_lines(void **state)
{
    static const int labels[3] = {0, 1, LINES_OWN};
    static const struct lines_labels records = {NULL, NULL, record};
    struct lines_buffer out = {0};
    struct lines *l;
    (void)state;
    assert_int_equal(lines_create(&l, 3, labels), 0);
    lines_set_labels(l, &records);
    lines_put(l, 0, "one\ntw", 6, 0, &out);
    lines_put(l, 1, "\n", 1, MS, &out);
    lines_tick(l, 999u * MS, &out); /* longer than lines that people read */
    lines_put(l, 0, "o\nthr", 5, 999u * MS, &out);
    lines_tick(l, 1999u * MS, &out);
    lines_put(l, 2, "own\n", 4, 1999u * MS, &out);
    lines_put(l, 0, "ee\n", 3, 2000u * MS, &out);
    lines_put(l, 1, "end", 3, 2000u * MS, &out);
    lines_end(l, 1, &out);
    lines_append(&out, "", 1);
    assert_string_equal(out.data, "<0 one><1 ><0 two><0 thr...><-2 own><0 ee><1 end...>");
    lines_destroy(l);
    free(out.data);
}

static void terminals_pass_through(void **state)
{
    static const int labels[3] = {LINES_RAW, 1, LINES_OWN};
    struct lines_buffer out = {0};
    struct lines *l;
    (void)state;
    assert_int_equal(lines_create(&l, 3, labels), 0);
    lines_set_returns(l, true);
    lines_put(l, 0, "$ ", 2, 0, &out);
    lines_put(l, 1, "one\ntwo\n", 8, 0, &out);
    lines_put(l, 0, "l", 1, 0, &out);
    lines_put(l, 2, "own\n", 4, 0, &out);
    lines_put(l, 0, "s\n\r", 3, 0, &out);
    lines_set_returns(l, false);
    lines_put(l, 1, "three\n", 6, 0, &out);
    lines_append(&out, "", 1);
    assert_string_equal(out.data,
                        "$ \r\n[1] one\r\n[1] two\r\nl\r\nown\r\ns\n\r\n[1] three\n");
    lines_destroy(l);
    free(out.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_hold),
        cmocka_unit_test(own_lines_stand_alone),
        cmocka_unit_test(long_lines_are_not_held),
        cmocka_unit_test(deadline_names_the_earliest_line),
        cmocka_unit_test(terminals_pass_through),
        cmocka_unit_test(records_are_whole_lines),
        cmocka_unit_test(random_labelled_output_rejoins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
