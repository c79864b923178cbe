/* >>profile: checks the JSON and lays it out */

const LISTS = ['sites', 'paths', 'stalls', 'windows', 'futures', 'tables', 'anomalies'];

/* The words of schemas 1 and 2, as they are since 3. */
const RENAMED = { turns: 'callbacks', turn_p50_ns: 'callback_p50_ns', turn_p99_ns: 'callback_p99_ns',
    turn_max_ns: 'callback_max_ns', passes: 'iterations', pass_p50_ns: 'iteration_p50_ns',
    pass_p99_ns: 'iteration_p99_ns', pass_max_ns: 'iteration_max_ns', loop_ns: 'uninstrumented_ns',
    loop_blame_ns: 'uninstrumented_blame_ns', wall_ns: 'lifetime_ns',
    wall_p50_ns: 'latency_p50_ns', wall_p99_ns: 'latency_p99_ns', wall_max_ns: 'latency_max_ns' };
const RENAMED_KINDS = { pass: 'iteration', turn: 'callback' };
const wordToday = (words, word) =>
    Object.prototype.hasOwnProperty.call(words, word) ? words[word] : word;

function renameRow(row) {
    if (row === null || typeof row !== 'object') { return; }
    Object.keys(row).filter(key => wordToday(RENAMED, key) !== key).forEach(key => {
        row[RENAMED[key]] = row[key];
        delete row[key];
    });
    if (row.state === 'loop') { row.state = 'uninstrumented'; }
    if (row.name === '(loop)') { row.name = '(uninstrumented)'; }
}

function renameKeys(raw) {
    renameRow(raw.totals);
    Object.values(raw).forEach(list => {
        if (Array.isArray(list)) {
            list.forEach(renameRow);
        } else if (list && Array.isArray(list.keys)) {
            list.keys = list.keys.map(key => wordToday(RENAMED, key));
        }
    });
    if (Array.isArray(raw.stalls)) {
        raw.stalls.forEach(stall => {
            if (!stall) { return; }
            stall.kind = wordToday(RENAMED_KINDS, stall.kind);
            if (Array.isArray(stall.shares)) { stall.shares.forEach(renameRow); }
        });
    }
}

/* Ids have 64 bits: long ones become text before they could lose digits. */
function parseProfile(text, source) {
    const raw = JSON.parse(text.replace(/"id":(\d{16,})/g, '"id":"$1"'));
    if (raw === null || typeof raw !== 'object' || raw.chroprof === undefined) {
        throw new Error('this is JSON, but no profile of chroprof');
    }
    if (!isCount(raw.chroprof)) { refuse('the version of its schema', 'a number'); }
    if (![1, 2, 3].includes(raw.chroprof)) {
        throw new Error('its schema is version ' + raw.chroprof +
            ', this page reads versions 1 to 3');
    }
    checkRow(raw, 'the profile');
    checkLists(raw, [...ROWS], 'the profile');
    if (Array.isArray(raw.stalls)) {
        raw.stalls.forEach(stall => checkLists(stall, ['samples', 'shares'], 'a stall'));
    }
    if (raw.chroprof < 3) { renameKeys(raw); }
    unpack(raw, Array.isArray(raw.sites) ? raw.sites : []);
    const broken = LISTS.find(name => !Array.isArray(raw[name]));
    if (broken || !isObject(raw.totals)) {
        throw new Error('the list "' + (broken || 'totals') + '" is missing');
    }
    raw.sites.forEach(site => Object.assign(site, { windows: [], name: '', file: '', ...site }));
    (raw.slowest || []).forEach(slow => Object.assign(slow, { blames: [], ...slow }));
    return layOut(raw, source);
}

/* A long list may come as {"keys": [..], "values": [row after row]}, null where a row has no such
   key. Its rows then are places in the values: they cost next to nothing until they are looked at. */
function rowsOf(packed, more) {
    const { keys, values } = packed, at = Symbol('at');
    const row = function (place) { this[at] = place; };
    const define = (key, get) => Object.defineProperty(row.prototype, key,
        { get, configurable: true });
    Object.entries(more).forEach(([key, get]) => define(key, get));
    keys.forEach((key, k) => define(key, function () {
        const value = values[this[at] + k];
        return value === null ? undefined : value;
    }));
    return Array.from({ length: Math.floor(values.length / keys.length) },
        (_, i) => new row(i * keys.length));
}

const isPacked = list => list !== null && typeof list === 'object' && Array.isArray(list.keys) &&
    Array.isArray(list.values) && list.keys.length > 0;

/* A packed path has its name from its site. */
function unpack(raw, sites) {
    const known = new Map(sites.map(site => [site.id, site]));
    const part = (name, other) => function () {
        const site = known.get(this.site);
        return site === undefined ? other : site[name];
    };
    if (isPacked(raw.paths)) {
        raw.paths = rowsOf(raw.paths, { name: part('name', ''), file: part('file', ''),
            line: part('line', 0), key: part('key', '') });
    }
    ['stacks', 'samples'].filter(name => isPacked(raw[name])).forEach(name => {
        raw[name] = rowsOf(raw[name], {});
    });
}

const siteKey = row => row.key || row.name + '\n' + row.file + '\n' + row.line;

/* Eight samples know a share within a third; they may have met a site too often, but it had no more
   CPU time than exec. By the clock a sample has the CPU time since the one before, which is the
   site's own only where its slices are longer than the period. null: not known. */
function judgeCpu(p) {
    const sampler = p.raw.sampler || {};
    const most = sampler.mode === 'wall' ? 1 / 4 : Infinity;
    p.period = sampler.first_period_ns > 0 ? sampler.period_ns : 0;
    p.sampled = p.sites.some(site => site.cpu_ns > 0 || (site.samples > 0 && p.period > 0));
    p.sites.forEach(site => {
        const samples = p.period > 0 ? site.exec_ns / p.period : site.samples;
        site.cpu_error = samples > 0 ? site.exec_ns / Math.sqrt(samples) : 0;
        site.cpu = samples >= 8 && site.slices <= samples * most ? Math.min(site.cpu_ns, site.exec_ns) : null;
        site.off_cpu = site.cpu === null ? null : site.exec_ns - site.cpu;
    });
}

function layOut(raw, source) {
    const file = source.split(/[\\/]/).pop();
    const p = { raw, source: file, name: String(raw.name || raw.program || source || 'profile'),
        totals: raw.totals, sites: raw.sites, windows: raw.windows,
        stalls: raw.stalls.map(stall => ({ ...stall, shares: sharesOf(stall) })) };
    p.sites.forEach((site, i) => {
        site.key = siteKey(site);
        site.order = i;
    });
    p.begin = p.windows.length ? p.windows[0].start_ns : 0;
    p.end = p.windows.length ? p.windows[p.windows.length - 1].end_ns : p.totals.elapsed_ns;
    p.step = p.windows.reduce((most, w) => Math.max(most, w.end_ns - w.start_ns), 0) || p.end / 100;
    p.ranked = p.sites.slice().sort((a, b) => b.exec_ns - a.exec_ns);
    p.tree = layOutTree(raw.paths);
    p.samples = layOutSamples(raw);
    judgeCpu(p);
    return p;
}

/* Node 0 is the whole tree, node i + 1 is paths[i]; kind: its site's place in kinds. A parent
   stands before its children; what names none is a root, so that no input makes a cycle. */
function layOutTree(rows) {
    const n = rows.length + 1;
    const tree = { n, rows, parent: new Int32Array(n), kind: new Int32Array(n), kinds: [],
        depth: new Int32Array(n), first: new Int32Array(n + 1), kids: new Int32Array(n) };
    const at = new Map(), kindOf = new Map();
    tree.parent[0] = tree.kind[0] = -1;
    rows.forEach((row, i) => {
        const up = at.get(row.parent) || 0;
        tree.parent[i + 1] = up;
        tree.depth[i + 1] = tree.depth[up] + 1;
        const key = siteKey(row);
        if (!kindOf.has(key)) { kindOf.set(key, tree.kinds.push({ key, row }) - 1); }
        tree.kind[i + 1] = kindOf.get(key);
        tree.first[up + 1]++;
        at.set(row.id, i + 1);
    });
    for (let i = 0; i < n; i++) { tree.first[i + 1] += tree.first[i]; }
    return tree;
}

/* Fills in the children, heaviest first, and where each node begins in its row. inside: what each
   path has of an interval, instead of the metric. */
function weigh(tree, metric, inside) {
    const { n, rows, parent, first, kids } = tree;
    const self = new Float64Array(n), total = new Float64Array(n), start = new Float64Array(n);
    const next = first.slice(0, n);
    for (let i = 1; i < n; i++) {
        self[i] = total[i] = (inside ? inside.get(rows[i - 1].id)
            : Number(rows[i - 1][metric])) || 0;
    }
    for (let i = n - 1; i > 0; i--) { total[parent[i]] += total[i]; }
    for (let i = 1; i < n; i++) { kids[next[parent[i]]++] = i; }
    for (let i = 0; i < n; i++) {
        if (first[i + 1] - first[i] > 1) {
            kids.subarray(first[i], first[i + 1]).sort((a, b) => total[b] - total[a] || a - b);
        }
    }
    for (let i = 0; i < n; i++) {
        let x = start[i];
        for (let k = first[i]; k < first[i + 1]; k++) {
            start[kids[k]] = x;
            x += total[kids[k]];
        }
    }
    return Object.assign(tree, { metric, inside, self, total, start });
}
