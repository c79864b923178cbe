/* >>timeline: the steps on a canvas, a lane for each thing that they tell */

const LANES = { left: 58, right: 12, top: 24, gap: 8, row: 18, rows: 8, lives: 28 };
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
    tellTimeline(p, s);
}

/* Boxes too narrow to be seen share a pixel: the longest gives its colour, all how strong it is. */
function paintLoop(c, s, look) {
    const { boxes, lanes } = s, columns = Math.ceil(look.width);
    const rows = Math.min(LANES.rows, s.deepest + 1);
    const covered = new Float64Array(rows * columns), most = new Float64Array(rows * columns);
    const paths = new Int32Array(rows * columns);
    const labels = [];
    for (let i = 0; i < boxes.start.length; i++) {
        const row = boxes.row[i], start = boxes.start[i], end = boxes.end[i];
        if (end < look.from || start > look.to || row >= rows) { continue; }
        const path = boxes.path[i], found = look.found(path, boxes.id[i]);
        const x = Math.max(look.x(start), LANES.left - 2);
        const w = Math.min(look.x(end), look.width - LANES.right) - x;
        if (w < 1) {
            const at = row * columns + Math.floor(x), weight = end - start +
                (found && look.searching ? 1e15 : 1);
            covered[at] += (end - start) * look.scale;
            if (weight > most[at]) {
                most[at] = weight;
                paths[at] = path;
            }
            continue;
        }
        c.globalAlpha = found ? 1 : 0.2;
        c.fillStyle = look.fill(path);
        c.fillRect(x, lanes.loop.y + row * LANES.row, w - (w > 3 ? 1 : 0), LANES.row - 1);
        if (w > 34) { labels.push([path, found, x, w, row, end - start]); }
    }
    for (let at = 0; at < most.length; at++) {
        if (most[at] === 0) { continue; }
        const row = Math.floor(at / columns), found = !look.searching || most[at] >= 1e15;
        c.globalAlpha = (0.3 + 0.7 * Math.min(1, covered[at])) * (found ? 1 : 0.2);
        c.fillStyle = look.fill(paths[at]);
        c.fillRect(at % columns, lanes.loop.y + row * LANES.row, 1, LANES.row - 1);
    }
    c.globalAlpha = 1;
    labels.forEach(label => paintLabel(c, s, look, label));
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

/* In each pixel the most that were ready. */
function paintReady(c, s, look) {
    const { at, ready } = s, { y, h } = s.lanes.ready;
    const highest = new Float64Array(Math.ceil(look.width) + 1);
    if (h === 0) { return; }
    for (let i = 0; i < s.count; i++) {
        if (at[i + 1] < look.from || at[i] > look.to || ready[i] === 0) { continue; }
        const last = Math.min(look.width, look.x(at[i + 1]));
        for (let x = Math.floor(Math.max(LANES.left, look.x(at[i]))); x <= last; x++) {
            highest[x] = Math.max(highest[x], ready[i]);
        }
    }
    s.readyMost = highest.reduce((a, b) => Math.max(a, b), 0);
    c.fillStyle = cssColour('--ready');
    highest.forEach((n, x) => c.fillRect(x, y + h * (1 - n / (s.readyMost || 1)), 1,
        h * n / (s.readyMost || 1)));
}

/* The futures of a row. One that found no place is a guest in the last one while it is picked. */
function livesIn(s, k) {
    const guest = state.picked && state.picked.life, row = s.packed[k] || [];
    if (!guest || guest.lane !== undefined || k !== s.packed.length - 1) { return row; }
    return [...row.filter(life => life.to <= guest.from || life.from >= guest.to), guest];
}

/* created and waiting, ready, running; a future narrower than a pixel is a mark. */
function paintLives(c, s, look) {
    const ready = cssColour('--ready'), { y } = s.lanes.futures, height = s.bar - 1;
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
