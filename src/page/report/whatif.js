/* >>whatif: what clients saw, and what a change would bring: answers that the command computed */

const listOf = list => Array.isArray(list) ? list : [];
const namedOf = list => listOf(list).map(row => ({ name: '', file: '', line: 0, ...row }));
const clientsOf = p => {
    const c = p.raw.clients;
    return isObject(c) && listOf(c.kinds).length > 0 ? c : null;
};
const answersOf = c => listOf(c.answers).filter(a => Array.isArray(a.kinds));
const MILLION = 1e6;

/* What the sliders can be set to, from the answers that there are; as it is comes last of the factors. */
const stopsOf = (c, key, site) => [...new Set(answersOf(c).filter(a => site === null || a.site === site)
    .map(a => a[key]))].sort((a, b) => a - b);
const factorsOf = (c, site) => [...stopsOf(c, 'factor_ppm', site).filter(ppm => ppm !== MILLION), MILLION];

/* The answer to what is set; null: there is none. */
function answerTo(c, site, factor, load) {
    const plain = factor === MILLION;
    return answersOf(c).find(a => a.load_ppm === load && (plain ? a.site === 0
        : a.site === site && a.factor_ppm === factor)) || null;
}

/* A bar on the scale of its column; low and high: the band that it lies in. */
function estimateBar(name, value, most, low, high) {
    const at = ns => 100 * Math.min(1, most > 0 ? ns / most : 0) + '%';
    return el('span', { class: 'estimate' }, el('span', { class: 'when' }, name),
        el('span', { class: 'track' },
            el('span', { class: 'level', style: { width: at(value) } }),
            low === null ? null : el('span', { class: 'band', title: 'range ' + time(low) + ' to ' +
                time(high), style: { left: at(low), width: 'calc(' + at(high) + ' - ' + at(low) + ')' } })),
        el('b', null, time(value)));
}

function estimateCell(kind, after, key) {
    const most = Math.max(kind[key], after ? after['high_' + key] : 0);
    return el('span', { class: 'estimates' }, estimateBar('now', kind[key], most, null, null),
        after ? estimateBar('then', after[key], most, after['low_' + key], after['high_' + key]) : null);
}

/* As it is shown; the sliders are of one site at a time. */
function whatifState(p, c) {
    const key = p.raw;
    if (state.whatif === undefined || state.whatif.of !== key) {
        state.whatif = { of: key, site: 0, factor: MILLION, load: stopsOf(c, 'load_ppm', null)[0] };
    }
    return state.whatif;
}

/* Made once: a node that is dragged must not be replaced. */
function slider(label, stops, value, text, change) {
    const range = el('input', { type: 'range', min: 0, max: stops.length - 1, step: 1,
        'aria-label': label, oninput: event => change(stops[Number(event.target.value)]) });
    const output = el('output', null);
    const set = to => {
        range.value = stops.indexOf(to);
        range.setAttribute('aria-valuetext', text(to));
        output.textContent = text(to);
    };
    set(value);
    return { node: el('label', { class: 'slider' }, nameOf(label), range, output), set };
}

const timesOf = ppm => String(ppm / MILLION);
const factorText = ppm => ppm === MILLION ? 'as it is' : ppm === 0 ? 'none of it' :
    '× ' + timesOf(ppm);
const loadText = ppm => ppm === MILLION ? 'as it is' : '× ' + timesOf(ppm);

function makeSliders(c, now) {
    const set = change => { Object.assign(now, change); redraw('whatif', showWhatif); };
    const sites = namedOf(c.changed).map((site, i) => slider('time of ' + site.name,
        factorsOf(c, i + 1), MILLION, factorText, factor => set({ site: i + 1, factor })));
    const load = slider('load', stopsOf(c, 'load_ppm', null), now.load, loadText,
        to => set({ load: to }));
    now.set = () => {
        sites.forEach((each, i) => each.set(now.site === i + 1 ? now.factor : MILLION));
        load.set(now.load);
    };
    $('whatif-sliders').replaceChildren(...sites.map(each => each.node), load.node);
}

function showSliders(c, now) {
    $('whatif-sliders').hidden = answersOf(c).length === 0;
    if (answersOf(c).length === 0) { return; }
    if (!now.set) { makeSliders(c, now); }
    now.set();
}

function whatifWords(c, answer) {
    const full = ppm => 'full at ' + (ppm / MILLION).toFixed(2) + ' times the load of now';
    if (!answer) { return 'Now: ' + full(c.full_ppm) + '.'; }
    return 'Then: ' + percent(answer.utilization_ppm, MILLION) + ' busy, ' + full(answer.full_ppm) + '.' +
        (answer.over ? ' More would come than the loop can take, so latency would grow without end.' : '');
}

function showWhatif() {
    const p = shown(), c = clientsOf(p);
    $('whatif').hidden = c === null;
    if (c === null) { return; }
    const now = whatifState(p, c), asked = now.factor !== MILLION || now.load !== MILLION;
    const answer = asked ? answerTo(c, now.site, now.factor, now.load) : null;
    $('whatif-count').textContent = 'estimates, from the last ' + time(c.of_ns) + '; model: ' + c.model;
    showSliders(c, now);
    $('whatif-words').textContent = whatifWords(c, answer);
    fillTable($('whatif-table'), ['kind', ['finished', 'optional2'], ['hidden, mean', 'optional2'],
        'latency p50', 'latency p99'], namedOf(c.kinds).map((kind, i) => {
        const after = answer ? answer.kinds[i] || null : null;
        return [el('span', null, swatch(colour(siteKey(kind))), nameOf(kind.name), placeText(place(kind))),
            [count(kind.count), 'optional2'], [time(kind.hidden_ns), 'optional2'],
            estimateCell(kind, after, 'latency_p50_ns'), estimateCell(kind, after, 'latency_p99_ns')];
    }));
    $('whatif-gains').replaceChildren(...namedOf(c.gains).map(gain =>
        el('li', null, 'With ', nameOf(gain.name), ' half as long: ' +
            gain.text.replace(/(\d)(ns|µs|us|ms|s)\b/g, '$1\u00a0$2') + '.')));
}
