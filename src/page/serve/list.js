'use strict';
const $ = id => document.getElementById(id);
const STATES = { hangs: 'hangs', runs: 'runs', died: 'did not end well', ended: 'has ended',
    stored: 'a file' };
const ORDER = ['hangs', 'died', 'runs', 'ended', 'stored'];

function span(ns) {
    const s = ns / 1e9;
    return s < 0.9995 ? (ns / 1e6).toPrecision(3) + ' ms' : s < 100 ? s.toPrecision(3) + ' s' : s < 6000 ? (s / 60).toFixed(1) + ' min'
        : s < 360000 ? (s / 3600).toFixed(1) + ' h' : (s / 86400).toFixed(1) + ' days';
}

/* A cell takes the text if it has another one, so that nothing moves or is unselected. */
function put(node, text, style) {
    if (node.textContent !== text) { node.textContent = text; }
    if (style !== undefined && node.className !== style) { node.className = style; }
}

function newRow(key) {
    const row = document.createElement('tr'), link = document.createElement('a');
    row.id = 'p' + key;
    link.href = '/' + key;
    for (let i = 0; i < 9; i++) { row.append(document.createElement('td')); }
    row.cells[0].append(link, document.createElement('small'));
    return row;
}

function fill(row, p) {
    const [link, file] = row.cells[0].children, known = p.elapsed_ns !== undefined;
    const name = p.own || (p.state === 'runs' || p.state === 'hangs' ? '' : p.name) || p.program ||
        p.name || p.file.split('/').pop();
    put(link, name);
    put(file, (p.name && p.name !== name ? p.name + ' \u00b7 ' : '') + p.file);
    put(row.cells[1], p.pid ? String(p.pid) : '', 'number');
    put(row.cells[2], STATES[p.state] || '', p.state || '');
    const percent = ppm => ppm === undefined ? '' : (ppm / 1e4).toFixed(1) + '%';
    const goes = p.state === 'runs' || p.state === 'hangs';
    put(row.cells[3], goes ? percent(p.busy_10s_ppm) : '', 'number');
    put(row.cells[4], goes ? percent(p.busy_60s_ppm) : '', 'number');
    put(row.cells[5], p.elapsed_ns > 0 ? percent(1e6 * p.busy_ns / p.elapsed_ns) : '', 'number');
    put(row.cells[6], goes && p.stall_ns > 0 ? span(p.stall_ns) : '', 'number');
    put(row.cells[7], known ? span(p.elapsed_ns) : '', 'number');
    put(row.cells[8], p.problem || p.finding || '', p.problem ? 'dim' : '');
}

function show(all, count) {
    const profiles = all.filter((p, i) => all.findIndex(each => each.key === p.key) === i);
    /* in steps, so that rows do not change places with every figure */
    const trouble = p => p.state !== 'runs' ? 0 : 100 * Math.round(Math.log2(1 + (p.stall_ns || 0))) +
        Math.round((p.busy_10s_ppm || 0) / 5e4);
    const place = p => ORDER.indexOf(p.state) + (p.state ? 0 : 9);
    profiles.sort((a, b) => place(a) - place(b) || trouble(b) - trouble(a) || (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
    const rows = profiles.map(p => {
        const row = $('p' + p.key) || newRow(p.key);
        fill(row, p);
        return row;
    });
    if (rows.length !== $('rows').rows.length || rows.some((row, i) => $('rows').rows[i] !== row)) {
        $('rows').replaceChildren(...rows);
    }
    put($('words'), rows.length === 0 ? 'There is no profile here yet.' : count > all.length
        ? 'Shows ' + all.length.toLocaleString('en-US') + ' of ' + count.toLocaleString('en-US') +
            ' profiles.' : '');
}

async function follow() {
    if (document.hidden) {
        document.addEventListener('visibilitychange', follow, { once: true });
        return;
    }
    try {
        const answer = await fetch('/profiles.json', { cache: 'no-store' });
        if (!answer.ok) { throw new Error(await answer.text()); }
        const { profiles, count } = await answer.json();
        show(profiles, count);
    } catch (error) {
        put($('words'), error instanceof TypeError ? 'chroprof serve does not answer.'
            : error.message);
    }
    setTimeout(follow, 1000);
}

follow();
