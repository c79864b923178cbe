/* ---- moving */

function viewOf(s, [from, to]) {
    const span = Math.min(s.hi - s.lo, Math.max(shortest(s), to - from));
    const start = Math.max(s.lo, Math.min(s.hi - span, (from + to - span) / 2));
    return [start, start + span];
}

function setView(from, to) {
    state.view = viewOf(stepsOf(shown()), [from, to]);
    drawTimeline();
    writeLink();
}

function zoomBy(factor, centre) {
    const [from, to] = state.view, at = centre === undefined ? (from + to) / 2 : centre;
    setView(at - (at - from) * factor, at + (to - at) * factor);
}

const panBy = share => {
    const [from, to] = state.view, way = (to - from) * share, s = stepsOf(shown());
    const by = Math.max(s.lo - from, Math.min(s.hi - to, way));
    setView(from + by, to + by);
};

function pick(picked) {
    state.picked = picked;
    drawTimeline();
    redraw('picked', tellPicked);
}

function goTo(picked, from, to) {
    const margin = (to - from) * 0.15 + 100;
    setView(from - margin, to + margin);
    pick(picked);
}

const goToStall = stall => goTo({ stall }, stall.start_ns, stall.start_ns + stall.length_ns);

function reveal() {
    $('timeline').scrollIntoView({ block: 'start' });
    $('steps').focus({ preventScroll: true });
}

/* A button that leads to the place in the timeline; text alone if the ring has it no more. */
function wayTo(text, known, go) {
    return !known ? text : el('button', { type: 'button', class: 'way',
        title: 'Show in the timeline', onclick: () => { go(); reveal(); writeLink('way'); } }, text);
}

function wayToStall(p, stall) {
    const s = stepsOf(p), text = moment(p, stall.start_ns, stallStep(p));
    return wayTo(text, s !== null && stall.start_ns + stall.length_ns > s.lo,
        () => goToStall(stall));
}

function wayToSlow(p, slow) {
    const s = stepsOf(p), text = idText(slow.id);
    const life = s === null ? undefined : s.ended.get(slow.id + ' ' + slow.at_ns);
    return wayTo(text, life !== undefined, () => goTo({ life }, life.from, life.to));
}

/* The next box that the search means, from the picked one on, then from the beginning. */
function findNext(way) {
    const s = stepsOf(shown()), { boxes } = s, look = lookOf(s, 1000), n = boxes.start.length;
    const at = state.picked && state.picked.box !== undefined ? state.picked.box
        : boxes.start.findIndex(start => start >= state.view[0]) - way;
    for (let k = 1; k <= n; k++) {
        const box = (((at + way * k) % n) + n) % n;
        if (boxes.path[box] < FIRST_PATH || !look.found(boxes.path[box], boxes.id[box])) {
            continue;
        }
        const [from, to] = state.view, start = boxes.start[box], end = boxes.end[box];
        if (start < from || end > to) {
            const span = Math.max(to - from, (end - start) * 1.4);
            setView((start + end - span) / 2, (start + end + span) / 2);
        }
        pick({ box });
        return;
    }
}

/* Sites that the search means, of which no future ever ran: no event of theirs is drawn. */
function neverRan(p, look) {
    const found = new Set(p.raw.paths.filter(row => look.found(row.id, 0)).map(row => row.site));
    return p.totals.estimated ? [] : p.sites.filter(site => found.has(site.id) &&
        site.slices === 0 && site.live > 0);
}

function findWords(s) {
    const look = lookOf(s, 1000), idle = neverRan(shown(), look);
    let boxes = 0, own = 0;
    s.boxes.path.forEach((path, i) => {
        if (path >= FIRST_PATH && look.found(path, s.boxes.id[i])) {
            boxes++;
            own += s.boxes.own[i];
        }
    });
    return plural(boxes, 'activation') + ' on the stack found, ' + time(own) + ' of exec' +
        (boxes > 0 ? '. Enter: the next one' : '') + idle.slice(0, 3).map(site =>
            '. ' + site.name + ': created, never ran; ' + count(site.live) + ' live').join('');
}

const FOUND = 15;

/* The longest of those that the search means, each a way to its place. */
function showFound() {
    const s = stepsOf(shown()), p = shown();
    $('find-hits').hidden = s === null || state.find.trim() === '';
    if ($('find-hits').hidden) { return; }
    const look = lookOf(s, 1000), { boxes } = s, found = [];
    boxes.path.forEach((path, i) => {
        if (path >= FIRST_PATH && look.found(path, boxes.id[i])) { found.push(i); }
    });
    const length = i => boxes.end[i] - boxes.start[i];
    const lives = s.lives.filter(life => look.found(life.path, life.id));
    const rows = found.sort((a, b) => length(b) - length(a)).slice(0, FOUND).map(i => ({ box: i,
        path: boxes.path[i], id: boxes.id[i], from: boxes.start[i], to: boxes.end[i], what: 'ran' }));
    const futures = lives.sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, FOUND)
        .map(life => ({ life, ...life, what: 'future' }));
    $('find-hits').replaceChildren(tableOf(['found', ['what', 'left'], 'at', 'length'],
        [...rows, ...futures].map(hit => [el('span', null, swatch(look.fill(hit.path)),
            wayTo(pathName(s, hit.path) + (hit.id > 0 ? ' id ' + s.ids[hit.id] : ''), true, () =>
                goTo(hit.life ? { life: hit.life } : { box: hit.box }, hit.from, hit.to))),
        [hit.what, 'left'], moment(p, hit.from, 1000), time(hit.to - hit.from)])));
}

function nextStall(way) {
    const s = stepsOf(shown()), [from, to] = state.view, middle = (from + to) / 2;
    const at = state.picked && state.picked.stall ? state.picked.stall.start_ns : middle;
    const later = s.stalls.filter(stall => (stall.start_ns - at) * way > 0)
        .sort((a, b) => (a.start_ns - b.start_ns) * way)[0];
    if (later) { goToStall(later); }
}
