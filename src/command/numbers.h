/* numbers.h - the few functions of real numbers that chroprof diff needs, so that the command is
 * linked with nothing. Good to about twelve digits. */

#ifndef COMMAND_NUMBERS_H
#define COMMAND_NUMBERS_H

#include <stddef.h>

double absolute(double x);

double greater(double a, double b);

double lesser(double a, double b);

/* Square root; 0 for what is not above it. */
double root(double x);

/* Natural logarithm of x > 0. */
double logarithm(double x);

/* e to the power of x, for x within 600 of 0. */
double exponential(double x);

double length_of(double a, double b);

typedef struct estimate {
    double value;
    double error;              /* standard error of its own */
} estimate;

/* The mean of the middle half of values by weight; each has a spread beyond its own error. Sorts
 * them. Values that come in steps would make a median jump. */
double weighted_middle(estimate *values, size_t count, double spread);

/* The standard deviation of values by their median distance from the middle. */
double typical_distance(const estimate *values, size_t count, double middle, estimate *scratch);

/* The spread that explains the distances, at least `least`. */
double robust_spread(const estimate *values, size_t count, double middle, double least,
                     estimate *scratch);

#endif
