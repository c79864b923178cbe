/* >>ranks */

/* run: known of the whole run alone; ring: of an interval too if the ring holds it, and where */
const COLUMNS = [
    { key: 'name', title: 'site', text: true },
    { key: 'share', title: 'of the loop', hint: 'exec as a share of the time shown' },
    { key: 'trend', title: 'over time', plain: true, run: true, style: 'optional2' },
    { key: 'exec', title: 'exec', hint: 'time on top of the running stack' },
    { key: 'cpu', title: 'CPU', hint: 'exec on the processor, estimated from samples',
        run: true, sampled: true, style: 'optional2' },
    { key: 'off_cpu', title: 'off CPU', hint: 'exec that waited, was preempted or was not sampled',
        run: true, sampled: true, style: 'optional' },
    { key: 'with_children_ns', title: 'with children', run: true, style: 'optional' },
    { key: 'blame_ns', title: 'blame', hint: 'what it cost others that were ready',
        ring: 'blame_ns' },
    { key: 'delay_ns', title: 'delay', hint: 'ready, but not running', ring: 'delay_ns',
        style: 'optional' },
    { key: 'slice_max_ns', title: 'max slice', ring: 'slices', style: 'optional2' },
    { key: 'slice_p99_ns', title: 'p99 slice', ring: 'slices', style: 'optional' },
    { key: 'calls', title: 'calls', run: true, count: true, style: 'optional2' },
    { key: 'live', title: 'live', run: true, count: true, style: 'optional' }];

const columnsOf = p => COLUMNS.filter(column => p.sampled || !column.sampled);

/* What the ring tells of the interval, by path and by site; null: it does not hold it. */
function ringSums(p) {
    const s = brushed() ? stepsOf(p) : null;
    if (!holds(s, state.span)) { return null; }
    if (s.sumsOf !== state.span) {
        const [from, to] = state.span, blame_ns = new Map(), sites = new Map();
        const paths = { exec_ns: pathSums(s, from, to, new Map(), blame_ns), blame_ns,
            delay_ns: delaySums(s, from, to, p.raw.futures),
            slices: s.depth.includes(DEEPEST) ? null : sliceLists(s, from, to) };
        const all = map => sum([...map.values()], ns => ns);
        if (all(paths.delay_ns) < 0.99 * all(blame_ns)) { paths.delay_ns = null; }
        Object.entries(paths).forEach(([key, map]) => (map || []).forEach((value, path) => {
            if (!s.rows.has(path)) { return; }
            const id = s.rows.get(path).site, row = sites.get(id) || { slices: [] };
            row[key] = key === 'slices' ? row[key].concat(value) : (row[key] || 0) + value;
            sites.set(id, row);
        }));
        Object.assign(s, { sumsOf: state.span, sums: { paths, sites } });
    }
    return s.sums;
}

function execIn(p, site) {
    const sums = ringSums(p);
    if (!brushed()) { return site.exec_ns; }
    if (sums) { return (sums.sites.get(site.id) || {}).exec_ns || 0; }
    return sum(site.windows.slice(...windowsIn(p, state.span)), ns => ns);
}

/* Does a column tell of the interval? */
function isOfInterval(p, column) {
    const sums = ringSums(p);
    return !brushed() || !(column.run || column.ring) ||
        Boolean(sums && column.ring && sums.paths[column.ring]);
}

/* A figure of a site or a group; null: not known. */
function figureOf(p, site, column) {
    const { key } = column;
    if (key === 'exec' || key === 'share') { return sum(membersOf(site), each => execIn(p, each)); }
    if (!column.ring || !brushed() || !isOfInterval(p, column)) {
        return key === 'slice_p99_ns' && !site.has_percentiles ? null : site[key] ?? null;
    }
    const rows = membersOf(site).map(each => ringSums(p).sites.get(each.id)).filter(Boolean);
    if (!key.startsWith('slice')) { return sum(rows, row => row[key] || 0); }
    const slices = Float64Array.from(rows.flatMap(row => row.slices)).sort(), n = slices.length;
    return n === 0 ? 0 : slices[key === 'slice_max_ns' ? n - 1 : Math.ceil(0.99 * n) - 1];
}

/* Groups, but sites where some are searched for. */
function rankRows(p) {
    const wanted = state.filter.toLowerCase(), column = COLUMNS.find(c => c.key === state.sort);
    const rows = wanted === '' ? p.groups : p.sites.filter(site =>
        (site.name + '\n' + place(site)).toLowerCase().includes(wanted));
    return sortSites(p, rows, column);
}

function sortSites(p, sites, column) {
    const known = new Map(sites.map(site => [site, figureOf(p, site, column) ?? -1]));
    return sites.slice().sort((a, b) => {
        const x = known.get(a), y = known.get(b);
        const order = typeof x === 'string' ? x.localeCompare(y) : x - y;
        return (state.down ? -1 : 1) * order || a.order - b.order;
    });
}

function rankHead(p, column) {
    const old = isOfInterval(p, column) ? null : el('small', null, 'whole run');
    if (column.plain) { return el('th', { class: column.style, scope: 'col' }, column.title, old); }
    const sorted = state.sort === column.key ? (state.down ? 'descending' : 'ascending') : null;
    return el('th', { 'aria-sort': sorted, scope: 'col', class: column.style },
        el('button', { type: 'button', title: column.hint, 'data-key': column.key,
            onclick: () => sortBy(column) }, column.title), old);
}

function sortBy(column) {
    state.down = state.sort === column.key ? !state.down : !column.text;
    state.sort = column.key;
    showRanks();
}

const SVG = 'http://www.w3.org/2000/svg';
function svg(tag, attributes) {
    const node = document.createElementNS(SVG, tag);
    Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
    return node;
}

/* The site's windows as steps, each site to its own height. */
function trendLine(p, site) {
    const groups = groupWindows(p, 240), most = 18;
    const values = groups.map(g => sum(site.windows.slice(g.from, g.to), v => v) /
        (g.end - g.start || 1));
    const highest = Math.max(...values, 1e-9);
    const x = ns => (92 * (ns - p.begin) / (p.end - p.begin || 1)).toFixed(1);
    const points = values.flatMap((v, i) => [groups[i].start, groups[i].end].map(ns => x(ns) +
        ',' + (1 + most * (1 - v / highest)).toFixed(1)));
    const node = svg('svg', { class: 'trend', viewBox: '0 0 92 20', 'aria-hidden': 'true' });
    node.append(svg('polygon', { points: '0,19 ' + points.join(' ') + ' 92,19', opacity: 0.25,
        fill: colour(site.key) }), svg('polyline', { points: points.join(' '), fill: 'none',
        stroke: colour(site.key), 'stroke-width': 1.5 }));
    return node;
}

function shareCell(ns, whole, paint, words) {
    const width = whole > 0 ? 100 * Math.min(1, ns / whole) : 0;
    return el('div', { class: 'share' },
        el('span', null, el('i', { style: { width: width + '%', background: paint } })),
        el('b', null, words || percent(ns, whole)));
}

/* members: of a group, whose row opens to them. */
function siteButton(site) {
    const open = state.open.has(site.key);
    return el('span', null,
        el('button', { type: 'button', class: 'site', 'aria-expanded': open, 'data-key': site.key,
            onclick: () => openSite(site) }, swatch(colour(site.key)), nameOf(site.name)),
        placeText(site.members ? plural(site.members.length, 'site') : place(site)));
}

/* Opens its figures, or closes them; the tree shows where it is. */
function openSite(site) {
    const closing = state.open.delete(site.key);
    if (!closing) { state.open.add(site.key); }
    state.search = $('search').value = closing || site.members ? '' : site.name;
    showRanks();
    drawFlame();
    writeLink('site');
}

function closeSites() {
    state.open.clear();
    state.search = $('search').value = '';
    showRanks();
    drawFlame();
    writeLink('site');
}

function rankCell(p, site, column, whole) {
    const value = column.plain ? null : figureOf(p, site, column);
    const inside = column.key === 'name' ? siteButton(site)
        : column.key === 'trend' ? trendLine(p, site)
        : value === null ? '–'
        : column.key === 'share' ? shareCell(value, whole, colour(site.key))
        : column.sampled ? estimate(value, site.cpu_error)
        : column.count ? count(value) : time(value);
    const zero = inside === '0' || inside === '–' || !isOfInterval(p, column) ? ' zero' : '';
    return el('td', { class: ((column.style || '') + zero).trim() || null }, inside);
}

function siteFacts(p, site) {
    const times = ['exec_ns', 'children_ns', 'with_children_ns', 'exec_max_ns', 'slice_max_ns',
        'slice_p50_ns', 'slice_p90_ns', 'slice_p99_ns', 'slice_p999_ns', 'lifetime_ns', 'latency_p50_ns',
        'latency_p99_ns', 'latency_max_ns', 'waiting_ns', 'delay_ns', 'delay_p99_ns', 'blame_ns'
    ].filter(name => site[name] !== undefined);
    const counts = ['slices', 'calls', 'completed', 'failed', 'cancelled', 'abandoned', 'live',
        'stillborn'];
    const hidden = site.found > 0 && p.totals.iterations > 0 ? site.hidden_total_ns / site.found : -1;
    const fact = (name, value) => el('div', null,
        el('dt', null, name.replace(/_ns$/, '').replace(/_/g, ' ')), el('dd', null, value));
    return el('tr', { class: 'more' }, el('td', { colspan: columnsOf(p).length },
        brushed() ? el('p', { class: 'note' }, 'Of the whole run:') : null,
        el('dl', { class: 'facts-list' }, ...times.map(name => fact(name, time(site[name]))),
            ...counts.map(name => fact(name, count(site[name]))),
            ...(hidden < 0 ? [] : [fact('found by polls', count(site.found)),
                fact('hidden, mean', 'about ' + time(hidden) + ', at most ' + time(2 * hidden))]))));
}

/* The row of a site and, if it is open, what is known of it: its figures, or a group's sites. */
function rankRowsOf(p, site, columns, whole, inside) {
    const open = state.open.has(site.key);
    const row = el('tr', { class: [open ? 'chosen' : '', inside ? 'member' : ''].join(' ').trim() ||
        null }, ...columns.map(column => rankCell(p, site, column, whole)));
    return [row, ...(!open ? [] : !site.members ? [siteFacts(p, site)]
        : sortSites(p, site.members, COLUMNS.find(c => c.key === state.sort))
            .flatMap(member => rankRowsOf(p, member, columns, whole, true)))];
}

/* What the rows above leave out, and what no site took: with these the columns add up. */
function restRows(p, rows, columns, whole) {
    const sums = ringSums(p), key = name => COLUMNS.find(column => column.key === name);
    const inside = brushed() ? p.windows.slice(...windowsIn(p, state.span)) : [p.totals];
    const own = (title, path, name) => ({ title,
        exec: sums ? sums.paths.exec_ns.get(path) || 0 : sum(inside, w => w[name + '_ns']),
        blame_ns: sums ? sums.paths.blame_ns.get(path) || 0
            : p.totals[name + '_blame_ns'] || 0 });
    const all = (list, name) => sum(list, site => figureOf(p, site, key(name)) || 0);
    const hidden = name => all(p.groups, name) - all(rows, name);
    const idle = own('idle', 1, 'idle');
    const awake = brushed() || sums ? 0 : p.totals.idle_ns - asleepOf(p.totals);
    const rest = [{ title: 'other ' + groupWords[state.group], exec: hidden('exec'),
        blame_ns: hidden('blame_ns') }, own('uninstrumented', 0, 'uninstrumented'),
    own('untracked', 2, 'untracked'), { ...idle, exec: idle.exec - awake },
    { title: 'awake in waits', exec: awake, blame_ns: 0 }];
    const total = { title: 'total', exec: whole,
        blame_ns: all(p.groups, 'blame_ns') + sum(rest.slice(1), row => row.blame_ns) };
    return [...rest.filter(row => row.exec > 0 || row.blame_ns > 0), total].map(row =>
        el('tr', null, ...columns.map(column => el('td', { class: column.style },
            column.key === 'name' ? row.title : column.key === 'share' ? percent(row.exec, whole)
                : row[column.key] === undefined ? '' : time(row[column.key])))));
}

function showRanks() {
    const p = shown(), rows = rankRows(p), most = state.allRanks ? rows.length : 25;
    const [start, end] = intervalOf(p), columns = columnsOf(p);
    const whole = brushed() ? end - start : p.totals.elapsed_ns;
    keepingFocus($('ranks-table'), table => table.replaceChildren(
        el('caption', { class: 'hidden-text' }, 'Sites, with what they took of the loop’s time'),
        el('thead', null, el('tr', null, ...columns.map(column => rankHead(p, column)))),
        el('tbody', null, ...rows.slice(0, most).flatMap(site =>
            rankRowsOf(p, site, columns, whole, false))),
        el('tfoot', null, ...restRows(p, rows.slice(0, most), columns, whole))));
    $('ranks-count').textContent = state.filter !== ''
        ? rows.length + ' of ' + plural(p.sites.length, 'site')
        : (p.groups.length < p.sites.length ? p.groups.length + ' ' + groupWords[state.group] +
            ' of ' : '') + plural(p.sites.length, 'site');
    $('ranks-all').hidden = rows.length <= most;
    $('ranks-all').textContent = 'Show all ' + count(rows.length);
    $('ranks-note').hidden = !brushed();
    $('ranks-note').textContent = brushed() ? 'Figures for the interval ' + spanWords(p) + '.' +
        (ringSums(p) ? ' A slice that begins or ends outside counts in full.' : '') +
        ' Columns marked “whole run” cover the whole run.' : '';
    $('cpu-note').hidden = !p.sampled;
    $('cpu-note').textContent = 'CPU is estimated from ' + (p.period > 0 ? 'a sample every ' +
        time(p.period) : 'samples') + ', ± its error; – where that is above half of it. off CPU is ' +
        'the rest of exec: the task waited, was preempted or was not sampled.';
}

/* What a client of each site saw. */
function showLatency() {
    const p = shown(), all = p.sites.filter(site => site.latency_max_ns > 0)
        .sort((a, b) => b.latency_p99_ns - a.latency_p99_ns);
    const most = state.allLatencies ? all.length : 10;
    $('latency').hidden = all.length === 0;
    $('latency-count').textContent = 'futures that finished' + (brushed() ? ' in the whole run'
        : '') + ', highest p99 first';
    fillTable($('latency-table'), ['site', ['finished', 'optional2'], 'p50', 'p99',
        ['max', 'optional2']],
        all.slice(0, most).map(site => [
            el('span', null, swatch(colour(site.key)), nameOf(site.name),
                placeText(place(site))),
            [count(site.completed + site.failed + site.cancelled), 'optional2'],
            time(site.latency_p50_ns), el('b', null, time(site.latency_p99_ns)),
            [time(site.latency_max_ns), 'optional2']]));
    $('latency-whatif').hidden = clientsOf(p) !== null;
    $('latency-all').hidden = all.length <= most;
    $('latency-all').textContent = 'Show all ' + count(all.length);
}
