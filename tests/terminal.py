"""A program in a pseudo-terminal, and its screen read back through a terminal emulator (pyte)."""
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time

import pyte


class Terminal:
    """Runs words on a terminal of columns x rows."""

    def __init__(self, words, columns=80, rows=24, env=None):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.master, slave = pty.openpty()
        self.size(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        environment = {"TERM": "xterm", "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        environment.update(env or {})
        self.process = subprocess.Popen(words, stdin=slave, stdout=slave, stderr=slave,
                                        env=environment, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(rows, columns)
        self.size(columns, rows)

    def keys(self, text):
        os.write(self.master, text.encode())

    def take(self, seconds):
        """Reads what it writes next, within so long; False: nothing."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def pump(self, seconds):
        """Lets it run for so long, and reads what it writes."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and self.take(left):
            pass

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def text(self):
        return "\n".join(self.lines())

    def until(self, wanted, seconds=60):
        """Waits until wanted(lines) holds, or a text stands on the screen; False: it never did."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.pump(0.1)
            if wanted(self.lines()) if callable(wanted) else wanted in self.text():
                return True
        return False

    def end(self, seconds=60):
        """Waits for its end, and reads all that it wrote; its exit status, or None."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.pump(0.05)
            if self.process.poll() is not None:
                while self.take(0.1):
                    pass
                return self.process.returncode
        return None

    def restored(self):
        """Whether the terminal is as it was; a busy machine passes on late what was written."""
        deadline = time.monotonic() + 10
        while not self.raw.rstrip().endswith(b"\x1b[?1049l") and time.monotonic() < deadline:
            self.pump(0.1)
        now = termios.tcgetattr(self.slave)
        return now[:4] == self.before[:4] and self.raw.rstrip().endswith(b"\x1b[?1049l")

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)
