#!/bin/sh
# A page for browsers as one file, from its markup, styles and scripts:
#   sh src/page/join.sh report >report.html       (report or serve)
cd "$(dirname "$0")/${1:?report or serve}" || exit 1
awk '
/^<!-- part: [a-z_.]* -->$/ {
    while ((got = (getline line <$3)) > 0) print line
    if (got < 0) { print "join: cannot read " $3 >"/dev/stderr"; exit 1 }
    next
}
{ print }
' page.html
