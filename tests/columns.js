// Does the report page read its columns as the rows of the JSON?
//     node tests/columns.js PAGE.html PROFILE.json [shares]
// shares: prints what the page shows of the first stall of a profile of schema 1 instead.
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
if (compared === 0) { throw new Error('nothing to compare'); }
