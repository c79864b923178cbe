/* >>stalls */

const LANE = 74;
const stallStep = p => p.end < 5e8 ? 1e3 : 1e6;

/* Schema 1 lists the biggest slices of a stall: those of one site are its share. */
function sharesOf(stall) {
    if (Array.isArray(stall.shares)) { return stall.shares; }
    const sites = new Map();
    (stall.slices || []).forEach(slice => {
        const known = sites.get(siteKey(slice)) || { ...slice, site: 1, exec_ns: 0, slices: 0,
            slice_max_ns: 0 };
        known.exec_ns += slice.exec_ns;
        known.slices++;
        known.slice_max_ns = Math.max(known.slice_max_ns, slice.exec_ns);
        sites.set(siteKey(slice), known);
    });
    return [...sites.values()].sort((a, b) => b.exec_ns - a.exec_ns);
}

function shareName(share) { return share.site === 0 ? '(uninstrumented)' : share.name; }

function stallColour(share) { return share.site === 0 ? cssColour('--loop') : colour(siteKey(share)); }

function drawLane() {
    const p = shown(), canvas = $('lane'), width = canvas.parentElement.clientWidth;
    if (p.stalls.length === 0 || width < 80) { return; }
    const c = canvasContext(canvas, width, LANE), floor = LANE - PLOT.bottom;
    const longest = Math.max(...p.stalls.map(s => s.length_ns), 1);
    c.fillStyle = cssColour('--line');
    c.fillRect(PLOT.left, floor, width - PLOT.left - PLOT.right, 1);
    canvas.bars = p.stalls.map(stall => {
        const x = xOf(p, stall.start_ns, width);
        const w = Math.max(3, xOf(p, stall.start_ns + stall.length_ns, width) - x);
        return { stall, x, w, h: Math.max(4, stall.length_ns / longest * (floor - 6)) };
    });
    canvas.bars.forEach(bar => {
        c.globalAlpha = inInterval(p, bar.stall) ? 1 : 0.25;
        drawStall(c, bar, floor);
    });
    c.globalAlpha = 1;
    c.font = '12px ' + FONT;
    c.textAlign = 'left';
    c.textBaseline = 'top';
    c.fillStyle = cssColour('--dim');
    c.fillText(axisTime(longest), 0, 2);
    drawTime(c, p, width, floor + 7);
}

function inInterval(p, stall) {
    const [start, end] = intervalOf(p);
    return !brushed() || (stall.start_ns + stall.length_ns > start && stall.start_ns < end);
}

/* Its shares on one another, the largest at the foot; the rest of its time on top. */
function drawStall(c, bar, floor) {
    let y = floor;
    for (const share of bar.stall.shares) {
        const h = share.exec_ns / bar.stall.length_ns * bar.h;
        c.fillStyle = stallColour(share);
        c.fillRect(bar.x, y - h, bar.w, h);
        y -= h;
    }
    c.fillStyle = cssColour('--loop');
    c.fillRect(bar.x, floor - bar.h, bar.w, Math.max(0, y - (floor - bar.h)));
}

function shareRows(stall) {
    return stall.shares.map(share => tipRow(el('span', null, swatch(stallColour(share)),
        shareName(share) + (share.slices > 1 ? ', ' + plural(share.slices, 'slice') : '')),
        time(share.exec_ns)));
}

function bindStalls() {
    const canvas = $('lane');
    const under = event => {
        const x = event.clientX - canvas.getBoundingClientRect().left;
        return (canvas.bars || []).filter(bar => x >= bar.x - 2 && x <= bar.x + bar.w + 2)
            .sort((a, b) => b.h - a.h)[0];
    };
    canvas.addEventListener('pointermove', event => {
        const bar = under(event), p = shown();
        if (!bar) { hideTip(); return; }
        showTip(event, el('p', null, el('b', null, bar.stall.kind + ' of ' +
            time(bar.stall.length_ns)), ' at ' + [moment(p, bar.stall.start_ns, stallStep(p)),
            clockOf(p, bar.stall.start_ns)].filter(Boolean).join(', ')),
            ...shareRows(bar.stall), ...stallCode(p, bar.stall).slice(0, 4).map(code =>
                tipRow(code.name, plural(code.weight, 'sample'))));
    });
    canvas.addEventListener('pointerleave', hideTip);
    canvas.addEventListener('click', event => {
        const bar = under(event), s = stepsOf(shown());
        if (bar && s !== null && s.stalls.includes(bar.stall)) {
            goToStall(bar.stall);
            reveal();
            writeLink('way');
        }
    });
    $('stalls-all').addEventListener('click', () => {
        state.allStalls = true;
        showStalls();
    });
}

/* The innermost calls of a stall's samples, with the line that has most of each. */
function stallCode(p, stall) {
    if (p.samples === null || !Array.isArray(stall.samples)) { return []; }
    const found = new Map();
    stall.samples.forEach(({ stack, weight }) => {
        const chain = chainOf(p.samples, stack);
        if (!chain || chain.length === 0) { return; }
        const code = codeAt(chain);
        if (!found.has(code.key)) {
            found.set(code.key, { name: code.name, weight: 0, most: 0, places: new Map() });
        }
        const known = found.get(code.key);
        known.weight += weight;
        if (weight > known.most) { Object.assign(known, { most: weight, stack }); }
        addTo(known.places, code.where, weight);
    });
    return [...found.values()].sort((a, b) => b.weight - a.weight)
        .map(code => ({ ...code, where: heaviest(code.places) }));
}

/* As fine as samples are; '': the sampler was off. */
function stallCpu(stall) {
    const unseen = stall.length_ns - stall.cpu_ns - stall.waiting_ns;
    const part = ns => Math.round(100 * ns / stall.length_ns) + '%';
    return !(stall.cpu_ns + stall.waiting_ns > 0) ? '' : part(stall.cpu_ns) + ' CPU, ' +
        part(stall.waiting_ns) + ' waiting or preempted' +
        (unseen > 0 ? ', ' + part(unseen) + ' not sampled' : '') +
        (stall.sampled > 0 ? ' (' + plural(stall.sampled, 'sample') + ')' : '');
}

/* What ran, and how much of the stall was CPU time. */
function stallCodeCell(p, stall) {
    const code = stallCode(p, stall), total = sum(code, each => each.weight);
    if (total === 0 && stallCpu(stall) === '') {
        return [el('span', { class: 'zero' }, '–'), 'left wrap'];
    }
    return [el('span', null, ...code.slice(0, 3).map(each => el('span',
        { style: { display: 'block' } }, ofSamples(each.weight, total) + ' ', nameOf(each.name),
        el('span', { class: 'note', title: each.where },
            '  ' + shortPlace(each.where)))),
        el('span', { class: 'note' }, stallCpu(stall))), 'left wrap'];
}

function stallBar(stall) {
    return el('div', { class: 'shares', 'aria-hidden': 'true' }, ...stall.shares.map(share =>
        el('span', { style: { width: 100 * share.exec_ns / stall.length_ns + '%',
            background: stallColour(share) } })));
}

/* What each site took of a stall in all. */
function stallWords(stall) {
    return el('span', null, ...stall.shares.filter(share => share.exec_ns > 0).flatMap(share =>
        [el('span', { class: 'piece' }, swatch(stallColour(share)), nameOf(shareName(share)),
            ' ' + time(share.exec_ns)), '\u2003 ']));
}

/* Those that outlived the ring. Before 0.3.0 only a stall said where steps are left out. */
function keptSteps(stall) {
    const s = unpackSteps(stall.data);
    if (stall.left_out > 0 && s.left.every(left => left === 0)) {
        s.left[stall.first_steps] = stall.left_out;
    }
    return s;
}

/* The steps of a stall: all of them while the ring has them, with some before it, else those that
   outlived the ring. left: how many are left out before each. */
function stepsOfStall(p, stall) {
    const s = stepsOf(p), end = stall.start_ns + stall.length_ns;
    if (s === null || s.lo > stall.start_ns || s.hi < end) {
        return stall.data ? keptSteps(stall) : null;
    }
    const from = Math.max(0, s.at.findIndex(at => at > stall.start_ns) - 3);
    const after = s.at.findIndex(at => at > end), to = after < 0 ? s.at.length : after;
    const part = name => s[name].slice(from, to);
    return { at: part('at'), path: part('path'), state: part('state'), left: [] };
}

/* What ran in a stall, one after the other. */
function orderOf(p, stall) {
    const s = stepsOfStall(p, stall), spells = [], breath = stall.length_ns / 100;
    s.at.forEach((at, i) => {
        const left = s.left[i] || 0, gap = left > 0;
        const from = i > 0 ? s.at[i - 1] : stall.start_ns, last = spells[spells.length - 1];
        const early = from < stall.start_ns, path = gap ? UNKNOWN : s.path[i];
        const begun = [RUNNING, SWITCH, NEXT, ENTER].includes(s.state[i - 1]) ? 1 : 0;
        if ((i === 0 && !gap) || (path === LOOP && at - from < breath && last)) { return; }
        if (last && !gap && last.path === path && last.early === early) {
            last.ns += at - from;
            last.slices += begun;
        } else {
            spells.push({ path, from, early, ns: at - from, slices: begun, left });
        }
    });
    return { spells };
}

const SPELLS = 60;         // of a stall in order; what is shorter stands between them as one row
const SPELLS_SHORT = 20;   // as many stay however short they are

/* The longest spells stay, each in its place; those between two of them are one. */
function longSpells(spells) {
    const least = sum(spells, spell => spell.ns) / 1000;
    const long = new Set(spells.slice().sort((a, b) => (b.path === UNKNOWN) - (a.path === UNKNOWN) ||
        b.ns - a.ns).slice(0, SPELLS).filter((spell, i) => i < SPELLS_SHORT || spell.ns >= least));
    const kept = [];
    spells.forEach(spell => {
        const last = kept[kept.length - 1];
        if (long.has(spell)) {
            kept.push(spell);
        } else if (last && last.brief && last.early === spell.early) {
            last.ns += spell.ns;
            last.brief++;
        } else {
            kept.push({ ...spell, brief: 1 });
        }
    });
    return kept;
}

function spellName(s, { path, slices, brief, left }) {
    return brief ? plural(brief, 'short one') : path === UNKNOWN ? plural(left, 'step') + ' left out'
        : pathName(s, path) + (slices > 1 ? ' \u00d7' + slices : '');
}

/* What the steps that are left out had: of each site what the stall has more of it than the others. */
function leftOut(p, stall, spells) {
    const shown = new Map(), sites = new Map(p.raw.paths.map(row => [row.id, row.site]));
    const gap = sum(spells.filter(spell => spell.path === UNKNOWN), spell => spell.ns);
    spells.filter(spell => !spell.early && sites.has(spell.path))
        .forEach(spell => addTo(shown, sites.get(spell.path), spell.ns));
    return stall.shares.map(share => ({ share, ns: share.exec_ns - (shown.get(share.site) || 0),
        longest: share.slice_max_ns > (shown.get(share.site) || 0) }))
        .filter(({ share, ns }) => share.site > 0 && ns > gap / 100).sort((a, b) => b.ns - a.ns);
}

/* A row for each: the steps that are kept may be short, while those left out are the stall itself. */
function leftOutRows(p, stall, spells) {
    const one = spells.filter(spell => spell.path === UNKNOWN).length === 1;
    return leftOut(p, stall, spells).slice(0, 6).map(({ share, ns, longest }) => el('li', { class: 'among' },
        el('span', { class: 'at' }, one ? 'of these' : 'left out'), swatch(stallColour(share)),
        nameOf(shareName(share)), ' ', el('b', null, time(ns)),
        longest && share.slice_max_ns * 2 > ns && share.slice_max_ns <= ns
            ? ' (longest slice ' + time(share.slice_max_ns) + ')' : ''));
}

/* What happened in a stall: its steps, and what its samples met. */
const orderView = (p, stall) => [...(stepsOfStall(p, stall) !== null ? stepsView(p, stall)
    : [el('p', { class: 'note' }, noStepsWords(p))]), ...samplesView(p, stall)];

/* A bar as long as the stall, and below it the same in words. */
function stepsView(p, stall) {
    const s = { rows: new Map(p.raw.paths.map(row => [row.id, row])) };
    const { spells } = orderOf(p, stall), kept = longSpells(spells);
    const gaps = kept.filter(spell => spell.path === UNKNOWN), last = gaps[gaps.length - 1];
    const fill = ({ path, brief }) => brief || path === UNKNOWN ? cssColour('--line')
        : path < FIRST_PATH ? cssColour(['--loop', '--idle', '--untracked'][path])
            : s.rows.has(path) ? colour(siteKey(s.rows.get(path))) : cssColour('--other');
    const inside = kept.filter(spell => !spell.early);
    const bar = el('div', { class: 'shares', 'aria-hidden': 'true' }, ...inside.map(spell =>
        el('span', { title: spellName(s, spell) + ' ' + time(spell.ns), style: {
            width: 100 * spell.ns / stall.length_ns + '%', background: fill(spell) } })));
    return [bar, el('ol', { class: 'order' }, ...kept.flatMap(spell => [el('li',
        { class: spell.early || spell.brief || spell.path === UNKNOWN ? 'note' : null },
        el('span', { class: 'at' }, spell.early ? 'before' : '+' + time(spell.from - stall.start_ns)),
        swatch(fill(spell)), nameOf(spellName(s, spell)), ' ', el('b', null, time(spell.ns))),
    ...(spell === last ? leftOutRows(p, stall, spells) : [])]))];
}

const stallId = stall => String(stall.start_ns);

function orderButton(stall) {
    const open = state.openStalls.has(stallId(stall));
    return el('button', { type: 'button', class: 'order-button',
        'aria-expanded': open, 'data-key': 'order ' + stallId(stall), onclick: () => {
            if (!state.openStalls.delete(stallId(stall))) { state.openStalls.add(stallId(stall)); }
            keepingFocus($('stalls-table'), showStalls);
        } }, 'in order');
}

/* A stall, and under it over the full width what happened in it, if that was asked for. */
function stallRows(p, stall, cells) {
    const row = el('tr', null, ...cells.map(content => {
        const [inside, style] = Array.isArray(content) ? content : [content, null];
        return el('td', { class: style }, inside);
    }));
    return !state.openStalls.has(stallId(stall)) ? [row] : [row, el('tr', { class: 'more' },
        el('td', { colspan: cells.length }, ...orderView(p, stall)))];
}

/* Those that happened in another one come below it: their begin is among its steps. Stalls of merged
 * profiles only happened at one time. */
function nestStalls(p, stalls) {
    const outer = new Map(), begins = new Map(stalls.map(stall => {
        const steps = stall.data ? keptSteps(stall) : stepsOfStall(p, stall);
        return [stall, new Set(steps ? steps.at.slice(0, -1) : [])];
    }));
    const later = (a, b) => a.start_ns - b.start_ns || b.length_ns - a.length_ns;
    stalls.forEach(stall => outer.set(stall, stalls.filter(other => later(stall, other) > 0 &&
        begins.get(other).has(stall.start_ns)).sort(later).pop()));
    const outermost = stall => outer.get(stall) ? outermost(outer.get(stall)) : stall;
    return stalls.filter(stall => !outer.get(stall)).flatMap(stall => [stall, ...stalls.filter(other =>
        other !== stall && outermost(other) === stall).sort(later)].map(one => [one, one !== stall]));
}

function showStalls() {
    const p = shown(), sorted = nestStalls(p, p.stalls.filter(stall => inInterval(p, stall))
        .sort((a, b) => b.length_ns - a.length_ns));
    const most = state.allStalls ? sorted.length : 8;
    $('stalls').hidden = p.stalls.length === 0 && !p.totals.stalls;
    $('stalls-count').textContent = plural(p.totals.stalls, 'callback') + ' and iterations above ' +
        time(p.raw.options ? p.raw.options.stall_ns : 0) + (brushed() ? ' in the whole run; ' : '; ') +
        (p.stalls.length < p.totals.stalls ? 'only ' : '') + p.stalls.length + ' kept' + (brushed() ? ', ' + sorted.length + ' of them in the interval'
            : '') + ', longest first, those inside another one below it';
    const coded = p.samples !== null && p.stalls.some(s => s.sampled > 0);
    const bar = 'left optional2';
    fillTable($('stalls-table'), [['length'], 'at', ['kind', 'left optional2'], ['where it went', bar],
        ['taken by', 'left'], ...(coded ? [['code', 'left']] : []),
        ['events', 'optional']],
        sorted.slice(0, most).flatMap(([s, inside]) => stallRows(p, s, [
            el('span', null, inside ? '\u2514 ' : '', el('b', null, time(s.length_ns)), orderButton(s)),
            clockCell(p, s.start_ns, wayToStall(p, s)), [s.kind, 'left optional2'], [stallBar(s), bar],
            [stallWords(s), 'left taken'], ...(coded ? [stallCodeCell(p, s)] : []),
            [count(s.events), 'optional']])));
    $('stalls-all').hidden = sorted.length <= most;
    $('stalls-all').textContent = 'Show all ' + sorted.length;
    drawLane();
}
