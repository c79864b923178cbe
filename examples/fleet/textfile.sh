#!/bin/sh
# Shows the profiles of all running programs of a machine to node_exporter, which passes on what it
# finds in a folder (--collector.textfile.directory). For cron or a timer: each call writes the files once.
#   textfile.sh FOLDER-OF-PROFILES FOLDER-FOR-NODE-EXPORTER
# Each series gets the label process, the name of the profile's file. CHROPROF: the command.

profiles=${1:?the folder of *.chroprof files}
out=${2:?the folder of node_exporter}
new=$out/.chroprof.$$
trap 'rm -f "$new" "$new.err"' EXIT

for file in "$profiles"/*.chroprof; do
    name=$(basename "$file" .chroprof | tr -c 'A-Za-z0-9_.\n-' '_')
    # what a program left behind when it ended is no news
    if "${CHROPROF:-chroprof}" dump "$file" -f prometheus -o "$new" 2>"$new.err" </dev/null &&
        ! grep -q '^chroprof: process [0-9]* ended' "$new.err"; then
        sed -e "s/^\(chroprof_[a-z0-9_]*\){/\1{process=\"$name\",/" \
            -e "s/^\(chroprof_[a-z0-9_]*\) /\1{process=\"$name\"} /" "$new" >"$new.prom" &&
            mv "$new.prom" "$out/chroprof-$name.prom"
    else
        rm -f "$out/chroprof-$name.prom"
    fi
done
