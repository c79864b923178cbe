# Read by command.sh and report.sh: $scratch is their folder, run their call of the command.

# until_running OPERAND: waits for what a hanging program of ours does at last
until_running() {
    for _ in $(seq 300); do
        run dump "$1"
        if grep -q 'running never_returns' "$scratch/err"; then return; fi
        sleep 0.1
    done
}
