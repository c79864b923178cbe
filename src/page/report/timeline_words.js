/* ---- what is told in words */

const viewStep = ([from, to]) => (to - from) / 1000;

function tellTimeline(p, s) {
    const [from, to] = state.view, step = viewStep(state.view);
    $('timeline-range').textContent = moment(p, from, step) + ' to ' + moment(p, to, step) + ', ' +
        time(to - from);
    $('count-view').textContent = brushed() ? 'Rank the whole run' : 'Rank this view';
    $('count-view').setAttribute('aria-pressed', brushed());
    $('view-all').disabled = from === s.lo && to === s.hi;
}

function noteTimeline(p, s) {
    const words = [(s.whole ? 'All ' : 'The last ') + plural(Math.min(p.totals.events, s.count),
        'event') + ', ' + count(Math.ceil(s.bytes / 1024)) + ' KiB of this page'];
    if (s.deepest >= LANES.rows) {
        words.push('the innermost ' + (s.deepest + 1 - LANES.rows) +
            ' rows of the stack are not drawn');
    }
    if (s.dropped > 0) { words.push(plural(s.dropped, 'short future') + ' not drawn'); }
    const most = s.lanes.ready.h === 0 ? ''
        : ' Ready: solid the mean of each pixel, pale the most.';
    $('timeline-note').replaceChildren(words.join('; ') + '.' + most, ...(s.packed.length === 0 ? []
        : [' Futures: ', swatch(readyStripes()), 'ready, otherwise in the color of their ' +
            'site, paler while they wait.']));
}

/* Parts of something, as a bar and in words that add up. */
function partsView(parts) {
    const held = parts.filter(part => part.ns > 0), whole = sum(held, part => part.ns);
    const words = timeParts(held.map(part => part.ns));
    return [el('div', { class: 'shares', 'aria-hidden': 'true' }, ...held.map(part =>
        el('span', { style: { width: 100 * part.ns / whole + '%', background: part.colour } }))),
    el('ul', { class: 'parts' }, ...held.map((part, i) => el('li', null, swatch(part.colour),
        nameOf(part.name), ' ' + words[i])))];
}

function stallParts(stall) {
    const named = stall.shares.map(share => ({ name: shareName(share), ns: share.exec_ns,
        colour: stallColour(share) }));
    const rest = stall.length_ns - sum(named, part => part.ns);
    return partsView([...named, { name: 'the rest', ns: rest, colour: cssColour('--other') }]);
}

/* What the profile itself says of this future, if it is one of the slowest. */
const slowOf = (p, s, life) => (p.raw.slowest || []).find(row =>
    String(row.id) === s.ids[life.id] && row.at_ns === life.to);

const childrenOf = (s, life) => s.lives.filter(each => each.parent === life)
    .sort((a, b) => b.to - b.from - (a.to - a.from));

/* Who created a future, and the longest of those that it created. */
function kinWords(s, life) {
    const way = each => el('span', { class: 'piece' }, wayTo(pathName(s, each.path) + ' ' +
        s.ids[each.id], true, () => goTo({ life: each }, each.from, each.to)), ' (' +
        time(each.to - each.from) + ')');
    const children = childrenOf(s, life), more = children.length - 3;
    return el('p', null, ...(life.parent ? ['Created by ', way(life.parent), '. '] : []),
        ...(children.length > 0 ? ['Created ', ...children.slice(0, 3).flatMap((each, i) =>
            [i > 0 ? ', ' : '', way(each)]), more > 0 ? ' and ' + count(more) + ' more' : '', '.']
            : []));
}

function pickedWords(p, s) {
    const { box, stall, life } = state.picked, at = ns => moment(p, ns, 1000);
    if (stall) {
        return [el('b', null, stall.kind + ' of ' + time(stall.length_ns)), ' at ' + [at(stall.start_ns),
            clockOf(p, stall.start_ns)].filter(Boolean).join(', '), ...stallParts(stall)];
    }
    const path = life ? life.path : s.boxes.path[box], id = life ? life.id : s.boxes.id[box];
    const head = [swatch(canvasFill(path)), el('b', { class: 'name' }, pathName(s, path)),
        s.rows.has(path) ? ' ' + place(s.rows.get(path)) : '', id > 0 ? ', id ' + s.ids[id] : ''];
    if (life) {
        const slow = life.created ? undefined : slowOf(p, s, life);
        const parts = slow ? slowParts(p, slow) : partsOf(s, life);
        return [...head, ', from ' + (life.created ? '' : 'before ') + at(life.from) +
            (life.ended < 0 ? ' on' : ' to ' + at(life.to)) + ', ',
        el('b', null, time(parts.latency_ns)), slowBar(parts), slowWords(parts),
        kinWords(s, life)];
    }
    const length = s.boxes.end[box] - s.boxes.start[box], own = s.boxes.own[box];
    return [...head, ', at ' + at(s.boxes.start[box]) + ', ', el('b', null, time(length)),
        ...(own < length && own > 0 ? partsView([{ name: 'itself', ns: own, colour:
            canvasFill(path) }, { name: 'what ran on top of it', ns: length - own,
            colour: cssColour('--loop') }]) : [])];
}

const canvasFill = path => $('steps').look.fill(path);

function tellPicked() {
    const p = shown(), s = stepsOf(p);
    $('steps-status').replaceChildren(...(state.picked && $('steps').look ? pickedWords(p, s)
        : state.find.trim() !== '' ? [findWords(s)]
            : ['Click a task, a future or a stall to see its parts.']));
}
