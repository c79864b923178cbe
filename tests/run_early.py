"""Presses Ctrl-C on a terminal of its own while `chroprof run sleep` begins, sooner and later, for
tests/run_command.sh: prints how many of them did not end at once."""
import os
import pty
import signal
import sys
import time

command, tries, missed = os.path.realpath(sys.argv[1]), 24, 0
for number in range(tries):
    job, terminal = pty.fork()
    if job == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execv(command, [command, "run", "sleep", "5"])
    while os.readlink("/proc/%d/exe" % job) != command:
        pass
    time.sleep(0.0005 * number)
    os.write(terminal, b"\x03")
    try:
        while os.read(terminal, 65536):
            pass
    except OSError:                     # nobody holds the other end any more
        pass
    status = os.waitpid(job, 0)[1]
    os.close(terminal)
    missed += not (os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 128 + signal.SIGINT)
print(missed)
