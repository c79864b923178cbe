'use strict';
/* Draws the pictures of README.md from the page of the demonstration, as make pictures does:
 * node tests/pictures.js PAGE FOLDER. The stall of the timeline is the longest among the last events in
 * which a page waited almost from its begin to its end. README.md tells its length, which is printed. */

const puppeteer = require('puppeteer-core');

const [report_page, folder] = process.argv.slice(2);
const WIDTH = 1180;

const settle = page => page.evaluate(() => new Promise(done =>
    requestAnimationFrame(() => setTimeout(done, 300))));

async function open(browser) {
    const page = await browser.newPage();
    await page.setViewport({ width: WIDTH, height: 1000 });
    await page.goto('file://' + report_page);
    await page.evaluate(() => { $('contents').style.position = 'static'; });
    await settle(page);
    return page;
}

/* From the top of the page to the end of the part that is the last one to be seen. */
async function take(page, first, last, name) {
    const [top, bottom] = await page.evaluate((first, last) => [first, last].map((id, i) => {
        const box = document.querySelector(id).getBoundingClientRect();
        return window.scrollY + (i ? box.bottom : box.top);
    }), first, last);
    const y = Math.max(0, top - 14);
    await page.setViewport({ width: WIDTH, height: Math.ceil(bottom) + 14 });
    await settle(page);
    await page.screenshot({ path: folder + '/' + name, clip: { x: 0, y, width: WIDTH,
        height: Math.ceil(bottom) + 14 - y } });
}

async function report(browser) {
    const page = await open(browser);
    await page.click('#sampled');
    await page.evaluate(() => {
        ['latency', 'slowest', 'timeline', 'cpu-note'].forEach(id => { $(id).hidden = true; });
        $('series').querySelectorAll('p.note, details').forEach(each => { each.hidden = true; });
        [...$('ranks-table').querySelectorAll('tbody tr')].slice(6).forEach(row => row.remove());
    });
    await settle(page);
    await take(page, 'header', '#tree', 'report.png');
}

async function timeline(browser) {
    const page = await open(browser);
    const found = await page.evaluate(() => {
        const s = stepsOf(shown()), all = shown().stalls.filter(stall => stall.start_ns > s.lo);
        const near = 100000, delay = life => partsOf(s, life).delay_ns;
        const waits = stall => s.lives.filter(each => each.created &&
            each.from >= stall.start_ns - near && each.to > stall.start_ns &&
            each.to <= stall.start_ns + stall.length_ns + near)
            .sort((a, b) => delay(b) - delay(a)).find(each => delay(each) > 0.8 * stall.length_ns);
        const stall = all.sort((a, b) => b.length_ns - a.length_ns).find(waits), life = waits(stall);
        ['header', '#contents', '#verdict', '#series', '#ranks', '#latency', '#slowest', '#timeline .controls',
            '#timeline-note'].forEach(each => document.querySelectorAll(each).forEach(part => {
            part.style.display = 'none';
        }));
        goTo({ life }, life.from, life.to);
        window.stall = stall;
        return { stall_ns: stall.length_ns, life_ns: life.to - life.from };
    });
    console.log(JSON.stringify(found));
    await settle(page);
    await page.evaluate(() => {
        const copy = $('timeline').cloneNode(true), drawn = $('steps');
        copy.querySelector('h2').textContent = 'A slow request';
        copy.querySelector('.mini').remove();
        copy.querySelector('canvas').getContext('2d').drawImage(drawn, 0, 0);
        $('timeline').after(copy);
        goToStall(window.stall);
        $('timeline-title').textContent = 'A stall';
    });
    await settle(page);
    await take(page, 'section#timeline', 'section#timeline + section#timeline', 'timeline.png');
}

async function main() {
    const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM,
        args: ['--no-sandbox'], headless: true });
    await report(browser);
    await timeline(browser);
    await browser.close();
}

main();
