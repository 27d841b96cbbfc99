#!/usr/bin/env python3
"""Exits with 1 and prints why if the operators' page is wrong about how to run functions on Lambda Managed Instances.

The template has no parameter for it: SAM refuses a condition around CapacityProviderConfig. So the page says what to change,
and this script changes it, in the template that it writes, and looks at what CloudFormation would get.

    python managed_instances.py template.yaml infra/README.md OUTPUT
"""

import json
import re
import sys
import textwrap
from pathlib import Path

from cfnlint.decode.cfn_yaml import load, loads

import translate

SECTION = "\n## Many requests at a time\n"
REMOVED = ("MemorySize", "ReservedConcurrentExecutions")
# The least that Lambda accepts on managed instances.
LEAST_MEMORY_MB = 2048


def documented(page):
    """The properties that the page says to add to a function."""
    [section] = page.split(SECTION)[1:]
    block = re.search(r"```yaml\n(.*?)\n *```", section.split("\n## ")[0], re.DOTALL)
    example = "arn:aws:lambda:eu-central-1:123456789012:capacity-provider:example"
    return loads(textwrap.dedent(block.group(1)).replace("ARN", example))


def change(template, properties):
    """Adds these properties to the authorizer and to every function with a route under /v1."""
    for name, resource in template["Resources"].items():
        events = resource["Properties"].get("Events", {}) if resource["Type"] == "AWS::Serverless::Function" else {}
        paths = [event["Properties"].get("Path", "") for event in events.values()]
        if name == "AuthorizerFunction" or any(path.startswith("/v1/") for path in paths):
            for removed in REMOVED:
                resource["Properties"].pop(removed, None)
            resource["Properties"].update(properties)


def defects(template):
    """What is wrong with a template after the translation."""
    functions = {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Lambda::Function"
    }
    moved = {name: properties for name, properties in functions.items() if "CapacityProviderConfig" in properties}
    if len(moved) < 13:
        yield f"only {sorted(moved)} are on managed instances"
    for name, properties in moved.items():
        config = properties["CapacityProviderConfig"]["LambdaManagedInstancesCapacityProviderConfig"]
        if not 1 < config["PerExecutionEnvironmentMaxConcurrency"] <= 64:
            yield f"{name} handles {config['PerExecutionEnvironmentMaxConcurrency']} requests at a time"
        if properties.get("MemorySize", 0) < LEAST_MEMORY_MB:
            yield f"{name} has {properties.get('MemorySize')} MB"
        if "ReservedConcurrentExecutions" in properties or "VpcConfig" in properties:
            yield f"{name} has properties that Lambda refuses on managed instances"
    for name in set(functions) - set(moved):
        if functions[name].get("MemorySize", 0) >= LEAST_MEMORY_MB:
            yield f"{name} has memory for managed instances and is not on them"


def main(arguments):
    if len(arguments) != 3:
        print("usage: managed_instances.py TEMPLATE PAGE OUTPUT", file=sys.stderr)
        return 2
    template, page, output = map(Path, arguments)
    source = load(str(template))
    change(source, documented(page.read_text()))
    for resource in source["Resources"].values():
        if resource["Type"] == "AWS::CloudFormation::Stack":
            nested = template.parent.resolve() / resource["Properties"]["TemplateURL"]
            resource["Properties"]["TemplateURL"] = str(nested)
    output.write_text(json.dumps(source))
    found = list(defects(translate.translated(output)))
    for defect in found:
        print(f"{page}: {defect}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
