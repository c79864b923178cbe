# man.awk - turns what `chroprof help COMMAND` or `chroprof --help` prints into a manual page.
#   chroprof help dump | awk -v page=chroprof-dump -v version=0.3.0 -v date=2026-11-28 -f package/man.awk

# verbatim, for man(7)
function literal(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}

# a sentence: dashes that belong to an option must stay those of the keyboard
function prose(text) {
    gsub(/\\/, "\\e", text)
    gsub(/--/, "\\-\\-", text)
    text = " " text
    gsub(/ -/, " \\-", text)
    text = substr(text, 2)
    sub(/^[.']/, "\\\\\\&&", text)
    return text
}

# "-f, --format FORMAT": names bold, values italic
function names(text,    words, n, i, made) {
    n = split(text, words, " ")
    for (i = 1; i <= n; i++) {
        made = made (i > 1 ? " " : "") (words[i] ~ /^-/ ? "\\fB" : "\\fI")
        made = made literal(words[i]) "\\fR"
        sub(/,\\fR$/, "\\fR,", made)
    }
    return made
}

function section(name) { return ".SH " (name ~ / / ? "\"" name "\"" : name) "\n" }

# the paragraph that was read: into the section that it belongs to
function finish(    made, i, where, table) {
    if (lines == 0) return
    where = "text"
    if (line[1] ~ /^exit codes: / || line[1] ~ /^The exit status /) where = "status"
    if (line[1] == "examples:") where = "examples"
    for (i = 1; i <= lines; i++) if (line[i] ~ /^  / || line[i] ~ /[^ ]   +/) table = 1
    if (where == "status") sub(/^exit codes: /, "", line[1])
    for (i = where == "examples" ? 2 : 1; i <= lines; i++)
        made = made (table ? literal(line[i]) : prose(line[i])) "\n"
    if (table) made = ".nf\n" made ".fi\n"
    part[where] = part[where] (part[where] != "" ? ".PP\n" : "") made
    lines = 0
}

{ sub(/ +$/, "") }
NR == 1 { sub(/^usage: /, ""); usage = $0; next }
NR == 3 { summary = $0; next }
NR < 3 { next }
/^options:$/ { in_options = 1; next }
/^commands:$/ { in_commands = 1; next }
/^$/ { finish(); in_options = in_commands = 0; next }

in_commands {
    name = $1
    sub(/^ *[^ ]+ +/, "")
    options = options ".TP\n\\fBchroprof\\-" name "\\fR(1)\n" prose($0) "\n"
    also = also (also != "" ? ",\n" : "") ".BR chroprof\\-" name " (1)"
    next
}
in_options && /^ ? ? ? ? ? ? ?-/ {
    text = ""
    left = $0
    sub(/^ +/, "", left)
    if (match(left, /   *[^ ]/)) {
        text = substr(left, RSTART)
        left = substr(left, 1, RSTART - 1)
        sub(/^ +/, "", text)
    }
    options = options ".TP\n" names(left) "\n" (text != "" ? prose(text) "\n" : "")
    next
}
in_options { sub(/^ +/, ""); options = options prose($0) "\n"; next }
{ line[++lines] = $0 }

END {
    finish()
    short = summary
    sub(/\.$/, "", short)
    short = tolower(substr(short, 1, 1)) substr(short, 2)
    title = toupper(page)
    printf ".\\\" made by package/man.awk from the help of the command\n"
    printf ".TH %s 1 %s \"chroprof %s\" \"User Commands\"\n", title, date, version
    printf ".nh\n.ad l\n%s%s \\- %s\n", section("NAME"), literal(page), prose(short)
    split(usage, word, " ")
    printf "%s.B chroprof%s\n", section("SYNOPSIS"), page != "chroprof" ? " " word[2] : ""
    sub(/^chroprof( [a-z]+)?/, "", usage)
    sub(/^ +/, "", usage)
    printf "%s\n%s%s\n", literal(usage), section("DESCRIPTION"), prose(summary)
    if (part["text"] != "" && page != "chroprof") printf ".PP\n%s", part["text"]
    if (options != "") printf "%s%s", section(page != "chroprof" ? "OPTIONS" : "COMMANDS"), options
    if (part["text"] != "" && page == "chroprof") printf ".PP\n%s", part["text"]
    if (part["status"] != "") printf "%s%s", section("EXIT STATUS"), part["status"]
    if (part["examples"] != "") printf "%s%s", section("EXAMPLES"), part["examples"]
    printf "%s%s\n", section("SEE ALSO"), also != "" ? also : ".BR chroprof (1)"
}
