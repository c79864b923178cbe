/* gain.h - what clients saw of a loop, and what each of its sites would bring if it were faster:
 * estimates, from the last steps of a profile. See whatif.h for the model. */

#ifndef COMMAND_GAIN_H
#define COMMAND_GAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile.h"
#include "sheet.h"
#include "timeline.h"
#include "whatif.h"

#define GAIN_PLACEMENTS 24u    /* reports are quicker with fewer than whatif has */
#define GAIN_SITES 32u         /* that whatif --all looks at */

/* A study of a profile's last steps. */
typedef struct gain_study {
    timeline ring;
    whatif_loop loop;
    whatif_study study;
    whatif_change change;
    whatif_answer answer;
} gain_study;

/* false: no answer, such as too few steps; nothing is said. Close it in any case. */
bool gain_open(gain_study *g, const profile_text *p, size_t steps);
void gain_close(gain_study *g);

/* One site with so many times its exec time. */
typedef struct gain {
    uint32_t site;
    uint32_t kind;             /* whose p99 falls most; WHATIF_NONE: none does for sure */
    double p99_before, p99_after;
    double full_before, full_after;        /* times the load */
    double worth;              /* how much less p99 is, over all finished futures: a part of it */
} gain;

/* Sites ranked by what they would bring. */
typedef struct gain_list {
    double factor;
    gain rows[GAIN_SITES];
    size_t count;
} gain_list;

void whatif_json_all(const whatif_study *s, const gain_list *list, FILE *out);
void whatif_text_all(const whatif_study *s, const gain_list *list, const whatif_view *v, FILE *out);

/* a: opened; change: none as yet, and none again afterwards. false: no memory. */
bool gain_of(whatif_study *s, whatif_change *change, whatif_answer *a, uint32_t site, double factor,
             gain *out);

/* Sites that take much of the loop, most first: at most `room`. Returns how many. */
size_t gain_candidates(const whatif_loop *l, uint32_t *sites, size_t room);

/* "p99 of fetch_page 5.4ms to 2.1ms, room for 1.6 times the load"; "": not known to bring anything. */
void gain_words(const sheet *s, const whatif_loop *l, const gain *g, char *out, size_t size);

/* A section of the text report: clients, and what the sites of its findings would bring. Nothing if
 * the steps do not tell. false: no memory. */
bool gain_text(sheet *s, const profile_text *p);

/* What clients saw of one kind, and in how much time. false: that is not known. */
bool gain_of_kind(const profile_text *p, const char *name, const char *file, uint64_t line,
                  kind_figures *k, uint64_t *of_ns);

/* Adds what the section has to the profile's JSON, as "clients", unless that is there or the steps do
 * not tell. table: and what other factors and loads would bring, for a page with sliders.
 * false, with a message: no memory. */
bool gain_add(profile_text *p, bool table);

#endif
