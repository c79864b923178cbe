/* >>links: what is shown, behind the # of the address; the steps that a person takes on purpose are
   the browser's back and forward, zooming and typing are not */

const siteWords = site => site.name + (site.file ? '@' + place(site) : '');
const SEARCHES = ['filter', 'find', 'search'];

function linkWords(p) {
    const s = stepsOf(p), words = [], put = (key, value) => value &&
        words.push(key + '=' + encodeURIComponent(value));
    const span = ns => ns.map(Math.round).join('-');
    if (s && (state.view[0] > s.lo || state.view[1] < s.hi)) { put('t', span(state.view)); }
    put('ranks', state.span && span(state.span));
    put('group', state.group !== usualGroup(p) && state.group);
    [...p.groups, ...p.sites].filter((site, i, all) => state.open.has(site.key) &&
        all.indexOf(site) === i).forEach(site => put('site', siteWords(site)));
    put('view', state.sampled && 'sampled');
    put('from', state.mode !== 'down' && state.mode);
    put('around', state.mode === 'around' && state.around);
    put('by', state.metric !== 'exec_ns' && METRICS[state.metric]);
    put('tree', state.zoom > 0 && treeRows(p)[state.zoom - 1].id);
    SEARCHES.forEach(id => put(id, state[id]));
    return words.join('&');
}

/* step: a step that can be taken back, ''; several of the slider are one. */
let linkTimer = 0;
function writeLink(step) {
    clearTimeout(linkTimer);
    if (!step) {
        linkTimer = setTimeout(() => putLink(''), 200);
    } else {
        putLink(step);
    }
}

function putLink(step) {
    if (state.profiles.length === 0) { return; }
    const words = linkWords(shown()), push = step && !(step === 'slide' && history.state === step);
    if (words !== location.hash.slice(1)) {
        history[push ? 'pushState' : 'replaceState'](step || history.state, '',
            words === '' ? location.pathname + location.search : '#' + words);
    }
}

/* All that a link does not name is as it is on a fresh page. */
function readLink() {
    clearTimeout(linkTimer);
    if (state.profiles.length === 0) { return; }
    const p = shown(), words = new URLSearchParams(location.hash.slice(1));
    const span = key => {
        const [from, to] = (words.get(key) || '').split('-').map(Number);
        return to > from && from >= 0 ? [from, to] : null;
    };
    const group = words.get('group');
    state.group = Object.keys(groupWords).includes(group) ? group : usualGroup(p);
    shareOutColours();
    resetView();
    SEARCHES.forEach(id => { state[id] = $(id).value = words.get(id) || ''; });
    const open = new Set(words.getAll('site'));
    state.open = new Set([...p.groups, ...p.sites].filter(site => open.has(siteWords(site)))
        .map(site => site.key));
    state.sampled = words.get('view') === 'sampled' && p.samples !== null;
    state.mode = Object.keys(MODES).includes(words.get('from')) ? words.get('from') : 'down';
    state.around = words.get('around') || '';
    const by = words.get('by') === 'wall' ? 'lifetime' : words.get('by');   /* a link of 0.2 */
    state.metric = Object.keys(METRICS).slice(0, 4).find(key => METRICS[key] === by) || 'exec_ns';
    state.zoom = nodeOf(treeRows(p), words.get('tree'));
    state.view = span('t') && stepsOf(p) ? viewOf(stepsOf(p), span('t')) : state.view;
    state.span = spanOf(p, span('ranks'));
    redrawAll();
}

/* Where a link leads at first. */
function followLink() {
    const words = new URLSearchParams(location.hash.slice(1));
    const leads = [['site', '#ranks tr.chosen'], ['filter', '#ranks'], ['t', '#timeline'],
        ['find', '#timeline'], ['tree', '#tree'], ['search', '#tree'], ['ranks', '#series']];
    const found = leads.find(([key, selector]) => words.has(key) &&
        document.querySelector(selector));
    if (found) { document.querySelector(found[1]).scrollIntoView({ block: 'start' }); }
}

const treeRows = p => treeOf(p).rows;
const nodeOf = (rows, id) => rows.findIndex(row => String(row.id) === id) + 1;

/* What Escape takes back, in the section where the focus is or, from the first on, anywhere. */
const UNDO = [['timeline', () => state.picked !== null, () => pick(null)],
    ['tree', () => state.zoom > 0, () => zoomTo(0)],
    ['ranks', () => state.open.size > 0, closeSites],
    ['series', brushed, () => setSpan(null, 'interval')]];

function undo(event) {
    if (event.key !== 'Escape' || event.defaultPrevented || state.profiles.length === 0) { return; }
    const { target } = event, here = target.closest('section');
    hideTip();
    if (SEARCHES.includes(target.id) && target.value !== '') {
        target.value = '';
        target.dispatchEvent(new Event('input'));
    } else {
        const able = UNDO.filter(([, holds]) => holds());
        const first = able.find(([id]) => here && here.id === id) || able[0];
        if (first) { first[2](); }
    }
}
