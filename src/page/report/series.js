/* >>series: stacked areas of the windows, and the interval of the ranks */

const PLOT = { left: 44, right: 12, top: 8, bottom: 22, height: 250 };
const xOf = (p, ns, width) => PLOT.left + (ns - p.begin) / (p.end - p.begin || 1) *
    (width - PLOT.left - PLOT.right);

/* Windows in groups, so that none is narrower than two pixels. The first and the last window of a part
   may be short: what is less than half as long as its neighbor's group belongs to that, since what
   fills a moment would look as if it had filled seconds. */
function groupWindows(p, width) {
    const each = Math.max(1, Math.ceil(p.windows.length / Math.max(1, (width - 60) / 2)));
    const groups = [];
    for (let i = 0; i < p.windows.length; i += each) {
        const to = Math.min(p.windows.length, i + each);
        groups.push({ from: i, to, start: p.windows[i].start_ns, end: p.windows[to - 1].end_ns });
    }
    const short = (one, other) => other && 2 * (one.end - one.start) < other.end - other.start;
    if (short(groups[0], groups[1])) {
        const { from, start } = groups.shift();
        Object.assign(groups[0], { from, start });
    }
    if (short(groups[groups.length - 1], groups[groups.length - 2])) {
        const { to, end } = groups.pop();
        Object.assign(groups[groups.length - 1], { to, end });
    }
    return groups;
}

function seriesOf(p, groups) {
    const add = (list, g) => { let s = 0; for (let i = g.from; i < g.to; i++) { s += list[i] || 0; }
        return s / (g.end - g.start || 1); };
    const field = name => p.windows.map(w => w[name]);
    const rest = p.windows.map(w => w.busy_ns - w.untracked_ns);
    const named = p.groups.filter(s => strong.has(s.key) && s.exec_ns > 0);
    named.forEach(s => s.windows.forEach((v, i) => { rest[i] -= v; }));
    const lists = [...named.map(s => [s.name, colour(s.key), s.windows]),
        ['other ' + groupWords[state.group], cssColour('--other'), rest],
        ['untracked', cssColour('--untracked'), field('untracked_ns')],
        ['uninstrumented', cssColour('--loop'), field('uninstrumented_ns')]];
    return lists.map(([name, paint, list]) => ({ name, colour: paint,
        values: groups.map(g => Math.max(0, add(list, g))) }))
        .filter(series => series.values.some(v => v > 0));
}

function drawSeries() {
    const p = shown(), canvas = $('area'), width = canvas.parentElement.clientWidth;
    $('series').hidden = p.windows.length === 0;
    if (p.windows.length === 0 || width < 80) { return; }
    const c = canvasContext(canvas, width, PLOT.height);
    const groups = groupWindows(p, width), series = seriesOf(p, groups);
    const y = share => PLOT.top + (1 - Math.min(1, share)) * (PLOT.height - PLOT.top - PLOT.bottom);
    c.fillStyle = cssColour('--soft');
    c.fillRect(PLOT.left, PLOT.top, width - PLOT.left - PLOT.right,
        PLOT.height - PLOT.top - PLOT.bottom);
    const labels = drawAreas(c, p, groups, series, width, y);
    drawAxes(c, p, width, y);
    labels.forEach(label => drawLabel(c, label));
    drawInterval(c, p, width);
    canvas.drawn = { groups, series };
}

/* A window has one figure for all of its time: a step, not a point of a slope. */
function drawAreas(c, p, groups, series, width, y) {
    const under = new Float64Array(groups.length), labels = [];
    const xs = groups.map(g => xOf(p, (g.start + g.end) / 2, width));
    const edges = groups.map(g => [xOf(p, g.start, width), xOf(p, g.end, width)]);
    for (const s of series) {
        const over = under.map((v, i) => v + s.values[i]);
        c.beginPath();
        edges.forEach(([from, to], i) => {
            c.lineTo(from, y(over[i]));
            c.lineTo(to, y(over[i]));
        });
        for (let i = under.length - 1; i >= 0; i--) {
            c.lineTo(edges[i][1], y(under[i]));
            c.lineTo(edges[i][0], y(under[i]));
        }
        c.closePath();
        c.fillStyle = s.colour;
        c.fill();
        labels.push(labelFor(s, xs, over, under, y, width));
        under.set(over);
    }
    return labels.filter(label => label !== null);
}

/* The name of an area goes where it has most room, if it has any. */
function labelFor(s, xs, over, under, y, width) {
    let best = null;
    const reach = Math.max(1, Math.round(s.name.length * 6 / Math.max(1, xs[1] - xs[0] || 1)));
    const stride = Math.max(1, Math.floor(xs.length / 200));
    for (let i = reach; i < xs.length - reach; i += stride) {
        let top = -Infinity, bottom = Infinity;
        for (let k = i - reach; k <= i + reach; k++) {
            top = Math.max(top, y(over[k]));
            bottom = Math.min(bottom, y(under[k]));
        }
        if (bottom - top > (best ? best.room : 15)) {
            best = { room: bottom - top, x: xs[i], y: (top + bottom) / 2 };
        }
    }
    if (!best || best.x - s.name.length * 4 < PLOT.left ||
        best.x + s.name.length * 4 > width - PLOT.right) { return null; }
    return { ...best, text: s.name.slice(0, 40), colour: s.colour };
}

function drawLabel(c, label) {
    c.font = '600 ' + (label.room > 60 ? 15 : 12) + 'px ' + FONT;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    c.fillStyle = inkOn(label.colour);
    c.fillText(label.text, label.x, label.y);
}

/* Round steps, about one a hundred pixels. */
function tickStep(span, most) {
    const raw = span / Math.max(1, most), power = Math.pow(10, Math.floor(Math.log10(raw)));
    return [1, 2, 5, 10].map(m => m * power).find(step => step >= raw) || 10 * power;
}

function drawTime(c, p, width, y) {
    const step = tickStep(p.end - p.begin, (width - 60) / 100);
    c.textBaseline = 'top';
    c.fillStyle = cssColour('--dim');
    c.font = '12px ' + FONT;
    for (let t = Math.ceil(p.begin / step) * step; t <= p.end; t += step) {
        const x = xOf(p, t, width);
        c.textAlign = x < PLOT.left + 20 ? 'left' : x > width - 30 ? 'right' : 'center';
        c.fillText(moment(p, t, step), x, y);
    }
}

function drawAxes(c, p, width, y) {
    c.font = '12px ' + FONT;
    c.textAlign = 'right';
    c.textBaseline = 'middle';
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
        c.fillStyle = cssColour('--dim');
        c.fillText(share * 100 + (share === 1 ? '%' : ''), PLOT.left - 7, y(share));
        c.fillStyle = cssColour('--ink');
        c.globalAlpha = 0.13;
        c.fillRect(PLOT.left, Math.round(y(share)), width - PLOT.left - PLOT.right, 1);
        c.globalAlpha = 1;
    }
    drawTime(c, p, width, PLOT.height - PLOT.bottom + 7);
}

const LASTS = [['last-10', 10e9], ['last-60', 60e9]];
const brushed = () => state.span !== null;

function drawInterval(c, p, width) {
    if (!brushed()) { return; }
    const [start, end] = intervalOf(p), height = PLOT.height - PLOT.top - PLOT.bottom;
    const left = xOf(p, start, width), right = xOf(p, end, width);
    c.globalAlpha = 0.72;
    c.fillStyle = cssColour('--card');
    c.fillRect(PLOT.left, PLOT.top, left - PLOT.left, height);
    c.fillRect(right, PLOT.top, width - PLOT.right - right, height);
    c.globalAlpha = 1;
    c.strokeStyle = cssColour('--accent');
    c.lineWidth = 2;
    c.strokeRect(left, PLOT.top, right - left, height);
}

const intervalOf = p => state.span || (p.windows.length ? [p.begin, p.end]
    : [0, p.totals.elapsed_ns]);

/* The places of the windows that an interval touches: from the first, up to the last. */
function windowsIn(p, [start, end]) {
    const from = p.windows.findIndex(w => w.end_ns > start);
    const to = p.windows.findIndex(w => w.end_ns >= end);
    return [Math.max(0, from), to < 0 ? p.windows.length : to + 1];
}

/* The ring tells all of an interval that it holds. */
const holds = (s, span) => s !== null && span !== null && span[0] >= s.lo && span[1] <= s.hi;

/* Of an interval that the ring does not hold only its windows are known; null: the whole run. */
function spanOf(p, span) {
    if (span && !holds(stepsOf(p), span)) {
        const inside = p.windows.slice(...windowsIn(p, span));
        span = inside.length > 0 ? [inside[0].start_ns, inside[inside.length - 1].end_ns] : null;
    }
    return span && (span[0] > p.begin || span[1] < p.end) ? span : null;
}

const lastSpan = (p, ns) => [p.end - ns, p.end];

/* last: the interval is the newest part of the run, and stays it while that goes on. */
function setSpan(span, step, last = 0) {
    state.span = spanOf(shown(), span);
    state.last = state.span === null ? 0 : last;
    redrawInterval();
    if (step) { writeLink(step); }
}

function setWindows(from, to, step) {
    const { windows } = shown(), first = Math.max(0, Math.min(windows.length - 1, from));
    setSpan([windows[first].start_ns,
        windows[Math.max(first, Math.min(windows.length, to) - 1)].end_ns], step);
}

function redrawInterval() {
    redraw('interval', () => {
        showInterval();
        showSamples();
        drawSeries();
        showRanks();
        showLatency();
        showSlowest();
        showStalls();
        showWhole();
        if (!showsSamples(shown())) { showTree(); }
        showTimeline();
    });
}

/* The samples of the interval, in the tree and in the table. */
function showSamples() {
    const p = shown();
    if (p.samples === null) { return; }
    const [start, end] = brushed() ? intervalOf(p) : [0, Infinity];
    if (p.samples.start !== start || p.samples.end !== end) {
        countSamples(p.samples, start, end);
        Object.assign(p.samples, { start, end });
    }
    showCode();
    if (showsSamples(p)) {
        showTree();
    }
}

/* The interval in words, to the window or as fine as the timeline. */
function spanWords(p) {
    const step = holds(stepsOf(p), state.span) ? Math.min(p.step, viewStep(state.span)) : p.step;
    return state.span.map(ns => moment(p, ns, step)).join(' to ');
}

function showInterval() {
    const p = shown(), [start, end] = intervalOf(p), [from, to] = windowsIn(p, [start, end]);
    $('interval').textContent = brushed() ? spanWords(p)
        : 'share of the loop’s time per ' + state.group + ', in windows of ' + time(p.step);
    $('whole').disabled = !brushed();
    for (const [id, ns] of LASTS) {
        $(id).disabled = p.end - p.begin <= ns;
        $(id).setAttribute('aria-pressed', state.last === ns);
    }
    for (const [id, value, edge] of [['from', from, start], ['to', to, end]]) {
        $(id).min = 0;
        $(id).max = p.windows.length;
        $(id).value = value;
        $(id).setAttribute('aria-valuetext', moment(p, edge));
    }
}

/* The window at an x of the chart. */
function windowAt(p, canvas, event) {
    const box = canvas.getBoundingClientRect();
    const ns = p.begin + (event.clientX - box.left - PLOT.left) /
        (box.width - PLOT.left - PLOT.right) * (p.end - p.begin);
    const at = p.windows.findIndex(w => w.end_ns > ns);
    return at < 0 ? p.windows.length - 1 : at;
}

function seriesTip(event) {
    const p = shown(), drawn = $('area').drawn;
    if (!drawn) { return; }
    const at = windowAt(p, $('area'), event);
    const k = drawn.groups.findIndex(g => at >= g.from && at < g.to), g = drawn.groups[k];
    const rows = drawn.series.map(s => [s, s.values[k]]).filter(([, v]) => v > 0.0005)
        .sort((a, b) => b[1] - a[1]).slice(0, 8);
    showTip(event, el('p', null, el('b', null, moment(p, g.start) + ' to ' + moment(p, g.end))),
        ...rows.map(([s, v]) => tipRow(el('span', null, swatch(s.colour), s.name), percent(v, 1))));
}

function bindSeries() {
    const canvas = $('area');
    let anchor = -1;
    canvas.addEventListener('pointerdown', event => {
        if (event.button !== 0) { return; }
        anchor = windowAt(shown(), canvas, event);
        canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', event => {
        seriesTip(event);
        if (anchor >= 0) {
            const at = windowAt(shown(), canvas, event);
            setWindows(Math.min(anchor, at), Math.max(anchor, at) + 1);
        }
    });
    canvas.addEventListener('pointerup', event => {
        if (anchor >= 0 && windowAt(shown(), canvas, event) === anchor) { setSpan(null); }
        if (anchor >= 0) { writeLink('interval'); }
        anchor = -1;
    });
    canvas.addEventListener('pointerleave', hideTip);
    ['from', 'to'].forEach((id, end) => $(id).addEventListener('input', () => {
        const at = windowsIn(shown(), intervalOf(shown())), to = Number($(id).value);
        at[end] = end === 0 ? Math.min(to, at[1] - 1) : Math.max(to, at[0] + 1);
        setWindows(...at, 'slide');
    }));
    $('whole').addEventListener('click', () => setSpan(null, 'interval'));
    LASTS.forEach(([id, ns]) => $(id).addEventListener('click', () =>
        setSpan(lastSpan(shown(), ns), 'interval', ns)));
    $('series-more').addEventListener('toggle', showSeriesTable);
}

function showSeriesTable() {
    if (!$('series-more').open) { return; }
    const p = shown(), sites = p.groups.slice(0, 6);
    const groups = groupWindows(p, 860);
    const share = (list, g) => percent(sum(list.slice(g.from, g.to), v => v), g.end - g.start);
    const column = name => p.windows.map(w => w[name]);
    const lists = [column('busy_ns'), ...sites.map(s => s.windows), column('uninstrumented_ns'),
        column('idle_ns')];
    fillTable($('series-table'), ['from', 'to', 'busy', ...sites.map(s => s.name), 'uninstrumented', 'idle'],
        groups.map(g => [moment(p, g.start), [moment(p, g.end)],
            ...lists.map(list => share(list, g))]));
}
