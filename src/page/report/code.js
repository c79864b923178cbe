/* >>code: which functions ran for which task */

function codeRow(p, row, total) {
    const where = heaviest(row.places) || heaviest(row.calls);
    const task = row.task.key === '' ? nameOf(row.task.name)
        : el('span', null, swatch(colour(row.task.key)), nameOf(row.task.name));
    return [el('span', null, nameOf(row.name), placeText(where)), [task, 'left'],
        shareCell(row.self, total, row.task.key === '' ? cssColour('--loop')
            : colour(row.task.key), ofSamples(row.self, total)), [count(row.self), 'optional2'],
        [count(row.total), 'optional2'], ...(knowsCpu(p) ? [[estimate(row.cpu,
            Math.sqrt((p.samples.facts.period_ns || 0) * row.cpu) || 1), 'optional2']] : [])];
}

function showCode() {
    const p = shown(), samples = p.samples;
    $('code').hidden = samples === null;
    if (samples === null) { return; }
    const { rows, tasks, total } = functionsOf(samples);
    const known = tasks.some(({ task }) => 'k' + task.key === state.codeTask);
    state.codeTask = known ? state.codeTask : '';
    $('code-task').replaceChildren(el('option', { value: '' }, 'all'),
        ...tasks.slice(0, 200).map(({ task, weight }) => el('option', { value: 'k' + task.key },
            task.name + ', ' + ofSamples(weight, total))));
    $('code-task').value = state.codeTask;
    const wanted = rows.filter(row => state.codeTask === '' ||
        'k' + row.task.key === state.codeTask);
    const most = state.allCode ? wanted.length : 12;
    fillTable($('code-table'), ['function', ['task', 'left'], 'of the samples',
        ['itself', 'optional2'], ['with callees', 'optional2'],
        ...(knowsCpu(p) ? [['CPU', 'optional2']] : [])],
        wanted.slice(0, most).map(row => codeRow(p, row, total)));
    $('code-count').textContent = plural(total, 'sample') + (samples.whole ? ''
        : ' in the interval');
    $('code-all').hidden = wanted.length <= most;
    $('code-all').textContent = 'Show all ' + count(wanted.length);
}

function bindCode() {
    $('code-task').addEventListener('change', () => {
        state.codeTask = $('code-task').value;
        showCode();
    });
    $('code-all').addEventListener('click', () => {
        state.allCode = true;
        showCode();
    });
}
