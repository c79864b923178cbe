/* >>loading */

/* At most one redraw of a kind a frame; paper does not wait for one. */
const waiting = new Map();
function redraw(name, draw) {
    if (document.documentElement.classList.contains('printing')) {
        draw();
        return;
    }
    if (waiting.has(name)) { waiting.set(name, draw); return; }
    waiting.set(name, draw);
    requestAnimationFrame(() => {
        const last = waiting.get(name);
        waiting.delete(name);
        last();
    });
}

/* The calendar time of the beginning, '' if it is not known. */
function startOf(p) {
    const ms = Number(p.totals.start_unix_ns) / 1e6;
    return ms > 0 ? new Date(ms).toLocaleString('en-GB', { dateStyle: 'medium',
        timeStyle: 'medium' }) : '';
}

function showHeader(p) {
    document.title = p.name + ' – chroprof';
    $('title').textContent = p.name;
    $('facts').textContent = [startOf(p), time(p.totals.elapsed_ns),
        plural(p.totals.events, 'event')].filter(Boolean).join(' · ');
    $('group-field').hidden = p.sites.length < 12;
    $('group').value = state.group;
    $('metric').value = state.metric;
    $('compare-field').hidden = state.profiles.length > 1;
    $('which-field').hidden = $('paint-field').hidden = state.profiles.length < 2;
    $('which').replaceChildren(...state.profiles.map((each, i) => el('option', { value: i },
        (i === 0 ? 'before: ' : 'after: ') + labelOf(each))));
    $('which').value = state.shown;
    $('footer').hidden = false;
    $('footer').textContent = 'Written by chroprof ' + (p.raw.version || '') +
        (p.raw.event_cost_ps ? '. One event cost ' + time(p.raw.event_cost_ps / 1000) : '') +
        '. Percentiles are within 1/16.';
}

/* As on a fresh page. */
function resetView() {
    const s = stepsOf(shown());
    Object.assign(state, { span: null, last: 0, zoom: 0, at: -1, over: -1, picked: null,
        view: s && [s.lo, s.hi] });
}

function showAll() {
    resetView();
    state.sampled = showsSamples(shown());
    redrawAll();
}

function redrawAll() {
    if (state.profiles.length === 0) { return; }
    inks.clear();
    $('welcome').hidden = true;
    $('report').hidden = false;
    showHeader(shown());
    showVerdict(shown());
    showChanges();
    showInterval();
    showView();
    showCode();
    showSamples();
    drawSeries();
    showRanks();
    showLatency();
    showWhatif();
    showSlowest();
    showTimeline();
    drawFlame();
    showStalls();
    showRest();
    showWhole();
    showSeriesTable();
    showTreeTable();
    showAround();
    showHits();
    showContents();
}

/* diff: what chroprof diff says of the two, null: nobody asked it. */
function setProfiles(profiles, diff) {
    state.profiles = profiles;
    state.diff = profiles.length > 1 ? verdictsOf(diff) : null;
    state.shown = profiles.length - 1;
    state.allRanks = state.allLatencies = state.allSlowest = false;
    state.allStalls = state.allCode = false;
    state.codeTask = '';
    state.open.clear();
    state.openStalls.clear();
    state.group = usualGroup(shown());
    strong.clear();
    shareOutColours();
    showAll();
}

/* The same program a moment later (chroprof serve): what is looked at stays. */
function refresh(text, source) {
    const fresh = parseProfile(text, source);
    document.body.classList.add('live');
    $('verdict-text').tabIndex = 0;
    if (state.profiles.length === 0) {
        setProfiles([fresh]);
        return;
    }
    const old = shown(), row = treeRows(old)[state.zoom - 1], s = stepsOf(old), now = stepsOf(fresh);
    const all = !s || (state.view[0] === s.lo && state.view[1] === s.hi);
    keepHeights();
    state.profiles[state.shown] = fresh;
    shareOutColours();
    Object.assign(state, { at: -1, over: -1, span: spanOf(fresh, state.last > 0 ? lastSpan(fresh, state.last) : state.span),
        picked: now && state.picked && samePicked(s, now),
        view: now && (all ? [now.lo, now.hi] : viewOf(now, state.view)),
        zoom: row && state.mode === 'down' ? nodeOf(treeRows(fresh), String(row.id)) : 0 });
    redrawAll();
}

/* What is picked, in a later profile, null: it is there no more. */
function samePicked(s, now) {
    const { stall, life, box } = state.picked, { boxes } = s;
    const same = stall ? now.stalls.find(each => each.start_ns === stall.start_ns)
        : life ? now.lives.find(each => now.ids[each.id] === s.ids[life.id] &&
            each.from === life.from)
            : now.boxes.start.findIndex((start, i) => start === boxes.start[box] &&
                now.boxes.row[i] === boxes.row[box]);
    return stall && same ? { stall: same } : life && same ? { life: same }
        : same >= 0 ? { box: same } : null;
}

/* What fills with figures while one looks at it does not become less high: nothing below it moves.
   What somebody closes does. */
const STEADY = 'header, section, .head, .legend, .tiles, .scroll, #verdict-text, #flame-view, .plot';

function keepHeights() {
    document.querySelectorAll(STEADY).forEach(node => {
        node.style.minHeight = Math.max(parseFloat(node.style.minHeight) || 0,
            node.getBoundingClientRect().height) + 'px';
    });
}

function loosen() {
    document.querySelectorAll(STEADY).forEach(node => { node.style.minHeight = ''; });
}

function problem(text) {
    $('problem').hidden = text === '';
    $('problem').textContent = text;
}

function parseAll(texts) {
    return texts.map(({ text, source }) => {
        try {
            return parseProfile(text, source);
        } catch (error) {
            throw new Error((source || 'the profile') + ': ' + error.message);
        }
    });
}

/* The profiles in a file: JSON, or those that a page like this one holds. */
async function textsOf(file) {
    const text = await file.text(), source = file.name;
    const cure = command => { throw new Error(source + ': ' + command); };
    if (/CHRPROF1|1FORPRHC/.test(text.slice(0, 256))) {
        cure('a browser cannot read the file that chroprof_map writes. Make a page of it: ' +
            'chroprof report ' + source + ' -o page.html');
    }
    const page = text.startsWith('<') ? new DOMParser().parseFromString(text, 'text/html') : null;
    const held = page ? [...page.querySelectorAll('script.chroprof-profile')] : [];
    if (held.length === 0 && !text.startsWith('{')) {
        cure('this is no profile in JSON. If it is of chroprof, make JSON of it: ' +
            'chroprof dump ' + source + ' -f json -o profile.json');
    }
    return held.length === 0 ? [{ text, source }] : held.map((node, i) =>
        ({ ...heldText(node), diff: i === 1 ? heldDiff(page) : null }));
}

const heldText = node => ({ text: node.textContent, source: node.dataset.source || '' });

async function load(files, comparing) {
    live.on = false;
    try {
        const texts = (await Promise.all([...files].slice(0, 2).map(textsOf))).flat();
        const fresh = parseAll(texts.slice(-2)), { diff } = texts[texts.length - 1] || {};
        problem('');
        setProfiles(comparing ? [fresh[fresh.length - 1], shown()] : fresh,
            comparing ? null : diff);
        putLink('');
    } catch (error) {
        problem(error.message);
    }
}

function bindLoading() {
    for (const id of ['open', 'compare']) {
        $(id).addEventListener('change', () => {
            if ($(id).files.length) { load($(id).files, id === 'compare'); }
            $(id).value = '';
        });
    }
    addEventListener('dragover', event => {
        event.preventDefault();
        document.body.classList.add('dropping');
    });
    addEventListener('dragleave', event => {
        if (event.relatedTarget === null) { document.body.classList.remove('dropping'); }
    });
    addEventListener('drop', event => {
        event.preventDefault();
        document.body.classList.remove('dropping');
        if (event.dataTransfer.files.length) { load(event.dataTransfer.files, false); }
    });
    $('which').addEventListener('change', () => {
        state.shown = Number($('which').value);
        showAll();
    });
}
