/* >>groups: many sites as one row and one colour, by their file or by how their names begin */

const GROUPS = { file: site => site.file || '(no file)', prefix: site =>
    (/^\W*(?:[a-z\d]+(?=[A-Z])|[A-Za-z\d]+(?:::|[-_.:/ ])+)/.exec(site.name) || [site.name])[0] };
const ADDED = ['exec_ns', 'blame_ns', 'delay_ns', 'calls', 'live', 'cpu', 'off_cpu'];

/* What can be added up; of a site alone its own row. */
function groupOf(members, key, name) {
    if (members.length === 1) { return members[0]; }
    const group = { key, name, members, file: '', line: 0, order: members[0].order,
        windows: members[0].windows.map((_, i) => sum(members, site => site.windows[i] || 0)),
        slice_max_ns: Math.max(...members.map(site => site.slice_max_ns)) };
    ADDED.forEach(field => {
        const known = members.filter(site => site[field] !== null);
        group[field] = known.length > 0 ? sum(known, site => site[field]) : null;
    });
    group.cpu_error = Math.hypot(...members.map(site => site.cpu === null ? 0 : site.cpu_error));
    return group;
}

function groupSites(p) {
    const groups = new Map(), nameOf = GROUPS[state.group];
    p.sites.forEach(site => {
        const name = nameOf ? nameOf(site) : site.key;
        if (!groups.has(name)) { groups.set(name, []); }
        groups.get(name).push(site);
    });
    p.groups = [...groups].map(([name, members]) => groupOf(members, 'group\n' + name, name))
        .sort((a, b) => b.exec_ns - a.exec_ns);
    p.groups.forEach(group => (group.members || []).forEach(site =>
        groupKeys.set(site.key, group.key)));
}

/* Of many sites the eight strongest colours may tell little; of their files, or prefixes, more. */
function usualGroup(p) {
    const told = sum(p.ranked.slice(0, LIGHT.length), site => site.exec_ns);
    const few = name => new Set(p.sites.map(GROUPS[name])).size * 3 <= p.sites.length &&
        new Set(p.sites.map(GROUPS[name])).size > 2;
    return p.sites.length < 40 || told * 2 >= p.totals.busy_ns ? 'site'
        : Object.keys(GROUPS).find(few) || 'site';
}

const membersOf = site => site.members || [site];
const groupWords = { site: 'sites', file: 'files', prefix: 'prefixes' };
