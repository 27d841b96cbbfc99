"""Takes the policies of functions away for a moment, to show that they are what lets a function use its table."""

import contextlib
import json

from cloud import STACK
from processes import Failure


def functions_with_tables(account):
    """The functions of the stack that use a table, by logical id."""
    functions = account.client("lambda")
    resources = account.client("cloudformation").describe_stack_resources(StackName=STACK)["StackResources"]
    found = {}
    for resource in resources:
        if resource["ResourceType"] == "AWS::Lambda::Function":
            function = functions.get_function_configuration(FunctionName=resource["PhysicalResourceId"])
            if any(name.endswith("_TABLE") for name in function["Environment"]["Variables"]):
                found[resource["LogicalResourceId"]] = function
    return found


@contextlib.contextmanager
def without_policies(account, function):
    """Within the block, the role of the function has no policies of its own, and a new instance has cached nothing."""
    iam = account.client("iam")
    role = function["Role"].rsplit("/", 1)[1]
    names = iam.list_role_policies(RoleName=role)["PolicyNames"]
    if not names:
        raise Failure(f"the role {role} has no policies")
    documents = {name: iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"] for name in names}
    for name in names:
        iam.delete_role_policy(RoleName=role, PolicyName=name)
    replace_instances(account, function)
    try:
        yield
    finally:
        for name, document in documents.items():
            iam.put_role_policy(RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document))
        replace_instances(account, function)


def replace_instances(account, function):
    """Changes the configuration, although to the same value: new instances answer the next requests."""
    account.client("lambda").update_function_configuration(
        FunctionName=function["FunctionName"], Timeout=function["Timeout"]
    )
