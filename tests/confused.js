'use strict';
/* The report page, given profiles in which one value is of another type than it should be: it says
 * so in words, or shows a page; nothing is thrown that it does not throw itself.
 *     node tests/confused.js PAGE.html PROFILE.json [ONE_OF]       PAGE without a profile */

const fs = require('fs');
const puppeteer = require('puppeteer-core');

const [page_file, profile, one_of] = process.argv.slice(2);

async function main() {
    const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu'], protocolTimeout: 1800000 });
    const page = await browser.newPage();
    await page.goto('file://' + page_file);
    const [read, refused, wrong] = await page.evaluate((text, one) => {
        const WRONG = ['{}', '{"toString":1}', '[]', '[[]]', '[{}]', '[7]', '""', '"x"', '"\\ud800"', '0', '7',
            '-1', '1.5', '18446744073709551615', '18446744073709551616', '1e308', 'true', 'null',
            '"__proto__"', undefined, '"' + 'A'.repeat(5000) + '"'];
        const whole = JSON.parse(text), found = [];
        Object.values(whole).filter(Array.isArray).forEach(rows => rows.splice(12));
        whole.sites.forEach(site => site.windows.splice(5));
        let number = 0, read = 0, refused = 0;
        const places = (value, way) => {
            if (way.length > 0) { found.push(way); }
            if (Array.isArray(value)) { if (value.length) { places(value[0], way.concat(0)); } }
            else if (value !== null && typeof value === 'object') {
                Object.keys(value).forEach(key => places(value[key], way.concat(key)));
            }
        };
        const put = (value, way, word) => {
            const copy = Array.isArray(value) ? value.slice() : { ...value };
            if (way.length > 1) { copy[way[0]] = put(value[way[0]], way.slice(1), word); }
            else { copy[way[0]] = word === undefined ? undefined : '@@' + '@@'; }
            return copy;
        };
        places(whole, []);
        const wrong = [];
        found.forEach(way => WRONG.forEach(word => {
            if (number++ % one !== 0) { return; }
            read++;
            try {
                const made = JSON.stringify(put(whole, way, word)).replace('"@@' + '@@"', () => word);
                setProfiles([parseProfile(made, 'x')], null);
            } catch (error) {
                refused++;
                if (error.constructor !== Error) {
                    wrong.push(way.join('.') + ' as ' + String(word).slice(0, 30) + ': ' +
                        String(error.stack).slice(0, 300));
                }
            }
        }));
        return [read, refused, wrong];
    }, fs.readFileSync(profile, 'utf8'), Number(one_of) || 1);
    wrong.slice(0, 40).forEach(each => console.log('FAIL ' + each));
    console.log((wrong.length ? 'FAIL' : 'ok') + ' confused_page: ' + read + ' profiles, ' + refused +
        ' refused, ' + wrong.length + ' wrong');
    await browser.close();
    process.exit(wrong.length > 0 ? 1 : 0);
}

main();
