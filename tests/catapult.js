'use strict';
/* Opens a trace of the ring with the importer of chrome://tracing (npm package traceviewer) and
 * compares what it made of it with the JSON of the same profile: node tests/catapult.js TRACE JSON.
 * The ring has the whole run. Prints "ok NAME" or "FAIL NAME: why"; exit 1 if one failed. */

const fs = require('fs');
const path = require('path');

/* The package asks a script in an old Python where its own folders are. */
const root = path.dirname(require.resolve('traceviewer/package.json'));
require('child_process').execFileSync = () => JSON.stringify(['tracing',
    'tracing/third_party/gl-matrix/dist', 'tracing/third_party/jszip', 'tracing/third_party/d3',
    'tracing/third_party/chai', 'tracing/third_party/mocha'].map(name => path.join(root, name)));
const tr = require('traceviewer');

const text = fs.readFileSync(process.argv[2], 'utf8');
const events = JSON.parse(text).traceEvents;
const profile = JSON.parse(fs.readFileSync(process.argv[3], 'utf8'));
let failed = false;

function same(name, is, expected) {
    const holds = is === expected;
    failed = failed || !holds;
    console.log(holds ? 'ok ' + name : 'FAIL ' + name + ': ' + is + ', expected ' + expected);
}

const count = phase => events.filter(event => event.ph === phase).length;
const options = new tr.importer.ImportOptions();
options.showImportWarnings = options.shiftWorldToZero = false;
const model = new tr.Model();
new tr.importer.Import(model, options).importTraces([text]);

const own = new Map();             /* ns by name */
const futures = [];
for (const process of Object.values(model.processes)) {
    for (const thread of Object.values(process.threads)) {
        for (const slice of thread.sliceGroup.slices) {
            own.set(slice.title, (own.get(slice.title) || 0) + (slice.selfTime || 0));
        }
        futures.push(...thread.asyncSliceGroup.slices);
    }
}
const ns = name => Math.round((own.get(name) || 0) * 1e6);
const wanted = new Map();
for (const site of profile.sites) {
    wanted.set(site.name, (wanted.get(site.name) || 0) + site.exec_ns);
}
for (const [name, exec] of wanted) { same('catapult_' + name, ns(name), exec); }
same('catapult_idle', ns('(idle)'), profile.totals.idle_ns);
same('catapult_uninstrumented', ns('(uninstrumented)'), profile.totals.uninstrumented_ns);
same('catapult_arrows', model.flowEvents.length, count('s'));
same('catapult_futures', futures.length,
    new Set(events.filter(event => event.ph === 'b').map(event => event.id)).size);
same('catapult_spans', futures.reduce((sum, slice) => sum + slice.subSlices.length, 0) +
    futures.length, count('b') + count('n'));
same('catapult_warnings', model.importWarnings.filter(warning =>
    warning.type !== 'low_resolution_timer').map(warning => warning.message).join(' | '), '');
process.exit(failed ? 1 : 0);
