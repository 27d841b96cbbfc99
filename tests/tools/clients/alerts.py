#!/usr/bin/env python3
"""Runs functions/examples/alert.py against the service at BASE_URL and a webhook, and checks what it posts and how often it requests prices.

    alerts.py functions/examples
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SCRIPT = str(Path(sys.argv[1], "alert.py").resolve())
SERVICE, KEY = os.environ["BASE_URL"], os.environ["API_KEY"]
FAR = 1e12
# For each market: when each response was sent, and the seconds for which its prices cannot change.
responses = {"/v1/bazaar": [], "/v1/auctions/prices": []}
# The seconds between two refreshes of the provider. Responses about the bazaar are fresh for only five.
REFRESH = {"/v1/bazaar": 20, "/v1/auctions/prices": 60}
posts = []
# The paths that were requested again before their prices could change.
hasty = []
# The first requests for prices fail, and the first post.
refusals = {"/v1/bazaar": 1, "/v1/auctions/prices": 1, "/webhook": 1}


class Handler(BaseHTTPRequestHandler):
    def reply(self, status, body, headers):
        # Without the usual header `Date`, which would be that of this proxy.
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_refused(self):
        path = self.path.split("?")[0]
        refusals[path] -= 1
        if refusals[path] >= 0:
            self.reply(429, b"<html>", {"Retry-After": "1"})
        return refusals[path] >= 0

    def do_GET(self):
        if self.is_refused():
            return
        path = self.path.split("?")[0]
        if responses[path]:
            sent_at, fresh = responses[path][-1]
            if time.monotonic() - sent_at < fresh:
                hasty.append(path)
        request = urllib.request.Request(SERVICE + self.path, headers={"X-API-Key": self.headers["X-API-Key"]})
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                body, headers = response.read(), {name: response.headers[name] for name in ("Date", "Expires")}
        except urllib.error.HTTPError as error:
            return self.reply(error.code, b"", {"Retry-After": "1"})
        date, expires = (parsedate_to_datetime(value) for value in headers.values())
        responses[path].append((time.monotonic(), max((expires - date).total_seconds(), REFRESH[path])))
        self.reply(200, body, headers)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.is_refused():
            posts.append(body)
            self.reply(204, b"", {})

    def log_message(self, *arguments):
        pass


def run(until, environment, file):
    """Runs the alert until the condition holds."""
    process = subprocess.Popen([sys.executable, SCRIPT, file], env=environment, stderr=subprocess.PIPE)
    try:
        while not until():
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
    finally:
        process.kill()
    return process.communicate()[1].decode()


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
environment = os.environ | {"BASE_URL": address, "DISCORD_WEBHOOK": f"{address}/webhook"}
watched = [
    {"id": "INK_SACK:3", "below": FAR, "above": FAR},
    {"id": "COAL", "below": 0.1, "above": 0.1},
    {"id": "HYPERION", "market": "auctions", "below": FAR},
    {"id": "NO_SUCH_ITEM", "below": FAR},
    {"id": "NO_SUCH_ITEM", "market": "auctions", "below": FAR},
]
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "watched.json")
    file.write_text(json.dumps(watched))
    memory = Path(f"{file}.sent")
    expected = ["auctions HYPERION below 1000000000000.0", "bazaar COAL above 0.1", "bazaar INK_SACK:3 below 1000000000000.0"]

    def is_told():
        return memory.exists() and json.loads(memory.read_text()) == expected

    # Failures end neither the program nor the other market.
    errors = run(is_told, environment, file)
    assert errors.count("HTTPError 429") == 3 and "webhook" not in errors, errors
    texts = sorted(post["content"] for post in posts)
    assert [text.split(" coins")[0] for text in texts] == [
        "**COAL** is above 0.1", "**HYPERION** is below 1,000,000,000,000.0", "**INK_SACK:3** is below 1,000,000,000,000.0"
    ], texts
    assert all(post["allowed_mentions"] == {"parse": []} for post in posts), posts

    # It remembers what it has sent, and forgets a bound that is no longer crossed.
    memory.write_text(json.dumps([*expected, f"bazaar INK_SACK:3 above {FAR}", f"auctions NO_SUCH_ITEM below {FAR}"]))
    for known in responses.values():
        known.clear()
    run(lambda: is_told() and len(responses["/v1/bazaar"]) == 2 and responses["/v1/auctions/prices"], environment, file)
    assert len(posts) == 3 and not hasty, (posts, hasty)
server.shutdown()
