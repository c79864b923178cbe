/* >>text: numbers as people read them */

function digits(value, unit) {
    const places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return value.toFixed(places) + '\u00a0' + unit;
}

/* Units, and up to where each is used: as in the text of chroprof.h, whose sentences stand beside. */
const UNITS = [['ns', 1, 1e3], ['µs', 1e3, 1e6], ['ms', 1e6, 1e9], ['s', 1e9, 100e9],
    ['min', 60e9, 6000e9], ['h', 3600e9, 360000e9], ['d', 86400e9, Infinity]];
const unitOf = size => UNITS.find(u => size < u[2] * 0.9995) || UNITS[UNITS.length - 1];

function time(ns) {
    const size = Math.abs(ns);
    if (!Number.isFinite(size)) { return '–'; }
    if (size === 0) { return '0'; }
    if (size < 1000) { return Math.round(ns) + '\u00a0ns'; }
    const unit = unitOf(size);
    return (ns < 0 ? '−' : '') + digits(size / unit[1], unit[0]);
}

/* Rounded to two digits where room is short. */
function axisTime(ns) {
    const [unit, size] = unitOf(ns), value = ns / size;
    return (unit === 'ns' || value >= 9.95 ? Math.round(value) : value.toFixed(1)) + '\u00a0' + unit;
}

/* A figure of samples with its error, to the place where that has one digit, or two up to 14; '–': it
   is none. */
function estimate(ns, error) {
    if (!(ns > 2 * error)) { return '–'; }
    const [unit, size] = unitOf(ns), place = Math.floor(Math.log10(error / size / 1.45));
    const round = value => (Math.round(value / size / 10 ** place) * 10 ** place)
        .toFixed(Math.max(0, -place));
    return round(ns) + '\u00a0±\u00a0' + round(error) + '\u00a0' + unit;
}

function percent(part, whole) {
    const value = whole > 0 ? 100 * part / whole : 0;
    if (value > 0 && value < 0.05) { return '<0.1%'; }
    return (value >= 99.95 || value === 0 ? value.toFixed(0) : value.toFixed(1)) + '%';
}

/* Parts of a whole in the unit and to the place that it is shown to: they add up on the screen. */
function timeParts(parts, shownWhole) {
    const whole = sum(parts, ns => ns), [text, unit] = (shownWhole || time(whole)).split('\u00a0');
    if (unit === undefined) { return parts.map(() => '0'); }
    const places = (text.split('.')[1] || '').length, all = Number(text.replace('.', ''));
    const exact = parts.map(ns => ns / whole * all), shown = exact.map(Math.floor);
    const most = exact.map((_, i) => i).sort((a, b) => exact[b] % 1 - exact[a] % 1);
    most.slice(0, Math.round(all - sum(shown, n => n))).forEach(i => { shown[i]++; });
    const words = n => (n / 10 ** places).toFixed(places) + '\u00a0' + unit;
    return shown.map((n, i) => n > 0 ? words(n) : parts[i] > 0 ? '<' + words(1) : '0');
}

const count = n => Number.isFinite(Number(n)) ? Number(n).toLocaleString('en-US') : '–';
const plural = (n, one) => count(n) + '\u00a0' + one + (n === 1 ? '' : 's');
const place = row => row.file ? row.file + (row.line ? ':' + row.line : '') : '';
const sum = (list, f) => list.reduce((total, item) => total + f(item), 0);

/* Moments of a run are told in one unit, as fine as the step between them. */
function moment(p, ns, step) {
    const [name, size] = p.end < 5e5 ? ['µs', 1e3] : p.end < 5e8 ? ['ms', 1e6] : ['s', 1e9];
    const fine = Math.ceil(-Math.log10(Math.max(step || p.step, 1) / size) - 1e-3);
    return (ns / size).toFixed(Math.max(0, Math.min(6, fine))) + '\u00a0' + name;
}
