/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pictures of a field of temperatures: a PNG by libpng, and characters.
 *
 * The colours go from dark violet over red to light yellow. They are laid
 * out in the OKLab space, where equal steps look equal: lightness rises
 * evenly with temperature, so the picture also reads right in grey and to
 * the colour-blind. Thin dark lines are isotherms.
 */

#include "heat.h"

#include <math.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ZOOM = 3, SHADES = 256 };

struct range {
    double low, high;
};

static struct range find_range(const double *field, size_t cells)
{
    struct range r = {field[0], field[0]};

    for (size_t i = 1; i < cells; i++) {
        r.low = fmin(r.low, field[i]);
        r.high = fmax(r.high, field[i]);
    }
    return r;
}

/* From 0 at the coldest to 1 at the hottest. */
static double part(const struct range *r, double t)
{
    return r->high > r->low ? (t - r->low) / (r->high - r->low) : 0;
}

/* OKLab to linear red, green and blue, which may leave 0..1. */
static void to_linear(double light, double a, double b, double rgb[3])
{
    double l = pow(light + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(light - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(light - 0.0894841775 * a - 1.2914855480 * b, 3);

    rgb[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
    rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
    rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
}

static int displayable(const double rgb[3])
{
    for (int c = 0; c < 3; c++)
        if (rgb[c] < 0 || rgb[c] > 1)
            return 0;
    return 1;
}

static png_byte encode(double linear)
{
    double c = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;

    return (png_byte)lround(255 * fmin(fmax(c, 0), 1));
}

/* The colour at t in 0..1: hue and lightness are given, and the colour is as
 * strong as a screen can show it, up to a limit. */
static void shade(double t, png_byte out[3])
{
    const double turn = 3.14159265358979323846 / 180;
    double hue = (285 + 180 * t) * turn, light = 0.14 + 0.80 * t, rgb[3];

    for (double strength = 0.19; strength >= 0; strength -= 0.005) {
        to_linear(light, strength * cos(hue), strength * sin(hue), rgb);
        if (displayable(rgb))
            break;
    }
    for (int c = 0; c < 3; c++)
        out[c] = encode(rgb[c]);
}

/* A round number of degrees between isotherms: about ten of them. */
static double isotherm_step(const struct range *r)
{
    double step = (r->high - r->low) / 10;

    if (!(step > 0))
        return 1;
    double power = pow(10, floor(log10(step))), digit = step / power;

    return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

/* The field between the centres of its cells, at a pixel. */
static double between(const double *field, int width, int height, int px, int py)
{
    double x = fmin(fmax((px + 0.5) / ZOOM - 0.5, 0), width - 1);
    double y = fmin(fmax((py + 0.5) / ZOOM - 0.5, 0), height - 1);
    int x0 = (int)x, y0 = (int)y;
    int x1 = x0 + 1 < width ? x0 + 1 : x0, y1 = y0 + 1 < height ? y0 + 1 : y0;
    const double *upper = field + (size_t)y0 * (size_t)width;
    const double *lower = field + (size_t)y1 * (size_t)width;

    x -= x0;
    y -= y0;
    return (1 - y) * ((1 - x) * upper[x0] + x * upper[x1]) +
           y * ((1 - x) * lower[x0] + x * lower[x1]);
}

static void paint(png_byte *pixels, const double *field, int width, int height)
{
    struct range r = find_range(field, (size_t)width * (size_t)height);
    double step = isotherm_step(&r);
    png_byte shades[SHADES][3];

    for (int i = 0; i < SHADES; i++)
        shade(i / (SHADES - 1.0), shades[i]);
    for (int y = 0; y < height * ZOOM; y++) {
        for (int x = 0; x < width * ZOOM; x++, pixels += 3) {
            double here = between(field, width, height, x, y);
            double right = between(field, width, height, x + 1, y);
            double below = between(field, width, height, x, y + 1);
            double band = floor(here / step);
            int line = floor(right / step) != band || floor(below / step) != band;

            memcpy(pixels, shades[(int)(part(&r, here) * (SHADES - 1))], 3);
            for (int c = 0; line && c < 3; c++)
                pixels[c] = (png_byte)(pixels[c] * 2 / 3);
        }
    }
}

int picture_write(const char *path, const double *field, int width, int height)
{
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .format = PNG_FORMAT_RGB,
                       .width = (png_uint_32)(width * ZOOM),
                       .height = (png_uint_32)(height * ZOOM)};
    png_byte *pixels = malloc(PNG_IMAGE_SIZE(image));

    if (!pixels) {
        fprintf(stderr, "heat: no memory for a picture of %d x %d\n", width * ZOOM, height * ZOOM);
        return -1;
    }
    paint(pixels, field, width, height);
    int written = png_image_write_to_file(&image, path, 0, pixels, 0, NULL);

    free(pixels);
    if (!written) {
        fprintf(stderr, "heat: %s: %s\n", path, image.message);
        return -1;
    }
    return 0;
}

void picture_print(const double *field, int width, int height, int columns)
{
    static const char ramp[] = " .:-=+*#%@";
    struct range r = find_range(field, (size_t)width * (size_t)height);

    columns = columns < width ? columns : width;
    /* A character is about twice as high as it is wide. */
    int rows = height * columns / width / 2;

    rows = rows > 0 ? rows : 1;
    printf("from %.1f (\"%c\") to %.1f (\"%c\") degrees\n", r.low, ramp[0], r.high,
           ramp[sizeof ramp - 2]);
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < columns; x++) {
            int fx = (2 * x + 1) * width / (2 * columns), fy = (2 * y + 1) * height / (2 * rows);
            double t = part(&r, field[(size_t)fy * (size_t)width + (size_t)fx]);

            putchar(ramp[(int)(t * (sizeof ramp - 2) + 0.5)]);
        }
        putchar('\n');
    }
}
