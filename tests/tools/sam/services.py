"""The services around the functions: the simulated game upstream, and local clouds."""

import contextlib
import http.client
import json
import os
import re
from urllib.parse import urlsplit

from processes import TARGET, Failure, Process, free_port

# The simulator always shows the game of this moment, so that its responses do not change: 16 November 2026.
SIMULATED_MOMENT_MS = 1794830400000

# The upstream key of the functions. The simulator accepts any.
UPSTREAM_KEY = "local"


def game_url(host, port):
    """The base URL of the game at this host and port."""
    return f"http://{host}:{port}/at/{SIMULATED_MOMENT_MS}"


@contextlib.contextmanager
def upstream():
    """The port of a running game."""
    port = free_port()
    with Process("upstream", [TARGET / "debug" / "simulator", "--port", port]) as server:
        server.wait_for_port(port, seconds=20)
        yield port


class LocalCloud:
    """`cargo local` on free ports, with empty tables and without schedules."""

    def __init__(self, process):
        lines = process.log.read_text(errors="replace")
        address = lambda name: re.search(rf"^{name} (http://\S+)$", lines, re.MULTILINE)[1]
        self.api, self.lambda_url, self.dynamodb = address("ready"), address("lambda"), address("dynamodb")
        self.keys = dict(re.findall(r"^key (\w+) (\S+)$", lines, re.MULTILINE))
        self.process = process

    def invoke(self, function, text):
        """The response of the function to the event, through Lambda's Invoke API."""
        path = f"/2015-03-31/functions/{function}/invocations"
        return request(self.lambda_url, "POST", path, body=text).json()


@contextlib.contextmanager
def local_cloud(game, log):
    """A local cloud with the game at that port upstream. Its functions are the development build."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment["HYPIXEL_API_KEY"] = UPSTREAM_KEY
    command = [TARGET / "debug" / "local", "--profile", "test", "--upstream", game_url("127.0.0.1", game), "--no-schedules", "--history", "0"]
    command += ["--port", "0", "--lambda-port", "0", "--dynamodb-port", "0"]
    with Process("the local cloud", command, environment, log=log) as process:
        # It builds the functions first, if they are not up to date.
        process.wait_for_line(r"^ready http://\S+$", seconds=900)
        yield LocalCloud(process)


class Response:
    """An HTTP response."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    def json(self):
        """The body."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Failure(f"status {self.status}, and a body that is not JSON: {self.body[:400]!r}") from error


def request(base, method, path, headers=None, body=None, seconds=60):
    """The response of the server at `base`. The path is sent unchanged."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=seconds)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        return Response(connection.getresponse())
    except (OSError, http.client.HTTPException) as error:
        raise Failure(f"{method} {base}{path} got no response: {error!r}") from error
    finally:
        connection.close()
