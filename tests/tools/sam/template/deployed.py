"""The templates named on the command line as CloudFormation gets them, and short names for their expressions."""

import sys
from pathlib import Path

from cfnlint.decode.cfn_yaml import load

import translate

TEMPLATE, OPENAPI = Path(sys.argv[1]), Path(sys.argv[2])
SOURCE = load(str(TEMPLATE))
RESOURCES = translate.translated(TEMPLATE)["Resources"]


def of_type(resource_type, resources=RESOURCES):
    return {name: resource for name, resource in resources.items() if resource["Type"] == resource_type}


# The nested stack of the alarms and the dashboard, and its template.
NESTED, NESTED_STACK = "Watch", RESOURCES["Watch"]
MONITORING = load(str(TEMPLATE.parent / NESTED_STACK["Properties"]["TemplateURL"]))
# The stack of the account, which operators deploy before.
ACCOUNT = load(str(TEMPLATE.parent / "infra" / "account.yaml"))
# The web ACL, which operators may deploy before.
FIREWALL = load(str(TEMPLATE.parent / "infra" / "firewall.yaml"))
# The nested stack of the budget, and its template.
BUDGET_STACK = RESOURCES["Spending"]
BUDGET = load(str(TEMPLATE.parent / BUDGET_STACK["Properties"]["TemplateURL"]))
# The nested stack of the public files, and its template.
FILES_STACK = RESOURCES["Files"]
FILES = load(str(TEMPLATE.parent / FILES_STACK["Properties"]["TemplateURL"]))

FUNCTIONS = {
    function["Metadata"]["BuildProperties"]["Binary"]: (name, function["Properties"])
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


def is_on(parameter):
    return {"Fn::Equals": [reference(parameter), "on"]}


def is_given(parameter):
    return {"Fn::Not": [{"Fn::Equals": [reference(parameter), ""]}]}


def is_positive(parameter):
    return {"Fn::Not": [{"Fn::Equals": [reference(parameter), "0"]}]}


NOTHING = reference("AWS::NoValue")
