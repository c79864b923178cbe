/* >>tree: icicle or flames on a canvas; boxes below half a pixel are not drawn */

const ROW = 22;
const METRICS = { exec_ns: 'exec', delay_ns: 'delay', blame_ns: 'blame', lifetime_ns: 'lifetime',
    weight: 'samples', cpu_ns: 'CPU time' };

const showsSamples = p => state.sampled && p.samples !== null;
const metricOf = p => !showsSamples(p) ? state.metric
    : knowsCpu(p) ? state.sampledMetric : 'weight';
const amount = (metric, value) => metric === 'weight' ? plural(value, 'sample')
    : metric === 'cpu_ns' ? sampledTime(shown(), value) : time(value);

/* The tree in sight, or the one from the root, weighed by the chosen metric. */
function treeOf(p, mode = state.mode) {
    const tree = weighedTree(p);
    return mode === 'callers' ? invertedOf(tree) : tree;
}

function weighedTree(p) {
    const tree = showsSamples(p) ? p.samples.tree : p.tree, metric = metricOf(p);
    const sums = p === shown() && !showsSamples(p) ? ringSums(p) : null;
    const inside = (sums && sums.paths[metric]) || undefined;
    return tree.metric === metric && tree.inside === inside ? tree : weigh(tree, metric, inside);
}

function treeName(tree, node) {
    return node > 0 ? tree.rows[node - 1].name || '(no name)'
        : state.sampled ? (shown().samples.whole ? 'all samples' : 'samples in the interval')
            : 'all paths';
}

/* Nodes in sight: those above the zoomed one in full width, those below it by their weight. */
function boxesInSight(tree, zoom, width) {
    const boxes = [], stack = [zoom], whole = tree.total[zoom] || 1;
    for (let node = tree.parent[zoom]; node >= 0; node = tree.parent[node]) {
        boxes.push({ node, x: 0, w: width, depth: tree.depth[node], above: true });
    }
    while (stack.length) {
        const node = stack.pop();
        boxes.push({ node, depth: tree.depth[node], x: (tree.start[node] - tree.start[zoom]) /
            whole * width, w: node === zoom ? width : tree.total[node] / whole * width });
        for (let k = tree.first[node]; k < tree.first[node + 1]; k++) {
            if (tree.total[tree.kids[k]] / whole * width < 0.5) { break; }
            stack.push(tree.kids[k]);
        }
    }
    return boxes;
}

function drawFlame() {
    redraw('flame', () => {
        const p = shown(), canvas = $('flame'), view = $('flame-view');
        const tree = treeOf(p);
        const width = view.clientWidth;
        if (width < 20) { return; }
        const boxes = boxesInSight(tree, state.zoom, width);
        const rows = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
        const height = Math.min(480, rows * ROW);
        const c = canvasContext(canvas, width, height);
        $('flame-room').style.height = rows * ROW - height + 'px';
        view.style.height = height + 'px';
        if (!state.icicle && canvas.rows !== rows) { view.scrollTop = rows * ROW; }
        canvas.rows = rows;
        canvas.boxes = boxes;
        paintBoxes(c, p, tree, boxes, view.scrollTop, height);
        if (state.over < 0) { tellNode(state.at >= 0 ? state.at : state.zoom); }
    });
}

function boxY(box) {
    const row = state.icicle ? box.depth : $('flame').rows - 1 - box.depth;
    return row * ROW - $('flame-view').scrollTop;
}

function paintBoxes(c, p, tree, boxes, scrolled, height) {
    const fills = tree.kinds.map(kind => colour(kind.key)), found = matchesOf(tree);
    const ground = cssColour('--loop'), change = changeColours(p, tree);
    const look = { font: '12px ' + MONO, ink: cssColour('--ink'),
        found: node => state.search === '' || (node > 0 && found[tree.kind[node]]),
        fill: node => node === 0 ? ground : change ? change(node) : fills[tree.kind[node]] };
    c.font = look.font;
    look.letter = c.measureText('mmmmmmmmmm').width / 10;
    c.textBaseline = 'middle';
    const top = boxY({ depth: 0 }), down = state.icicle ? ROW : -ROW;
    for (const box of boxes) {
        const y = top + box.depth * down;
        if (y > -ROW && y < height) { paintBox(c, tree, box, y, look); }
    }
    const focus = boxes.find(box => box.node === state.at);
    if (focus) {
        c.strokeStyle = look.ink;
        c.lineWidth = 2;
        c.strokeRect(focus.x + 1, boxY(focus) + 1, Math.max(1, focus.w - 2), ROW - 3);
    }
}

/* For each kind whether the search means it. */
function matchesOf(tree) {
    const wanted = state.search.toLowerCase();
    return tree.kinds.map(({ row }) => (row.name + '\n' + place(row)).toLowerCase()
        .includes(wanted));
}

function paintBox(c, tree, box, y, look) {
    const fill = look.fill(box.node), found = look.found(box.node);
    c.globalAlpha = found ? (box.above ? 0.55 : 1) : 0.22;
    c.fillStyle = fill;
    c.fillRect(box.x, y, Math.max(0.5, box.w - (box.w > 3 ? 1 : 0)), ROW - 1);
    c.globalAlpha = 1;
    if (box.w < 28) { return; }
    const letters = Math.floor((box.w - 12) / look.letter), name = treeName(tree, box.node);
    const value = amount(tree.metric, tree.total[box.node]), whole = name.length + value.length + 3;
    let text = name.length > letters ? name.slice(0, Math.max(1, letters - 1)) + '…' : name;
    if (whole <= letters) { text = name + '  ' + value; }
    c.fillStyle = found && !box.above ? inkOn(fill) : look.ink;
    c.font = box.node > 0 && tree.rows[box.node - 1].task ? '700 ' + look.font : look.font;
    c.fillText(text, box.x + 6, y + ROW / 2);
}

/* In a comparison: how much more (or less) of the loop a path and all below it took. */
function changeColours(p, tree) {
    const base = before();
    if (!base || state.paint !== 'change' || showsSamples(p) !== showsSamples(base)) {
        return null;
    }
    const was = treeOf(base), twin = twinsOf(tree, was);
    const all = (p, tree) => (showsSamples(p) ? tree.total[0] : p.totals.elapsed_ns) || 1;
    const share = node => tree.total[node] / all(p, tree) -
        (twin[node] >= 0 ? was.total[twin[node]] / all(base, was) : 0);
    const worse = cssColour('--worse'), better = cssColour('--better'), none = cssColour('--idle');
    return node => {
        const alike = verdictOn({ key: tree.kinds[tree.kind[node]].key }) === 'alike';
        if (alike) { return none; }                // the change of its share is noise
        const strength = Math.round(Math.min(1, Math.sqrt(Math.abs(share(node)) * 3)) * 100);
        return 'color-mix(in srgb, ' + (share(node) > 0 ? worse : better) + ' ' + strength + '%, ' +
            none + ')';
    };
}

/* For each node the one with the same chain of sites in another tree, or -1. */
function twinsOf(tree, other) {
    if (tree.twinsIn === other) { return tree.twins; }
    const known = new Map(), twins = new Int32Array(tree.n).fill(-1);
    const step = tree => (parent, node) => parent + '\n' + tree.kinds[tree.kind[node]].key;
    for (let i = 1; i < other.n; i++) { known.set(step(other)(other.parent[i], i), i); }
    twins[0] = 0;
    for (let i = 1; i < tree.n; i++) {
        const found = known.get(step(tree)(twins[tree.parent[i]], i));
        twins[i] = found === undefined ? -1 : found;
    }
    return Object.assign(tree, { twins, twinsIn: other }).twins;
}

function chain(tree, node) {
    const names = [];
    for (; node > 0; node = tree.parent[node]) { names.unshift(treeName(tree, node)); }
    return names;
}

/* Does it count an interval? */
const isOfPart = tree => brushed() && (showsSamples(shown()) ? !shown().samples.whole
    : tree.inside !== undefined);

function nodeWords(tree, node) {
    const whole = tree.total[0];
    return (tree.metric === 'weight' ? '' : METRICS[tree.metric] + ' ') +
        amount(tree.metric, tree.total[node]) + ' (' + percent(tree.total[node], whole) +
        (isOfPart(tree) ? ' of the interval' : '') + ')' +
        (node > 0 && state.mode !== 'callers' ? ', itself ' + amount(tree.metric, tree.self[node])
            : '');
}

function tellNode(node) {
    const tree = treeOf(shown()), words = [];
    const names = chain(tree, node), where = node > 0 ? placeOf(tree.rows[node - 1]) : '';
    const led = state.mode === 'callers' ? ' ‹ ' : ' › ';
    words.push(el('b', null, names.length ? names.join(led) : treeName(tree, 0)), ': ' +
        nodeWords(tree, node));
    if (where !== '') { words.push(', ' + where); }
    if (state.search !== '') { words.push('. ' + foundWords(tree)); }
    if (tree.total[0] === 0) { words.push('. ' + emptyWords()); }
    $('flame-status').replaceChildren(...words);
    $('unzoom').disabled = state.zoom === 0;
}

/* Of native code the line with the most samples; where several nodes are one, its file. */
const placeOf = row => row.places === undefined || row.task ? place(row)
    : state.mode === 'down' ? heaviest(row.places) : row.file;

const emptyWords = () => state.sampled ? 'There are no samples here.'
    : state.metric === 'delay_ns' || state.metric === 'blame_ns'
        ? 'The program never said that a future was ready, so there is no delay and no blame.'
        : 'Nothing was recorded.';

/* What the search found, each time counted once: the topmost match on a path. */
function foundWords(tree) {
    const matches = matchesOf(tree), inside = new Uint8Array(tree.n);
    let found = 0, total = 0;
    for (let i = 1; i < tree.n; i++) {
        const match = matches[tree.kind[i]];
        found += match ? 1 : 0;
        if (match && !inside[tree.parent[i]]) { total += tree.total[i]; }
        inside[i] = match || inside[tree.parent[i]] ? 1 : 0;
    }
    return plural(found, 'path') + ' found, ' + percent(total, tree.total[0]) +
        (isOfPart(tree) ? ' of the interval’s ' : ' of all ') +
        METRICS[tree.metric] + ' with what they ' + (state.sampled ? 'called' : 'created');
}

function boxUnder(event) {
    const box = $('flame').getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    return ($('flame').boxes || []).find(b => x >= b.x && x < b.x + Math.max(1, b.w) &&
        y >= boxY(b) && y < boxY(b) + ROW);
}

function zoomTo(node) {
    state.zoom = node;
    state.at = -1;
    drawFlame();
    writeLink('tree');
}

function flameTip(event) {
    const tree = treeOf(shown()), box = boxUnder(event);
    state.over = box ? box.node : -1;
    if (!box) { hideTip(); return; }
    const row = box.node > 0 ? tree.rows[box.node - 1] : null;
    showTip(event, el('p', null, el('b', { class: 'name' }, treeName(tree, box.node))),
        ...(row ? [el('p', { class: 'note', style: { margin: 0 } }, placeOf(row))] : []),
        el('p', null, nodeWords(tree, box.node)), ...(row && state.mode === 'down' ? factsOf(row) : []));
    tellNode(box.node);
}

/* Of a task its calls; of native code the lines that its samples fell on. */
function factsOf(row) {
    if (row.places === undefined) {
        return [tipRow('calls', count(row.calls)), tipRow('largest slice',
            time(row.slice_max_ns))];
    }
    return row.task ? [] : [...row.places].filter(([where]) => where !== '')
        .sort((a, b) => b[1] - a[1]).slice(0, 5)
        .map(([where, weight]) => tipRow(baseName(where), plural(weight, 'sample')));
}

/* Where an arrow key leads: towards the root, to the heaviest child, to the neighbours. */
function step(tree, node, key) {
    const inward = state.icicle ? 'ArrowDown' : 'ArrowUp';
    if (key === inward) {
        const kid = tree.first[node] < tree.first[node + 1] ? tree.kids[tree.first[node]] : -1;
        return kid > 0 && tree.total[kid] > 0 ? kid : node;
    }
    if (key === 'ArrowUp' || key === 'ArrowDown') { return Math.max(0, tree.parent[node]); }
    if (node === 0) { return 0; }
    const up = tree.parent[node], row = tree.kids.subarray(tree.first[up], tree.first[up + 1]);
    const to = row.indexOf(node) + (key === 'ArrowRight' ? 1 : -1);
    return to >= 0 && to < row.length && tree.total[row[to]] > 0 ? row[to] : node;
}

function flameKey(event) {
    const tree = treeOf(shown());
    if (event.key.startsWith('Arrow')) {
        state.at = step(tree, state.at >= 0 ? state.at : state.zoom, event.key);
    } else if (event.key === 'Enter' || event.key === ' ') {
        zoomTo(Math.max(0, state.at));
    } else if (event.key === 'Home') {
        zoomTo(0);
    } else {
        return;
    }
    event.preventDefault();
    state.over = -1;
    drawFlame();
}

function setDirection(icicle) {
    state.icicle = icicle;
    $('icicle').setAttribute('aria-pressed', icicle);
    $('flames').setAttribute('aria-pressed', !icicle);
    $('flame').rows = 0;
    drawFlame();
}

/* Exact tasks, or sampled code under its tasks. */
function setTreeView(sampled) {
    Object.assign(state, { sampled, zoom: 0, at: -1, over: -1 });
    showTree();
    writeLink('tree');
}

function showView() {
    const p = shown();
    $('view').hidden = p.samples === null;
    $('exact').setAttribute('aria-pressed', !showsSamples(p));
    $('sampled').setAttribute('aria-pressed', showsSamples(p));
    $('metric-field').hidden = showsSamples(p);
    $('sampled-metric-field').hidden = !showsSamples(p) || !knowsCpu(p);
    $('tree-title').textContent = showsSamples(p) ? 'What ran: sampled code under its tasks'
        : 'Who created what: the tree of paths';
    $('direction').hidden = $('unzoom').hidden = $('tree-more').hidden = state.mode === 'around';
    showModes();
    $('flame-note').hidden = !showsSamples(p) && !brushed();
    $('flame-note').textContent = showsSamples(p) ? (p.samples.whole ? ''
        : 'Of the interval ' + spanWords(p) + '. ') + samplerWords(p) : !brushed() ? ''
        : treeOf(p).inside ? 'Of the interval ' + spanWords(p) + '.'
            : 'Of the whole run: the profile does not keep ' + METRICS[state.metric] +
                ' of each path over time.';
}

function showTree() {
    showView();
    showAround();
    showHits();
    drawFlame();
    showTreeTable();
}

/* How the samples were taken, what is missing, and what they cost. */
function samplerWords(p) {
    const f = p.samples.facts, words = [];
    if (f.mode && f.mode !== 'none') {
        words.push('A sample every ' + time(f.period_ns) + ' of ' +
            (f.mode === 'cpu' ? 'CPU time' : 'the clock') +
            (f.first_period_ns && f.first_period_ns !== f.period_ns ? ', ' +
                time(f.first_period_ns) + ' at the beginning' : '') +
            '; taking them cost ' + time(f.cost_ns) + ', ' +
            percent(f.cost_ns, p.totals.elapsed_ns) + ' of the time');
    }
    const inside = sum(functionsOf(p.samples).rows.filter(row => row.name === INSIDE), row => row.self);
    if (inside > 0) { words.push(plural(inside, 'sample') + ' fell into the profiler'); }
    if (f.lost > 0) { words.push(plural(f.lost, 'sample') + ' lost'); }
    if (!p.samples.whole && f.dropped > 0) {
        words.push('Of ' + plural(f.dropped, 'older sample') + ' the time is not known any more');
    }
    if (p.samples.idle.size) { words.push('Idle time is left out'); }
    return words.join('. ') + (words.length ? '.' : '');
}

function bindTree() {
    const canvas = $('flame');
    canvas.addEventListener('pointermove', flameTip);
    canvas.addEventListener('pointerleave', () => {
        state.over = -1;
        hideTip();
        tellNode(state.zoom);
    });
    canvas.addEventListener('click', event => {
        const box = boxUnder(event);
        if (box) { zoomTo(box.node); }
    });
    canvas.addEventListener('keydown', flameKey);
    $('flame-view').addEventListener('scroll', drawFlame);
    $('metric').addEventListener('change', () => {
        state.metric = $('metric').value;
        showTree();
        writeLink();
    });
    $('sampled-metric').addEventListener('change', () => {
        state.sampledMetric = $('sampled-metric').value;
        showTree();
    });
    $('exact').addEventListener('click', () => setTreeView(false));
    $('sampled').addEventListener('click', () => setTreeView(true));
    $('paint').addEventListener('change', () => {
        state.paint = $('paint').value;
        drawFlame();
    });
    $('search').addEventListener('input', () => {
        state.search = $('search').value;
        drawFlame();
        redraw('hits', showHits);
        writeLink();
    });
    $('icicle').addEventListener('click', () => setDirection(true));
    $('flames').addEventListener('click', () => setDirection(false));
    $('unzoom').addEventListener('click', () => zoomTo(0));
    $('tree-more').addEventListener('toggle', showTreeTable);
}

function showTreeTable() {
    if (!$('tree-more').open) { return; }
    const p = shown(), tree = treeOf(p), rows = [], stack = [0];
    while (stack.length && rows.length < 500) {
        const node = stack.pop();
        if (node > 0) {
            rows.push([el('span', { style: { paddingLeft: 18 * Math.min(20, tree.depth[node] - 1) +
                'px' } }, swatch(colour(siteKey(tree.rows[node - 1]))),
                nameOf(treeName(tree, node)),
                el('span', { class: 'note' }, '  ' + placeOf(tree.rows[node - 1]))),
                percent(tree.total[node], tree.total[0]), amount(tree.metric, tree.total[node]),
                ...(state.mode === 'callers' ? [] : [amount(tree.metric, tree.self[node]),
                    ...(showsSamples(p) ? [] : [count(tree.rows[node - 1].calls)])])]);
        }
        for (let k = tree.first[node + 1] - 1; k >= tree.first[node]; k--) {
            stack.push(tree.kids[k]);
        }
    }
    fillTable($('tree-table'), state.mode === 'callers'
        ? ['function, and who led to it', 'share', METRICS[tree.metric]]
        : ['path', 'share', METRICS[tree.metric] + ' with all below', 'itself',
            ...(showsSamples(p) ? [] : ['calls'])], rows);
}
