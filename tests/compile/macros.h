/* Macros of other headers and programs, under their names, with values that no code survives: for
 * survives.c. Those with arguments break only what looks like a call. */
#if defined(__GNUC__)
#pragma GCC system_header /* some are there already */
#endif

/* ncurses: <term.h> and <curses.h> */
#define auto_left_margin !
#define bell !
#define buttons !
#define clear_screen !
#define columns !
#define cursor_home !
#define init_tabs !
#define key_down !
#define label_height !
#define label_width !
#define lines !
#define max_attributes !
#define max_colors !
#define newline !
#define tab !
#define clear() !
#define echochar(c) !
#define erase() !
#define getch() !
#define move(y, x) !
#define refresh() !
#define timeout(delay) !
#define ERR !
#define OK !

/* X11 */
#define Above !
#define Always !
#define Below !
#define Bool !
#define Complex !
#define Convex !
#define Expose !
#define False !
#define None !
#define Status !
#define Success !
#define True !
#define Unsorted !

/* Windows */
#define CALLBACK !
#define CONST !
#define DELETE !
#define ERROR !
#define FAR !
#define IN !
#define NEAR !
#define OPTIONAL !
#define OUT !
#define VOID !
#define cdecl !
#define far !
#define grp1 !
#define hyper !
#define interface !
#define near !
#define pascal !
#define rad1 !
#define small !

/* kernels, BSD's <sys/param.h>, microcontrollers */
#define ARRAY_SIZE(a) !
#define BIT(n) !
#define HIGH !
#define HZ !
#define LOW !
#define MAX(a, b) !
#define MIN(a, b) !
#define PAGE_SIZE !
#define READ_ONCE(x) !
#define SP !
#define abs(x) !
#define access_ok(a, n) !
#define barrier() !
#define bit(n) !
#define clamp(x, a, b) !
#define constrain(x, a, b) !
#define container_of(p, type, member) !
#define current !
#define file_count(x) !
#define first_node(mask) !
#define guard(name) !
#define howmany(a, b) !
#define interrupts() !
#define jiffies !
#define likely(x) !
#define list_for_each(a, b) !
#define max(a, b) !
#define min(a, b) !
#define mb() !
#define powerof2(x) !
#define round(x) !
#define round_up(x, y) !
#define roundup(x, y) !
#define swap(a, b) !
#define typeof_member(t, m) !
#define unlikely(x) !
#define word(...) !

/* what attributes of the compiler are called without their underscores */
#define aligned !
#define always_inline !
#define cleanup !
#define cold !
#define constructor !
#define deprecated !
#define fallthrough !
#define hot !
#define may_alias !
#define no_sanitize !
#define no_sanitize_address !
#define no_sanitize_thread !
#define noinline !
#define noreturn !
#define packed !
#define pure !
#define section !
#define unused !
#define visibility !
#define weak !

/* Qt, Tcl, Perl, Ruby, macOS, C's own <complex.h> and <iso646.h>, old systems, and everybody's */
#define DEBUG !
#define E !
#define FALSE !
#define I !
#define NO !
#define OFF !
#define ON !
#define PI !
#define TRUE !
#define YES !
#define _(text) !
#define check(x) !
#define compile !
#define complex !
#define emit !
#define fail(x) !
#define foreach(a, b) !
#define forever !
#define i386 !
#define index(s, c) !
#define linux !
#define log(...) !
#define major(device) !
#define minor(device) !
#define nil !
#define remove(x) !
#define require(x) !
#define rindex(s, c) !
#define signals !
#define slots !
#define sun !
#define unix !
#define verify(x) !
#ifndef __cplusplus
#define and !
#define not !
#define or !
#define xor !
#endif
