"""Runs a command as a shell with job control does, on a terminal of its own, for
tests/run_command.sh: prints "stopped" if it stopped, lets it go on, and prints how it ended."""
import fcntl
import os
import pty
import signal
import sys
import termios
import threading
import time

control, terminal = pty.openpty()
if os.fork() > 0:
    os.close(terminal)
    os.wait()
    sys.exit(0)
os.setsid()
fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)


def drain():
    while True:
        try:
            if not os.read(control, 65536):
                return
        except OSError:
            return


threading.Thread(target=drain, daemon=True).start()
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(terminal, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    for number in range(3):
        os.dup2(terminal, number)
    os.execv(sys.argv[1], sys.argv[1:])
deadline = time.time() + 60
while time.time() < deadline:
    pid, status = os.waitpid(job, os.WUNTRACED | os.WNOHANG)
    if pid == 0:
        time.sleep(0.05)
    elif os.WIFSTOPPED(status):
        print("stopped", flush=True)
        os.killpg(job, signal.SIGCONT)
    else:
        print("ended", os.WEXITSTATUS(status), flush=True)
        os._exit(0)
print("it hangs", flush=True)
os.killpg(job, signal.SIGKILL)
os._exit(1)
