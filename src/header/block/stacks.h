/* block/stacks.h: the tree of sampled stacks */
#pragma once
#include "../interface/kinds.h"
#include "../interface/types.h"
#include "../base/platform.h"
#include "../base/util.h"
#include "../block/rows.h"
#include "../block/core.h"
#include "../block/items.h"
#include "../block/modules.h"

/* ---- stacks */

#define CHROPROF__FULL_ITEM ((uint64_t)CHROPROF__MARK << 56 | CHROPROF__MARK_FULL)

static bool chroprof__good_item(const chroprof *p, uint64_t item)
{
    uint64_t value = chroprof__item_value(item);
    switch (chroprof__item_kind(item)) {
    case CHROPROF__PC:
    case CHROPROF__RETURN: return true;
    case CHROPROF__TASK: return value >= CHROPROF__UNTRACKED &&
                                value < CHROPROF__FIRST_PATH +
                                        p->core->tables[CHROPROF_TABLE_PATHS].used;
    case CHROPROF__MARK: return value > 0 && value < CHROPROF__MARKS;
    default: return false;
    }
}

static bool chroprof__good_node(const chroprof *p, uint32_t k)
{
    const chroprof__node *node = chroprof__nodes(p->core) + k;
    return node->parent < k && chroprof__good_item(p, node->item) &&
           chroprof__item_module(node->item) <= p->core->tables[CHROPROF__MODULES].used;
}

/* The node whose head is the bucket of an item below parent. */
static chroprof__node *chroprof__node_bucket(const chroprof__core *c, uint32_t parent,
                                             uint64_t item)
{
    uint64_t key = item ^ (uint64_t)parent * UINT64_C(0xD6E8FEB86659FD93);
    return chroprof__nodes(c) + chroprof__hash_index(key, c->tables[CHROPROF_TABLE_STACKS].rows);
}

/* The node of an item below parent; 0: there is none. */
static uint32_t chroprof__find_node(const chroprof__core *c, uint32_t parent, uint64_t item)
{
    const chroprof__node *nodes = chroprof__nodes(c);
    uint32_t k = chroprof__node_bucket(c, parent, item)->head;
    while (k && (nodes[k].item != item || nodes[k].parent != parent))
        k = nodes[k].next;
    return k;
}

/* Finds a node, or makes it; UINT32_MAX: the table is full. A node is whole before it is counted,
 * so the tree is good whenever somebody looks. The last row is for a marker. */
static uint32_t chroprof__intern_node(chroprof__core *c, uint32_t parent, uint64_t item)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_STACKS];
    chroprof__node *bucket = chroprof__node_bucket(c, parent, item);
    uint32_t known = chroprof__find_node(c, parent, item);
    if (known)
        return known;
    if (table->used + 1 + (item != CHROPROF__FULL_ITEM) >= table->rows)
        return UINT32_MAX;
    chroprof__node *node = chroprof__nodes(c) + table->used + 1;
    node->item = item;
    node->weight = node->cpu_ns = 0;
    node->parent = parent;
    node->next = bucket->head;
    CHROPROF__STORE_FENCE();
    table->peak = ++table->used;
    CHROPROF__STORE_FENCE();
    bucket->head = (uint32_t)table->used;
    return bucket->head;
}

/* The marker of what was cut below this node, or below the innermost one around it that has one;
 * else the root's, for which there is always room. */
static uint32_t chroprof__cut_at(chroprof__core *c, uint32_t node)
{
    while (node && !chroprof__find_node(c, node, CHROPROF__FULL_ITEM))
        node = chroprof__nodes(c)[node].parent;
    uint32_t marker = chroprof__intern_node(c, node, CHROPROF__FULL_ITEM);
    return marker == UINT32_MAX ? 0 : marker;
}

/* A frame is not kept. How many different ones they are is told by the rarest pattern of bits
 * among them (Flajolet and Martin, 1985). */
static void chroprof__lose_frame(chroprof__core *c, uint64_t parent_item, uint64_t item)
{
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_STACKS];
    uint64_t hash = (item ^ parent_item << 17 ^ parent_item >> 13) * UINT64_C(0xD6E8FEB86659FD93);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32) | UINT64_C(1) << 62;
    table->dropped++;
    table->wanted |= hash & (0 - hash);
}

/* ---- room for new stacks: what is below a frame and weighs least becomes one marker, until a
 * quarter of the table is free. So the work is spread over as many new frames. Stacks of stalls
 * stay. While that goes on three links of a node mean something else. */

#define CHROPROF__HEAVY UINT32_MAX          /* weight of what has to stay */

/* The weight of a node and of all below it. */
static uint32_t *chroprof__whole_weight(chroprof__node *node)
{
    return &node->next;
}

/* Of a node that stays the child that is a marker, or will be; 0: none. A marker's is itself. */
static uint32_t *chroprof__marker_of(chroprof__node *node)
{
    return &node->head;
}

/* The stacks of stalls, and of callbacks and iterations that may become some, one after the other;
 * NULL: there are no more. */
static chroprof__hits *chroprof__hits_at(chroprof__core *c, uint32_t k)
{
    uint32_t stalls = c->tables[CHROPROF_TABLE_STALLS].rows;
    if (k < stalls)
        return &chroprof__stall_rows(c)[k].hits;
    if (k < stalls + 2)
        return &c->stall.due[k - stalls].hits;
    k -= stalls + 2;
    return k < CHROPROF__HITS ? chroprof__sampler_of(c)->hits + k : NULL;
}

/* Range 0 is weight 0, range k from 2^(k - 1) on; heavy ones are in 32. */
static uint32_t chroprof__range_of(uint32_t weight)
{
    return weight ? chroprof__log2(weight) + 1 : 0;
}

/* Adds up the weights, in which a parent is never below its children. Returns the range up to
 * which so many nodes might be had. */
static uint32_t chroprof__weigh_nodes(chroprof__core *c, bool tasks_stay, uint64_t goal)
{
    chroprof__node *nodes = chroprof__nodes(c);
    uint32_t used = (uint32_t)c->tables[CHROPROF_TABLE_STACKS].used, range = 0, count[33];
    memset(count, 0, sizeof(count));
    for (uint32_t k = 0; k <= used; k++) {
        bool task = chroprof__item_kind(nodes[k].item) == CHROPROF__TASK;
        bool heavy = nodes[k].weight >= CHROPROF__HEAVY || (task && tasks_stay);
        *chroprof__whole_weight(nodes + k) = heavy ? CHROPROF__HEAVY : (uint32_t)nodes[k].weight;
    }
    const chroprof__hits *h = chroprof__hits_at(c, 0);
    for (uint32_t n = 1; h; h = chroprof__hits_at(c, n++))
        for (uint32_t k = 0; k < h->count; k++)
            *chroprof__whole_weight(nodes + h->stack[k]) = CHROPROF__HEAVY;
    for (uint32_t k = used; k > 0; k--) {
        uint32_t weight = *chroprof__whole_weight(nodes + k);
        uint32_t *above = chroprof__whole_weight(nodes + nodes[k].parent);
        *above = weight < CHROPROF__HEAVY - *above ? *above + weight : CHROPROF__HEAVY;
        count[chroprof__range_of(weight)]++;
    }
    for (uint64_t sum = count[0]; sum < goal && range < 31; sum += count[range])
        range++;
    return range;
}

/* Chooses who gives way: all that weigh less than this range, and of it the oldest, until the goal
 * is met. heir becomes the node that has the weight from now on, of one that stays itself. Returns
 * how many are freed. */
static uint64_t chroprof__choose_heirs(chroprof__core *c, uint32_t range, uint64_t goal)
{
    chroprof__node *nodes = chroprof__nodes(c);
    uint64_t freed = 0;
    *chroprof__marker_of(nodes) = nodes[0].heir = 0;
    for (uint32_t k = 1; k <= c->tables[CHROPROF_TABLE_STACKS].used; k++) {
        chroprof__node *node = nodes + k, *parent = nodes + node->parent;
        uint32_t own = chroprof__range_of(*chroprof__whole_weight(node));
        uint32_t marker = *chroprof__marker_of(parent);
        bool cut = own < range || (own == range && freed < goal);
        node->heir = k;
        *chroprof__marker_of(node) = 0;
        if (parent->heir != node->parent || (marker && marker == node->parent))
            node->heir = parent->heir;
        else if (!cut && node->item != CHROPROF__FULL_ITEM)
            continue;
        else if (marker)
            node->heir = marker;
        else
            *chroprof__marker_of(parent) = *chroprof__marker_of(node) = k;
        freed += node->heir != k;
    }
    return freed;
}

/* Weights go to the heirs, and markers say that they are some. Children first: what is lost is told
 * by the frame above it. */
static void chroprof__give_way(chroprof__core *c)
{
    chroprof__node *nodes = chroprof__nodes(c);
    for (uint32_t k = (uint32_t)c->tables[CHROPROF_TABLE_STACKS].used; k > 0; k--) {
        chroprof__node *node = nodes + k;
        bool cut = node->heir != k || *chroprof__marker_of(node) == k;
        if (cut && node->item != CHROPROF__FULL_ITEM) {
            chroprof__lose_frame(c, nodes[node->parent].item, node->item);
            node->item = CHROPROF__FULL_ITEM;
        }
        if (node->heir == k)
            continue;
        nodes[node->heir].weight += node->weight;
        nodes[node->heir].cpu_ns += node->cpu_ns;
    }
}

/* Buckets are made anew; false: a node can't be. */
CHROPROF__COLD bool chroprof__link_nodes(const chroprof *p)
{
    chroprof__table_row *table = &p->core->tables[CHROPROF_TABLE_STACKS];
    chroprof__node *nodes = chroprof__nodes(p->core);
    for (uint32_t k = 0; k < table->rows; k++)
        nodes[k].head = 0;
    for (uint32_t k = 1; k <= table->used; k++) {
        chroprof__node *bucket = chroprof__node_bucket(p->core, nodes[k].parent, nodes[k].item);
        if (!chroprof__good_node(p, k))
            return false;
        nodes[k].next = bucket->head;
        bucket->head = k;
    }
    return true;
}

/* Moves nodes up to where there are free ones, and whoever refers to them. A parent stays below its
 * children. */
static void chroprof__close_up(const chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__table_row *table = &c->tables[CHROPROF_TABLE_STACKS];
    chroprof__node *nodes = chroprof__nodes(c);
    chroprof__sample_span *rows = chroprof__sample_rows(c);
    uint32_t used = (uint32_t)table->used, count = 0;
    nodes[0].head = 0;
    for (uint32_t k = 1; k <= used; k++) {          /* head: the new number; an heir comes first */
        nodes[k].head = nodes[k].heir == k ? ++count : nodes[nodes[k].heir].head;
        nodes[k].parent = nodes[nodes[k].parent].head;
    }
    for (uint32_t k = 0; k < chroprof__sample_capacity(c); k++)
        rows[k].stack = nodes[rows[k].stack].head;
    chroprof__hits *h = chroprof__hits_at(c, 0);
    for (uint32_t n = 1; h; h = chroprof__hits_at(c, n++))
        for (uint32_t k = 0; k < h->count; k++)
            h->stack[k] = nodes[h->stack[k]].head;
    for (uint32_t k = 1; k <= used; k++)
        if (nodes[k].heir == k)
            nodes[nodes[k].head] = nodes[k];
    table->used = count;
    (void)chroprof__link_nodes(p);
}

/* False: there is none to be had, or that was so not long ago. Whose samples it were is given up
 * last. */
static bool chroprof__make_stack_room(const chroprof *p)
{
    chroprof__core *c = p->core;
    chroprof__sampler *s = chroprof__sampler_of(c);
    uint64_t goal = c->tables[CHROPROF_TABLE_STACKS].used / 4 + 1, freed = 0;
    if (s->patience > 0) {
        s->patience--;
        return false;
    }
    chroprof__poke64(&s->renumberings, s->renumberings + 1);
    CHROPROF__STORE_FENCE();
    for (int tasks_stay = 1; tasks_stay >= 0 && freed < goal; tasks_stay--) {
        uint32_t range = chroprof__weigh_nodes(c, tasks_stay != 0, goal);
        for (freed = 0; range < 32 && freed < goal; range++)
            freed = chroprof__choose_heirs(c, range, goal);
    }
    chroprof__give_way(c);
    chroprof__close_up(p);
    CHROPROF__STORE_FENCE();
    chroprof__poke64(&s->renumberings, s->renumberings + 1);
    s->patience = chroprof__minus(goal, freed);
    return freed > 0;
}

/* The node of a stack whose innermost frame comes first. What there is no room for is cut: in a
 * small table the first frames of a deep stack may be what gives way to the others, again and
 * again. */
static uint32_t chroprof__intern_items(const chroprof *p, const uint64_t *items, uint32_t count)
{
    chroprof__core *c = p->core;
    uint32_t node = 0, left = count, renumberings = 0;
    while (left > 0) {
        uint32_t child = chroprof__intern_node(c, node, items[left - 1]);
        if (child != UINT32_MAX) {
            node = child;
            left--;
        } else if (renumberings++ < 8 && chroprof__make_stack_room(p)) {
            node = 0;                       /* what was there may have moved */
            left = count;
        } else {
            for (; left > 0; left--)
                chroprof__lose_frame(c, chroprof__nodes(c)[node].item, items[left - 1]);
            return chroprof__cut_at(c, node);
        }
    }
    return node;
}

/* The node of what of a timer signal's stack makes sense. */
static uint32_t chroprof__intern_stack(const chroprof *p, chroprof__entry *e)
{
    uint32_t end = e->count < CHROPROF__ITEMS ? e->count : (uint32_t)CHROPROF__ITEMS, first = end;
    while (first > 0 && chroprof__good_item(p, e->items[first - 1])) {
        uint64_t *item = e->items + --first, address = chroprof__item_address(*item);
        if (chroprof__is_code(*item))
            *item = chroprof__code_item(chroprof__item_kind(*item), address,
                                        chroprof__find_module(p->core, address));
    }
    return chroprof__intern_items(p, e->items + first, end - first);
}
