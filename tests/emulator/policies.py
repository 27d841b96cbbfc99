"""An operator with only the documented rights, and functions whose policies are removed temporarily."""

import contextlib
import json
import re

from cloud import STACK
from processes import REPOSITORY, Failure


def operator(account):
    """Creates a user with the rights in infra/admin/README.md, Permissions, and returns the variables with its credentials."""
    iam = account.client("iam")
    outputs = account.outputs()
    history = account.table_arn(outputs["HistoryTable"])
    function = account.client("lambda").get_function_configuration(FunctionName=outputs["AccountsFunction"])["FunctionArn"]
    section = (REPOSITORY / "infra/admin/README.md").read_text().split("\n### Permissions\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| DynamoDB, on the table `(\w+)`.*?\| (.*) \|$", section, re.MULTILINE)
    actions = {table: [f"dynamodb:{action}" for action in re.findall(r"`(\w+)`", listed)] for table, listed in rows}
    [stack] = account.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    rights = {
        function: ["lambda:InvokeFunction"],
        history: actions["History"],
        f"{stack['StackId'].rsplit('/', 1)[0]}/*": ["cloudformation:DescribeStacks"],
    }
    statements = [{"Effect": "Allow", "Action": actions, "Resource": resource} for resource, actions in rights.items()]
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.create_user(UserName="operator")
    iam.put_user_policy(UserName="operator", PolicyName="cargo-admin", PolicyDocument=policy)
    key = iam.create_access_key(UserName="operator")["AccessKey"]
    return {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}


def functions_with_tables(account):
    """Returns the functions of the stack that use a table, by logical id."""
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
    """Within the `with` block, the function's role has no inline policies, and its instances are new, without caches."""
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


@contextlib.contextmanager
def denied(account, function, action):
    """Within the `with` block, the function's role has no right to the action, which may end in `*`."""
    iam, role = account.client("iam"), function["Role"].rsplit("/", 1)[1]
    statement = {"Effect": "Deny", "Action": action, "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_role_policy(RoleName=role, PolicyName="denied", PolicyDocument=policy)
    yield
    iam.delete_role_policy(RoleName=role, PolicyName="denied")


def replace_instances(account, function):
    """Sets the timeout to its current value: any update of the configuration starts new instances."""
    account.client("lambda").update_function_configuration(
        FunctionName=function["FunctionName"], Timeout=function["Timeout"]
    )
