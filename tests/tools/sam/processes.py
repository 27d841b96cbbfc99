"""Starts the processes of a check. Their output goes to files, every wait has a timeout, and the processes end with the check."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
# The folder for the output of the processes.
LOGS = TARGET / "sam" / "logs"


class Failure(Exception):
    """A check cannot run or has failed. The message is for the developer."""


def end_politely_when_asked():
    """Makes SIGTERM an exception, so that `with` blocks end their processes."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def free_port():
    """Returns a port of the loopback address that is free at the moment."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Process:
    """A process that stops, together with its children, when the `with` block ends."""

    def __init__(self, name, command, environment=None):
        self.name = name
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = LOGS / f"{name.replace(' ', '-')}.log"
        with open(self.log, "wb") as output:
            self.child = subprocess.Popen(
                [str(part) for part in command],
                cwd=REPOSITORY,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Starts a process group, so that all child processes can be ended.
                start_new_session=True,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Sends SIGTERM to the process group, then SIGKILL to the remaining processes, such as orphaned children."""
        for kind in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.child.pid, kind)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(20)

    def wait_until(self, is_ready, seconds, what):
        """Waits until `is_ready` returns true. Fails if the process ends or the time runs out first."""
        deadline = time.monotonic() + seconds
        while not is_ready():
            if self.child.poll() is not None or time.monotonic() > deadline:
                end = self.log.read_text(errors="replace")[-4000:]
                raise Failure(f"{self.name} has ended, or {seconds} s have passed, before {what}. The end of {self.log}:\n{end}")
            time.sleep(0.05)

    def wait_for_port(self, port, seconds, host="127.0.0.1"):
        """Waits until the port accepts connections."""

        def is_listening():
            with contextlib.suppress(OSError):
                socket.create_connection((host, port), timeout=1).close()
                return True

        self.wait_until(is_listening, seconds, f"it listened on port {port}")
