"""Reads the templates as CloudFormation receives them, and offers short functions for the expressions in templates. Works offline,
without credentials."""

import os
import re
import sys
from pathlib import Path

# The translator reads a region from boto3, but sends no requests.
os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")

from cfnlint.decode.cfn_yaml import load  # reads the short forms (!Ref, !Sub) as CloudFormation does
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

TEMPLATE = Path(sys.argv[1])
SOURCE = load(str(TEMPLATE))
MONITORING, ACCOUNT, FIREWALL, BUDGET, FILES = (
    load(str(TEMPLATE.parent / "infra" / f"{name}.yaml")) for name in ("monitoring", "account", "firewall", "budget", "public-files")
)


def translated():
    """Returns the resources of the template as `sam deploy` sends it, with the defaults of its parameters."""
    template = load(str(TEMPLATE))
    # The translator accepts only code in S3.
    template["Globals"]["Function"]["CodeUri"] = "s3://bucket/key"
    defaults = {name: parameter.get("Default", "placeholder") for name, parameter in template["Parameters"].items()}
    # Leaves out the names of AWS's managed policies, which only an account can list.
    return Translator({}, Parser()).translate(template, defaults)["Resources"]


RESOURCES = translated()


def of_type(resource_type, resources=RESOURCES):
    return {name: resource for name, resource in resources.items() if resource["Type"] == resource_type}


# The logical id and the properties of each function, by its name: `record-mayor` for RecordMayorFunction.
FUNCTIONS = {
    re.sub("(?!^)([A-Z])", r"-\1", name.removesuffix("Function")).lower(): (name, function["Properties"])
    for name, function in of_type("AWS::Lambda::Function").items()
}


def reference(name):
    return {"Ref": name}


def attribute(resource, name):
    return {"Fn::GetAtt": [resource, name]}


def text_with(text):
    return {"Fn::Sub": text}


def either(condition, then, otherwise):
    return {"Fn::If": [condition, then, otherwise]}


NOTHING = reference("AWS::NoValue")
