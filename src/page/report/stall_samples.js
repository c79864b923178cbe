/* >>stall samples: what the samples of a stall met, in order of time, and the longest one in words */

/* The calendar time of a moment, with its day if that is not the first one; '': not known. */
function clockOf(p, ns) {
    const start = Number(p.totals.start_unix_ns) / 1e6;
    if (!(start > 0)) { return ''; }
    const at = new Date(start + ns / 1e6), day = date => date.toLocaleDateString('en-GB',
        { day: 'numeric', month: 'short' });
    return (day(at) === day(new Date(start)) ? '' : day(at) + ' ') + at.toLocaleTimeString('en-GB');
}

/* A moment of the run, and below it the time of the day. */
function clockCell(p, ns, content) {
    const clock = clockOf(p, ns);
    return clock === '' ? content : el('span', null, content, el('span', { class: 'place clock' }, clock));
}

const CALLS_TOLD = 3;      // of a stack, the innermost ones

/* The innermost calls of a stack that have a name, from the outside in. */
function callWords(chain) {
    const calls = chain.slice(chain.findLastIndex(link => link.row.task) + 1)
        .filter(link => !link.row.marker && !link.row.bare && !isOurs(link.row)), top = calls.pop();
    const names = [...calls.filter(link => !link.row.libc), ...(top ? [top] : [])]
        .map(link => link.row.name);
    return (names.length > CALLS_TOLD ? '… › ' : '') + names.slice(-CALLS_TOLD).join(' › ');
}

/* What the samples of a stall met, in order of time; alike ones after one another are one. */
function samplesInOrder(p, stall) {
    const from = stall.start_ns, rows = [];
    if (p.samples === null) { return rows; }
    p.samples.list.forEach(sample => {
        const part = partOf(sample, from, from + stall.length_ns);
        const weight = sample.state === 'idle' ? 0 : Math.round(sample.weight * part);
        const chain = weight > 0 ? chainOf(p.samples, sample.stack) : [];
        if (chain.length === 0) { return; }
        const code = codeAt(chain), words = callWords(chain) || code.name;
        const last = rows[rows.length - 1];
        if (last && last.words === words && last.where === code.where) {
            last.weight += weight;
        } else {
            rows.push({ at: Math.max(0, sample.at_ns - from), words, where: code.where, weight });
        }
    });
    return rows;
}

const SAMPLES_TOLD = 60;   // rows of a stall

/* Why there is nothing of a stall's code. */
function noSamplesWords(p) {
    const period = p.raw.sampler && p.raw.sampler.period_ns;
    return p.samples === null
        ? 'No sampler ran, so which code it was is not known: chroprof_sampler_start, or chroprof run.'
        : 'No sample fell into it' + (period > 0 ? '; one is taken every ' + time(period) +
            (p.raw.sampler.mode === 'cpu' ? ' of CPU time' : '') : '') + '.';
}

function samplesView(p, stall) {
    const rows = samplesInOrder(p, stall), code = stallCode(p, stall);
    const line = (at, weight, name, where) => el('li', null, el('span', { class: 'at' }, at),
        nameOf(name), ...placeWords(where), ' ', el('b', null, weight));
    if (rows.length === 0 && code.length === 0) {
        return [el('p', { class: 'note' }, noSamplesWords(p))];
    }
    const told = sum(rows, row => row.weight), all = sum(code, each => each.weight);
    const title = rows.length === 0 ? 'What its samples met; when is not kept'
        : 'What its samples met, in order' + (told < all ? '; ' + told + ' of ' +
            plural(all, 'sample') + ' still have their time' : '');
    return [el('h3', { class: 'order-title' }, title), el('ol', { class: 'order' },
        ...(rows.length === 0 ? code.slice(0, SAMPLES_TOLD).map(each =>
            line('', ofSamples(each.weight, all), each.name, each.where))
            : rows.slice(0, SAMPLES_TOLD).map(row => line('+' + time(row.at),
                plural(row.weight, 'sample'), row.words, row.where)))),
    ...(rows.length > SAMPLES_TOLD ? [el('p', { class: 'note' },
        'and ' + count(rows.length - SAMPLES_TOLD) + ' more')] : [])];
}

/* Why the steps of a stall are not shown, or tell little. */
function noStepsWords(p) {
    const s = stepsOf(p);
    return s === null ? 'This profile has no steps of it.'
        : 'Its steps are no longer kept: the ring has the last ' + plural(s.count, 'event') + '.';
}

const longestStall = p => p.stalls.reduce((most, stall) =>
    most === null || stall.length_ns > most.length_ns ? stall : most, null);

/* Opens a stall and goes there. */
function goToOrder(p, stall) {
    state.openStalls.add(stallId(stall));
    if (!inInterval(p, stall)) { setSpan(null, 'interval'); }
    showStalls();
    const button = [...$('stalls-table').querySelectorAll('.order-button')]
        .find(each => each.dataset.key === 'order ' + stallId(stall));
    button.closest('tr').scrollIntoView({ block: 'start' });
    button.focus({ preventScroll: true });
}

/* Where the longest stall was: the function, its line, and was it computing. */
function stallCodeWords(p, stall) {
    const code = stallCode(p, stall), [most] = code, [share] = stall.shares;
    const cpu = stallCpu(stall).split(' (')[0];
    if (!most) {
        return [...(share ? [nameOf(shareName(share)), ...placeWords(place(share)), ' took ' +
            percent(share.exec_ns, stall.length_ns) + (cpu === '' ? '. ' : '; ' + cpu + '. ')] : []),
        noSamplesWords(p)];
    }
    const all = sum(code, each => each.weight), few = all < 5;
    const callers = callWords(chainOf(p.samples, most.stack)).split(' › ').slice(0, -1)
        .filter(name => name !== '…').join(' › ');
    return [el('strong', null, ofSamples(most.weight, all)), few ? ' in ' : ' of its ' +
        plural(all, 'sample') + ' in ', el('strong', null, nameOf(most.name)),
    ...(most.where === '' ? [' (its line is not known)'] : placeWords(most.where)),
    callers !== '' && !most.name.includes(' › ') ? ', called by ' + callers : '',
    cpu === '' ? '.' : '; ' + cpu + '.'];
}

/* A sentence about the longest stall, with a way to what happened in it. */
function stallLine(p) {
    const stall = longestStall(p);
    if (stall === null) { return null; }
    const clock = clockOf(p, stall.start_ns) || moment(p, stall.start_ns, stallStep(p));
    const told = findingsOf(p).some(finding => finding.kind === 'stall' &&
        finding.at_ns === stall.start_ns);
    const hangs = findingsOf(p).some(finding => finding.kind === 'hangs');
    return el('p', { class: 'stall-line' }, told ? 'It was at ' + clock : 'The longest stall' +
        (hangs ? ' that ended' : '') + ', ' + time(stall.length_ns) + ' at ' + clock, ': ',
        ...stallCodeWords(p, stall), ' ', el('button', { type: 'button',
        class: 'way part-way', onclick: () => goToOrder(p, stall) }, 'What happened in it, in order'));
}
