"""Sends requests to the services that a check starts."""

import http.client
import json
from urllib.parse import urlsplit

from processes import Failure

# The upstream key of the functions. The simulator accepts any key.
UPSTREAM_KEY = "local-without-a-key"


class Response:
    """An HTTP response, read to its end."""

    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    def json(self):
        """Returns the parsed body. Fails if it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Failure(f"status {self.status}, and a body that is not JSON: {self.body[:400]!r}") from error


def request(base, method, path, headers=None):
    """Returns the response of the server at `base`. The path is sent unchanged."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=60)
    try:
        connection.request(method, path, headers=headers or {})
        return Response(connection.getresponse())
    except (OSError, http.client.HTTPException) as error:
        raise Failure(f"{method} {base}{path} got no response: {error!r}") from error
    finally:
        connection.close()
