'use strict';
/* Drives the pages of chroprof serve in Chromium: node tests/live.js COMMAND WATCHED FOLDER, as
 * viewers.sh does. WATCHED is tests/watched.c. Pictures go to FOLDER. */

const { spawn } = require('child_process');
const fs = require('fs');
const path = require('path');
const puppeteer = require('puppeteer-core');

const [command, watched, folder] = process.argv.slice(2);
const profiles = path.join(folder, 'live');
const counts = { passed: 0, failed: 0, skipped: 0 };
const started = [];
let browser;

function ok(name, holds, why) {
    counts[holds ? 'passed' : 'failed']++;
    console.log(holds ? 'ok ' + name : 'FAIL ' + name + ': ' + why);
}

function start(...words) {
    const child = spawn(words[0], words.slice(1), { stdio: ['ignore', 'pipe', 'inherit'] });
    started.push(child);
    return child;
}

const line = child => new Promise(done => child.stdout.once('data', data => done(String(data))));
const ended = child => new Promise(done => child.once('exit', done));

/* A page, and what must not happen in it: errors, requests to anywhere else. */
async function open(url, options) {
    const page = await browser.newPage();
    page.setDefaultTimeout(120000);         /* only what hangs is so late */
    page.trouble = [];
    page.on('console', message => {
        if (message.type() === 'error') { page.trouble.push(message.text()); }
    });
    page.on('pageerror', error => page.trouble.push(String(error.message || error)));
    page.on('request', request => {
        if (!request.url().startsWith(url.replace(/(:\d+\/).*/, '$1'))) {
            page.trouble.push(request.url());
        }
    });
    const { width = 1280, height = 900, scheme = 'light' } = options || {};
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.goto(url);
    return page;
}

const until = (page, holds, ...values) =>
    page.waitForFunction(holds, { timeout: 60000, polling: 100 }, ...values);
const says = (page, words) => until(page, text =>
    document.getElementById('live-words').textContent === text, words);
const picture = (page, name) => page.screenshot({ path: path.join(folder, name + '.png') });

async function testList(url) {
    for (const [name, options] of Object.entries({ list: {}, list_narrow: { width: 390 },
        list_dark: { scheme: 'dark' } })) {
        const page = await open(url, options);
        await until(page, () => document.querySelectorAll('tbody tr').length === 2);
        await picture(page, 'live_' + name);
        ok(name, await page.evaluate(() => document.body.scrollWidth <= innerWidth), 'too wide');
        ok(name + '_without_trouble', page.trouble.length === 0, page.trouble.join(' | '));
        await page.close();
    }
    const page = await open(url);
    await until(page, () => document.querySelector('td.runs') !== null);
    const first = await page.$eval('tbody tr', row => row.textContent);
    ok('list_has_running_ones_first', /watched.*runs/.test(first), first);
    await until(page, before => document.querySelector('tbody tr').textContent !== before, first);
    ok('list_moves', true);
    fs.copyFileSync(path.join(profiles, 'ended.chroprof'), path.join(profiles, 'new.chroprof'));
    await until(page, () => document.querySelectorAll('tbody tr').length === 3);
    ok('list_gains_a_row', true);
    fs.unlinkSync(path.join(profiles, 'new.chroprof'));
    await until(page, () => document.querySelectorAll('tbody tr').length === 2);
    ok('list_loses_a_row', true);
    await Promise.all([page.waitForNavigation(), page.click('tbody tr a')]);
    await says(page, 'live');
    ok('link_leads_to_the_page', /watched/.test(await page.title()), await page.title());
    ok('list_without_trouble_at_last', page.trouble.length === 0, page.trouble.join(' | '));
    return page;
}

/* Figures move, until somebody holds them, and then again; what is looked at stays. */
async function testPage(page) {
    const facts = () => page.$eval('#facts', node => node.textContent);
    const moves = async () => {
        const before = await facts();
        await until(page, text => document.getElementById('facts').textContent !== text, before);
    };
    await moves();
    await moves();
    ok('figures_move', true);
    await picture(page, 'live_page');
    await page.type('#filter', 'slow');
    await moves();
    ok('a_filter_stays', await page.$eval('#filter', node => node.value === 'slow' &&
        document.activeElement === node) && (await page.$$('#ranks-table tbody tr')).length === 1,
    'it is gone');
    await page.click('#ranks-table .name');
    await page.evaluate(() => document.querySelector('#ranks-table tbody button').focus());
    const focus = () => page.evaluate(() => document.activeElement.textContent);
    const name = await focus();
    await moves();
    ok('focus_stays', await focus() === name, await focus());
    await page.focus('#flame');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await moves();
    ok('zoom_stays', await page.evaluate(() => state.zoom > 0 && location.hash.includes('tree=')),
        page.url());
    await page.keyboard.press('Escape');
    await page.click('#hold');
    await says(page, 'held');
    const held = await facts();
    await new Promise(done => setTimeout(done, 2500));
    ok('held', await facts() === held, await facts());
    await picture(page, 'live_held');
    await page.click('#hold');
    await says(page, 'live');
    await moves();
    ok('goes_on', true);
}

async function main() {
    fs.rmSync(profiles, { recursive: true, force: true });
    fs.mkdirSync(profiles);
    await ended(start(watched, path.join(profiles, 'ended.chroprof'), 'end'));
    const program = start(watched, path.join(profiles, 'running.chroprof'), 'serve');
    const server = start(command, 'serve', profiles, '--port', '0');
    const url = (await line(server)).trim();
    browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM, headless: true,
        timeout: 120000, protocolTimeout: 300000, args: ['--no-sandbox', '--disable-gpu'] });
    try {
        const page = await testList(url);
        await testPage(page);
        program.kill('SIGKILL');
        await says(page, 'this program did not end well');
        ok('a_dead_program', true);
        server.kill('SIGTERM');
        ok('server_ends', await ended(server) === 0, server.exitCode);
        await says(page, 'chroprof serve does not answer');
        ok('a_dead_server', true);
        ok('figures_stay', (await page.$$('#ranks-table tbody tr')).length > 0, 'they are gone');
    } catch (error) {
        ok('live', false, error.message.split('\n')[0]);
    }
    await browser.close();
    started.forEach(child => child.kill('SIGKILL'));
    console.log(counts.passed + ' passed, ' + counts.failed + ' failed, ' + counts.skipped +
        ' skipped');
    process.exit(counts.failed ? 1 : 0);
}

main();
