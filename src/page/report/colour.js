/* >>colour: one a site or group, the same in all views; the heaviest ones get the strongest */

/* Found by search: any two lie 20 apart in Lab, seen with and without each of the three kinds of
   color-blindness, and 17 from idle and from uninstrumented time. tests/viewers.js measures it. */
const LIGHT = ['#de4b11', '#4368e9', '#3da35f', '#893aa9',
    '#9a7bb7', '#b11e7b', '#006a45', '#36490d'];
const DARK = ['#fa7324', '#8675ff', '#8cdf78', '#ece928',
    '#dab4ff', '#de1d41', '#e29ca2', '#1182a7'];
let strong = new Map(), groupKeys = new Map();

const dark = () => matchMedia('(prefers-color-scheme: dark)').matches &&
    !document.documentElement.classList.contains('printing');

/* Who had one keeps it as long as it is among the heaviest. */
function shareOutColours() {
    groupKeys = new Map();
    state.profiles.forEach(groupSites);
    const newest = state.profiles[state.profiles.length - 1], had = strong;
    const heavy = newest.groups.slice(0, LIGHT.length).map(group => group.key);
    const kept = new Set(heavy.map(key => had.get(key)));
    const free = [...LIGHT.keys()].filter(i => !kept.has(i));
    strong = new Map(heavy.map(key => [key, had.has(key) ? had.get(key) : free.shift()]));
}

function hash(text) {
    let h = 7;
    for (let i = 0; i < text.length; i++) { h = (h * 31 + text.charCodeAt(i)) | 0; }
    return h >>> 0;
}

function colour(siteKey) {
    const key = groupKeys.get(siteKey) || siteKey, rank = strong.get(key);
    if (rank !== undefined) { return (dark() ? DARK : LIGHT)[rank]; }
    return 'hsl(' + hash(key) % 360 + (dark() ? ' 22% 56%)' : ' 24% 46%)');
}

const cssColour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/* Ready futures are striped: no color alone tells them from a site. */
const readyStripes = () => 'repeating-linear-gradient(135deg, var(--ready) 0 2px, ' +
    'var(--ready-gap) 2px 4px)';

function readyPattern(c) {
    const tile = document.createElement('canvas'), pen = tile.getContext('2d');
    tile.width = tile.height = 4;
    for (let y = 0; y < 4; y++) {
        for (let x = 0; x < 4; x++) {
            pen.fillStyle = cssColour((x + y) % 4 < 2 ? '--ready' : '--ready-gap');
            pen.fillRect(x, y, 1, 1);
        }
    }
    return c.createPattern(tile, 'repeat');
}

/* Black or white, whichever is easier to read on a background. */
const inks = new Map();
function inkOn(background) {
    if (!inks.has(background)) {
        const pixel = inkOn.pixel ||
            (inkOn.pixel = document.createElement('canvas').getContext('2d',
                { willReadFrequently: true }));
        pixel.fillStyle = background;
        pixel.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...pixel.getImageData(0, 0, 1, 1).data].map(part => part / 255)
            .map(part => part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92);
        inks.set(background, 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000' : '#fff');
    }
    return inks.get(background);
}
