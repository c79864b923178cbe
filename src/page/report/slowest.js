/* >>slowest: single futures; the parts of each add up to its latency */

const SLOW_PARTS = [['exec_ns', 'own exec'], ['children_ns', 'on top of it'],
    ['delay_ns', 'ready, delayed'], ['waiting_ns', 'waiting'], ['unseen_ns', 'not seen']];
const SLOW_OF_SITE = 3;    // of one site, before all are asked for

const slowColour = name => ({ exec_ns: 'var(--accent)', delay_ns: readyStripes(),
    children_ns: 'color-mix(in srgb, var(--accent) 45%, var(--card))',
    waiting_ns: 'var(--loop)', unseen_ns: 'var(--line)' })[name];

/* Is at least three quarters of the latency explained? */
const isExplained = slow => slow.unseen_ns * 4 <= slow.latency_ns;

/* The page's steps may reach further back than the profile looked. */
function slowParts(p, slow) {
    const s = slow.unseen_ns > 0 ? stepsOf(p) : null;
    const life = s === null ? undefined : s.ended.get(slow.id + ' ' + slow.at_ns);
    if (life === undefined) { return slow; }
    const parts = partsOf(s, life), before = slow.latency_ns - parts.latency_ns;
    const unseen = parts.unseen_ns + Math.max(0, before);
    return before < -2 || unseen >= slow.unseen_ns ? slow
        : { ...slow, ...parts, latency_ns: slow.latency_ns, unseen_ns: unseen };
}

/* Those that are explained first, then slowest first, and as long as not all are asked for not too
   many of one site. */
function slowestRows(p) {
    const rows = (Array.isArray(p.raw.slowest) ? p.raw.slowest : []).map(slow => slowParts(p, slow)).sort((a, b) =>
        isExplained(b) - isExplained(a) || b.latency_ns - a.latency_ns), seen = new Map();
    if (state.allSlowest) { return rows; }
    return rows.filter(row => {
        addTo(seen, row.site, 1);
        return seen.get(row.site) <= SLOW_OF_SITE;
    }).slice(0, 8);
}

/* Site 0 to 2 are the loop itself, idle and untracked, as in the paths of steps. */
const OWN_NAMES = ['(uninstrumented)', '(idle)', '(untracked)'];
const blameName = row => OWN_NAMES[row.site] || row.name;

/* The sites that ran while it was ready; they add up to its delay. */
function slowBlames(slow, delay) {
    const known = slow.blames.filter(row => row.delay_ns > 0);
    const rest = slow.delay_ns - sum(known, row => row.delay_ns);
    const shown = timeParts([...known.map(row => row.delay_ns), rest],
        delay.startsWith('<') ? null : delay);
    return [delay, ...known.flatMap((row, i) => [i > 0 ? ', ' : ': ',
        el('span', { class: 'piece' }, nameOf(blameName(row)), ' ' + shown[i])]),
        ...(rest > 0 && known.length > 0 ? [', others ' + shown[known.length]] : [])];
}

function slowWords(slow) {
    const shown = timeParts(SLOW_PARTS.map(([name]) => slow[name]));
    return el('ul', { class: 'parts' }, ...SLOW_PARTS.map(([name, title], i) =>
        slow[name] === 0 ? null : el('li', { 'data-part': name }, swatch(slowColour(name)),
            title + ' ', ...(name === 'delay_ns' ? slowBlames(slow, shown[i]) : [shown[i]]))));
}

function slowBar(slow) {
    return el('div', { class: 'shares', 'aria-hidden': 'true' }, ...SLOW_PARTS.map(([name]) =>
        el('span', { style: { width: 100 * slow[name] / (slow.latency_ns || 1) + '%',
            background: slowColour(name) } })));
}

const idText = id => String(id) === '0' ? 'no id' : 'id ' + id;

function creatorWords(p, slow) {
    const row = p.raw.paths.find(each => each.id === slow.path);
    const above = row && p.raw.paths.find(each => each.id === row.parent);
    return above ? ', created by ' + (above.name || '(no name)') : '';
}

function slowSite(p, slow) {
    return el('span', null, swatch(colour(siteKey(slow))), nameOf(slow.name),
        placeText(place(slow)), el('span', { class: 'place' },
            wayToSlow(p, slow), creatorWords(p, slow) + (slow.finish === 'completed' ? '' : ', ' + slow.finish) +
            (slow.of_run ? '' : ', of the last minutes')));
}

/* Callbacks alone have neither a delay nor a life; with a full table nobody knows. */
function hasNoFutures(p) {
    const t = p.totals, some = row => row.latency_max_ns > 0 || row.waiting_ns > 0 ||
        row.delay_ns > 0 || row.live > 0 || row.abandoned > 0 || row.cancelled > 0 ||
        row.failed > 0 || row.stillborn > 0;
    return p.raw.chroprof >= 3 && t.events > 0 && t.delay_ns === 0 && t.live === 0 &&
        p.raw.futures.length === 0 && (p.raw.slowest || []).length === 0 && !p.sites.some(some) &&
        !p.raw.tables.some(row => row.dropped > 0);
}

function showSlowest() {
    const p = shown(), rows = slowestRows(p), all = (p.raw.slowest || []).length;
    const none = hasNoFutures(p);
    $('slowest').hidden = rows.length === 0 && !none;
    $('slowest-none').hidden = $('tree-none').hidden = !none;
    $('slowest-legend').hidden = $('slowest-scroll').hidden = $('slowest-count').hidden = none;
    $('slowest-count').textContent = (brushed() ? 'of the whole run, ' : '') +
        (rows.every(isExplained) || !rows.some(isExplained) ? 'slowest first'
            : 'those that are explained first');
    $('slowest-legend').replaceChildren(...SLOW_PARTS.map(([name, title]) => el('li', null,
        swatch(slowColour(name)), title)));
    fillTable($('slowest-table'), ['site and id', 'latency', ['finished at', 'optional2'],
        ['where it went', 'left']], rows.map(slow => [slowSite(p, slow),
        el('b', null, time(slow.latency_ns)), [moment(p, slow.at_ns, stallStep(p)), 'optional2'],
        [el('div', null, slowBar(slow), slowWords(slow)), 'left wrap']]));
    $('slowest-all').hidden = rows.length === all;
    $('slowest-all').textContent = 'Show all ' + count(all);
    $('slowest-note').hidden = !rows.some(slow => slow.unseen_ns > 0);
}

function bindRanks() {
    $('group').addEventListener('change', () => {
        state.group = $('group').value;
        state.open.clear();
        shareOutColours();
        redrawAll();
        writeLink('group');
    });
    $('filter').addEventListener('input', () => {
        state.filter = $('filter').value;
        redraw('ranks', showRanks);
        writeLink();
    });
    $('ranks-all').addEventListener('click', () => {
        state.allRanks = true;
        showRanks();
    });
    $('latency-all').addEventListener('click', () => {
        state.allLatencies = true;
        showLatency();
    });
    $('slowest-all').addEventListener('click', () => {
        state.allSlowest = true;
        showSlowest();
    });
}
