/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reads the plate of the heat example. A plate's file has one statement a
 * line; '#' begins a comment. Cells count from 0 at the top left; a later
 * shape covers an earlier one.
 *
 *   size WIDTH HEIGHT                first of all
 *   start T                          temperature of the free cells at first
 *   tolerance T     sweeps N         when to stop
 *   border SIDE T|insulated          SIDE: top bottom left right
 *   rect X Y WIDTH HEIGHT T          these keep their temperature
 *   disc X Y RADIUS T
 *   line X1 Y1 X2 Y2 THICKNESS T
 */

#include "heat.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MIN = 4, SIDE_MAX = 16384 };

struct segment {
    double x1, y1, x2, y2;
};

static double distance(const struct segment *s, double x, double y)
{
    double dx = s->x2 - s->x1, dy = s->y2 - s->y1, square = dx * dx + dy * dy;
    double t = square > 0 ? ((x - s->x1) * dx + (y - s->y1) * dy) / square : 0;

    t = fmin(fmax(t, 0), 1);
    return hypot(x - s->x1 - t * dx, y - s->y1 - t * dy);
}

/* Fix every cell whose centre is within radius of the segment. */
static void draw_segment(struct plate *p, const struct segment *s, double radius, double t)
{
    for (int y = 0; y < p->height; y++) {
        for (int x = 0; x < p->width; x++) {
            size_t at = (size_t)y * (size_t)p->width + (size_t)x;

            if (distance(s, x, y) > radius)
                continue;
            p->start[at] = t;
            p->fixed[at] = 1;
        }
    }
}

static void draw_rect(struct plate *p, const double v[5])
{
    for (int y = 0; y < p->height; y++) {
        for (int x = 0; x < p->width; x++) {
            size_t at = (size_t)y * (size_t)p->width + (size_t)x;

            if (x < v[0] || x >= v[0] + v[2] || y < v[1] || y >= v[1] + v[3])
                continue;
            p->start[at] = v[4];
            p->fixed[at] = 1;
        }
    }
}

static int read_size(struct plate *p, const char *rest)
{
    if (p->start || sscanf(rest, "%d %d", &p->width, &p->height) != 2 || p->width < SIDE_MIN ||
        p->width > SIDE_MAX || p->height < SIDE_MIN || p->height > SIDE_MAX)
        return -1;
    size_t cells = (size_t)p->width * (size_t)p->height;

    p->start = calloc(cells, sizeof p->start[0]);
    p->fixed = calloc(cells, sizeof p->fixed[0]);
    return p->start && p->fixed ? 0 : -1;
}

static int read_start(struct plate *p, const char *rest)
{
    double t;

    if (sscanf(rest, "%lf", &t) != 1)
        return -1;
    for (size_t i = 0; i < (size_t)p->width * (size_t)p->height; i++)
        if (!p->fixed[i])
            p->start[i] = t;
    return 0;
}

static int read_border(struct plate *p, const char *rest)
{
    static const char *const sides[HEAT_SIDES] = {"top", "bottom", "left", "right"};
    char side[16], what[32], *end;

    if (sscanf(rest, "%15s %31s", side, what) != 2)
        return -1;
    for (int s = 0; s < HEAT_SIDES; s++) {
        if (strcmp(side, sides[s]) != 0)
            continue;
        p->insulated[s] = strcmp(what, "insulated") == 0;
        p->border[s] = strtod(what, &end);
        return p->insulated[s] || *end == '\0' ? 0 : -1;
    }
    return -1;
}

static int read_shape(struct plate *p, const char *word, const char *rest)
{
    double v[6];
    int count = sscanf(rest, "%lf %lf %lf %lf %lf %lf", v, v + 1, v + 2, v + 3, v + 4, v + 5);

    if (strcmp(word, "rect") == 0 && count == 5) {
        draw_rect(p, v);
    } else if (strcmp(word, "disc") == 0 && count == 4) {
        draw_segment(p, &(struct segment){v[0], v[1], v[0], v[1]}, v[2], v[3]);
    } else if (strcmp(word, "line") == 0 && count == 6) {
        draw_segment(p, &(struct segment){v[0], v[1], v[2], v[3]}, v[4] / 2, v[5]);
    } else {
        return -1;
    }
    return 0;
}

static int read_statement(struct plate *p, const char *word, const char *rest)
{
    if (strcmp(word, "size") == 0)
        return read_size(p, rest);
    if (!p->start)
        return -1;
    if (strcmp(word, "start") == 0)
        return read_start(p, rest);
    if (strcmp(word, "border") == 0)
        return read_border(p, rest);
    if (strcmp(word, "tolerance") == 0)
        return sscanf(rest, "%lf", &p->tolerance) == 1 && p->tolerance > 0 ? 0 : -1;
    if (strcmp(word, "sweeps") == 0)
        return sscanf(rest, "%d", &p->sweeps) == 1 && p->sweeps > 0 ? 0 : -1;
    return read_shape(p, word, rest);
}

static int read_lines(struct plate *p, FILE *file, const char *path)
{
    char line[256], word[16];
    int used;

    for (int number = 1; fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "#\n")] = '\0';
        if (sscanf(line, "%15s %n", word, &used) != 1)
            continue;
        if (read_statement(p, word, line + used) != 0) {
            fprintf(stderr, "heat: %s, line %d: cannot use \"%s\"\n", path, number, line);
            return -1;
        }
    }
    if (ferror(file) || !p->start) {
        fprintf(stderr, "heat: %s: %s\n", path, ferror(file) ? strerror(errno) : "no size in it");
        return -1;
    }
    return 0;
}

int plate_read(struct plate *plate, const char *path)
{
    FILE *file = fopen(path, "r");
    int rc;

    *plate = (struct plate){.sweeps = 10000, .tolerance = 1e-3};
    if (!file) {
        fprintf(stderr, "heat: %s: %s\n", path, strerror(errno));
        return -1;
    }
    rc = read_lines(plate, file, path);
    fclose(file);
    if (rc != 0)
        plate_free(plate);
    return rc;
}

void plate_free(struct plate *plate)
{
    free(plate->start);
    free(plate->fixed);
    plate->start = NULL;
    plate->fixed = NULL;
}
