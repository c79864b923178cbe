/* >>dom: strings only ever become text nodes */

function el(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name === 'style') { Object.assign(node.style, value); }
        else if (name.startsWith('on')) { node.addEventListener(name.slice(2), value); }
        else if (value !== null && value !== undefined) { node.setAttribute(name, value); }
    }
    node.append(...children.filter(child => child !== null && child !== undefined));
    return node;
}

const breakable = (text, where) => text.split(where).flatMap((part, i) =>
    i > 0 ? [el('wbr'), part] : [part]);
const placeText = where => el('span', { class: 'place' }, ...breakable(where, /(?<=\/)/));
const swatch = background => el('span', { class: 'swatch', style: { background } });
const nameOf = text => el('span', { class: 'name' }, ...breakable(text === '' ? '(no name)'
    : String(text), /(?<=[_.:/])(?=\w)/));

/* head: texts or [text, class]; rows: lists of texts, nodes or [content, class] */
function fillTable(table, head, rows) {
    const cell = (tag, content) => {
        const [inside, style] = Array.isArray(content) ? content : [content, null];
        return el(tag, { class: style, scope: tag === 'th' ? 'col' : null }, inside);
    };
    table.replaceChildren(
        el('thead', null, el('tr', null, ...head.map(content => cell('th', content)))),
        el('tbody', null, ...rows.map(row => row instanceof Node ? row
            : el('tr', null, ...row.map(content => cell('td', content))))));
}

/* Draws anew; what had the focus has it again. */
function keepingFocus(node, draw) {
    const at = node.contains(document.activeElement) && document.activeElement.dataset.key;
    draw(node);
    const again = [...node.querySelectorAll('[data-key]')].find(each => each.dataset.key === at);
    if (again) { again.focus({ preventScroll: true }); }
}

function showTip(event, ...children) {
    const tip = $('tip');
    tip.replaceChildren(...children);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const x = event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 10
        : event.clientX + 14;
    const y = event.clientY + 16 + box.height > innerHeight ? event.clientY - box.height - 10
        : event.clientY + 16;
    tip.style.left = Math.max(4, x) + 'px';
    tip.style.top = Math.max(4, y) + 'px';
}

const hideTip = () => { $('tip').hidden = true; };
const tipRow = (left, right) => el('p', { class: 'row' }, el('span', null, left),
    el('b', null, right));

/* A context in CSS pixels, cleared. */
function canvasContext(canvas, width, height) {
    const scale = Math.min(3, devicePixelRatio || 1);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = height + 'px';
    const context = canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    return context;
}

const FONT = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif';
const MONO = 'ui-monospace, "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace';
