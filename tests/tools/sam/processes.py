"""Processes that a check starts: their output goes into a file, every wait has an end, and none outlives the check."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
# Where the output of whatever was started is found afterwards.
LOGS = TARGET / "sam" / "logs"

# How often something is looked at that is waited for.
LOOK_AGAIN_AFTER = 0.05


class Failure(Exception):
    """What an operator is told. It is a sentence, or a few."""


# On a busy machine the emulator may start a function before it listens itself, and the function, which finds no Runtime API,
# ends with this. Lambda never does that. So such a function is asked once more.
TOO_EARLY = re.compile(r"hyper_util::client::legacy::Error\(Connect, .{0,40}127\.0\.0\.1:")


def started_too_early(log, since=0):
    """Whether a function that was started too early wrote into the log after so many bytes."""
    return TOO_EARLY.search(log.read_bytes()[since:].decode(errors="replace")) is not None


def end_politely_when_asked():
    """Makes SIGTERM an exception, so that `with` blocks end what they started."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def free_port():
    """A port of the loopback address that nobody listens on, at least just now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def tail(path, lines=40):
    """The end of a file, indented, for showing it in a failure."""
    try:
        text = path.read_text(errors="replace")
    except OSError as error:
        return f"    ({error})"
    return "\n".join(f"    {line[:2000]}" for line in text.splitlines()[-lines:]) or "    (it wrote nothing)"


class Process:
    """A process that ends, with all of its children, when the `with` block does."""

    def __init__(self, name, command, environment=None, folder=REPOSITORY, log=None):
        self.name = name
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = LOGS / f"{log or name.replace(' ', '-')}.log"
        with open(self.log, "wb") as output:
            try:
                self.child = subprocess.Popen(
                    [str(part) for part in command],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    # A group of its own, which can be ended as a whole.
                    start_new_session=True,
                )
            except OSError as error:
                raise Failure(f"{name} does not start: {error}") from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, seconds=20):
        """Asks it to end, and makes it end if it does not."""
        for kind, patience in [(signal.SIGTERM, seconds), (signal.SIGKILL, 5)]:
            try:
                os.killpg(self.child.pid, kind)
            except ProcessLookupError:
                pass
            try:
                self.child.wait(patience)
                break
            except subprocess.TimeoutExpired:
                print(f"{self.name} does not end within {patience} s of being asked to", file=sys.stderr)
        # What it started and did not end itself.
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def failure(self, sentence):
        """The sentence with the end of what the process wrote."""
        return Failure(f"{sentence}\n  The end of {self.log}:\n{tail(self.log)}")

    def wait_until(self, is_ready, seconds, what):
        """The first true answer of `is_ready`. It fails when the process ends before, or the time does."""
        deadline = time.monotonic() + seconds
        while True:
            has_ended = self.child.poll() is not None
            answer = is_ready()
            if answer:
                return answer
            if has_ended:
                raise self.failure(f"{self.name} ended (exit code {self.child.returncode}) before {what}")
            if time.monotonic() > deadline:
                raise self.failure(f"{self.name}: waited {seconds} s in vain until {what}")
            time.sleep(LOOK_AGAIN_AFTER)

    def wait_for_line(self, pattern, seconds):
        """The match of a pattern in what the process writes."""
        expression = re.compile(pattern, re.MULTILINE)
        return self.wait_until(
            lambda: expression.search(self.log.read_text(errors="replace")), seconds, f"it wrote /{pattern}/"
        )

    def wait_for_port(self, port, seconds, host="127.0.0.1"):
        """Returns when somebody listens there."""

        def is_listening():
            try:
                socket.create_connection((host, port), timeout=1).close()
            except OSError:
                return False
            return True

        self.wait_until(is_listening, seconds, f"it listened on {host}:{port}")
