#!/usr/bin/env python3
"""Exits with 1 and says why if the SAM translator refuses a template. Works offline, without credentials.

cfn-lint knows CloudFormation's schemas; only the translator notices a misspelt key of SAM's own, such as `Cache:`
for `Caching:`.

    python translate.py template.yaml
"""

import os
import sys

# The translator asks boto3 for a region; it sends nothing.
os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")

from cfnlint.decode.cfn_yaml import load  # reads the short forms (!Ref, !Sub) as CloudFormation does
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator


def with_packaged_code(template):
    """The template as `sam package` leaves it: the translator takes code from S3 only."""
    functions = template.get("Globals", {}).get("Function", {})
    functions.pop("CodeUri", None)
    for resource in template.get("Resources", {}).values():
        if resource.get("Type") == "AWS::Serverless::Function":
            resource.setdefault("Properties", {})["CodeUri"] = "s3://bucket/key"
    return template


def translated(path):
    """The template at the path as CloudFormation gets it, with the parameters' defaults."""
    template = with_packaged_code(load(str(path)))
    parameters = {
        name: parameter.get("Default", "placeholder") for name, parameter in template.get("Parameters", {}).items()
    }
    # No names of AWS's managed policies are known: looking them up would need an account.
    return Translator({}, Parser()).translate(template, parameters)


def main(arguments):
    if len(arguments) != 1:
        print("usage: translate.py TEMPLATE", file=sys.stderr)
        return 2
    path = arguments[0]
    try:
        resources = translated(path)["Resources"]
    except InvalidDocumentException as error:
        for cause in error.causes:
            print(f"{path}: {cause.message}", file=sys.stderr)
        return 1
    except Exception as error:  # not YAML, not a template: whatever it is, it is no template to deploy
        print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(f"{path}: {len(resources)} resources after translation")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
