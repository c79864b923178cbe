/* ---- live: from chroprof serve, which gives this page without a profile; it asks for the newest
   state each second, and leaves the server and the browser three quarters of the time */

const live = { on: false, hold: false, tag: '', state: '' };
const LIVE_WORDS = { runs: 'live', ended: 'this program has ended',
    died: 'this program did not end well' };

/* The newer state, and the focus on what is the same in it. */
function renew(text) {
    const at = document.activeElement, table = at.closest('table'), first = !shown();
    refresh(text, '');
    problem('');
    if (first && location.hash !== '') {
        readLink();
        followLink();
    }
    const same = table && !at.isConnected &&
        [...table.querySelectorAll('button')].find(each => each.textContent === at.textContent);
    if (same) { same.focus({ preventScroll: true }); }
}

async function lookLive() {
    const answer = await fetch(location.pathname + '.json',
        { cache: 'no-store', headers: live.tag ? { 'If-None-Match': live.tag } : {} });
    const text = await answer.text();
    if (answer.status !== 304 && !answer.ok) { throw new Error(text.trim()); }
    if (answer.ok && live.on && !live.hold) {
        renew(text);
        live.tag = answer.headers.get('ETag');
        live.state = answer.headers.get('X-Chroprof-State');
    }
}

function tellLive(words) {
    if ($('live-words').textContent !== words) { $('live-words').textContent = words; }
    $('hold').hidden = !live.on;
    $('hold').textContent = live.hold ? 'Go on' : 'Hold';
}

async function follow() {
    const began = performance.now();
    if (document.hidden || !live.on) {
        if (live.on) { document.addEventListener('visibilitychange', follow, { once: true }); }
        tellLive('');
        return;
    }
    try {
        if (!live.hold) { await lookLive(); }
        tellLive(live.hold ? 'held' : LIVE_WORDS[live.state] || '');
    } catch (error) {
        tellLive(error instanceof TypeError ? 'chroprof serve does not answer' : error.message);
    }
    setTimeout(follow, Math.max(1000, 4 * (performance.now() - began)));
}

function startLive() {
    live.on = true;
    $('welcome').hidden = true;
    $('facts').before(el('a', { href: '/' }, 'all profiles'),
        el('span', { id: 'live-words', role: 'status' }),
        el('button', { type: 'button', id: 'hold', onclick: () => {
            live.hold = !live.hold;
            tellLive(live.hold ? 'held' : LIVE_WORDS[live.state] || '');
        } }, 'Hold'));
    follow();
}

function bindWindow() {
    const print = on => {
        document.documentElement.classList.toggle('printing', on);
        redrawAll();
    };
    addEventListener('beforeprint', () => print(true));
    addEventListener('afterprint', () => print(false));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
    addEventListener('click', loosen);
    let width = innerWidth;
    addEventListener('resize', () => {
        if (innerWidth === width || state.profiles.length === 0) { return; }
        width = innerWidth;
        loosen();
        redraw('size', () => {
            drawSeries();
            drawTimeline();
            drawFlame();
            drawLane();
        });
    });
}

function start() {
    bindSeries();
    bindRanks();
    bindTimeline();
    bindTree();
    bindAround();
    bindContents();
    bindCode();
    bindStalls();
    bindLoading();
    bindWindow();
    addEventListener('popstate', readLink);
    addEventListener('keydown', undo);
    if ($('live')) { startLive(); return; }
    const held = [...document.querySelectorAll('script.chroprof-profile')];
    if (held.length === 0) { return; }
    try {
        setProfiles(parseAll(held.slice(0, 2).map(heldText)), heldDiff(document));
        if (location.hash !== '') {
            readLink();
            followLink();
        }
    } catch (error) {
        problem(error.message);
    }
}

start();
