/* >>rest */

/* Who created the futures of each path. */
function creatorsOf(p) {
    const names = new Map(p.raw.paths.map(row => [row.id, row.name || '(no name)']));
    return new Map(p.raw.paths.map(row => [row.id, names.get(row.parent)]));
}

function showFutures(p) {
    const futures = p.raw.futures.slice().sort((a, b) => a.since_ns - b.since_ns).slice(0, 200);
    const now = p.totals.elapsed_ns, creators = creatorsOf(p);
    $('futures-note').textContent = count(p.totals.live) + ' live at the end' +
        (p.totals.live > futures.length ? ', ' + futures.length + ' of them listed' : '') + '.';
    $('futures-more').hidden = futures.length === 0;
    fillTable($('futures-table'), ['site', 'id', ['state', 'left'], ['created by', 'left optional2'], 'for', 'exec'],
        futures.map(f => [el('span', null, swatch(colour(siteKey(f))), nameOf(f.name)),
            String(f.id) === '0' ? 'a callback' : String(f.id), [f.state, 'left'], [nameOf(creators.get(f.path) || '–'), 'left optional2'],
            time(Math.max(0, now - f.since_ns)), time(f.exec_ns)]));
}

/* where an anomaly was met; files of older versions do not tell */
function metAt(place) {
    if (!place) { return ''; }
    const id = String(place.id) === '0' ? '' : ', id ' + place.id;
    const task = place.path > 2 || place.top > 2;
    return (place.path > 2 ? '' : task ? 'inside ' : '') +
        (task ? place.name || '(no name)' : ['outside of any task', 'idle', 'untracked'][place.top]) +
        id + ', at ' + time(place.at_ns);
}

function showRest() {
    const p = shown(), odd = p.raw.anomalies.filter(row => row.count > 0);
    showFutures(p);
    $('anomalies-more').hidden = odd.length === 0;
    fillTable($('anomalies-table'), ['kind', 'count', ['what happened', 'left'],
        ['last seen', 'left'], ['what to do', 'left']],
        odd.map(row => [row.kind.replace(/_/g, ' '), count(row.count), [row.text, 'left'],
            [metAt((row.places || [])[1]), 'left'], [row.cure || '', 'left']]));
    fillTable($('tables-table'), ['table', 'used', 'peak', 'capacity', 'dropped',
        ['option', 'left'], 'bytes'],
        p.raw.tables.filter(row => row.capacity > 0 || row.dropped > 0).map(row => [row.name,
            count(row.used), count(row.peak), count(row.capacity), count(row.dropped),
            [el('code', null, row.option +
                (row.advice > row.capacity ? ' = ' + row.advice : '')), 'left'],
            count(row.bytes)]));
}
