/* tests/bare/strings.c - all that the header wants of a C library: these functions of string.h. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int byte, size_t count);
int memcmp(const void *a, const void *b, size_t count);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t count);

void *memmove(void *to, const void *from, size_t count)
{
    unsigned char *t = (unsigned char *)to;
    const unsigned char *f = (const unsigned char *)from;
    size_t k;
    for (k = 0; k < count && t < f; k++)
        t[k] = f[k];
    for (k = count; k > 0 && t > f; k--)
        t[k - 1] = f[k - 1];
    return to;
}

void *memcpy(void *to, const void *from, size_t count)
{
    return memmove(to, from, count);
}

void *memset(void *to, int byte, size_t count)
{
    unsigned char *t = (unsigned char *)to;
    while (count-- > 0)
        *t++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t count)
{
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    for (; count > 0; count--, x++, y++)
        if (*x != *y)
            return *x < *y ? -1 : 1;
    return 0;
}

size_t strlen(const char *text)
{
    size_t count = 0;
    while (text[count] != '\0')
        count++;
    return count;
}

int strncmp(const char *a, const char *b, size_t count)
{
    for (; count > 0 && *a != '\0' && *a == *b; a++, b++)
        count--;
    return count == 0 ? 0 : (int)(unsigned char)*a - (int)(unsigned char)*b;
}

int strcmp(const char *a, const char *b)
{
    for (; *a != '\0' && *a == *b; a++)
        b++;
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

char *strchr(const char *s, int c)
{
    for (; *s != (char)c; s++)
        if (*s == '\0')
            return (char *)0;
    return (char *)s;
}

char *strrchr(const char *s, int c)
{
    const char *found = (const char *)0;
    do
        if (*s == (char)c)
            found = s;
    while (*s++ != '\0');
    return (char *)found;
}

size_t strcspn(const char *s, const char *reject)
{
    size_t n = 0;
    while (s[n] != '\0' && !strchr(reject, s[n]))
        n++;
    return n;
}
