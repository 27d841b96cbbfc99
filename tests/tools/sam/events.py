"""The sample events of `events/`, and the response that each must get."""

import json

from processes import REPOSITORY, Failure

FOLDER = REPOSITORY / "events"
# Auctions begin and end between two responses, so these are not compared with each other.
MOVING = {"auctions-prices", "record-auctions"}


class Event:
    """One file: `NAME.json` is an event for the function NAME, `broken-NAME.json` an invalid one."""

    def __init__(self, path):
        self.path = path
        self.name = path.stem
        self.is_broken = self.name.startswith("broken-")
        self.function = self.name.removeprefix("broken-")
        self.text = path.read_text()
        self.value = json.loads(self.text)
        self.is_recorders = self.function.startswith("record-")
        self.is_authorizers = self.function == "authorizer"

    def problem_with(self, response):
        """What is wrong with the function's response, or None."""
        if self.is_recorders and self.is_broken:
            return None if "errorType" in response else "the recorder did not fail"
        if self.is_recorders:
            return None if response.get("tick") == self.value["time"] else "it did not record the tick"
        if self.is_authorizers:
            # The key of the event is not issued.
            return None if response.get("errorMessage") == "Unauthorized" else "the key was not refused"
        return self._problem_with_response(response)

    def _problem_with_response(self, response):
        if "statusCode" not in response:
            return "it is not a response"
        if self.function == "page" and not self.is_broken:
            return None if self._is_page(response) else "it is not a page"
        if response["headers"].get("Content-Type") != "application/json" or response["isBase64Encoded"]:
            return "its headers do not say that it is plain JSON"
        body, status = json.loads(response["body"]), response["statusCode"]
        if self.is_broken:
            code = {400: "BAD_REQUEST", 404: "NOT_FOUND"}.get(status)
            is_refused = body["success"] is False and code is not None and body["error"]["code"] == code
            return None if is_refused else "the request was not refused"
        return None if status == 200 and body["success"] is True else "the request failed"

    def _is_page(self, response):
        is_html = response["headers"].get("Content-Type") == "text/html; charset=utf-8" and not response["isBase64Encoded"]
        return response["statusCode"] == 200 and is_html and response["body"].startswith("<!doctype html>")


def events():
    """All events. Those of recorders come first, so that the history routes have data."""
    found = [Event(path) for path in FOLDER.glob("*.json")]
    return sorted(found, key=lambda event: (not event.is_recorders, event.function, event.is_broken))


def expect_one_for_each(functions):
    """Fails if a function has no sample event, or an event has no function."""
    with_event = {event.function for event in events() if not event.is_broken}
    if missing := sorted(set(functions) - with_event):
        raise Failure(f"functions without an event in events/: {', '.join(missing)}")
    if unknown := sorted({event.function for event in events()} - set(functions)):
        raise Failure(f"events in events/ without a function in the template: {', '.join(unknown)}")


def shortened(response):
    """A response, shortened for a message."""
    text = response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)
    return text if len(text) <= 600 else f"{text[:400]} … ({len(text):,} characters) … {text[-100:]}"


def problem_between(event, runner, response, expected):
    """What is wrong with the response of `runner` to the event, where the local cloud has responded `expected`; or None."""
    problem = event.problem_with(response)
    if problem:
        return f"{problem}: {shortened(response)}"
    if response != expected and event.function not in MOVING:
        return f"not the response of the local cloud.\n  {runner}: {shortened(response)}\n  local cloud: {shortened(expected)}"
    return None


def remark(response):
    """A response in a few words."""
    if "statusCode" in response:
        return f"{response['statusCode']}, {len(response['body'].encode()):,} bytes"
    return shortened(response)
