"""The sample events of `events/`, and what an answer to each must look like."""

import json

from processes import REPOSITORY, Failure
from services import PLAYER_OF_SIMULATOR

FOLDER = REPOSITORY / "events"


class Event:
    """One file. `NAME.json` is for the function NAME, `broken-NAME.json` a bad request for it.

    `player` is somebody whom the game knows."""

    def __init__(self, path, player):
        self.path = path
        self.name = path.stem
        self.is_broken = self.name.startswith("broken-")
        self.function = self.name.removeprefix("broken-")
        self.text = path.read_text().replace(PLAYER_OF_SIMULATOR, player)
        self.value = json.loads(self.text)
        self.is_recorders = self.function.startswith("record-")
        self.is_authorizers = self.function == "authorizer"

    def with_key(self, key):
        """The text of an authorizer's event of a caller with that key."""
        value = json.loads(self.text)
        value["headers"]["X-API-Key"] = key
        value["multiValueHeaders"]["X-API-Key"] = [key]
        return json.dumps(value)

    def problem_with(self, answer):
        """What is wrong with the function's answer, or None."""
        if self.is_recorders and self.is_broken:
            return None if "errorType" in answer else "it should have failed"
        if self.is_recorders:
            return None if answer.get("tick") == self.value["time"] else "it did not record the tick"
        if self.is_authorizers:
            # The keys of the events are known nowhere.
            return None if answer.get("errorMessage") == "Unauthorized" else "the key should have been refused"
        return self._problem_with_response(answer)

    def _problem_with_response(self, answer):
        if "statusCode" not in answer:
            return "it is no response"
        if answer["headers"].get("Content-Type") != "application/json" or answer["isBase64Encoded"]:
            return "it is not labelled as plain JSON"
        body, status = json.loads(answer["body"]), answer["statusCode"]
        if self.is_broken:
            code = {400: "BAD_REQUEST", 404: "NOT_FOUND"}.get(status)
            is_refused = body["success"] is False and code is not None and body["error"]["code"] == code
            return None if is_refused else "the request should have been refused"
        return None if status == 200 and body["success"] is True else "the request should have succeeded"


def events(player=PLAYER_OF_SIMULATOR):
    """All of them: recorders' first, so that there is history for those that ask for it."""
    found = [Event(path, player) for path in FOLDER.glob("*.json")]
    described = (FOLDER / "README.md").read_text()
    for event in found:
        if f"`{event.path.name}`" not in described:
            raise Failure(f"events/README.md has no line about {event.path.name}")
    return sorted(found, key=lambda event: (not event.is_recorders, event.function, event.is_broken))


def expect_one_for_each(functions):
    """Fails if a function of the template has no sample event, or an event no function."""
    with_event = {event.function for event in events() if not event.is_broken}
    if missing := sorted(set(functions) - with_event):
        raise Failure(f"functions without an event in events/: {', '.join(missing)}")
    if unknown := sorted({event.function for event in events()} - set(functions)):
        raise Failure(f"events/ has events for what is no function of the template: {', '.join(unknown)}")


def shortened(answer):
    """An answer as a failure shows it."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return text if len(text) <= 600 else f"{text[:400]} … ({len(text):,} characters) … {text[-100:]}"


def problem_between(event, runner, answer, expected):
    """What is wrong with what `runner` answered to the event, where the local cloud answered `expected`; or None."""
    problem = event.problem_with(answer)
    if problem:
        return f"{problem}: {shortened(answer)}"
    if answer != expected:
        return f"not what the local cloud answers.\n  {runner}: {shortened(answer)}\n  local cloud: {shortened(expected)}"
    return None


def remark(answer):
    """An answer in a few words."""
    if "statusCode" in answer:
        return f"{answer['statusCode']}, {len(answer['body'].encode()):,} bytes"
    return shortened(answer)
