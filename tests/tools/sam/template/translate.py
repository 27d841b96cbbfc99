#!/usr/bin/env python3
"""Exits with 1 and prints why if the SAM translator rejects a template. Works offline, without credentials.

cfn-lint checks CloudFormation's schemas. Only the translator finds a misspelt key of SAM, such as `Cache:` for `Caching:`.

    python translate.py template.yaml
"""

import os
import sys

# The translator reads a region from boto3. It sends nothing.
os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")

from cfnlint.decode.cfn_yaml import load  # reads the short forms (!Ref, !Sub) as CloudFormation does
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator


def with_packaged_code(template):
    """The template as `sam package` leaves it: the translator accepts only code in S3."""
    functions = template.get("Globals", {}).get("Function", {})
    functions.pop("CodeUri", None)
    for resource in template.get("Resources", {}).values():
        if resource.get("Type") == "AWS::Serverless::Function":
            resource.setdefault("Properties", {})["CodeUri"] = "s3://bucket/key"
    return template


def translated(path):
    """The template as CloudFormation gets it, with the defaults of its parameters."""
    template = with_packaged_code(load(str(path)))
    parameters = {
        name: parameter.get("Default", "placeholder") for name, parameter in template.get("Parameters", {}).items()
    }
    # Without the names of AWS's managed policies, which only an account can list.
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
    except Exception as error:  # not YAML, or not a template
        print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(f"{path}: {len(resources)} resources after translation")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
