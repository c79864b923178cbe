/* >>samples: tasks and the native code that ran for them in one tree, a node a function under its
   caller; where in a function the samples fell is kept by line */

const baseName = path => String(path).split('/').pop();

/* The C library, its loader, or code that the kernel maps: whoever called it is to be named. */
const LIBC = /^(lib[cm][.-]|libpthread|ld-|linux-(vdso|gate))/;

/* What a row of stacks stands for, from the outside in: calls that were inlined are calls. */
function callsOf(stack, paths, modules) {
    if (stack.kind !== 'native') {
        const path = paths.get(stack.path) || { name: stack.name, file: '', line: 0 };
        return [stack.kind === 'task' ? { task: true, key: siteKey(path), name: path.name,
            file: path.file, line: path.line }
            : { key: 'marker\n' + stack.name, name: stack.name, file: '', line: 0, bare: true,
                marker: true }];
    }
    const named = typeof stack.function === 'string';
    const inner = named ? [stack, ...(Array.isArray(stack.inlined) ? stack.inlined : [])]
        : [{ function: stack.name || '[' + baseName(modules.get(stack.module) || 'unknown') + ']',
            file: '', line: 0 }];
    const file = baseName(modules.get(stack.module) || ''), libc = LIBC.test(file);
    return inner.reverse().map(call => ({ key: 'native\n' + call.function + '\n' + call.file,
        name: String(call.function), file: String(call.file || ''), line: call.line || 0, libc,
        bare: (!named && !stack.name) || (file !== '' && call.function.startsWith(file + '+0x')) }));
}

const NONE = new Map();

/* CPU time that samples tell: with its error, or about how much it is. */
function sampledTime(p, ns) {
    const period = p.samples === null ? 0 : p.samples.facts.period_ns || 0;
    const told = estimate(ns, Math.sqrt(period * ns) || 1);
    return told !== '–' || ns === 0 ? told : 'about ' + axisTime(ns);
}

/* By the clock a sample has the CPU time since the one before, which no function need have used. */
const knowsCpu = p => p.samples.facts.mode !== 'wall';

/* A share of few samples is no share. */
const ofSamples = (part, whole) => whole < 5
    ? count(part) + ' of ' + plural(whole, 'sample') : percent(part, whole);

/* Our own functions, which the sampler need not have known as such. */
const INSIDE = '(inside chroprof)';
const isOurs = row => baseName(row.file) === 'chroprof.h' ||
    (row.file === '' && row.name.startsWith('chroprof__'));

/* The calls of a stack, from the outside in. */
function chainOf(samples, id) {
    const chain = [];
    for (let link = samples.ends.get(id); link; link = link.up) { chain.push(link); }
    return chain.reverse();
}

/* What ran a task stands above it, the functions of its slice below. The C library starts nothing
   but main, which a sample does not name where main itself began the task: then the code of the
   slice was inlined into it, or keeps no frame. */
const STARTS_MAIN = /^__libc_start_(call_)?main/;

function whatRan(calls, up, main) {
    const [first] = calls;
    if (first.task && up && !up.row.task && STARTS_MAIN.test(up.row.name) && main) {
        return [main, ...calls];
    }
    return first.name === 'main' && calls.length > 1 && up && up.row.task ? calls.slice(1) : calls;
}

function mainOf(raw, paths, modules) {
    const isMain = row => row.kind === 'native' && (row.function === 'main' ||
        (row.inlined || []).some(call => call.function === 'main'));
    const stack = raw.stacks.find(isMain);
    return stack ? callsOf(stack, paths, modules).find(call => call.name === 'main') : null;
}

/* links: each call of each stack, after the one that made it. */
function layOutSamples(raw) {
    if (!Array.isArray(raw.stacks) || raw.stacks.length === 0) { return null; }
    const paths = new Map(raw.paths.map(row => [row.id, row]));
    const modules = new Map((raw.modules || []).map(row => [row.id, row.path]));
    const rows = [], links = [], ends = new Map(), known = new Map(), numbers = new Map();
    const main = mainOf(raw, paths, modules);
    raw.stacks.forEach(stack => {
        let up = ends.get(stack.parent);
        whatRan(callsOf(stack, paths, modules), up, main).forEach(call => {
            if (!numbers.has(call.key)) { numbers.set(call.key, numbers.size); }
            const parent = up ? up.row.id : 0, key = parent * 2 ** 22 + numbers.get(call.key);
            let row = known.get(key);
            if (row === undefined) {
                row = { ...call, id: rows.length + 1, parent, weight: 0, cpu_ns: 0, places: NONE };
                rows.push(row);
                known.set(key, row);
            }
            up = { row, place: place(call), up, sum: 0 };
            links.push(up);
        });
        ends.set(stack.id, up);
    });
    const samples = { raw, rows, links, ends, tree: layOutTree(rows), facts: raw.sampler || {},
        list: Array.isArray(raw.samples) ? raw.samples : [] };
    samples.idle = new Set(samples.list.filter(s => s.state === 'idle').map(s => s.stack));
    countSamples(samples, 0, Infinity);
    return samples;
}

/* What of a row of samples is inside an interval, by the rule of the format. */
function partOf(sample, start, end) {
    const first = sample.at_ns, last = first + sample.duration_ns;
    if (sample.duration_ns === 0) { return first >= start && first < end ? 1 : 0; }
    return Math.max(0, Math.min(last, end) - Math.max(first, start)) / sample.duration_ns;
}

/* Weights of the whole run are those of the stacks; of a part, those of its rows. Idle is left out:
   it is no code of anybody's. */
function countSamples(samples, start, end) {
    samples.rows.forEach(row => {
        row.weight = row.cpu_ns = 0;
        row.places = NONE;
    });
    samples.links.forEach(link => { link.sum = 0; });
    samples.counted = new Map();
    const whole = start <= 0 && end === Infinity;
    const add = (id, weight, cpu) => {
        const end = samples.ends.get(id);
        if (!end || weight <= 0 || samples.idle.has(id)) { return; }
        end.sum += weight;
        end.row.weight += weight;
        end.row.cpu_ns += cpu;
        const known = samples.counted.get(id) || { weight: 0, cpu: 0 };
        samples.counted.set(id, { weight: known.weight + weight, cpu: known.cpu + cpu });
    };
    if (whole) {
        samples.raw.stacks.forEach(stack => add(stack.id, stack.weight, stack.cpu_ns));
    } else {
        const inside = new Map();
        samples.list.forEach(sample => {
            const part = partOf(sample, start, end);
            const known = inside.get(sample.stack) || { weight: 0, cpu: 0 };
            known.weight += Math.round(sample.weight * part);
            known.cpu += sample.cpu_ns * part;
            inside.set(sample.stack, known);
        });
        inside.forEach(({ weight, cpu }, stack) => add(stack, weight, cpu));
    }
    for (let i = samples.links.length - 1; i >= 0; i--) { passUp(samples.links[i]); }
    samples.whole = whole;
    samples.tree.metric = null;
    samples.functions = null;
}

function passUp({ row, place, up, sum }) {
    if (sum === 0) { return; }
    if (up) { up.sum += sum; }
    if (row.places === NONE) { row.places = new Map(); }
    addTo(row.places, place, sum);
}

const addTo = (map, key, value) => map.set(key, (map.get(key) || 0) + value);

function heaviest(places) {
    return [...places].sort((a, b) => b[1] - a[1]).map(([name]) => name)[0] || '';
}

/* What a sample fell into: the innermost call, and where that has no name or line, or is the C
   library's, who called it that has one. chain: rows and places from the outside in. */
function codeAt(chain) {
    const leaf = chain[chain.length - 1];
    if (leaf.row.task) { return { key: '', name: '(not known)', where: '' }; }
    const callers = [];
    for (let i = chain.length - 1; i >= 0 && !chain[i].row.task; i--) { callers.push(chain[i]); }
    const first = has => callers.find(call => has(call) && !call.row.libc) || callers.find(has);
    const named = first(call => !call.row.bare), placed = first(call => call.place);
    if (named && isOurs(named.row)) { return { key: 'marker\n' + INSIDE, name: INSIDE, where: '' }; }
    const called = named && named !== leaf;
    return { key: (called ? named.row.key : '') + leaf.row.key,
        name: (called ? named.row.name + ' › ' : '') + leaf.row.name,
        where: placed ? (placed === leaf ? '' : 'called at ') + placed.place : '' };
}

/* For each task and function: samples in itself, and with what it called, each counted once. */
function functionsOf(samples) {
    if (samples.functions) { return samples.functions; }
    const found = new Map(), tasks = new Map();
    const row = (task, key, name) => {
        let own = found.get(task.key);
        if (own === undefined) { found.set(task.key, own = new Map()); }
        if (!own.has(key)) {
            own.set(key, { task, name, self: 0, total: 0, cpu: 0, places: new Map(),
                calls: new Map() });
        }
        return own.get(key);
    };
    samples.counted.forEach(({ weight, cpu }, id) => {
        const chain = chainOf(samples, id), code = codeAt(chain), above = new Map();
        let i = chain.length - 1;
        for (; i >= 0 && !chain[i].row.task; i--) {
            if (!chain[i].row.marker && !isOurs(chain[i].row)) { above.set(chain[i].row.key, chain[i]); }
        }
        const task = i >= 0 ? chain[i].row : { key: '', name: '(no task)' };
        const known = tasks.get(task.key) || { weight: 0, cpu: 0 };
        tasks.set(task.key, { task, weight: known.weight + weight, cpu: known.cpu + cpu });
        const own = row(task, code.key, code.name);
        own.self += weight;
        own.cpu += cpu;
        addTo(own.places, code.where, weight);
        if (!above.has(code.key)) { own.total += weight; }
        above.forEach((call, key) => {
            const caller = row(task, key, call.row.name);
            caller.total += weight;
            addTo(caller.calls, call.place, weight);
        });
    });
    samples.functions = { tasks: [...tasks.values()].sort((a, b) => b.weight - a.weight),
        rows: [...found.values()].flatMap(own => [...own.values()]).filter(row => row.total > 0)
            .sort((a, b) => b.self - a.self || b.total - a.total),
        total: sum(samples.rows, row => row.weight) };
    return samples.functions;
}
