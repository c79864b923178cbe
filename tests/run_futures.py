"""What chroprof run made of the requests or events of a program: the paths of its profile.

    chroprof dump --format json FILE | python3 tests/run_futures.py 'FUNCTION KEY=VALUE...'...

Each row names a callback and what must hold of all its paths together, of the figures in the JSON:
calls=4, at_least.latency_p50_ns=1000; by=NAME: which path created it.
Prints what does not hold, a line each."""

import json
import sys

profile = json.load(sys.stdin)
parents = {row['id']: row for row in profile['paths']}
COUNTS = ('calls', 'completed', 'failed', 'cancelled', 'abandoned', 'live', 'dropped', 'slices',
          'delay_ns')


def figures(name):
    """Sums over the paths of a site, percentiles of the site; None: there is no such site."""
    site = next((row for row in profile['sites'] if row['name'] == name), None)
    paths = [row for row in profile['paths'] if row['name'] == name]
    if site is None:
        return None
    found = {key: sum(row[key] for row in paths) for key in COUNTS}
    found.update({key: value for key, value in site.items() if key.startswith('latency_p')})
    found['by'] = ','.join(sorted({parents.get(row['parent'], {}).get('name', '') for row in paths}))
    return found


def holds(found, key, wanted):
    if key.startswith('at_least.'):
        return found.get(key[9:], 0) >= int(wanted)
    return str(found.get(key)) == wanted


for words in sys.argv[1:]:
    name, *rows = words.split()
    found = figures(name)
    for row in rows:
        key, wanted = row.split('=')
        if found is None or not holds(found, key, wanted):
            print('%s: not %s in %s' % (name, row, found))
