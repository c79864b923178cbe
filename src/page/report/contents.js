/* >>contents: a line of the parts of the page, each with the key that leads to it */

const PARTS = [['verdict', 'Summary'], ['changes', 'Changes'], ['series', 'Over time'],
    ['ranks', 'Sites'], ['latency', 'Latency'], ['whatif', 'What if'], ['slowest', 'Slowest'], ['timeline', 'Timeline'],
    ['tree', 'Tree'], ['code', 'Code'], ['stalls', 'Stalls'], ['rest', 'Live']];
const partsShown = () => PARTS.filter(([id]) => !$(id).hidden);
const keyOfPart = k => k < 9 ? String(k + 1) : k === 9 ? '0' : '';

function goToPart(id) {
    $(id).scrollIntoView({ block: 'start' });
    const first = $(id).querySelector('h2') || $('verdict-text');
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
}

function showContents() {
    const parts = partsShown(), known = [...$('contents').querySelectorAll('a')];
    $('contents').hidden = false;
    if (parts.map(([id]) => '#' + id).join() === known.map(link => link.dataset.part).join()) { return; }
    $('contents').replaceChildren(...parts.map(([id, title], k) => el('a', { href: '#' + id,
        'data-part': '#' + id, 'aria-keyshortcuts': keyOfPart(k) || null, onclick: event => {
            event.preventDefault();
            goToPart(id);
        } }, el('kbd', { 'aria-hidden': 'true' }, keyOfPart(k)), title)));
}

/* Digits lead to the parts, a slash to the search of the tree. */
function contentsKey(event) {
    const { target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented ||
        state.profiles.length === 0 || target.closest('input, select, textarea')) { return; }
    const at = partsShown().findIndex((_, k) => keyOfPart(k) === event.key && event.key !== '');
    if (at < 0 && event.key !== '/') { return; }
    event.preventDefault();
    if (at >= 0) {
        goToPart(partsShown()[at][0]);
    } else {
        $('tree').scrollIntoView({ block: 'start' });
        $('search').focus({ preventScroll: true });
    }
}

function bindContents() { addEventListener('keydown', contentsKey); }
