/* report_bytes - turns a file into the bytes of a C array: report_bytes NAME < FILE > HEADER */

#include <stdio.h>

int main(int count, char **words)
{
    int byte;
    int column = 0;
    printf("static const unsigned char %s[] = {", count > 1 ? words[1] : "bytes");
    while ((byte = getchar()) != EOF) {
        printf(column++ % 24 == 0 ? "\n    %d," : "%d,", byte);
    }
    puts("\n};");
    return ferror(stdin) || fflush(stdout) != 0 || ferror(stdout);
}
