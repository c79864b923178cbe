/* >>timeline: the steps on a canvas, a lane for each thing that they tell */

const LANES = { left: 58, right: 12, top: 24, gap: 8, row: 18, rows: 8, lives: 28 };
const PALE = 0.3;           // the most that were ready, beside the mean
const shortest = s => Math.max(100, s.hi / 1e12);      // ns that a view has at least

function stepsOf(p) {
    if (p.steps === undefined) {
        try {
            p.steps = layOutSteps(p);
        } catch (error) {
            p.steps = null;                        // no base64: the rest of the profile is shown
        }
        if (p.steps !== null) { layOutLanes(p, p.steps); }
    }
    return p.steps;
}

/* What does not hang on the view: where each lane is, and in which row each future. */
function layOutLanes(p, s) {
    let y = LANES.top;
    const lane = height => {
        const place = { y, h: height };
        y += height > 0 ? height + LANES.gap : 0;
        return place;
    };
    s.ended = new Map(s.lives.map(life => [s.ids[life.id] + ' ' + life.to, life]));
    s.deepest = s.boxes.row.reduce((a, b) => Math.max(a, b), 0);
    s.packed = packLives(s.lives);
    s.dropped = s.lives.filter(life => life.lane === undefined).length;
    s.stalls = p.stalls.filter(stall => stall.start_ns + stall.length_ns > s.lo);
    s.samples = p.samples === null ? []
        : p.samples.list.map(row => row.at_ns).filter(at => at >= s.lo);
    s.bar = s.packed.length > 18 ? 5 : s.packed.length > 10 ? 7 : 12;
    const most = s.ready.reduce((a, b) => Math.max(a, b), 0);
    s.lanes = { stalls: lane(s.stalls.length ? 12 : 0),
        loop: lane(LANES.row * Math.min(LANES.rows, s.deepest + 1)), ready: lane(most > 0 ? 34 : 0),
        futures: lane(s.packed.length * s.bar), samples: lane(s.samples.length ? 10 : 0) };
    s.height = y;
    ['start', 'end'].forEach(name => { s.boxes[name] = Float64Array.from(s.boxes[name]); });
}

/* Futures in rows in which none covers another: the longest in the upper half, then the others. */
function packLives(lives) {
    const rows = [], half = LANES.lives / 2;
    const put = first => life => {
        for (let k = first; k < first + half; k++) {
            const row = rows[k] || (rows[k] = []), at = placeIn(row, life);
            if (at >= 0) {
                row.splice(at, 0, life);
                life.lane = k;
                return;
            }
        }
    };
    const length = life => life.to - life.from;
    lives.slice().sort((a, b) => length(b) - length(a) || a.from - b.from).forEach(put(0));
    lives.filter(life => life.lane === undefined).sort((a, b) => a.from - b.from)
        .forEach(put(rows.length));
    return rows;
}

/* Where it fits into a row, -1: nowhere. */
function placeIn(row, life) {
    let low = 0, high = row.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (row[middle].from < life.from) { low = middle + 1; } else { high = middle; }
    }
    return (low > 0 && row[low - 1].to > life.from) ||
        (low < row.length && row[low].from < life.to) ? -1 : low;
}

const pathName = (s, path) => OWN_NAMES[path] || (s.rows.has(path)
    ? s.rows.get(path).name || '(no name)' : path === NESTED ? '(nested loop)' : '(unknown)');

/* How to draw: time to x, paths to colours, and whom the search means. */
function lookOf(s, width) {
    const [from, to] = state.view, fills = new Map(), found = new Map();
    const scale = (width - LANES.left - LANES.right) / (to - from);
    const own = ['--loop', '--idle', '--untracked'].map(cssColour);
    const wanted = state.find.trim().toLowerCase();
    const id = wanted === '' ? -1 : s.ids.indexOf(wanted.replace(/^id\s*/, ''));
    const remember = (known, key, make) => {
        if (!known.has(key)) { known.set(key, make(key)); }
        return known.get(key);
    };
    return { s, from, to, scale, width, x: ns => LANES.left + (ns - from) * scale,
        ns: x => from + (x - LANES.left) / scale, searching: wanted !== '',
        fill: path => remember(fills, path, () => own[path] || (s.rows.has(path)
            ? colour(siteKey(s.rows.get(path))) : cssColour('--other'))),
        found: (path, of) => wanted === '' || (id > 0 && of === id) || remember(found, path,
            () => path >= FIRST_PATH && s.rows.has(path) &&
                (pathName(s, path) + '\n' + place(s.rows.get(path))).toLowerCase()
                    .includes(wanted)) };
}

const drawTimeline = () => redraw('timeline', paintTimeline);

function paintTimeline() {
    const p = shown(), s = stepsOf(p), canvas = $('steps');
    const width = canvas.parentElement.clientWidth;
    if (s === null || width < 120) { return; }
    const c = canvasContext(canvas, width, s.height), look = lookOf(s, width);
    const { lanes } = s, right = width - LANES.right;
    canvas.look = look;
    canvas.frames = (canvas.frames || 0) + 1;
    c.fillStyle = cssColour('--soft');
    Object.values(lanes).forEach(lane =>
        c.fillRect(LANES.left, lane.y, right - LANES.left, lane.h));
    c.save();
    c.beginPath();
    c.rect(LANES.left, 0, right - LANES.left, s.height);
    c.clip();
    paintLoop(c, s, look);
    paintReady(c, s, look);
    paintLives(c, s, look);
    c.fillStyle = cssColour('--culprit');
    s.stalls.forEach(stall => c.fillRect(look.x(stall.start_ns), lanes.stalls.y,
        Math.max(3, stall.length_ns * look.scale), lanes.stalls.h));
    c.fillStyle = cssColour('--dim');
    s.samples.forEach(at => c.fillRect(look.x(at), lanes.samples.y, 1, lanes.samples.h));
    paintMarks(c, s, look);
    c.restore();
    paintAxis(c, p, s, look);
    paintMini();
    tellTimeline(p, s);
}

/* What has most time stands lowest in a pixel that several share, idle time highest: in all of them
   the same order, so that they read as areas. */
function orderOfPaths(s) {
    if (!s.order) {
        const held = new Map(), { start, end, path } = s.boxes;
        path.forEach((id, i) => addTo(held, id, end[i] - start[i]));
        const last = id => (id === IDLE ? 2 : id < FIRST_PATH ? 1 : 0);
        s.order = new Map([...held].sort((a, b) => last(a[0]) - last(b[0]) || b[1] - a[1])
            .map(([id], i) => [id, i]));
    }
    return s.order;
}

const NARROW = 3;           // pixels: what is narrower shares them with its neighbors

/* Wide boxes stand where they are. Of the narrow ones each pixel keeps how much of it is whose. */
function paintLoop(c, s, look) {
    const { boxes, lanes } = s, rows = Math.min(LANES.rows, s.deepest + 1);
    const columns = Math.ceil(look.width), labels = [], cells = [];
    for (let i = 0; i < boxes.start.length; i++) {
        const row = boxes.row[i], start = boxes.start[i], end = boxes.end[i];
        if (end < look.from || start > look.to || row >= rows) { continue; }
        const path = boxes.path[i], found = look.found(path, boxes.id[i]);
        const x = Math.max(look.x(start), LANES.left - 2);
        const right = Math.min(look.x(end), look.width - LANES.right), w = right - x;
        if ((end - start) * look.scale < NARROW) {
            share(cells, row * columns, x, right, keyOf(path, found));
            continue;
        }
        c.globalAlpha = found ? 1 : 0.2;
        c.fillStyle = look.fill(path);
        c.fillRect(x, lanes.loop.y + row * LANES.row, w - (w > 12 ? 1 : 0), LANES.row - 1);
        if (w > 34) { labels.push([path, found, x, w, row, end - start]); }
    }
    Object.assign(look, { cells, columns });
    for (let row = 0; row < rows; row++) { paintShares(c, s, look, row); }
    c.globalAlpha = 1;
    labels.forEach(label => paintLabel(c, s, look, label));
}

/* Paths from NESTED on, and whether the search means them, as one number. */
const keyOf = (path, found) => (path - NESTED) * 2 + (found ? 0 : 1);
const pathOf = key => Math.floor(key / 2) + NESTED;
const isFound = key => key % 2 === 0;

function share(cells, first, x, right, key) {
    for (let at = Math.floor(x); at < right; at++) {
        const part = Math.min(right, at + 1) - Math.max(x, at);
        addTo(cells[first + at] || (cells[first + at] = new Map()), key, part);
    }
}

/* In each pixel of a row each path has the height of its share, to a dot of the screen; what that
   rounds off goes on to the next pixel, so that the areas are right. */
function paintShares(c, s, look, row) {
    const { cells, columns } = look, order = orderOfPaths(s), dot = 1 / c.getTransform().d;
    const dots = (LANES.row - 1) / dot, floor = s.lanes.loop.y + (row + 1) * LANES.row - 1;
    const carried = new Map();
    for (let x = 0; x < columns; x++) {
        const cell = cells[row * columns + x];
        if (cell === undefined) { continue; }
        let y = 0;
        for (const [key, part] of [...cell].sort((a, b) =>
            order.get(pathOf(a[0])) - order.get(pathOf(b[0])))) {
            const due = part * dots + (carried.get(key) || 0);
            const least = look.searching && isFound(key) ? 2 : 0;   // what is sought is seen
            const h = Math.min(dots - y, Math.max(least, Math.round(due)));
            carried.set(key, Math.max(-1, Math.min(1, due - h)));
            if (h <= 0) { continue; }
            c.globalAlpha = isFound(key) ? 1 : 0.2;
            c.fillStyle = look.fill(pathOf(key));
            c.fillRect(x, floor - (y + h) * dot, 1, h * dot);
            y += h;
        }
    }
}

function paintLabel(c, s, look, [path, found, x, w, row, ns]) {
    c.font = '11px ' + MONO;
    const letters = Math.floor((w - 8) / c.measureText('m').width), name = pathName(s, path);
    const whole = name + '  ' + time(ns);
    const text = whole.length <= letters ? whole
        : name.length <= letters ? name : name.slice(0, Math.max(1, letters - 1)) + '…';
    c.fillStyle = found && path >= FIRST_PATH ? inkOn(look.fill(path)) : cssColour('--dim');
    c.textAlign = 'left';
    c.textBaseline = 'middle';
    c.fillText(text, x + 4, s.lanes.loop.y + (row + 0.5) * LANES.row);
}

/* In each pixel the mean of those that were ready, and paler the most. */
function paintReady(c, s, look) {
    const { at, ready } = s, { y, h } = s.lanes.ready, columns = Math.ceil(look.width) + 1;
    const highest = new Float64Array(columns), mean = new Float64Array(columns);
    if (h === 0) { return; }
    for (let i = 0; i < s.count; i++) {
        if (at[i + 1] < look.from || at[i] > look.to || ready[i] === 0) { continue; }
        const left = Math.max(LANES.left, look.x(at[i]));
        const right = Math.min(look.width, look.x(at[i + 1]));
        for (let x = Math.floor(left); x <= right; x++) {
            highest[x] = Math.max(highest[x], ready[i]);
            mean[x] += ready[i] * Math.max(0, Math.min(right, x + 1) - Math.max(left, x));
        }
    }
    s.readyMost = highest.reduce((a, b) => Math.max(a, b), 0);
    const bar = (n, x) => c.fillRect(x, y + h * (1 - n / (s.readyMost || 1)), 1,
        h * n / (s.readyMost || 1));
    c.fillStyle = cssColour('--ready');
    c.globalAlpha = PALE;
    highest.forEach(bar);
    c.globalAlpha = 1;
    mean.forEach(bar);
}

/* The futures of a row. One that found no place is a guest in the last one while it is picked. */
function livesIn(s, k) {
    const guest = state.picked && state.picked.life, row = s.packed[k] || [];
    if (!guest || guest.lane !== undefined || k !== s.packed.length - 1) { return row; }
    return [...row.filter(life => life.to <= guest.from || life.from >= guest.to), guest];
}

/* created and waiting, ready (striped), running; a future narrower than a pixel is a mark. */
function paintLives(c, s, look) {
    const ready = readyPattern(c), { y } = s.lanes.futures, height = s.bar - 1;
    s.packed.forEach((_, k) => {
        let seen = -1;
        for (const life of livesIn(s, k)) {
            if (life.to < look.from || life.from > look.to) { continue; }
            const x = look.x(life.from), w = look.x(life.to) - x, top = y + k * s.bar;
            const shown = look.found(life.path, life.id) ? 1 : 0.15;
            const fill = look.fill(life.path);
            if (w < 1 && Math.floor(x) === seen) { continue; }
            seen = w < 1 ? Math.floor(x) : -1;
            c.globalAlpha = 0.35 * shown;
            c.fillStyle = fill;
            c.fillRect(x, top, Math.max(1, w - (w > 3 ? 1 : 0)), height);
            c.globalAlpha = shown;
            if (w >= 2) { paintCallbacks(c, life, look, [fill, ready], top, height); }
        }
    });
    c.globalAlpha = 1;
}

/* Of each kind at most one in a pixel. */
function paintCallbacks(c, life, look, [fill, ready], top, height) {
    const { callbacks } = life, drawn = [];
    for (let i = 0; i < callbacks.length; i++) {
        const [at, state] = callbacks[i], end = i + 1 < callbacks.length ? callbacks[i + 1][0] : life.to;
        if ((state !== READY && state !== RUNNING) || end < look.from) { continue; }
        if (at > look.to) { return; }
        const x = look.x(at), w = (end - at) * look.scale;
        if (w < 1 && drawn[state] === Math.floor(x)) { continue; }
        drawn[state] = Math.floor(x + w);
        c.fillStyle = state === READY ? ready : fill;
        c.fillRect(x, top, Math.max(0.5, w), height);
    }
}

/* What is picked, and the interval that the ranks count. */
function paintMarks(c, s, look) {
    const { picked, span } = state, { lanes } = s;
    c.lineWidth = 2;
    c.strokeStyle = cssColour('--ink');
    const frame = (from, to, y, h) => c.strokeRect(look.x(from) - 1, y,
        Math.max(4, (to - from) * look.scale + 1), h);
    if (picked && picked.box !== undefined) {
        frame(s.boxes.start[picked.box], s.boxes.end[picked.box],
            lanes.loop.y + s.boxes.row[picked.box] * LANES.row, LANES.row - 1);
    } else if (picked && picked.stall) {
        frame(picked.stall.start_ns, picked.stall.start_ns + picked.stall.length_ns,
            lanes.stalls.y, lanes.stalls.h);
    } else if (picked && picked.life) {
        childrenOf(s, picked.life).concat(picked.life).forEach(life => {
            const row = life !== picked.life ? life.lane : life.lane ?? s.packed.length - 1;
            c.lineWidth = life === picked.life ? 2 : 1;
            if (row !== undefined) {
                frame(life.from, life.to, lanes.futures.y + row * s.bar - 1, s.bar + 1);
            }
        });
    }
    c.lineWidth = 2;
    if (span === null) { return; }
    const left = Math.max(0, look.x(span[0])), right = Math.min(look.width, look.x(span[1]));
    c.globalAlpha = 0.6;
    c.fillStyle = cssColour('--card');
    c.fillRect(0, LANES.top, left, s.height);
    c.fillRect(right, LANES.top, look.width, s.height);
    c.globalAlpha = 1;
    c.strokeStyle = cssColour('--accent');
    c.strokeRect(left, LANES.top - 2, right - left, s.height - LANES.top);
}

function paintAxis(c, p, s, look) {
    const step = tickStep(look.to - look.from, (look.width - 60) / 80);
    c.font = '12px ' + FONT;
    c.textBaseline = 'middle';
    c.textAlign = 'left';
    c.fillStyle = cssColour('--dim');
    Object.entries(s.lanes).forEach(([name, { y, h }]) => {
        if (h > 0) { c.fillText(name, 2, y + Math.min(h, LANES.row) / 2); }
    });
    if (s.lanes.ready.h > 0) {
        c.fillText('≤ ' + count(s.readyMost), 2, s.lanes.ready.y + LANES.row * 1.4);
    }
    c.textAlign = 'center';
    for (let t = Math.ceil(look.from / step) * step; t <= look.to; t += step) {
        const x = look.x(t);
        if (x > LANES.left + 26 && x < look.width - 34) {
            c.fillText(moment(p, t, step), x, 9);
            c.fillRect(x, 17, 1, 5);
        }
    }
}
