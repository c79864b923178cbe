/* >>checks: values of JSON are what their keys say, so nothing that follows has to ask. Keys that
   this page does not know are nobody's. */

const words = text => new Set(text.split(' '));
const TEXTS = words('name file kind text cure option state finish mode function path build_id version ' +
    'program why_off awake_by data call within key model');
const NUMBERS = words('id line site parent path address base module stack weight samples slices calls ' +
    'completed failed cancelled abandoned dropped live stillborn found measured events anomalies iterations ' +
    'callbacks stalls at_once depth number steps first_steps left_out sampled first ready ticks rows ' +
    'inside lost draws misses interrupted capacity used peak advice bytes count top enabled idle ' +
    'running living estimated provisional of_run return has_percentiles chroprof turns passes');
const ROWS = words('sites paths stalls windows futures tables anomalies findings slowest stacks samples ' +
    'modules shares places inlined blames task_waits kinds gains changed answers');
const OBJECTS = words('totals sampler options timeline clients');
const isNumber = key => NUMBERS.has(key) || /_(ns|ps|ppm|ppb|ticks)$/.test(key);
const LONGEST_TEXT = 1000;     // of those that are shown again and again

/* Whole numbers below 2^64; long ids are text by now. */
const isCount = value => value === undefined || typeof value === 'boolean' ||
    (Number.isInteger(value) && value >= 0 && value <= 2 ** 64) ||
    (typeof value === 'string' && /^\d{1,20}$/.test(value));
const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);
const isSteps = value => value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

const refuse = (where, expected) => { throw new Error(where + ' is not ' + expected); };

function checkText(value, key, where) {
    if (typeof value !== 'string') { refuse(where, 'a text'); }
    if (key === 'data' && !isSteps(value)) { refuse(where, 'base64'); }
    return key === 'data' || value.length <= LONGEST_TEXT ? value
        : value.slice(0, LONGEST_TEXT - 3) + '...';
}

/* The value as it may stay, of a key of an object. */
function checked(value, key, where) {
    if (ROWS.has(key) && Array.isArray(value)) {
        return key === 'windows' && /\.sites\[/.test(where)   /* of a site: a number a window */
            ? checkNumbers(value, where) : value.map((row, i) => checkRow(row, where + '[' + i + ']'));
    }
    if (ROWS.has(key) && isObject(value) && Array.isArray(value.keys)) {
        return checkColumns(value, where);
    }
    if (OBJECTS.has(key)) { return checkRow(value, where); }
    if (isNumber(key) && (isCount(value) || key === 'module' && value === -1)) { return value; }
    if (TEXTS.has(key) || isNumber(key) || ROWS.has(key)) {
        return TEXTS.has(key) ? checkText(value, key, where)
            : refuse(where, ROWS.has(key) ? 'a list' : 'a whole number below 2^64');
    }
    return value;
}

function checkNumbers(list, where) {
    return list.every(isCount) ? list : refuse(where, 'a list of whole numbers');
}

function checkRow(row, where) {
    if (!isObject(row)) { refuse(where, 'an object'); }
    Object.keys(row).forEach(key => { row[key] = checked(row[key], key, where + '.' + key); });
    return row;
}

/* Keys that are lists here, and numbers elsewhere. */
function checkLists(row, keys, where) {
    keys.forEach(key => {
        if (row[key] !== undefined && typeof row[key] !== 'object') {
            refuse(where + '.' + key, 'a list');
        }
    });
}

/* A list in columns: null where a row has no such key. */
function checkColumns(list, where) {
    const { keys, values } = list, n = keys.length;
    if (!keys.every(key => typeof key === 'string') || !Array.isArray(values) || n === 0) {
        refuse(where, 'a list');
    }
    values.forEach((value, i) => {
        if (value !== null) { values[i] = checked(value, keys[i % n], where + '.' + keys[i % n]); }
    });
    return list;
}
