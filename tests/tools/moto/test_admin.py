#!/usr/bin/env python3
"""Tests `cargo admin` with --stack against a simulated AWS (moto): CloudFormation, API Gateway and DynamoDB.

    cargo build --package admin
    pip install --requirement tests/tools/moto/requirements.txt
    tests/tools/moto/test_admin.py [PROGRAM, by default target/debug/admin]

Each subclass of `Command` is a command with the end state that it must reach, whatever fault of `FAULTS` hits one of its writes.
`infra/admin/tests` tests the commands without API Gateway, and `tests/emulator` those that a deployment needs.

The tables are those of template.yaml. moto's stacks have no usage plans, so those are created without a stack. `Cloud` adds
behaviour of AWS that moto lacks:

- pages of API keys (moto returns all of them at once),
- a key is in at most one usage plan of a stage (moto allows several),
- removing a key from a plan that it is not in fails with NotFoundException (moto fails otherwise).

Latency and eventual consistency of AWS are not simulated.
"""

import datetime
import io
import json
import logging
import pathlib
import re
import subprocess
import sys
import threading
import unittest

import boto3
import yaml
from moto import mock_aws
from moto.cloudformation.utils import yaml_tag_constructor
from moto.server import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ROOT / "target/debug/admin")
REGION = "us-east-1"
KEY = re.compile(r"gd_[0-9A-Za-z]{38}")
WRITES = {
    "PutItem", "UpdateItem", "DeleteItem",
    "CreateApiKey", "DeleteApiKey", "CreateUsagePlanKey", "DeleteUsagePlanKey",
}
# Each fault with the exit code of the command that it hits.
FAULTS = {"killed before": -9, "killed after": -9, "throttled": 0, "response lost": 0, "denied": 1}
# The status and the code of a refusal. DynamoDB has another code for throttled requests.
REFUSALS = {
    "throttled": (429, "TooManyRequestsException"),
    "response lost": (500, "InternalFailure"),
    "denied": (403, "AccessDeniedException"),
}
# Longer than the program's own timeout, in seconds.
TIMEOUT = 120
ACCOUNT = "bots"


def operation(request):
    """AWS's name for the operation."""
    if target := request.headers.get("X-Amz-Target"):
        return target.split(".")[-1]
    if request.path == "/":
        return request.form["Action"]
    parts = request.path.strip("/").split("/")
    verb = {"GET": "Get", "POST": "Create", "DELETE": "Delete"}[request.method]
    thing = {"apikeys": "ApiKey", "usageplans": "UsagePlan"}[parts[0]] + ("Key" if len(parts) > 2 else "")
    return verb + thing + ("s" if verb == "Get" and len(parts) % 2 else "")


def refusal(name, status, code):
    if name == "DescribeStacks":
        text = f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>said so</Message></Error></ErrorResponse>"
        return Response(text, status, content_type="text/xml")
    body = json.dumps({"__type": code, "message": "said so"})
    return Response(body, status, {"x-amzn-ErrorType": code}, content_type="application/json")


class Cloud:
    """AWS with the stack `live`. The program is connected to this WSGI application, and the tests to moto."""

    def __init__(self):
        mock_aws().start()
        self.gateway = boto3.client("apigateway", region_name=REGION)
        self.dynamodb = boto3.client("dynamodb", region_name=REGION)
        self.formation = boto3.client("cloudformation", region_name=REGION)
        # `other` belongs to another stack.
        self.plans = {name: self.gateway.create_usage_plan(name=name)["id"] for name in ("starter", "pro", "other")}
        self.stack("live")
        [stack] = self.formation.describe_stacks(StackName="live")["Stacks"]
        self.outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        self.moto = DomainDispatcherApplication(create_backend_app)
        server = make_server("127.0.0.1", 0, self, threaded=True, request_handler=MotoRequestHandler)
        self.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    def stack(self, name, without=None):
        """Creates a stack with the tables of the template and all outputs but one."""
        yaml.add_multi_constructor("", yaml_tag_constructor)
        template = yaml.load((ROOT / "template.yaml").read_text(), Loader=yaml.Loader)
        outputs = {table: template["Outputs"][table] for table in ("AccessTable", "HistoryTable")}
        outputs |= {f"{tier.title()}UsagePlan": {"Value": self.plans[tier]} for tier in ("starter", "pro")}
        part = {
            "Parameters": {"TableProtection": template["Parameters"]["TableProtection"]},
            "Conditions": {"TablesAreProtected": template["Conditions"]["TablesAreProtected"]},
            "Resources": {table: template["Resources"][table] for table in ("Access", "History")},
            "Outputs": {output: value for output, value in outputs.items() if output != without},
        }
        self.formation.create_stack(StackName=name, TemplateBody=json.dumps(part))

    def reset(self):
        """Deletes all accounts and keys, and forgets all faults."""
        for key in self.gateway.get_api_keys()["items"]:
            self.gateway.delete_api_key(apiKey=key["id"])
            for plan in self.plans_of(key["id"]):
                self.gateway.delete_usage_plan_key(usagePlanId=self.plans[plan], keyId=key["id"])
        for row in self.rows():
            self.dynamodb.delete_item(TableName=self.outputs["AccessTable"], Key={"pk": row["pk"]})
        # The number of a write of the next command, counted from 1, and the fault that hits it.
        self.fault = None
        # Operations that are refused until the reset, each with the fault, and what happens before an operation.
        self.refused, self.before = {}, {}
        # The writes of the last command, and all operations, each with its table.
        self.writes, self.operations = [], []

    def rows(self):
        return self.dynamodb.scan(TableName=self.outputs["AccessTable"])["Items"]

    def keys(self):
        """The ids of the gateway's keys by value."""
        return {key["value"]: key["id"] for key in self.gateway.get_api_keys(includeValues=True)["items"]}

    def plans_of(self, key):
        found = [plan["id"] for plan in self.gateway.get_usage_plans(keyId=key)["items"]]
        return [name for name, plan in self.plans.items() if plan in found]

    def add_to_plan(self, key, plan):
        self.gateway.create_usage_plan_key(usagePlanId=self.plans[plan], keyId=key, keyType="API_KEY")

    def __call__(self, environ, start_response):
        request = Request(environ)
        environ["wsgi.input"] = io.BytesIO(request.get_data())
        return self.respond(request)(environ, start_response)

    def respond(self, request):
        name = operation(request)
        assert not KEY.search(request.get_data(as_text=True) + request.full_path), f"{name} sends AWS a key"
        document = request.get_json(force=True, silent=True) or {}
        for table in document.get("RequestItems", [document.get("TableName")]):
            self.operations.append((name, table))
        fault = self.refused.get(name)
        if name in WRITES:
            self.writes.append(name)
            if self.fault and self.fault[0] == len(self.writes):
                (_, fault), self.fault = self.fault, None
        if fault in ("throttled", "denied"):
            return self.refuse(name, fault)
        if fault == "killed before":
            return self.kill()
        self.before.pop(name, lambda: None)()
        response = self.as_aws(name, request)
        if fault == "killed after":
            return self.kill()
        return self.refuse(name, fault) if fault else response

    def refuse(self, name, fault):
        status, code = REFUSALS[fault]
        return refusal(name, status, "ThrottlingException" if fault == "throttled" and name.endswith("Item") else code)

    def kill(self):
        """Kills the program, which does not get this response."""
        self.process.kill()
        self.process.wait()
        return Response()

    def as_aws(self, name, request):
        """The response of AWS, where moto differs."""
        if name in ("CreateUsagePlanKey", "DeleteUsagePlanKey"):
            parts = request.path.split("/")
            key = request.get_json(force=True)["keyId"] if name == "CreateUsagePlanKey" else parts[4]
            plans = [self.plans[plan] for plan in self.plans_of(key) if plan != "other"]
            if name == "CreateUsagePlanKey" and plans:
                return refusal(name, 409, "ConflictException")
            if name == "DeleteUsagePlanKey" and parts[2] not in plans:
                return refusal(name, 404, "NotFoundException")
        response = Response.from_app(self.moto, request.environ)
        if name == "GetApiKeys":
            # A page has one key, so that there are often several.
            first = int(request.args.get("position", 0))
            keys = json.loads(response.data)["item"]
            position = {"position": str(first + 1)} if first + 1 < len(keys) else {}
            response.data = json.dumps({"item": keys[first : first + 1], **position})
        return response


def admin(*arguments, stack="live", given=None, environment=None):
    """How the program ends. Only the standard output of `key issue` may contain a key."""
    options = ["--stack", stack] if stack else ["--table", CLOUD.outputs["AccessTable"]]
    CLOUD.writes.clear()
    CLOUD.process = subprocess.Popen(
        [PROGRAM, *arguments, *options],
        env={"AWS_ENDPOINT_URL": CLOUD.url, "HOME": "/nowhere", **(environment or {})},
        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )
    with CLOUD.process as process:
        try:
            output, errors = process.communicate(given, timeout=TIMEOUT)
        finally:
            process.kill()
    is_issue = arguments[:2] == ("key", "issue")
    assert not KEY.search(errors) and (is_issue or not KEY.search(output)), f"the output of {arguments} has a key"
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


class Test(unittest.TestCase):
    def setUp(self):
        CLOUD.reset()

    def succeed(self, *arguments, **options):
        ended = admin(*arguments, **options)
        self.assertEqual(ended.returncode, 0, ended)
        return ended

    def fail_with(self, text, *arguments, **options):
        ended = admin(*arguments, **options)
        self.assertEqual(ended.returncode, 1, ended)
        self.assertIn(text, ended.stderr.splitlines()[-1])

    def set_account(self, tier="starter", **options):
        self.succeed("account", "set", ACCOUNT, "--tier", tier, "--paid-until", "2200-01-01", **options)

    def issue(self, label="ci", **options):
        """The key and its KEY-ID."""
        issued = json.loads(self.succeed("key", "issue", ACCOUNT, "--label", label, "--json", **options).stdout)
        return issued["key"], issued["id"]

    def explain(self, key):
        return json.loads(admin("key", "explain", "-", "--json", given=key).stdout)

    def assert_in_order(self, tier, count):
        """Fails unless the account has this number of keys, none is pending, and the gateway has the issued ones in the plan."""
        rows = [row for row in CLOUD.rows() if row["pk"]["S"].startswith("key#")]
        self.assertEqual([row for row in rows if "pending" in row], [])
        issued = {row["pk"]["S"].removeprefix("key#"): row["label"]["S"] for row in rows if "revoked_at" not in row}
        self.assertEqual(len(issued), count)
        expected = {value: (f"{ACCOUNT} {label}", True, [tier]) for value, label in issued.items()}
        keys = CLOUD.gateway.get_api_keys(includeValues=True)["items"]
        self.assertEqual({key["value"]: (key["name"], key["enabled"], CLOUD.plans_of(key["id"])) for key in keys}, expected)


class Command:
    """A command with its end state. The cloud is empty before `prepare`, which sets the arguments."""

    # Standard input.
    given = None
    # The writes without a fault.
    writes = []
    # A part of the last line.
    says = ""

    def repeat(self, number):
        """Repeats the command, which a fault at this write has hit."""
        return self.succeed(*self.arguments, given=self.given)

    def test_without_a_fault(self):
        self.prepare()
        ended = self.succeed(*self.arguments, given=self.given)
        self.assertEqual(CLOUD.writes, self.writes)
        self.assertIn(self.says, ended.stderr.splitlines()[-1])
        self.check(ended)

    def test_a_fault_at_any_write(self):
        for fault, code in FAULTS.items():
            for number, write in enumerate(self.writes, 1):
                with self.subTest(f"{fault} at write {number}, {write}"):
                    CLOUD.reset()
                    self.prepare()
                    CLOUD.fault = number, fault
                    ended = admin(*self.arguments, given=self.given)
                    self.assertEqual((CLOUD.fault, ended.returncode), (None, code), ended)
                    if fault == "denied":
                        self.assertIn(f"failed at {write}: AccessDeniedException: said so; these credentials need", ended.stderr)
                    if code != 0:
                        ended = self.repeat(number)
                    self.check(ended)


class IssueKey(Command, Test):
    writes = ["PutItem", "CreateApiKey", "CreateUsagePlanKey", "UpdateItem"]
    says = "the key is shown only this once"
    arguments = ["key", "issue", ACCOUNT, "--label", "Bot of Zoë", "--json"]

    def prepare(self):
        self.set_account()

    def repeat(self, number):
        """If the key is issued already but was not shown, follows the advice in the error."""
        ended = admin(*self.arguments)
        if ended.returncode != 0:
            self.assertEqual(number, len(self.writes))
            command = re.search(r"cargo admin (key revoke \S+) --stack live$", ended.stderr.strip())[1]
            self.succeed(*command.split())
            ended = self.succeed(*self.arguments)
        return ended

    def check(self, ended):
        self.assert_in_order("starter", 1)
        explained = self.explain(json.loads(ended.stdout)["key"])
        self.assertEqual((explained["allowed"], explained["gateway"]), (True, "good"))


class IssueKeyAfterInterruption(IssueKey):
    writes = ["DeleteUsagePlanKey", "DeleteApiKey", "DeleteItem", *IssueKey.writes]

    def prepare(self):
        super().prepare()
        CLOUD.fault = 3, "killed after"
        self.assertEqual(admin(*self.arguments).returncode, -9)


class AddKeyToGateway(Command, Test):
    """The key was issued without --stack."""

    writes = ["CreateApiKey", "CreateUsagePlanKey"]
    says = "was shown when it was issued"
    arguments = ["key", "issue", ACCOUNT, "--label", "ci", "--json"]

    def prepare(self):
        self.set_account("pro", stack=None)
        self.issue(stack=None)

    def repeat(self, number):
        """Fails if nothing is left to do."""
        return admin(*self.arguments)

    def check(self, ended):
        self.assert_in_order("pro", 1)
        if ended.returncode == 0:
            self.assertIsNone(json.loads(ended.stdout)["key"])


class MoveKeys(Command, Test):
    writes = ["PutItem", *["DeleteUsagePlanKey", "CreateUsagePlanKey"] * 2]
    says = "to the usage plan of pro"
    arguments = ["account", "set", ACCOUNT, "--tier", "pro"]

    def prepare(self):
        self.set_account()
        self.issue("one")
        self.issue("two")

    def check(self, ended):
        self.assert_in_order("pro", 2)


class RevokeKey(Command, Test):
    writes = ["UpdateItem", "DeleteUsagePlanKey", "DeleteApiKey"]
    says = "deleted the key from API Gateway"

    def prepare(self):
        self.set_account()
        _, key_id = self.issue()
        self.arguments = ["key", "revoke", key_id]

    def check(self, ended):
        self.assert_in_order("starter", 0)
        [revoked] = [row for row in CLOUD.rows() if "sha256" in row]
        self.assertIn("revoked_at", revoked)


class RevokeKeyOfTwoStacks(RevokeKey):
    """Another stack has imported the accounts of this one."""

    writes = ["UpdateItem", "DeleteUsagePlanKey"]
    says = "API Gateway keeps the key: it is also in a usage plan of another stack"

    def prepare(self):
        super().prepare()
        [self.key] = CLOUD.keys().values()
        CLOUD.add_to_plan(self.key, "other")

    def check(self, ended):
        self.assertEqual((list(CLOUD.keys().values()), CLOUD.plans_of(self.key)), ([self.key], ["other"]))
        CLOUD.gateway.delete_usage_plan_key(usagePlanId=CLOUD.plans["other"], keyId=self.key)
        self.succeed(*self.arguments)
        super().check(ended)


class ImportAccounts(Command, Test):
    """The table has lost everything. Of three keys, API Gateway has lost one, and has one in the plan of another tier."""

    writes = ["PutItem"] * 5 + ["CreateApiKey", "CreateUsagePlanKey", "DeleteUsagePlanKey", "CreateUsagePlanKey"]
    says = "API Gateway: added 1, moved 1, already there 1"
    arguments = ["account", "import", "-"]

    def prepare(self):
        self.set_account()
        ids = [self.issue(label)[1] for label in ("lost", "moved", "right", "revoked")]
        self.succeed("key", "revoke", ids[3])
        lines = self.succeed("account", "export", "-").stdout.splitlines()
        self.given = "\n".join(sorted(lines, key=lambda line: json.loads(line).get("label", "")))
        keys = CLOUD.keys()
        CLOUD.gateway.delete_api_key(apiKey=keys[ids[0]])
        CLOUD.gateway.delete_usage_plan_key(usagePlanId=CLOUD.plans["starter"], keyId=keys[ids[1]])
        CLOUD.add_to_plan(keys[ids[1]], "pro")
        for row in CLOUD.rows():
            CLOUD.dynamodb.delete_item(TableName=CLOUD.outputs["AccessTable"], Key={"pk": row["pk"]})

    def check(self, ended):
        self.assert_in_order("starter", 3)
        exported = self.succeed("account", "export", "-").stdout.splitlines()
        self.assertEqual(sorted(exported), sorted(self.given.splitlines()))


class Stack(Test):
    def test_throttled_requests_are_retried_a_limited_number_of_times(self):
        self.set_account()
        self.issue()
        CLOUD.refused = {"GetApiKeys": "throttled"}
        CLOUD.operations.clear()
        self.fail_with("run the same command again later", "account", "set", ACCOUNT)
        self.assertEqual(CLOUD.operations.count(("GetApiKeys", None)), 6)

    def test_a_refused_read_is_named(self):
        self.set_account()
        self.issue()
        for read in ("DescribeStacks", "GetItem", "Query", "GetApiKeys", "GetUsagePlans"):
            CLOUD.refused = {read: "denied"}
            self.fail_with(f"failed at {read}: AccessDeniedException: said so; these credentials need", "account", "set", ACCOUNT)

    def test_a_key_that_is_revoked_while_it_is_issued_is_not_shown(self):
        def revoke():
            [key] = [row["pk"] for row in CLOUD.rows() if "sha256" in row]
            CLOUD.dynamodb.delete_item(TableName=CLOUD.outputs["AccessTable"], Key={"pk": key})

        self.set_account()
        CLOUD.before = {"CreateUsagePlanKey": revoke}
        ended = admin("key", "issue", ACCOUNT, "--label", "ci")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("before it was issued; run the same command again", ended.stderr)
        self.assert_in_order("starter", 0)

    def test_keys_that_cannot_be_moved_or_added_are_named(self):
        self.set_account()
        _, key_id = self.issue("two words", stack=None)
        lines = self.succeed("account", "export", "-").stdout.splitlines()
        ended = self.succeed("account", "set", ACCOUNT, "--tier", "pro")
        self.assertIn(f"API Gateway does not have the key {key_id}; to add it, run: "
                      f"cargo admin key issue {ACCOUNT} --label 'two words' --stack live", ended.stderr)
        CLOUD.reset()
        ended = admin("account", "import", "-", "--json", given=lines[1])
        self.assertEqual((ended.returncode, CLOUD.keys()), (1, {}))
        expected = {"added": 0, "moved": 0, "already_there": 0, "without_account": 1}
        self.assertEqual(json.loads(ended.stdout)["gateway"], expected)
        self.assertIn(f"warning: there is no account {ACCOUNT}: its key {key_id} is not added", ended.stderr)

    def test_a_stack_of_another_service_is_an_error(self):
        for missing in ("AccessTable", "StarterUsagePlan", "ProUsagePlan"):
            CLOUD.stack(f"no-{missing}", without=missing)
            reason = f"the stack no-{missing} has no output {missing}; check --stack"
            self.fail_with(reason, "key", "list", ACCOUNT, stack=f"no-{missing}")

    def test_endpoints_of_single_services_take_precedence_unless_they_are_empty(self):
        self.set_account()
        single = {f"AWS_ENDPOINT_URL_{name}": CLOUD.url for name in ("DYNAMODB", "CLOUDFORMATION", "API_GATEWAY")}
        self.issue("one", environment={"AWS_ENDPOINT_URL": "http://127.0.0.1:9", **single})
        self.issue("two", environment=dict.fromkeys(single, ""))


class ExplainKey(Test):
    def test_the_state_in_the_gateway_is_explained(self):
        def check(gateway, status, reason):
            explained = self.explain(key)
            self.assertEqual((explained["gateway"], explained["status"], explained["reason"]), (gateway, status, reason))

        self.set_account(stack=None)
        key, _ = self.issue(stack=None)
        check("missing", 401, "API Gateway does not have the key")
        self.succeed("account", "set", ACCOUNT, "--status", "suspended")
        check("missing", 403, "the account's subscription is suspended")
        self.succeed("account", "set", ACCOUNT, "--status", "active")
        self.succeed("key", "issue", ACCOUNT, "--label", "ci")
        check("good", 200, None)
        [known] = CLOUD.keys().values()
        CLOUD.gateway.delete_usage_plan_key(usagePlanId=CLOUD.plans["starter"], keyId=known)
        check("no_plan", 401, "the API Gateway key is in no usage plan of the stack")
        CLOUD.add_to_plan(known, "pro")
        check("other_plan", 200, None)
        explained = admin("key", "explain", key)
        self.assertIn("the API Gateway key is in the usage plan of another tier", explained.stdout)
        self.assertIn(f"to correct this, run: cargo admin key issue {ACCOUNT} --label ci --stack live", explained.stderr)
        self.succeed("key", "issue", ACCOUNT, "--label", "ci")
        check("good", 200, None)
        CLOUD.gateway.update_api_key(apiKey=known, patchOperations=[{"op": "replace", "path": "/enabled", "value": "false"}])
        check("disabled", 401, "the API Gateway key is disabled")


class Permissions(Test):
    """The tables of permissions in infra/admin/README.md list what the commands use, and nothing else."""

    def listed(self):
        """The actions of each table in the section Permissions."""
        section = (ROOT / "infra/admin/README.md").read_text().split("\n### Permissions\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| DynamoDB, on the table `(\w+)`.*?\| (.*) \|$", section, re.MULTILINE)
        return {(action, CLOUD.outputs[f"{table}Table"]) for table, actions in rows for action in re.findall(r"`(\w+)`", actions)}

    def test_the_actions_on_tables_are_listed(self):
        self.set_account()
        # A key that was not issued completely is removed.
        CLOUD.fault = 1, "killed after"
        admin("key", "issue", ACCOUNT, "--label", "ci")
        _, key_id = self.issue()
        self.succeed("key", "revoke", key_id)
        accounts = self.succeed("account", "export", "-").stdout
        self.succeed("account", "import", "-", given=accounts)
        minute = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=2)
        times = {"start": 1762000000000, "end": 1762000600000, "recorded_at": "2025-11-01T00:00:00Z"}
        for kind, lines in {
            "events": [
                {"year": 1, "name": "N", "key": "k", "perks": []},
                {"item_id": "A", "amount": 1, "price": 1, **times},
            ],
            "bazaar": [
                {"interval": "1m", "opened_at": minute.strftime("%Y-%m-%dT%H:%M:00Z"), "products": {"A": [1, 2, 3, 4]}},
                {"interval": "1d", "opened_at": "2025-11-01T00:00:00Z", "products": {"A": [1] * 11}},
            ],
        }.items():
            for _ in range(2):
                self.succeed("history", "import", kind, "-", given="\n".join(map(json.dumps, lines)))
            self.succeed("history", "export", kind, "-")
        self.assertEqual({used for used in CLOUD.operations if used[1]}, self.listed())


if __name__ == "__main__":
    # It logs every request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    CLOUD = Cloud()
    unittest.main(verbosity=1)
