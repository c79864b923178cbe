/* >>colour: one a site or group, the same in all views; the heaviest ones get the strongest */

const LIGHT = ['#d9480f', '#1971c2', '#0b8a62', '#b07400',
    '#9c51c6', '#1688a6', '#d0407e', '#6c8800'];
const DARK = ['#ff7f4d', '#4c9be8', '#2fbf93', '#f0b83d',
    '#b98ae0', '#5cc7e2', '#e57fae', '#a3bd3a'];
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
