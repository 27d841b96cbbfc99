"""Processes that a check starts. Their output goes to a file, every wait has a timeout, and they end with the check."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
# The output of the processes.
LOGS = TARGET / "sam" / "logs"

# The interval between two looks at a condition.
POLL_INTERVAL = 0.05


class Failure(Exception):
    """A check cannot run or has failed. The message is for the operator."""


# On a busy machine the emulator may start a function before it listens itself. The function finds no Runtime API and ends
# with this error. Lambda never does that, so the check repeats the request.
TOO_EARLY = re.compile(r"hyper_util::client::legacy::Error\(Connect, .{0,40}127\.0\.0\.1:")


def started_too_early(log, since=0):
    """Whether the log, from this byte on, has the error of a function that was started too early."""
    return TOO_EARLY.search(log.read_bytes()[since:].decode(errors="replace")) is not None


def end_politely_when_asked():
    """Makes SIGTERM an exception, so that `with` blocks end their processes."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def free_port():
    """A port of the loopback address that is free at this moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def tail(path, lines=40):
    """The end of a file, indented for a message."""
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        return f"    ({error})"
    return "\n".join(f"    {line[:2000]}" for line in text.splitlines()[-lines:]) or "    (it wrote nothing)"


class Process:
    """A process that ends with the `with` block, together with its children."""

    def __init__(self, name, command, environment=None, log=None):
        self.name = name
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = LOGS / f"{log or name.replace(' ', '-')}.log"
        with open(self.log, "wb") as output:
            try:
                self.child = subprocess.Popen(
                    [str(part) for part in command],
                    cwd=REPOSITORY,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    # A process group of its own, so that all of it can be ended.
                    start_new_session=True,
                )
            except OSError as error:
                raise Failure(f"{name} does not start: {error}") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, seconds=20):
        """Sends SIGTERM, then SIGKILL if the process does not end."""
        for kind, patience in [(signal.SIGTERM, seconds), (signal.SIGKILL, 5)]:
            try:
                os.killpg(self.child.pid, kind)
            except ProcessLookupError:
                pass
            try:
                self.child.wait(patience)
                break
            except subprocess.TimeoutExpired:
                print(f"{self.name} did not end within {patience} s of {kind.name}", file=sys.stderr)
        # Children that it has left behind.
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def failure(self, sentence):
        """The sentence, followed by the end of the output."""
        return Failure(f"{sentence}\n  The end of {self.log}:\n{tail(self.log)}")

    def wait_until(self, is_ready, seconds, what):
        """The first true result of `is_ready`. Fails if the process ends or the time runs out before."""
        deadline = time.monotonic() + seconds
        while True:
            has_ended = self.child.poll() is not None
            result = is_ready()
            if result:
                return result
            if has_ended:
                raise self.failure(f"{self.name} ended (exit code {self.child.returncode}) before {what}")
            if time.monotonic() > deadline:
                raise self.failure(f"{self.name}: timed out after {seconds} s before {what}")
            time.sleep(POLL_INTERVAL)

    def wait_for_line(self, pattern, seconds):
        """The match of a pattern in the output, once there is one."""
        expression = re.compile(pattern, re.MULTILINE)
        return self.wait_until(
            lambda: expression.search(self.log.read_text(errors="replace")), seconds, f"it wrote /{pattern}/"
        )

    def wait_for_port(self, port, seconds):
        """Returns once the port accepts connections."""

        def is_listening():
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                return False
            return True

        self.wait_until(is_listening, seconds, f"it listened on port {port}")
