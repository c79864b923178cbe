/* fuzz/replay.h - the main of a target without libFuzzer: replays files and folders of files, each as
 * one input. Included at the target's end; does nothing without FUZZ_REPLAY. FUZZ_MAIN: the target has a
 * main of its own. */
#ifdef FUZZ_REPLAY

#include <dirent.h>
#include <errno.h>

static unsigned long replayed;

static int replay(const char *path);

static int replay_folder(DIR *folder, const char *path)
{
    char inside[4096];
    struct dirent *entry;
    int wrong = 0;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
        wrong |= replay(inside);
    }
    closedir(folder);
    return wrong;
}

static int replay(const char *path)
{
    static uint8_t bytes[1 << 20];
    DIR *folder = opendir(path);
    FILE *file;
    size_t size;
    if (folder)
        return replay_folder(folder, path);
    file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, size);
    replayed++;
    return 0;
}

#ifndef FUZZ_MAIN
int main(int argc, char **argv)
{
    int i, wrong = 0;
    for (i = 1; i < argc; i++)
        wrong |= replay(argv[i]);
    printf("%lu inputs replayed\n", replayed);
    return wrong || replayed == 0;
}
#endif

#endif
