'use strict';
/* Contents: >>text >>checks >>profile >>samples >>steps >>groups >>colour >>dom >>verdict >>series
   >>ranks >>slowest >>whatif >>timeline >>minimap >>tree >>around >>code >>stalls >>changes >>rest >>links
   >>contents >>loading. Times are ns
   throughout. */

const $ = id => document.getElementById(id);
/* span: the interval that the ranks count, null: the whole run; view: what the timeline shows. */
const state = { profiles: [], diff: null, shown: 0, sort: 'share', down: true, filter: '', group: 'site',
    allRanks: false, allLatencies: false, allSlowest: false, allStalls: false, open: new Set(),
    metric: 'exec_ns', icicle: true, paint: 'change', search: '', zoom: 0, at: -1, over: -1,
    sampled: false, sampledMetric: 'weight', codeTask: '', allCode: false, view: null,
    picked: null, find: '', span: null, last: 0, openStalls: new Set(), mode: 'down', around: '' };
const shown = () => state.profiles[state.shown];
const before = () => state.profiles.length > 1 ? state.profiles[1 - state.shown] : null;
