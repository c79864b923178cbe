/* >>verdict: what somebody should know who reads nothing else */

/* What the profile itself says that stands out, the most important first. Those of 0.1.0 say none. */
const findingsOf = p => Array.isArray(p.raw.findings) ? p.raw.findings : [];

function findingLines(p) {
    const found = findingsOf(p);
    if (found.length === 0) {
        return [el('p', null, 'This profile has no findings, as those that chroprof 0.1.0 wrote.')];
    }
    return found.map((finding, i) => findingLine(p, finding, i === 0 && !before()));
}

/* One sentence what was found, the others what to do; the site stands out where it is named. */
function findingLine(p, finding, first) {
    const site = p.sites.find(each => each.id === finding.site && finding.site !== 0);
    const text = String(finding.text), name = site ? site.name : '';
    const at = name === '' ? -1 : text.indexOf(name);
    const end = text.search(/\. [A-Z]/) + 1;
    const fact = end > 0 ? text.slice(0, end) : text, cure = end > 0 ? text.slice(end) : '';
    const words = at < 0 || at + name.length > fact.length ? [fact] : [fact.slice(0, at),
        first ? el('span', { class: 'name culprit' }, name) : nameOf(name),
        fact.slice(at + name.length)];
    return el('p', { 'data-kind': finding.kind }, ...words,
        cure === '' ? null : el('span', { class: 'cure' }, cure),
        ...wayToPart(p, finding.kind));
}

const FINDING_PARTS = { stall: 'stalls', leaks: 'rest', occupies: 'ranks', delays: 'ranks',
    rising: 'series' };

/* Leads to the part of the page that has more of it. */
function wayToPart(p, kind) {
    const id = FINDING_PARTS[kind], part = PARTS.find(([of]) => of === id);
    if (!part || (id === 'stalls' && p.stalls.length === 0) ||
        (id === 'series' && p.windows.length === 0)) { return []; }
    return [' ', el('button', { type: 'button', class: 'way part-way', onclick: () => goToPart(id),
        'aria-label': 'Go to ' + part[1] }, part[1])];
}

/* The function that ran most under the site that took most, which the finding above may not name;
   outside of all sites, if that is what it is about. */
function codeLine(p) {
    const [first] = findingsOf(p);
    const bare = first && ['no_idle', 'uninstrumented'].includes(first.kind);
    const top = bare ? { key: '' } : p.ranked[0];
    if (!top || top.exec_ns === 0 || p.samples === null) { return null; }
    const { rows, tasks } = wholeFunctions(p);
    const task = tasks.find(each => each.task.key === top.key);
    const worst = rows.find(row => row.task.key === top.key);
    if (!task || !worst) { return null; }
    const known = !before() && first && first.site === top.id;
    const samples = plural(task.weight, 'sample'), few = task.weight < 5;
    const used = bare || top.cpu === null ? '–' : estimate(top.cpu, top.cpu_error);
    const cpu = p.samples.facts.mode === 'cpu' && used !== '–'
        ? used + ' of CPU time' : few ? 'code' : samples;
    const off = bare || top.off_cpu === null || top.off_cpu <= top.exec_ns / 10 ? '–'
        : estimate(top.off_cpu, top.cpu_error);
    return el('p', null, ...(known ? ['Of its ', cpu] : ['Of the ', cpu, ' of ',
        bare ? 'uninstrumented code' : nameOf(top.name)]), ', ',
        el('strong', null, ofSamples(worst.self, task.weight)), ' fell into ',
        nameOf(worst.name), ...placeWords(heaviest(worst.places)),
        p.samples.facts.mode === 'cpu' && off !== '–' ? '; ' + off + ' it was off CPU.' : '.');
}

/* The summary is of the whole run, whatever interval is chosen. */
function wholeFunctions(p) {
    if (!p.samples.whole) {
        countSamples(p.samples, 0, Infinity);
        p.samples.start = undefined;               // the interval is counted again when it is shown
    }
    return functionsOf(p.samples);
}

const shortPlace = where => (where.startsWith('called at ') ? 'called at ' : '') + baseName(where);

function placeWords(where) {
    if (where === '') { return []; }
    return [where.startsWith('called at ') ? ', ' : ' at ', el('code', { title: where },
        shortPlace(where))];
}

/* What chroprof diff says; of profiles that were dropped here nobody asked it. */
function changeLines(p, base) {
    if (state.diff) { return state.diff.findings.map(changeLine); }
    const most = changesOf(p, base)[0];
    if (!most || Math.abs(most.change) < 0.001) {
        return [el('p', null, 'No site changed its share of the loop by more than 0.1 points.')];
    }
    return [el('p', null, 'Against ', el('strong', null, labelOf(base)), ', ', nameOf(most.name),
        most.change > 0 ? ' grew' : ' shrank', ' most: from ', el('strong', null,
            percent(most.was, 1)), ' to ', el('strong', null, percent(most.is, 1)),
        ' of the loop. This may be noise: chroprof diff tells.')];
}

function changeLine(text) {
    const name = state.diff.worse.find(each => each !== '' && text.startsWith(each + ' '));
    return name === undefined ? el('p', null, text) : el('p', null,
        el('span', { class: 'name culprit' }, name), text.slice(name.length));
}

function showVerdict(p) {
    const base = before();
    const [first, ...others] = findingLines(p);
    const lines = [...(base ? changeLines(p, base) : []), first, codeLine(p), ...others];
    const at = lines.findIndex(line => line !== null && line.dataset.kind === 'stall');
    lines.splice(at < 0 ? lines.length : at + 1, 0, stallLine(p));
    $('verdict-text').replaceChildren(...lines.filter(line => line !== null));
    showBar(p);
    showTiles(p);
    showHealth(p);
}

/* Parts that no interval changes say so while one is chosen. */
function showWhole() {
    ['verdict-whole', 'changes-whole', 'rest-whole'].forEach(id => { $(id).hidden = !brushed(); });
}

/* Older profiles do not tell. */
const asleepOf = t => t.asleep_ns === undefined ? t.idle_ns : Math.min(t.asleep_ns, t.idle_ns);

function barParts(p) {
    const t = p.totals;
    const named = p.groups.slice(0, LIGHT.length).filter(s => s.exec_ns > 0);
    const rest = sum(p.groups.slice(LIGHT.length), s => s.exec_ns);
    return [...named.map(s => ({ name: s.name, ns: s.exec_ns, colour: colour(s.key) })),
        { name: 'other ' + groupWords[state.group], ns: rest, colour: cssColour('--other') },
        { name: 'untracked', ns: t.untracked_ns, colour: cssColour('--untracked') },
        { name: 'uninstrumented', ns: t.uninstrumented_ns, colour: cssColour('--loop') },
        { name: 'awake in waits', ns: t.idle_ns - asleepOf(t), colour: cssColour('--untracked') },
        { name: 'idle', ns: asleepOf(t), colour: cssColour('--idle') }].filter(part => part.ns > 0);
}

function showBar(p) {
    const elapsed = p.totals.elapsed_ns || 1, parts = barParts(p);
    $('bar').replaceChildren(...parts.map(part => el('span', {
        style: { width: 100 * part.ns / elapsed + '%', background: part.colour,
            color: inkOn(part.colour), padding: part.ns / elapsed > 0.08 ? '0 6px' : '0',
            textOverflow: 'ellipsis' } },
        part.ns / elapsed > 0.08 ? part.name : '')));
    $('legend').replaceChildren(...parts.map(part => el('li', null, swatch(part.colour),
        nameOf(part.name), ' ' + percent(part.ns, elapsed))));
}

/* One that is under way has no end yet, so it is in no maximum. */
function longestCallback(p) {
    const t = p.totals, hang = findingsOf(p).find(each => each.kind === 'hangs' && each.site !== 0);
    return hang && hang.value_ns > t.callback_max_ns
        ? ['Longest callback', time(hang.value_ns),
            'under way as this profile ends; of those that ended ' + time(t.callback_max_ns)]
        : ['Longest callback', time(t.callback_max_ns), 'p99 ' + time(t.callback_p99_ns)];
}

function showTiles(p) {
    const t = p.totals, share = ns => percent(ns, t.elapsed_ns) + ' of the time';
    const awake = t.idle_ns - asleepOf(t);
    const tiles = [['Elapsed', time(t.elapsed_ns), plural(t.events, 'event')],
        ['Busy', time(t.busy_ns), share(t.busy_ns)], ['Idle', time(asleepOf(t)), share(asleepOf(t))],
        ...awake > t.elapsed_ns / 200 ? [['Awake in waits', time(awake),
            plural(t.at_once, 'wait') + ' returned at once']] : [],
        ['Uninstrumented', time(t.uninstrumented_ns), share(t.uninstrumented_ns)],
        ...t.start_ns >= 1e6 ? [['Start', time(t.start_ns), 'before the first wait ended']] : [],
        ...t.exit_ns >= 1e6 ? [['Exit', time(t.exit_ns), 'after the loop was over']] : [],
        longestCallback(p),
        ['Longest iteration', time(t.iteration_max_ns), 'p99 ' + time(t.iteration_p99_ns)],
        hasNoFutures(p) ? ['Delay', '–', 'no futures reported',
            'Only futures are ready before they run, and this program reports none']
            : ['Delay', time(t.delay_ns), 'ready, not running'],
        ...t.hidden_p99_ns >= 1000 && !t.estimated ? [['Hidden delay', '≈\u00a0' +
            time(t.hidden_ns), 'on average, p99 ' + time(t.hidden_p99_ns),
        'An estimate of how long data waits for the poll']] : [],
        ['Live futures', count(t.live), plural(p.sites.length, 'site') + ', ' +
            plural(p.raw.paths.length, 'path')]];
    $('tiles').replaceChildren(...tiles.map(([name, value, small, title]) => el('div', { title },
        el('dt', null, name), el('dd', null, value, el('small', null, small)))));
}

function showHealth(p) {
    const t = p.totals, words = [];
    const full = p.raw.tables.filter(row => row.dropped > 0);
    if (t.anomalies > 0) { words.push(plural(t.anomalies, 'unexpected call')); }
    if (full.length) {
        words.push('full tables: ' + full.map(row => row.name + ' (raise ' + row.option +
            (row.advice > row.capacity ? ' to ' + count(row.advice) : '') + ')').join(', '));
    }
    if (t.untracked_ns > 0) { words.push(time(t.untracked_ns) + ' untracked'); }
    if (t.estimated) {
        const samples = p.raw.sampler ? p.raw.sampler.samples : 0;
        words.push('taken from outside: all times are estimates from samples' +
            (samples > 0 ? ' (\u00b1' + (50 / Math.sqrt(samples)).toFixed(1) + ' points)' : ''));
    }
    if (t.provisional) { words.push('the clock was not calibrated yet, times are provisional'); }
    $('health').hidden = words.length === 0;
    $('health').replaceChildren('Take note: ' + words.join('; ') + '. ', el('button', {
        type: 'button', class: 'way', onclick: () => $('rest').scrollIntoView() }, 'Details'));
}
