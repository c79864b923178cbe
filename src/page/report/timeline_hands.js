/* ---- hands */

/* What is at a place of the canvas; a pixel more than is drawn counts. */
function thingAt(event) {
    const canvas = $('steps'), { look } = canvas, place = canvas.getBoundingClientRect();
    if (!look) { return null; }
    const { s } = look, y = event.clientY - place.top, ns = look.ns(event.clientX - place.left);
    const near = 2 / look.scale, inside = lane => y >= lane.y && y < lane.y + lane.h;
    const longest = list => list.sort((a, b) => b.to - b.from - (a.to - a.from))[0];
    if (inside(s.lanes.stalls)) {
        const stall = s.stalls.find(each => ns >= each.start_ns - near * 2 &&
            ns <= each.start_ns + each.length_ns + near * 2);
        return stall ? { stall } : null;
    }
    if (inside(s.lanes.futures)) {
        const row = livesIn(s, Math.floor((y - s.lanes.futures.y) / s.bar));
        const life = longest(row.filter(each => ns >= each.from - near && ns <= each.to + near));
        return life ? { life } : null;
    }
    return inside(s.lanes.loop) ? boxAt(s, Math.floor((y - s.lanes.loop.y) / LANES.row), ns, near)
        : null;
}

function boxAt(s, row, ns, near) {
    let best = -1, length = -1;
    for (let i = 0; i < s.boxes.start.length; i++) {
        const from = s.boxes.start[i], to = s.boxes.end[i];
        if (s.boxes.row[i] !== row || ns < from - near || ns > to + near) { continue; }
        const over = ns >= from && ns < to ? (to - from) + 1e15 : to - from;
        if (over > length) {
            length = over;
            best = i;
        }
    }
    return best < 0 ? null : { box: best };
}

function timelineTip(event) {
    const thing = thingAt(event), p = shown(), s = stepsOf(p);
    if (!thing) { hideTip(); return; }
    const { box, stall, life } = thing;
    if (stall) {
        showTip(event, el('p', null, el('b', null, stall.kind + ' of ' + time(stall.length_ns))),
            ...shareRows(stall));
        return;
    }
    if (box !== undefined && sharedTip(event, s, box)) { return; }
    const path = life ? life.path : s.boxes.path[box], id = life ? life.id : s.boxes.id[box];
    const from = life ? life.from : s.boxes.start[box], to = life ? life.to : s.boxes.end[box];
    const whose = life || lifeOf(s, box), delay = whose ? delayOf(whose) : 0;
    showTip(event, el('p', null, el('b', { class: 'name' }, pathName(s, path)),
        id > 0 ? ' id ' + s.ids[id] : ''), ...pathRows(s, path), tipRow('at', moment(p, from, 1000)),
    tipRow(life ? 'latency' : 'time', time(to - from)),
    ...(life ? [] : [tipRow('own exec', time(s.boxes.own[box]))]),
    ...(delay > 0 ? [tipRow(life ? 'delay' : 'delay of this future', time(delay))] : []),
    ...(whose && whose.parent ? [tipRow('created by', pathName(s, whose.parent.path) + ' id ' +
        s.ids[whose.parent.id])] : []));
}

/* The future that a box is a slice of, if the ring knows it. */
function lifeOf(s, box) {
    const id = s.boxes.id[box], at = s.boxes.start[box];
    return id === 0 ? undefined : s.lives.find(life => life.id === id && life.from <= at && life.to >= at);
}

const delayOf = life => sum(life.callbacks.map(([at, state], i) => state !== READY ? 0 :
    (i + 1 < life.callbacks.length ? life.callbacks[i + 1][0] : life.to) - at), ns => ns);

/* Where it is in the code, and its path from the root. */
function pathRows(s, path) {
    const row = s.rows.get(path), names = [];
    for (let at = row; at; at = s.rows.get(at.parent)) { names.unshift(at.name || '(no name)'); }
    return !row ? [] : [el('p', { class: 'note', style: { margin: 0 } }, place(row)),
        ...(names.length < 2 ? [] : [el('p', { class: 'note', style: { margin: 0 } },
            names.join(' › '))])];
}

/* Where boxes share a pixel it tells their shares; false: this box is drawn alone. */
function sharedTip(event, s, box) {
    const { look } = $('steps'), at = event.clientX - $('steps').getBoundingClientRect().left;
    const cell = look.cells[s.boxes.row[box] * look.columns + Math.floor(at)];
    if (!cell || (s.boxes.end[box] - s.boxes.start[box]) * look.scale >= NARROW) { return false; }
    const parts = [...cell].map(([key, part]) => [pathOf(key), part])
        .sort((a, b) => b[1] - a[1]);
    showTip(event, el('p', null, el('b', null, 'in ' + time(1 / look.scale)), ' at ' +
        moment(shown(), look.ns(at), viewStep(state.view))), ...parts.slice(0, 8).map(
        ([path, part]) => tipRow(el('span', null, swatch(look.fill(path)), pathName(s, path)),
            percent(part, 1))));
    return true;
}

function timelineKey(event) {
    const keys = { ArrowLeft: () => panBy(-0.15), ArrowRight: () => panBy(0.15),
        ArrowUp: () => zoomBy(0.6), '+': () => zoomBy(0.6), '=': () => zoomBy(0.6),
        ArrowDown: () => zoomBy(1 / 0.6), '-': () => zoomBy(1 / 0.6),
        Home: () => panBy(-Infinity), End: () => panBy(Infinity), a: viewAll,
        n: () => nextStall(1), p: () => nextStall(-1), '.': () => findNext(1),
        ',': () => findNext(-1), Enter: rankView };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) { return; }
    event.preventDefault();
    keys[event.key]();
}

function viewAll() {
    const s = stepsOf(shown());
    setView(s.lo, s.hi);
}

/* The ranks and the tree count what is in sight, or the whole run again. */
function rankView() {
    setSpan(brushed() ? null : state.view.slice(), 'interval');
}

function timelineWheel(event) {
    const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!sideways && !event.ctrlKey && document.activeElement !== $('steps')) { return; }
    event.preventDefault();
    if (sideways) {
        panBy((event.deltaX || event.deltaY) / 800);
    } else {
        const x = event.clientX - $('steps').getBoundingClientRect().left;
        zoomBy(Math.exp(Math.max(-80, Math.min(80, event.deltaY)) / 250), $('steps').look.ns(x));
    }
}

/* One finger or the mouse moves the view, with Shift it chooses an interval; two fingers zoom. */
function bindHands(canvas) {
    const down = new Map();
    let moved = false, chosen = -1;
    const xOf = event => event.clientX - canvas.getBoundingClientRect().left;
    const spread = () => [...down.values()].sort((a, b) => a - b);
    canvas.addEventListener('pointerdown', event => {
        if (event.button !== 0 || !canvas.look) { return; }
        canvas.setPointerCapture(event.pointerId);
        down.set(event.pointerId, xOf(event));
        moved = down.size > 1;
        chosen = event.shiftKey ? canvas.look.ns(xOf(event)) : -1;
    });
    canvas.addEventListener('pointermove', event => {
        if (!down.has(event.pointerId)) { timelineTip(event); return; }
        const x = xOf(event), was = down.get(event.pointerId), wide = spread();
        if (!moved && Math.abs(x - was) < 4) { return; }
        moved = true;
        hideTip();
        down.set(event.pointerId, x);
        if (chosen >= 0) {
            const at = canvas.look.ns(x);
            setSpan([Math.min(chosen, at), Math.max(chosen, at)]);
        } else if (down.size === 2) {
            const now = spread(), middle = canvas.look.ns((now[0] + now[1]) / 2);
            zoomBy(Math.max(1, wide[1] - wide[0]) / Math.max(1, now[1] - now[0]), middle);
        } else {
            panBy((was - x) / (canvas.look.width - LANES.left - LANES.right));
        }
    });
    const up = event => {
        const thing = down.delete(event.pointerId) && !moved ? thingAt(event) : undefined;
        if (chosen >= 0 && moved) { writeLink('interval'); }
        chosen = down.size > 0 ? chosen : -1;
        if (thing === undefined || event.type !== 'pointerup') { return; }
        if (thing && thing.stall) {
            goToStall(thing.stall);
            writeLink('way');
        } else {
            pick(thing);
        }
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', hideTip);
}

function bindTimeline() {
    const canvas = $('steps');
    bindHands(canvas);
    bindMini();
    canvas.addEventListener('wheel', timelineWheel, { passive: false });
    canvas.addEventListener('keydown', timelineKey);
    $('zoom-in').addEventListener('click', () => zoomBy(0.4));
    $('zoom-out').addEventListener('click', () => zoomBy(2.5));
    $('view-all').addEventListener('click', viewAll);
    $('count-view').addEventListener('click', rankView);
    $('find').addEventListener('input', () => {
        state.find = $('find').value;
        pick(null);
        redraw('found', showFound);
        writeLink();
    });
    $('find').addEventListener('keydown', event => {
        if (event.key === 'Enter') { findNext(event.shiftKey ? -1 : 1); }
    });
}

function showTimeline() {
    const s = stepsOf(shown());
    $('timeline').hidden = s === null;
    if (s === null) { return; }
    noteTimeline(shown(), s);
    drawTimeline();
    showFound();
    redraw('picked', tellPicked);
}
