/* numbers.c - see numbers.h */

#include "numbers.h"

#include <stdlib.h>

#define LN_2 0.69314718055994530942

double absolute(double x)
{
    return x < 0 ? -x : x;
}

double greater(double a, double b)
{
    return a > b ? a : b;
}

double lesser(double a, double b)
{
    return a < b ? a : b;
}

double root(double x)
{
    double r = x > 1 ? x : 1;
    double before;
    if (!(x > 0)) {
        return 0;
    }
    do {
        before = r;
        r = (r + x / r) / 2;
    } while (r < before);
    return before;
}

double logarithm(double x)
{
    double sum = 0;
    double power;
    int twos = 0;
    for (; x > 1.5; twos++) {
        x /= 2;
    }
    for (; x < 0.75; twos--) {
        x *= 2;
    }
    x = (x - 1) / (x + 1);
    power = x;
    for (int i = 1; i < 40; i += 2) {
        sum += power / i;
        power *= x * x;
    }
    return 2 * sum + twos * LN_2;
}

double exponential(double x)
{
    double sum = 1;
    double term = 1;
    int halves = 0;
    x = x > 600 ? 600 : x < -600 ? -600 : x;
    for (; absolute(x) > 0.5; halves++) {
        x /= 2;
    }
    for (int i = 1; i < 20; i++) {
        term *= x / i;
        sum += term;
    }
    for (; halves > 0; halves--) {
        sum *= sum;
    }
    return sum;
}

double length_of(double a, double b)
{
    return root(a * a + b * b);
}

/* >>numbers robust: a middle and a spread that a few outliers do not move */

static int by_value(const void *a, const void *b)
{
    double x = ((const estimate *)a)->value;
    double y = ((const estimate *)b)->value;
    return (x > y) - (x < y);
}

double weighted_middle(estimate *values, size_t count, double spread)
{
    double all = 0;
    double before = 0;
    double sum = 0;
    double taken = 0;
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; i < count; i++) {
        all += 1 / length_of(values[i].error, spread);
    }
    for (size_t i = 0; i < count; i++) {
        double after = before + 1 / length_of(values[i].error, spread);
        double inside = lesser(after, 0.75 * all) - greater(before, 0.25 * all);
        sum += inside > 0 ? inside * values[i].value : 0;
        taken += inside > 0 ? inside : 0;
        before = after;
    }
    return taken > 0 ? sum / taken : 0;
}

/* The middle of count distances, as a standard deviation. */
static double typical(estimate *distances, size_t count)
{
    qsort(distances, count, sizeof *distances, by_value);
    return distances[count / 2].value / 0.6745;
}

double typical_distance(const estimate *values, size_t count, double middle, estimate *scratch)
{
    for (size_t i = 0; i < count; i++) {
        scratch[i].value = absolute(values[i].value - middle);
    }
    return typical(scratch, count);
}

/* The same in units of error and spread; 1 if spread is right. */
static double relative_distance(const estimate *values, size_t count, double middle, double spread,
                                estimate *scratch)
{
    for (size_t i = 0; i < count; i++) {
        scratch[i].value = absolute(values[i].value - middle) /
                           length_of(values[i].error, spread);
    }
    return typical(scratch, count);
}

double robust_spread(const estimate *values, size_t count, double middle, double least,
                     estimate *scratch)
{
    double low = least;
    double high = 4;
    if (relative_distance(values, count, middle, least, scratch) <= 1) {
        return least;
    }
    for (int i = 0; i < 30; i++) {
        double spread = (low + high) / 2;
        if (relative_distance(values, count, middle, spread, scratch) > 1) {
            low = spread;
        } else {
            high = spread;
        }
    }
    return high;
}
