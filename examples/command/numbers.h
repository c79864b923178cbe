/* numbers.h - the few functions of real numbers that chroprof diff needs, so that the command is
 * linked with nothing. Good to about twelve digits. */

#define LN_2 0.69314718055994530942

static double absolute(double x)
{
    return x < 0 ? -x : x;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Square root; 0 for what is not above it. */
static double root(double x)
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

/* Natural logarithm of x > 0. */
static double logarithm(double x)
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

/* e to the power of x, for x within 600 of 0. */
static double exponential(double x)
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

static double length_of(double a, double b)
{
    return root(a * a + b * b);
}

/* >>numbers robust: a middle and a spread that a few outliers do not move */

typedef struct estimate {
    double value;
    double error;              /* standard error of its own */
} estimate;

static int by_value(const void *a, const void *b)
{
    double x = ((const estimate *)a)->value;
    double y = ((const estimate *)b)->value;
    return (x > y) - (x < y);
}

/* The middle of values by weight; each has a spread beyond its own error. Sorts them. */
static double weighted_median(estimate *values, size_t count, double spread)
{
    double all = 0;
    double sum = 0;
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; i < count; i++) {
        all += 1 / length_of(values[i].error, spread);
    }
    for (size_t i = 0; i < count; i++) {
        sum += 1 / length_of(values[i].error, spread);
        if (sum >= all / 2) {
            return values[i].value;
        }
    }
    return 0;
}

/* The median distance from the middle in units of error and spread; 1 if spread is right. */
static double typical_distance(const estimate *values, size_t count, double middle, double spread,
                               estimate *scratch)
{
    for (size_t i = 0; i < count; i++) {
        scratch[i].value = absolute(values[i].value - middle) /
                           length_of(values[i].error, spread);
    }
    qsort(scratch, count, sizeof *scratch, by_value);
    return scratch[count / 2].value / 0.6745;
}

/* The spread that explains the distances, at least `least`. */
static double robust_spread(const estimate *values, size_t count, double middle, double least,
                            estimate *scratch)
{
    double low = least;
    double high = 4;
    if (typical_distance(values, count, middle, least, scratch) <= 1) {
        return least;
    }
    for (int i = 0; i < 30; i++) {
        double spread = (low + high) / 2;
        if (typical_distance(values, count, middle, spread, scratch) > 1) {
            low = spread;
        } else {
            high = spread;
        }
    }
    return high;
}
