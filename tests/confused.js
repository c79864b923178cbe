'use strict';
/* The report page, given profiles in which one value is of another type than it should be: it says
 * so in words, or shows a page; nothing is thrown that it does not throw itself.
 *     node tests/confused.js PAGE.html PROFILE.json [ONE_OF]       PAGE without a profile */

const fs = require('fs');
const puppeteer = require('puppeteer-core');

const [page_file, profile, one_of] = process.argv.slice(2);

const one = Number(one_of) || 1;
const WRONG = ['{}', '{"toString":1}', '[]', '[[]]', '[{}]', '[7]', '""', '"x"', '"\\ud800"', '0', '7', '-1',
    '1.5', '18446744073709551615', '18446744073709551616', '1e308', 'true', 'null', '"__proto__"',
    'none', '"' + 'A'.repeat(5000) + '"'];

/* The ways to each value: of a list the first item alone. */
function places(value, way, found) {
    if (way.length > 0) { found.push(way); }
    if (Array.isArray(value)) {
        if (value.length > 0) { places(value[0], way.concat(0), found); }
    } else if (value !== null && typeof value === 'object') {
        Object.keys(value).forEach(key => places(value[key], way.concat(key), found));
    }
}

/* In the page: a value of the profile as each of some others. */
function tryAll(text, way, words) {
    const all = { refused: 0, wrong: [] };
    words.forEach(word => {
        const made = JSON.parse(text), last = way[way.length - 1];
        const row = way.slice(0, -1).reduce((value, key) => value[key], made);
        row[last] = word === 'none' ? undefined : '@' + '@';
        try {
            setProfiles([parseProfile(JSON.stringify(made).replace('"@' + '@"', () => word), 'x')], null);
        } catch (error) {
            all.refused++;
            if (error.constructor !== Error) {
                all.wrong.push(way.join('.') + ' as ' + word.slice(0, 30) + ': ' +
                    String(error.stack).slice(0, 300));
            }
        }
    });
    return all;
}

async function main() {
    const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu'], protocolTimeout: 1800000 });
    const page = await browser.newPage();
    await page.goto('file://' + page_file);
    const text = fs.readFileSync(profile, 'utf8'), whole = JSON.parse(text), wrong = [];
    const found = [];
    Object.values(whole).filter(Array.isArray).forEach(rows => rows.splice(12));
    whole.sites.forEach(site => site.windows.splice(5));
    places(whole, [], found);
    let read = 0, refused = 0, number = 0;
    for (const way of found) {
        const tried = WRONG.filter(() => number++ % one === 0);
        const late = new Promise((_, fail) => setTimeout(fail, 300000,
            new Error(way.join('.') + ' takes for ever')));
        const all = await Promise.race([late, page.evaluate(tryAll, JSON.stringify(whole), way, tried)]);
        read += tried.length;
        refused += all.refused;
        wrong.push(...all.wrong);
    }
    wrong.slice(0, 40).forEach(each => console.log('FAIL ' + each));
    console.log((wrong.length ? 'FAIL' : 'ok') + ' confused_page: ' + read + ' profiles, ' + refused +
        ' refused, ' + wrong.length + ' wrong');
    await browser.close();
    process.exit(wrong.length > 0 ? 1 : 0);
}

main();
