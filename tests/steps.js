// Does the report page draw the steps of a profile as its trace tells them?
//     node tests/steps.js PAGE.html PROFILE.json PROFILE.trace
// The spans of the running stack must be those of the trace, their own times must add up to the
// time of the ring, and, where the ring holds the whole run, to the exec of each path.
'use strict';
const fs = require('fs');
const [page, text, trace] = process.argv.slice(2).map(name => fs.readFileSync(name, 'utf8'));
const raw = JSON.parse(text.replace(/"id":(\d{16,})/g, '"id":"$1"'));
const between = (start, end) => page.slice(page.indexOf(start), page.indexOf(end));
const code = between('const addTo =', 'function heaviest(') +
    between('/* >>steps', '/* >>groups') +
    'return { layOutSteps, pathSums, delaySums, sliceLists, partsOf };';
const { layOutSteps, pathSums, delaySums, sliceLists, partsOf } = new Function(code)();
const s = layOutSteps({ raw, totals: raw.totals });
if (raw.timeline.steps > s.count) { process.exit(0); }  // the page has the newest of them only
const fail = words => { throw new Error(words); };
const same = (what, is, want) => is === want || fail(`${what}: ${is}, not ${want}`);

/* the track of the loop in the trace: a begin closes with the end that follows */
const NAMES = { 0: '(uninstrumented)', 1: '(idle)', 2: '(untracked)', '-2': '(nested loop)' };
const want = [], open = [];
JSON.parse(trace, (key, value) => key === 'ts' ? Math.round(value * 1000) : value).traceEvents
    .filter(event => event.pid === 1 && (event.ph === 'B' || event.ph === 'E')).forEach(event => {
        if (event.ph === 'B') { open.push(event); return; }
        const { name, ts } = open.pop();
        same('the end', event.name, name);
        want.push(`${ts} ${event.ts} ${open.length} ${name}`);
    });
same('spans that never end', open.length, 0);
const names = new Map(raw.paths.map(row => [row.id, row.name]));
const { boxes } = s, drawn = [];
boxes.path.forEach((path, i) => {
    const name = NAMES[path] || names.get(path);
    if (name !== undefined) {
        drawn.push(`${boxes.start[i]} ${boxes.end[i]} ${boxes.row[i]} ${name}`);
    }
});
/* frames whose task the ring does not tell have a row in the page, and none in the trace */
const complete = !boxes.path.includes(-1);
const sorted = list => list.map(line => complete ? line : line.replace(/^(\d+ \d+) \d+/, '$1'))
    .sort();
const [is, should] = [sorted(drawn), sorted(want)];
should.forEach((line, i) => same('span ' + i, is[i], line));
same('spans', is.length, should.length);

const own = new Map();
boxes.path.forEach((path, i) => own.set(path, (own.get(path) || 0) + boxes.own[i]));
const sums = pathSums(s, s.lo, s.hi);
same('the time', [...sums.values()].reduce((a, b) => a + b, 0), s.hi - s.lo);
own.forEach((ns, path) => same('own time of path ' + path, ns, sums.get(path) || 0));
const exact = s.whole && raw.totals.elapsed_ticks === raw.totals.elapsed_ns;
raw.paths.filter(() => exact).forEach(row =>
    same('exec of ' + row.name, own.get(row.id) || 0, row.exec_ns));
const end = s.ready[s.ready.length - 1];
same('ready after each step', s.ready.length, s.count);
same('ready at the end', end, raw.timeline.ready);
same('fewest ready', s.ready.reduce((a, b) => Math.min(a, b), end) >= 0, true);
/* what the ranks of an interval show: blame, delay and slices, here of all that the ring holds */
const blame = new Map(), slices = sliceLists(s, s.lo, s.hi);
const delay = delaySums(s, s.lo, s.hi, raw.futures);
pathSums(s, s.lo, s.hi, new Map(), blame);
const all = map => [...map.values()].reduce((a, b) => a + b, 0);
if (s.whole) { same('all delay', all(delay), all(blame)); }
same('more delay than blame', all(delay) > all(blame), false);
raw.paths.filter(() => exact).forEach(row => {
    same('blame of ' + row.name, blame.get(row.id) || 0, row.blame_ns);
    same('delay of ' + row.name, delay.get(row.id) || 0, row.delay_ns);
    if (s.depth.includes(64)) { return; }       // what is deeper is one frame
    same('slices of ' + row.name, (slices.get(row.id) || []).length, row.slices);
    same('longest slice of ' + row.name, Math.max(0, ...slices.get(row.id) || []),
        row.slice_max_ns);
});
s.lives.forEach(life => life.from <= life.to || fail('a future ends before it begins'));
/* where the time of the slowest went: what the profile says of those that it saw as a whole */
let slow = 0;
raw.slowest.filter(row => row.unseen_ns === 0).forEach(row => {
    const life = s.lives.find(each => each.created && each.to === row.at_ns &&
        s.ids[each.id] === String(row.id) && each.to - each.from === row.latency_ns);
    if (!life || !exact) { return; }
    const parts = partsOf(s, life);
    ['latency_ns', 'exec_ns', 'children_ns', 'delay_ns', 'waiting_ns', 'unseen_ns'].forEach(name =>
        same(name + ' of ' + row.name + ' ' + row.id, parts[name], row[name]));
    same('blames of ' + row.id, parts.blames.map(each => each.delay_ns).join(),
        row.blames.map(each => each.delay_ns).join());
    slow++;
});
console.log(is.length + ' spans, ' + slow + ' slow futures');
