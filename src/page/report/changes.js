/* >>changes: shares of the loop, since two runs seldom have the same length */

/* The name, the file, and, where another profile has both, the time of its beginning. */
function labelOf(p) {
    const label = each => each.name + '\n' + each.source;
    const twins = state.profiles.filter(each => label(each) === label(p)).length > 1;
    const more = [p.source !== p.name ? p.source : '', twins ? startOf(p) : ''].filter(Boolean);
    return p.name + (more.length ? ' (' + more.join(', ') + ')' : '');
}

const VERDICTS = ['worse', 'new', 'better', 'gone', 'alike'];

const heldDiff = page => {
    const node = page.querySelector('script.chroprof-diff');
    return node ? JSON.parse(node.textContent) : null;
};

/* By site; worse: the names that stand out where they begin a sentence, longest first. */
function verdictsOf(diff) {
    if (!diff || !Array.isArray(diff.findings) || !Array.isArray(diff.sites)) { return null; }
    const bad = diff.sites.filter(row => row.verdict === 'worse' || row.verdict === 'new');
    return { findings: diff.findings.map(String), worse: bad.map(row => String(row.name))
        .sort((a, b) => b.length - a.length),
    sites: new Map(diff.sites.map(row => [siteKey(row), String(row.verdict)])) };
}

/* null: not known */
const verdictOn = row => (state.diff && state.diff.sites.get(row.key)) || null;

function changesOf(p, base) {
    const rows = new Map();
    const put = (profile, field) => profile.sites.forEach(site => {
        const row = rows.get(site.key) || { key: site.key, name: site.name, site, was: 0, is: 0 };
        row[field] = site.exec_ns / (profile.totals.elapsed_ns || 1);
        row[field + 'Call'] = site.calls > 0 ? site.exec_ns / site.calls : null;
        row[field + 'Blame'] = site.blame_ns / (profile.totals.elapsed_ns || 1);
        rows.set(site.key, row);
    });
    put(base, 'was');
    put(p, 'is');
    rows.forEach(row => { row.change = row.is - row.was; });
    const rank = row => VERDICTS.indexOf(verdictOn(row));
    return [...rows.values()].sort((a, b) => rank(a) - rank(b) ||
        Math.abs(b.change) - Math.abs(a.change));
}

function points(share) {
    const size = (Math.abs(share) * 100).toFixed(1);
    return (size === '0.0' ? '' : share > 0 ? '+' : '−') + size + '\u00a0points';
}

/* In color is what got worse or better beyond noise. */
const toneOf = row => ({ worse: 'worse', new: 'worse', better: 'better', gone: 'better' })[
    verdictOn(row)] || null;

function changeText(row) {
    return el('span', { class: toneOf(row) }, points(row.change));
}

const verdictWords = row => ({ alike: 'within noise' })[verdictOn(row)] || verdictOn(row) || '–';

function changeBar(row, most) {
    const tone = toneOf(row), paint = cssColour(tone ? '--' + tone : '--other');
    const side = show => el('span', null, el('i', { style: { background: paint,
        width: (show ? 100 * Math.abs(row.change) / most : 0) + '%' } }));
    return el('div', { class: 'change', 'aria-hidden': 'true' },
        side(row.change < 0), side(row.change > 0));
}

function showChanges() {
    const p = shown(), base = before();
    $('changes').hidden = base === null;
    if (base === null) { return; }
    const rows = changesOf(p, base).slice(0, 15);
    const most = Math.max(1e-9, ...rows.map(row => Math.abs(row.change)));
    const each = ns => ns === null || ns === undefined ? '–' : time(ns);
    fillTable($('changes-table'), ['site', ['was', 'optional2'], 'is', 'change',
        ...(state.diff ? [['verdict', 'left']] : []),
        ['less | more', 'middle optional2'], ['exec a call was', 'optional'],
        ['exec a call is', 'optional']], rows.map(row => [
        el('span', null, swatch(colour(row.key)), nameOf(row.name),
            placeText(place(row.site))),
        [percent(row.was, 1), 'optional2'], percent(row.is, 1), changeText(row),
        ...(state.diff ? [[el('span', { class: toneOf(row) }, verdictWords(row)), 'left']] : []),
        [changeBar(row, most), 'middle optional2'], [each(row.wasCall), 'optional'],
        [each(row.isCall), 'optional']]));
    $('changes-note').textContent = 'Shares of the loop’s time. Was: ' + labelOf(base) + ', ' +
        time(base.totals.elapsed_ns) + '. Is: ' + labelOf(p) + ', ' + time(p.totals.elapsed_ns) +
        '. ' + (state.diff ? 'The verdict is that of chroprof diff.'
            : 'What of it is noise, chroprof diff and chroprof report tell.');
}
