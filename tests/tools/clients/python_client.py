#!/usr/bin/env python3
"""Sends every request of the document's examples with the client that openapi-python-client generated in `generated`. The response must
be of the type that the document names, and have no field that its types do not have.

    python_client.py openapi.json
"""

import datetime
import enum
import importlib
import json
import os
import re
import sys
import typing

import attrs

sys.path.insert(0, ".")
with open(sys.argv[1]) as file:
    DOCUMENT = json.load(file)


def argument(value, hint):
    """The value as the type that the generated function takes."""
    for kind in typing.get_args(hint) or (hint,):
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return kind(value)
        if kind is datetime.datetime:
            return datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
    return value


def expect_described(value):
    """Fails if the value or a part of it has a field that its type does not have."""
    if isinstance(value, list):
        for part in value:
            expect_described(part)
    elif attrs.has(type(value)):
        schema = DOCUMENT["components"]["schemas"].get(type(value).__name__, {"additionalProperties": True})
        assert "additionalProperties" in schema or not value.additional_properties, value.additional_properties
        for part in [*attrs.asdict(value, recurse=False).values(), *value.additional_properties.values()]:
            expect_described(part)


client = importlib.import_module("generated").AuthenticatedClient(
    os.environ["BASE_URL"], token=os.environ["API_KEY"], auth_header_name="X-API-Key", prefix="", timeout=30
)
count = 0
for path, item in DOCUMENT["paths"].items():
    operation = item["get"]
    module = operation["tags"][0].replace(" ", "_") + "." + re.sub("(?=[A-Z])", "_", operation["operationId"])
    send = importlib.import_module(f"generated.api.{module.lower()}").sync_detailed
    hints = typing.get_type_hints(send)
    content = operation["responses"]["200"]["content"]["application/json"]
    for example in content["examples"]:
        parameters = [entry for entry in operation.get("parameters", []) if example in entry["examples"]]
        values = {entry["name"]: entry["examples"][example]["value"] for entry in parameters}
        # A name that Python reserves ends with a low line.
        values = {name if name in hints else f"{name}_": value for name, value in values.items()}
        response = send(client=client, **{name: argument(value, hints[name]) for name, value in values.items()})
        print(f"Python: {path} {values}: {type(response.parsed).__name__}")
        assert response.status_code == 200, response.content[:300]
        assert type(response.parsed).__name__ == content["schema"]["$ref"].rsplit("/", 1)[-1]
        expect_described(response.parsed)
        count += 1
print(f"Python: {count} responses")
