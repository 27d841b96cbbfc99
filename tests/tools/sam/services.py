"""What functions need around them: the game upstream, and the local cloud with its tables.

    python services.py has-captures     exit code 0 where the game's real answers are at hand
"""

import contextlib
import http.client
import json
import os
import re
import sys
from urllib.parse import urlsplit

from processes import REPOSITORY, TARGET, Failure, Process, free_port

# Real captures of the provider's answers and their server. They stand beside the repository, and not in it.
CAPTURES = REPOSITORY / ".." / "shared" / "upstream" / "serve.py"
# Without them the simulated game answers, always as of this moment, so that it stands still, too: 16 November 2026.
SIMULATED_MOMENT_MS = 1794830400000

# A player that each of them knows. The sample events ask for the simulator's.
PLAYER_OF_CAPTURES = "Co_op_Farmer"
PLAYER_OF_SIMULATOR = "Notch"

# The key that the local cloud gives its own functions, too. A placeholder: the captures and the simulator want any.
UPSTREAM_KEY = "local"


class Game:
    """A game that gives the same answers all the time."""

    def __init__(self, port):
        self.port = port
        if CAPTURES.is_file():
            self.command, self.path = [sys.executable, CAPTURES, "--port", port], ""
            self.player = PLAYER_OF_CAPTURES
        else:
            self.command = [TARGET / "debug" / "simulator", "--port", port]
            self.path, self.player = f"/at/{SIMULATED_MOMENT_MS}", PLAYER_OF_SIMULATOR

    def url(self, host="127.0.0.1", port=None):
        """Its base URL, for whoever reaches it there."""
        return f"http://{host}:{port or self.port}{self.path}"


@contextlib.contextmanager
def upstream():
    """A game that runs."""
    game = Game(free_port())
    with Process("upstream", game.command) as server:
        server.wait_for_port(game.port, seconds=20)
        yield game


class LocalCloud:
    """`cargo local` on free ports, with empty tables and without schedules."""

    def __init__(self, process):
        lines = process.log.read_text(errors="replace")
        address = lambda name: re.search(rf"^{name} (http://\S+)$", lines, re.MULTILINE)[1]
        self.api, self.lambda_url, self.dynamodb = address("ready"), address("lambda"), address("dynamodb")
        self.keys = dict(re.findall(r"^key (\w+) (\S+)$", lines, re.MULTILINE))
        self.process = process

    def invoke(self, function, text):
        """What the function makes of the event, through Lambda's Invoke API."""
        path = f"/2015-03-31/functions/{function}/invocations"
        return request(self.lambda_url, "POST", path, body=text).json()


@contextlib.contextmanager
def local_cloud(game, log):
    """A local cloud in front of that game. Its functions are the development build."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment["HYPIXEL_API_KEY"] = UPSTREAM_KEY
    command = [TARGET / "debug" / "local", "--upstream", game.url(), "--no-schedules", "--history", "0"]
    command += ["--port", "0", "--lambda-port", "0", "--dynamodb-port", "0"]
    with Process("the local cloud", command, environment, log=log) as process:
        # The functions are built before it answers, if they are not yet.
        process.wait_for_line(r"^ready http://\S+$", seconds=900)
        yield LocalCloud(process)


class Answer:
    """An HTTP answer."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    def json(self):
        """The body."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Failure(f"status {self.status}, and a body that is no JSON: {self.body[:400]!r}") from error


def request(base, method, path, headers=None, body=None, seconds=60):
    """The answer of the server at `base`. The path is sent as it is given."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=seconds)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        return Answer(connection.getresponse())
    except (OSError, http.client.HTTPException) as error:
        raise Failure(f"{method} {base}{path} has no answer: {error!r}") from error
    finally:
        connection.close()


if __name__ == "__main__":
    if sys.argv[1:] != ["has-captures"]:
        sys.exit("usage: services.py has-captures")
    sys.exit(0 if CAPTURES.is_file() else 1)
