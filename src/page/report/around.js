/* >>around: the same tree from its other side: who led to a function (callers), one function with
   callers and callees (sandwich), and a list of what a search means */

const MODES = { down: 'From the root', callers: 'Callers', around: 'Sandwich' };
const FINEST = 1 / 3000;   // of the whole: what would be narrower than a box is not laid out
const DEEP = 40;

/* A tree whose roots are the functions, by what they took themselves; below each its callers. */
function invert(tree) {
    const rows = [], least = tree.total[0] * FINEST;
    const put = (nodes, parent, depth) => {
        const kinds = new Map();
        nodes.forEach(([at, value]) => {
            const known = kinds.get(tree.kind[at]) || { value: 0, nodes: [], at };
            known.value += value;
            known.nodes.push([tree.parent[at], value]);
            kinds.set(tree.kind[at], known);
        });
        kinds.forEach(({ value, nodes: above, at }) => {
            if (value < least) { return; }
            const further = above.filter(([up]) => up > 0);
            const deeper = depth < DEEP ? sum(further, each => each[1]) : 0;
            const row = Object.create(tree.rows[at - 1], { id: { value: rows.length + 1 },
                parent: { value: parent }, rest: { value: value - deeper } });
            rows.push(row);
            if (deeper > 0) { put(further, row.id, depth + 1); }
        });
    };
    const all = [];
    for (let i = 1; i < tree.n; i++) { if (tree.self[i] > 0) { all.push([i, tree.self[i]]); } }
    put(all, 0, 0);
    const inverted = weigh(layOutTree(rows), 'rest');
    return Object.assign(inverted, { metric: tree.metric, inside: tree.inside, of: tree });
}

function invertedOf(tree) {
    if (!tree.inverted || tree.invertedBy !== tree.metric || tree.invertedIn !== tree.start) {
        Object.assign(tree, { inverted: invert(tree), invertedBy: tree.metric,
            invertedIn: tree.start });
    }
    return tree.inverted;
}

/* For each function: itself, and with what is below it, each node counted once. */
function kindSums(tree) {
    if (tree.sumsOf === tree.start) { return tree.kindSums; }
    const sums = tree.kinds.map(kind => ({ ...kind, self: 0, total: 0 }));
    const open = new Int32Array(tree.n);           // how many of its kind stand above a node
    for (let i = 1; i < tree.n; i++) {
        const known = sums[tree.kind[i]];
        known.self += tree.self[i];
        let at = tree.parent[i];
        while (at > 0 && tree.kind[at] !== tree.kind[i]) { at = tree.parent[at]; }
        open[i] = at > 0 ? 1 : 0;
        if (!open[i]) { known.total += tree.total[i]; }
    }
    return Object.assign(tree, { sumsOf: tree.start, kindSums: sums, inner: open }).kindSums;
}

/* Who called a function directly, and whom it called. */
function neighbours(tree, kind) {
    kindSums(tree);
    const callers = new Map(), callees = new Map();
    for (let i = 1; i < tree.n; i++) {
        const up = tree.parent[i];
        if (tree.kind[i] === kind && !tree.inner[i]) {
            addTo(callers, up > 0 ? tree.kind[up] : -1, tree.total[i]);
        } else if (up > 0 && tree.kind[up] === kind && tree.kind[i] !== kind) {
            addTo(callees, tree.kind[i], tree.total[i]);
        }
    }
    const sorted = map => [...map].filter(([, value]) => value > 0).sort((a, b) => b[1] - a[1]);
    return { callers: sorted(callers), callees: sorted(callees) };
}

const plainTree = p => treeOf(p, 'down');
const mostOf = tree => kindSums(tree).slice().sort((a, b) => b.self - a.self)[0];

/* The function in the middle: the one that was asked for, else what took most itself. */
function middleOf(tree) {
    const known = tree.kinds.findIndex(kind => kind.key === state.around);
    return known >= 0 ? known : mostOf(tree) ? tree.kinds.indexOf(tree.kinds.find(kind =>
        kind.key === mostOf(tree).key)) : -1;
}

function goAround(key) {
    Object.assign(state, { mode: 'around', around: key, zoom: 0, at: -1, over: -1 });
    showTree();
    writeLink('tree');
}

/* A row of a list that leads to the sandwich of that function. */
function aroundRow(tree, kind, value, whole) {
    const known = kind < 0 ? null : tree.kinds[kind];
    return [known === null ? el('span', { class: 'note' }, 'nothing: it stands at the root')
        : el('span', null, swatch(colour(known.key)), el('button', { type: 'button', class: 'way',
            title: 'Put it in the middle', 'data-key': 'around ' + known.key,
            onclick: () => goAround(known.key) }, nameOf(known.row.name)),
        el('span', { class: 'note' }, '  ' + placeOf(known.row))),
    percent(value, whole), amount(tree.metric, value)];
}

function showAround() {
    const p = shown(), tree = plainTree(p), kind = middleOf(tree);
    $('around').hidden = state.mode !== 'around';
    $('flame-view').hidden = $('flame-status').hidden = state.mode === 'around';
    if (state.mode !== 'around') { return; }
    if (kind < 0) { $('around').replaceChildren(el('p', { class: 'note' }, emptyWords())); return; }
    const { key, row, self, total } = kindSums(tree)[kind], whole = tree.total[0];
    const { callers, callees } = neighbours(tree, kind), made = showsSamples(p) ? 'called' : 'created';
    const list = (title, rows, empty) => el('div', null, rows.length === 0
        ? el('p', { class: 'note' }, empty) : tableOf([title, 'share', METRICS[tree.metric]], rows.slice(0, 25).map(([at, value]) =>
            aroundRow(tree, at, value, whole))));
    keepingFocus($('around'), node => node.replaceChildren(
        list(made + ' by', callers, 'Nothing ' + made + ' it.'),
        el('p', { class: 'middle' }, swatch(colour(key)), el('b', null, nameOf(row.name)),
            ...(placeOf(row) === '' ? [] : [' ', el('span', { class: 'note' }, placeOf(row))]), ': ' + amount(tree.metric, total) + ' (' +
            percent(total, whole) + ') with what it ' + made + ', itself ' +
            amount(tree.metric, self) + '.'),
        list('it ' + made, callees, 'It ' + made + ' nothing.')));
}

function tableOf(head, rows) {
    const table = el('table');
    fillTable(table, head, rows);
    return table;
}

/* What the search means, each function once, the largest first. */
function showHits() {
    const p = shown(), tree = plainTree(p);
    $('hits').hidden = state.search.trim() === '';
    if ($('hits').hidden) { return; }
    const found = matchesOf(tree), sums = kindSums(tree);
    const hits = sums.map((each, kind) => [kind, each.total]).filter(([kind]) => found[kind])
        .sort((a, b) => b[1] - a[1] || sums[b[0]].self - sums[a[0]].self);
    $('hits').replaceChildren(el('p', { class: 'note', style: { margin: 0 } }, plural(hits.length,
        'function') + ' found' + (hits.length > 20 ? ', the first 20 of them' : '')),
    ...(hits.length === 0 ? [] : [tableOf(['function', 'share', METRICS[tree.metric] + ' in all',
        'itself'], hits.slice(0, 20).map(([kind, value]) => [...aroundRow(tree, kind, value,
        tree.total[0]), amount(tree.metric, sums[kind].self)]))]));
}

function setMode(mode) {
    Object.assign(state, { mode, zoom: 0, at: -1, over: -1 });
    showTree();
    writeLink('tree');
}

function showModes() {
    const words = showsSamples(shown()) ? MODES : { ...MODES, callers: 'Creators' };
    Object.keys(MODES).forEach(mode => {
        $('mode-' + mode).setAttribute('aria-pressed', state.mode === mode);
        $('mode-' + mode).textContent = words[mode];
    });
}

function bindAround() {
    Object.keys(MODES).forEach(mode => $('mode-' + mode)
        .addEventListener('click', () => setMode(mode)));
}
