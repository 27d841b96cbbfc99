"""Changes or excludes requests whose validity OpenAPI cannot describe, because a parameter depends on another parameter."""

import re

import schemathesis
from schemathesis import GenerationMode

# The modes of the bazaar that read each parameter, and whether they require it.
READ_BY = {
    "id": ({"item", "book"}, True), "ids": ({"items"}, True),
    "limit": ({"flips"}, False), "min_price": ({"flips"}, False), "min_volume": ({"flips"}, False),
}


# A time that the document allows.
TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


@schemathesis.hook
def filter_case(context, case):
    """Excludes requests to the bazaar whose validity depends on the mode."""
    if case.operation.path != "/v1/bazaar":
        return True
    query = case.query or {}
    mode = last(query.get("mode", "full"))
    for name, (modes, is_required) in READ_BY.items():
        if mode in modes and is_required and not last(query.get(name)):
            return False
        # In other modes, the parameter is ignored, so an invalid value is not an error.
        if mode not in modes and name in query and not is_generated(case):
            return False
    return True


@schemathesis.hook
def map_case(context, case):
    """Removes parameters that the mode of the bazaar ignores, changes times to the start of an interval, and the start of a period to a time
    before its end. Excluding these requests would leave too few."""
    if case.operation.path.endswith("/candles") and case.query:
        start = case.query.get("from")
        if isinstance(start, str) and TIME.fullmatch(start):
            case.query["from"] = "0001-01-01T00:00:00Z"
    if case.operation.path == "/v1/bazaar/candles/all" and case.query:
        opened_at = case.query.get("opened_at")
        if isinstance(opened_at, str) and TIME.fullmatch(opened_at):
            case.query["opened_at"] = "2026-01-01T00:00:00Z"
    if case.operation.path == "/v1/bazaar" and case.query and is_generated(case):
        mode = last(case.query.get("mode", "full"))
        for name, (modes, _) in READ_BY.items():
            if mode not in modes:
                case.query.pop(name, None)
    return case


def is_generated(case):
    """Returns whether the whole request is generated and meant to be valid."""
    meta = case.meta
    return meta is not None and meta.phase.name == "fuzzing" and meta.generation.mode == GenerationMode.POSITIVE


def last(value):
    """Returns the value of a parameter, or the last value if it repeats."""
    return value[-1] if isinstance(value, list) and value else value
