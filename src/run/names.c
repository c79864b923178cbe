/* names.c - names that are looked up: the C library waits for the answer in calls of its own, which
 * nobody else sees, so the board shows the function that the program called */

#include "run.h"
#include "next.h"
#include "seats.h"

/* Before the call and after it. */
static board_names looks_up(board_names what)
{
    const seat *s = own;
    board_names before = NAMES_NONE;
    if (s != NULL && is_awake() && s->generation == generation) {
        before = (board_names)s->call->names;
        s->call->names = (uint8_t)what;
    }
    return before;
}

EXPORT int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found)
{
    board_names before;
    int result = EAI_FAIL;
    if (next.getaddrinfo == NULL) {
        find_function(&next.getaddrinfo, "getaddrinfo");
    }
    before = looks_up(NAMES_OF_HOST);
    if (next.getaddrinfo != NULL) {
        result = next.getaddrinfo(host, service, hints, found);
    }
    (void)looks_up(before);
    return result;
}

EXPORT int getnameinfo(const struct sockaddr *address, socklen_t size, char *host, socklen_t room,
                       char *service, socklen_t service_room, int flags)
{
    board_names before;
    int result = EAI_FAIL;
    if (next.getnameinfo == NULL) {
        find_function(&next.getnameinfo, "getnameinfo");
    }
    before = looks_up(NAMES_OF_ADDRESS);
    if (next.getnameinfo != NULL) {
        result = next.getnameinfo(address, size, host, room, service, service_room, flags);
    }
    (void)looks_up(before);
    return result;
}

EXPORT struct hostent *gethostbyname(const char *host)
{
    board_names before;
    struct hostent *result = NULL;
    if (next.gethostbyname == NULL) {
        find_function(&next.gethostbyname, "gethostbyname");
    }
    before = looks_up(NAMES_OLD);
    if (next.gethostbyname != NULL) {
        result = next.gethostbyname(host);
    }
    (void)looks_up(before);
    return result;
}

EXPORT struct hostent *gethostbyaddr(const void *address, socklen_t size, int family)
{
    board_names before;
    struct hostent *result = NULL;
    if (next.gethostbyaddr == NULL) {
        find_function(&next.gethostbyaddr, "gethostbyaddr");
    }
    before = looks_up(NAMES_OLD_ADDRESS);
    if (next.gethostbyaddr != NULL) {
        result = next.gethostbyaddr(address, size, family);
    }
    (void)looks_up(before);
    return result;
}
