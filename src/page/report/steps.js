/* >>steps: the ring of the last events, and what follows from it: the running stack as it nested,
   and futures with the states they went through. The manual of chroprof.h has the format. */

const PENDING = 0, READY = 1, RUNNING = 2, PAUSED = 3, COMPLETED = 4, CANCELLED = 6, ABANDONED = 7,
    ENTER = 11, TICK = 13, SWITCH = 14, NEXT = 15;
const LOOP = 0, IDLE = 1, UNTRACKED = 2, FIRST_PATH = 3, UNKNOWN = -1, NESTED = -2;
const DEEPEST = 64;        // frames above it are drawn as one

/* Columns: id is a place in ids, 0: none. */
function unpackSteps(data) {
    const s = { at: [], state: [], depth: [], path: [], left: [], id: [], ids: ['0'] };
    const bytes = atob(data), known = new Map();
    let place = 0, at = 0, last = 0n;
    const number = () => {
        for (let value = 0, unit = 1; ; unit *= 128) {
            const byte = bytes.charCodeAt(place++);
            value += (byte & 127) * unit;
            if (!(byte > 127)) { return value; }
        }
    };
    const wide = () => {
        for (let value = 0n, shift = 0n; ; shift += 7n) {
            const byte = bytes.charCodeAt(place++);
            value |= BigInt(byte & 127) << (shift > 63n ? 63n : shift);
            if (!(byte > 127)) { return value; }
        }
    };
    while (place < bytes.length) {
        const head = number();
        at += number();
        s.at.push(at);
        s.state.push(head & 15);
        s.depth.push(Math.min(DEEPEST, Math.floor(head / 32)));
        const path = number();                // 2^32 + n: n steps before it are left out
        s.left.push(Math.max(0, path - 2 ** 32));
        s.path.push(path > 2 ** 32 ? UNKNOWN : path);
        s.id.push(0);
        if (head & 16) {
            const less = wide();
            last = BigInt.asUintN(64, last + (less & 1n ? -(less >> 1n) - 1n : less >> 1n));
            if (!known.has(last)) { known.set(last, s.ids.push(String(last)) - 1); }
            // a tick's is how late the ready behind it was told
            s.id[s.id.length - 1] = (head & 15) === TICK ? 0 : known.get(last);
        }
    }
    return s;
}

/* null: the profile has no steps, or all at one time. A ring that holds all begins as it does. */
function layOutSteps(p) {
    const held = p.raw.timeline;
    if (!held || !held.data) { return null; }
    const s = unpackSteps(held.data);
    s.whole = s.at.length - 1 === p.totals.events;
    if (s.whole) {
        Object.entries({ at: 0, state: TICK, depth: 0, path: 0, id: 0 })
            .forEach(([name, value]) => s[name].unshift(value));
    }
    s.count = s.at.length - 1;                     // the last one is now
    s.lo = s.at[0];
    s.hi = s.at[s.count];
    if (!(s.hi > s.lo && s.hi < 2 ** 64)) { return null; }
    s.bytes = held.data.length;
    s.rows = new Map(p.raw.paths.map(row => [row.id, row]));
    const replay = new Replay(s);
    for (let i = 0; i < s.count; i++) { replay.step(i); }
    replay.finish(held.ready || 0, p.raw.futures);
    return Object.assign(s, { boxes: replay.boxes, lives: replay.lives, ready: replay.ready });
}

/* The frames that the ring meets: each is on top in the first step that is not deeper. */
function framesBefore(s) {
    return Array.from({ length: s.depth[0] }, (_, k) => {
        const i = s.depth.findIndex(depth => depth <= k + 1);
        return i >= 0 && s.depth[i] === k + 1 && s.path[i] !== IDLE ? s.path[i] : UNKNOWN;
    });
}

/* boxes: activations on the running stack and, above its frames, the leaf: time that is nobody's. own: of
   a box without what ran above it, so all of them add up to the time. lives: futures. ready: how
   many were after each step. */
class Replay {
    constructor(s) {
        Object.assign(this, { s, at: s.lo, frames: [], leaf: -1, number: 0, live: new Map(),
            lives: [], ready: [],
            boxes: { start: [], end: [], row: [], path: [], id: [], own: [] } });
        framesBefore(s).forEach(path => this.push(path, 0));
    }

    add(path, id) {
        const b = this.boxes, row = this.frames.length;
        Object.entries({ start: this.at, end: this.s.hi, row, path, id, own: 0 })
            .forEach(([name, value]) => b[name].push(value));
        return b.start.length - 1;
    }

    setLeaf(path) {
        const { boxes, leaf } = this;
        if (leaf >= 0 && boxes.path[leaf] === path) { return; }
        if (leaf >= 0) { boxes.end[leaf] = this.at; }
        this.leaf = path === UNKNOWN ? -1 : this.add(path, 0);
    }

    push(path, id) {
        this.setLeaf(UNKNOWN);
        this.frames.push(this.add(path === LOOP ? NESTED : path, id));
    }

    pop(depth) {
        if (depth < this.frames.length) { this.setLeaf(UNKNOWN); }
        while (this.frames.length > depth) {
            const box = this.frames.pop();
            this.boxes.end[box] = this.at;
            this.rest(this.boxes.id[box]);
        }
    }

    /* The innermost future on the stack. */
    creator() {
        for (let k = this.frames.length - 1; k >= 0; k--) {
            const box = this.frames[k], life = this.live.get(this.boxes.id[box]);
            if (life || this.boxes.path[box] === NESTED) { return life || null; }
        }
        return null;
    }

    /* A future of which the ring may not have the beginning. */
    meet(id, created) {
        if (!this.live.has(id)) {
            const life = { id, path: UNKNOWN, from: created ? this.at : this.s.lo, to: this.s.hi,
                created, parent: created ? this.creator() : null, ended: -1, state: -1,
                again: false, callbacks: [] };
            this.live.set(id, life);
            this.lives.push(life);
        }
        return this.live.get(id);
    }

    turn(life, state) {
        this.number += (state === READY) - (life.state === READY);
        life.state = state;
        life.callbacks.push([this.at, state]);
    }

    end(life, state) {
        this.turn(life, state);
        Object.assign(life, { to: this.at, ended: state });
        this.live.delete(life.id);
    }

    /* A frame of this id is gone. */
    rest(id) {
        const life = this.live.get(id);
        if (!life || life.state !== RUNNING || this.frames.some(box => this.boxes.id[box] === id)) {
            return;
        }
        this.turn(life, life.again ? READY : PAUSED);
        life.again = false;
    }

    /* What the event says of its future, before the stack changes. */
    told(state, id, path) {
        if (state === PENDING) {
            if (this.live.has(id)) { this.end(this.live.get(id), ABANDONED); }
            this.turn(this.meet(id, true), PENDING);
        } else if (state === READY) {
            const life = this.meet(id, false);
            if (life.state === RUNNING) { life.again = true; } else { this.turn(life, READY); }
        } else if (state >= COMPLETED && state <= CANCELLED) {
            const life = this.meet(id, false), top = this.frames[this.frames.length - 1];
            if (life.path === UNKNOWN && this.boxes.id[top] === id) { life.path = path; }
            this.end(life, state);
        }
    }

    /* Does another frame take the place of the one at the new depth? */
    replaces(state, id, before, depth, path) {
        const hidden = this.leaf >= 0 && this.boxes.path[this.leaf] === UNTRACKED;
        return depth > 0 && depth <= before && depth <= this.frames.length &&
            !(hidden && path === UNTRACKED) && (state === NEXT || (state === SWITCH && id !== 0) ||
                (state === RUNNING && this.boxes.id[this.frames[depth - 1]] === id));
    }

    /* The stack becomes what it is in the interval after event i. */
    stack(i, id) {
        const { s, boxes, frames } = this, depth = s.depth[i + 1], path = s.path[i + 1];
        this.pop(this.replaces(s.state[i], id, s.depth[i], depth, path) ? depth - 1 : depth);
        while (frames.length < depth) {
            const top = frames.length + 1 === depth && path !== IDLE;
            this.push(top ? path : UNKNOWN, top ? id : 0);
        }
        const top = frames[depth - 1];
        if (path >= FIRST_PATH && depth > 0 && boxes.path[top] !== path) {
            this.pop(depth - 1);
            this.push(path, boxes.id[top]);
        }
        const frame = depth > 0 && (path >= FIRST_PATH ||
            (path === UNTRACKED && boxes.path[frames[depth - 1]] === path));
        const other = this.leaf < 0 || boxes.path[this.leaf] !== path;
        this.setLeaf(frame || (s.at[i + 1] === this.at && other) ? UNKNOWN : path);
    }

    step(i) {
        const { s, boxes } = this, state = s.state[i], id = s.id[i];
        const runs = id !== 0 && (state === RUNNING || state === SWITCH);
        this.at = s.at[i];
        if (id !== 0) { this.told(state, id, s.path[i]); }
        this.stack(i, runs ? id : 0);
        const on = this.leaf >= 0 ? this.leaf : this.frames[this.frames.length - 1];
        if (on !== undefined) { boxes.own[on] += s.at[i + 1] - this.at; }
        if (state === PAUSED) { this.rest(id); }
        if (runs) {
            const life = this.meet(id, false);
            if (s.path[i + 1] >= FIRST_PATH) { life.path = s.path[i + 1]; }
            this.turn(life, RUNNING);
        }
        this.ready.push(this.number);
    }

    /* Those that live and have not run are known by name; counts begin so that they end with now's.
       What was only created here has nothing to show. */
    finish(readyNow, futures) {
        const { s, live, ready } = this, places = new Map(s.ids.map((id, k) => [id, k]));
        const late = readyNow - this.number;
        ready.forEach((count, i) => { ready[i] = Math.max(0, count + late); });
        futures.forEach(row => {
            const life = live.get(places.get(String(row.id)));
            if (life && life.path === UNKNOWN) { life.path = row.path; }
        });
        this.lives = this.lives.filter(life => life.callbacks.length > 1 || life.state !== PENDING);
    }
}

/* What each path took of an interval: a step says whom the time up to it went to. blames: what it
   cost those that were ready. */
function pathSums(s, from, to, sums = new Map(), blames = null) {
    let low = 0, high = s.count;
    while (low < high) {                           // the first interval that ends after from
        const middle = (low + high) >> 1;
        if (s.at[middle + 1] <= from) { low = middle + 1; } else { high = middle; }
    }
    for (let i = low; i < s.count && s.at[i] < to; i++) {
        const part = Math.min(to, s.at[i + 1]) - Math.max(from, s.at[i]);
        if (part > 0) { addTo(sums, s.path[i + 1], part); }
        if (part > 0 && blames) { addTo(blames, s.path[i + 1], part * s.ready[i]); }
    }
    return sums;
}

/* How long the futures of each path were ready in an interval. futures: of those that did nothing
   while the ring was written, all that were kept. */
function delaySums(s, from, to, futures) {
    const sums = new Map(), seen = new Set(s.lives.map(life => s.ids[life.id]));
    const put = (path, start, end) => {
        const part = Math.min(to, end) - Math.max(from, start);
        if (part > 0) { addTo(sums, path, part); }
    };
    s.lives.forEach(({ path, to: end, callbacks }) => callbacks.forEach(([at, state], i) => {
        if (state === READY) { put(path, at, i + 1 < callbacks.length ? callbacks[i + 1][0] : end); }
    }));
    futures.filter(row => row.state === 'ready' && !seen.has(String(row.id)))
        .forEach(row => put(row.path, s.lo, s.hi));
    return sums;
}

/* The lengths of the slices of each path that are in an interval, or begin or end there. */
function sliceLists({ boxes }, from, to) {
    const lists = new Map();
    boxes.path.forEach((path, i) => {
        if (path < FIRST_PATH || boxes.end[i] <= from || boxes.start[i] >= to) { return; }
        if (!lists.has(path)) { lists.set(path, []); }
        lists.get(path).push(boxes.own[i]);
    });
    return lists;
}

/* Where the time of a future went, in the form in which the profile tells it of the slowest. */
function partsOf(s, life) {
    const { boxes } = s, during = [0, 0, 0, 0], ran = new Map(), sites = new Map();
    let from = life.from, state = life.created ? PENDING : -1, unseen = 0, own = 0;
    [...life.callbacks, [life.to, -1]].forEach(([at, next]) => {
        if (state < 0) { unseen += at - from; } else { during[state] += at - from; }
        if (state === READY) { pathSums(s, from, at, ran); }
        from = at;
        state = next <= PAUSED ? next : -1;
    });
    for (let i = 0; i < boxes.id.length; i++) {
        const start = boxes.start[i], path = boxes.path[i];
        if (boxes.id[i] !== life.id || start < life.from || start >= life.to) { continue; }
        own += boxes.end[i] <= life.to ? boxes.own[i]      // else its frame outlived it
            : pathSums(s, start, life.to).get(path) || 0;
    }
    ran.forEach((ns, path) => {
        const { site, name } = s.rows.get(path) || { site: path, name: '' };
        const known = sites.get(site) || { site, name, delay_ns: 0 };
        known.delay_ns += ns;
        sites.set(site, known);
    });
    own = Math.min(own, during[RUNNING]);
    return { latency_ns: life.to - life.from, exec_ns: own, children_ns: during[RUNNING] - own,
        delay_ns: during[READY], waiting_ns: during[PENDING] + during[PAUSED], unseen_ns: unseen,
        blames: [...sites.values()].sort((a, b) => b.delay_ns - a.delay_ns || a.site - b.site)
            .slice(0, 3) };
}
