"""The service at BASE_URL, for tests of the examples: its data, and a proxy in front of it that refuses some requests."""

import json
import os
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BASE_URL = os.environ["BASE_URL"]


def fetch(target):
    """Returns the status and the body of a response of the service."""
    request = urllib.request.Request(BASE_URL + target, headers={"X-API-Key": os.environ["API_KEY"]})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def book(id):
    """Returns the order book of a bazaar product."""
    return json.loads(fetch(f"/v1/bazaar?mode=book&id={id}")[1])["data"]


def one_sided(full, empty):
    """Returns the id of a product with orders on one side only. On its empty side, the average is 0 as well, so this side stays empty."""
    products = json.loads(fetch("/v1/bazaar?mode=prices")[1])["data"]["items"]
    averages = {"topBuyOrder": "sellPrice", "topSellOffer": "buyPrice"}
    return next(item["id"] for item in products if item[full] and item[empty] is None and item[averages[empty]] == 0)


@contextmanager
def without(path):
    """Yields the address of a proxy. A request whose target begins with `path` gets a 500 that is not a response of the API."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = (500, b"<html>") if self.path.startswith(path) else fetch(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
