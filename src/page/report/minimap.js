/* >>minimap: all that the ring holds, and the part of it that the timeline shows; it stays in sight
   while the timeline is */

const MINI = 26;

/* In each pixel the shares of the paths, idle time highest; added up once for a width. */
function miniPicture(s, right) {
    if (!s.mini || s.mini.right !== right) {
        const scale = (right - LANES.left) / (s.hi - s.lo), cells = [], order = orderOfPaths(s);
        const x = ns => LANES.left + (ns - s.lo) * scale;
        for (let i = 0; i < s.count; i++) {
            share(cells, 0, x(s.at[i]), x(s.at[i + 1]), s.path[i + 1]);
        }
        const place = path => order.has(path) ? order.get(path) : Infinity;
        s.mini = { right, cells: cells.map(cell => [...cell]
            .sort((a, b) => place(a[0]) - place(b[0]))) };
    }
    return s.mini.cells;
}

function paintMini() {
    const s = stepsOf(shown()), canvas = $('mini'), width = canvas.parentElement.clientWidth;
    if (s === null || width < 120) { return; }
    const c = canvasContext(canvas, width, MINI), right = width - LANES.right;
    const x = ns => LANES.left + (ns - s.lo) / (s.hi - s.lo) * (right - LANES.left);
    miniPicture(s, right).forEach((cell, at) => {
        let y = MINI - 4;
        cell.forEach(([path, part]) => {
            c.fillStyle = canvasFill(path);
            c.fillRect(at, y - part * (MINI - 10), 1, part * (MINI - 10));
            y -= part * (MINI - 10);
        });
    });
    c.fillStyle = cssColour('--culprit');
    s.stalls.forEach(stall => c.fillRect(x(stall.start_ns), 1,
        Math.max(2, x(stall.start_ns + stall.length_ns) - x(stall.start_ns)), 4));
    const [from, to] = state.view, left = x(from), wide = Math.max(4, x(to) - left);
    c.fillStyle = cssColour('--card');
    c.globalAlpha = 0.6;
    c.fillRect(LANES.left, 0, left - LANES.left, MINI);
    c.fillRect(left + wide, 0, right - left - wide, MINI);
    c.globalAlpha = 1;
    c.strokeStyle = cssColour('--ink');
    c.lineWidth = 2;
    c.strokeRect(left, 1, wide, MINI - 2);
}

/* The middle of the view goes where the hand is. */
function bindMini() {
    const canvas = $('mini');
    const move = event => {
        const s = stepsOf(shown()), box = canvas.getBoundingClientRect(), [from, to] = state.view;
        const at = s.lo + (event.clientX - box.left - LANES.left) /
            (box.width - LANES.left - LANES.right) * (s.hi - s.lo);
        setView(at - (to - from) / 2, at + (to - from) / 2);
    };
    canvas.addEventListener('pointerdown', event => {
        if (event.button !== 0) { return; }
        canvas.setPointerCapture(event.pointerId);
        move(event);
    });
    canvas.addEventListener('pointermove', event => {
        if (canvas.hasPointerCapture(event.pointerId)) { move(event); }
    });
}
