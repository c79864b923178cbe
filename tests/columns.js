// Does the report page read its columns as the rows of the JSON?
//     node tests/columns.js PAGE.html PROFILE.json [shares]
// shares: prints what the page shows of the first stall of the profile instead.
'use strict';
const fs = require('fs');
const page = fs.readFileSync(process.argv[2], 'utf8');
const json = JSON.parse(fs.readFileSync(process.argv[3], 'utf8'));
const between = (start, end) => {
    const from = page.indexOf(start), to = page.indexOf(end, from);
    if (from < 0 || to < 0) { throw new Error('no "' + start + '" in the page'); }
    return page.slice(from, to);
};
const text = between('<script type="application/json"', '</script>').replace(/^[^>]*>/, '');
const held = JSON.parse(text);
if (process.argv[4] === 'shares') {
    const words = between('const RENAMED =', '/* Ids have 64 bits');
    new Function('held', words + 'if (held.chroprof < 3) { renameKeys(held); }')(held);
    const key = between('const siteKey =', ';\n') + ';';
    const shares = new Function('stall', key + between('function sharesOf(', 'function shareName(') +
        'return sharesOf(stall);')(held.stalls[0]);
    console.log(shares.map(s => `${s.name} ${s.slices} slices ${s.exec_ns} ns, longest ` +
        s.slice_max_ns).join('; '));
    process.exit(0);
}
const code = between('function rowsOf(', 'const siteKey =');
new Function('held', code + 'unpack(held, held.sites);')(held);
let compared = 0;
for (const list of ['paths', 'stacks', 'samples']) {
    const keys = new Set(json[list].flatMap(row => Object.keys(row)));
    if (held[list].length !== json[list].length) { throw new Error(list + ': not as many'); }
    json[list].forEach((row, i) => keys.forEach(key => {
        const is = JSON.stringify(held[list][i][key]), want = JSON.stringify(row[key]);
        if (is !== want) { throw new Error(`${list} ${i} ${key}: ${is}, not ${want}`); }
        compared++;
    }));
}
// A short window at an end would be drawn as wide as its neighbor.
const grouped = new Function('p', 'width', between('function groupWindows(', 'function seriesOf(') +
    'return groupWindows(p, width);');
const windows = ends => ends.map((end, i) => ({ start_ns: ends[i - 1] || 0, end_ns: end }));
for (const [ends, want] of [[[100, 200, 205], '0-100 100-205'], [[5, 105, 205, 255],
    '0-105 105-205 205-255'], [[5], '0-5'], [[100, 105], '0-105']]) {
    const is = grouped({ windows: windows(ends) }, 800).map(g => g.start + '-' + g.end).join(' ');
    if (is !== want) { throw new Error(`windows up to ${ends}: ${is}, not ${want}`); }
}
// A figure of samples has its error and no digit beyond it; a share of few samples is no share.
const estimate = new Function(between('const UNITS =', 'function percent(') + 'return estimate;')();
for (const [ns, error, want] of [[1432e6, 168e6, '1.4 ± 0.2 s'], [1900e3, 40e3, '1.90 ± 0.04 ms'],
    [380e6, 85e6, '380 ± 90 ms'], [100, 60, '–'], [0, 5, '–'], [3e3, 1e3, '3.0 ± 1.0 µs']]) {
    const is = estimate(ns, error).replace(/\u00a0/g, ' ');
    if (is !== want) { throw new Error(`${ns} with ${error}: ${is}, not ${want}`); }
}
const ofSamples = new Function('count', 'plural', 'percent', between('const ofSamples =',
    '/* Our own') + 'return ofSamples;')(String, n => n + ' samples', (a, b) => 100 * a / b + '%');
for (const [part, whole, want] of [[1, 4, '1 of 4 samples'], [1, 5, '20%']]) {
    const is = ofSamples(part, whole);
    if (is !== want) { throw new Error(`${part} of ${whole}: "${is}", not "${want}"`); }
}
if (compared === 0) { throw new Error('nothing to compare'); }
