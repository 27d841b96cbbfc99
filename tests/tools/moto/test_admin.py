#!/usr/bin/env python3
"""Tests `cargo admin` with --stack against a simulated AWS (moto): CloudFormation, API Gateway and DynamoDB.

    cargo build --package admin
    pip install --requirement tests/tools/moto/requirements.txt
    tests/tools/moto/test_admin.py [PROGRAM, by default target/debug/admin]

A proxy between the program and moto injects faults: it kills the program before or after each of its writes, throttles,
denies access, and drops responses. It also adds behaviour of AWS that moto lacks:

- pages of API keys (moto returns all of them at once),
- a key is in at most one usage plan of a stage (moto allows several),
- removing a key from a plan that it is not in fails with NotFoundException (moto fails otherwise).

moto's CloudFormation has no stages and no usage plans. They are created without it, and the stack outputs their ids. Latency,
throttling and eventual consistency of AWS are not simulated.
"""

import datetime
import http.client
import json
import logging
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
from moto.server import ThreadedMotoServer

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ROOT / "target/debug/admin")
REGION = "us-east-1"
KEY = re.compile(r"gd_[0-9A-Za-z]{38}")
WRITES = {
    "PutItem", "UpdateItem", "DeleteItem",
    "CreateApiKey", "DeleteApiKey", "CreateUsagePlanKey", "DeleteUsagePlanKey",
}
# The keys on a page of the proxy: few, so that there are always several pages.
PAGE = 2
# Longer than the program's own timeout, in seconds.
TIMEOUT = 120

TEMPLATE = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": {"Starter": {"Type": "String"}, "Pro": {"Type": "String"}},
    "Resources": {
        "Access": {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "account", "AttributeType": "S"},
                ],
                "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                "GlobalSecondaryIndexes": [{
                    "IndexName": "by-account",
                    "KeySchema": [
                        {"AttributeName": "account", "KeyType": "HASH"},
                        {"AttributeName": "pk", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }],
            },
        },
        "History": {
            "Type": "AWS::DynamoDB::Table",
            "Properties": {
                "BillingMode": "PAY_PER_REQUEST",
                "AttributeDefinitions": [
                    {"AttributeName": "pk", "AttributeType": "S"},
                    {"AttributeName": "sk", "AttributeType": "S"},
                ],
                "KeySchema": [
                    {"AttributeName": "pk", "KeyType": "HASH"},
                    {"AttributeName": "sk", "KeyType": "RANGE"},
                ],
            },
        },
    },
    "Outputs": {
        "AccessTable": {"Value": {"Ref": "Access"}},
        "HistoryTable": {"Value": {"Ref": "History"}},
        "StarterUsagePlan": {"Value": {"Ref": "Starter"}},
        "ProUsagePlan": {"Value": {"Ref": "Pro"}},
    },
}


def now():
    """The time two minutes ago."""
    moment = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=2)
    return moment.strftime("%Y-%m-%dT%H:%M:00Z")


def operation(method, path, headers, body):
    """AWS's name for the operation."""
    if target := headers.get("X-Amz-Target"):
        return target.split(".")[-1]
    parts = path.split("?")[0].strip("/").split("/")
    if parts == [""]:
        return urllib.parse.parse_qs(body.decode()).get("Action", [""])[0]
    verb = {"GET": "Get", "POST": "Create", "DELETE": "Delete", "PATCH": "Update"}[method]
    thing = "UsagePlanKey" if len(parts) > 2 else {"apikeys": "ApiKey", "usageplans": "UsagePlan"}.get(parts[0], parts[0])
    return verb + thing + ("s" if method == "GET" and len(parts) % 2 else "")


def tables(body):
    """The names of the tables of a request to DynamoDB."""
    try:
        document = json.loads(body)
    except ValueError:
        return []
    single = [document["TableName"]] if "TableName" in document else []
    return single + list(document.get("RequestItems", {}))


class Proxy(ThreadingHTTPServer):
    """A proxy in proxy of moto that injects faults and adds behaviour of AWS."""

    daemon_threads = True

    def __init__(self, behind):
        super().__init__(("127.0.0.1", 0), Handler)
        self.behind = behind
        self.gateway = boto3.client("apigateway", endpoint_url=behind, **CREDENTIALS)
        self.reset()

    def reset(self):
        self.process = None
        # The write at which the program is killed, counted from 1, and whether that is before or after it.
        self.kill = None
        self.writes = []
        # The remaining failures of an operation, with status and code.
        self.failing = {}
        # Operations that are executed, but whose response is lost, once each.
        self.losing = set()
        # The operations of the program, each with the name of its table, if it has one.
        self.operations = set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """Ignores connections of a killed program."""

    def forward(self, method, path, headers, body):
        host = urllib.parse.urlsplit(self.behind).netloc
        connection = http.client.HTTPConnection(host, timeout=TIMEOUT)
        kept = {name: value for name, value in headers.items() if name.lower() != "connection"}
        connection.request(method, path, body, kept)
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, dict(response.getheaders()), body

    def as_aws(self, name, method, path, headers, body):
        """The response of AWS, where moto differs."""
        parts = path.split("?")[0].strip("/").split("/")
        if name in ("CreateUsagePlanKey", "DeleteUsagePlanKey"):
            plan = parts[1]
            key = json.loads(body)["keyId"] if name == "CreateUsagePlanKey" else parts[3]
            plans = [plan["id"] for plan in self.gateway.get_usage_plans(keyId=key)["items"]]
            if name == "CreateUsagePlanKey" and plans:
                return refusal(name, 409, "ConflictException")
            if name == "DeleteUsagePlanKey" and plan not in plans:
                return refusal(name, 404, "NotFoundException")
        status, kept, response = self.forward(method, path, headers, body)
        if name == "GetApiKeys" and status == 200:
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)
            first = int(query.get("position", ["0"])[0])
            document = json.loads(response)
            if first + PAGE < len(document["item"]):
                document["position"] = str(first + PAGE)
            document["item"] = document["item"][first : first + PAGE]
            response = json.dumps(document).encode()
        return status, kept, response

    def respond(self, method, path, headers, body):
        name = operation(method, path, headers, body)
        assert not KEY.search(body.decode()) and not KEY.search(path), f"{name} sends AWS a key"
        self.operations.update((table, name) for table in tables(body) or [None])
        if self.failing.get(name, (0,))[0] > 0:
            left, status, code = self.failing[name]
            self.failing[name] = (left - 1, status, code)
            return refusal(name, status, code)
        if name in WRITES:
            self.writes.append(name)
        is_cut = name in WRITES and self.kill and len(self.writes) == self.kill[0]
        if is_cut and self.kill[1] == "before":
            self.process.kill()
            raise ConnectionAbortedError
        response = self.as_aws(name, method, path, headers, body)
        if is_cut:
            self.process.kill()
            raise ConnectionAbortedError
        if name in self.losing:
            self.losing.remove(name)
            return refusal(name, 500, "InternalFailure")
        return response


def refusal(name, status, code):
    if name == "DescribeStacks":
        text = f"<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code><Message>said so</Message></Error></ErrorResponse>"
        return status, {"Content-Type": "text/xml"}, text.encode()
    body = json.dumps({"__type": code, "message": "said so"}).encode()
    return status, {"Content-Type": "application/json", "x-amzn-ErrorType": code}, body


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are sent separately, and Nagle's algorithm would delay the body.
    disable_nagle_algorithm = True

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, response = self.server.respond(self.command, self.path, self.headers, body)
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("connection", "content-length", "date", "server", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(response)))
        self.end_headers()
        self.wfile.write(response)

    do_GET = do_POST = do_DELETE = do_PATCH = do_PUT = handle_any

    def log_message(self, *arguments):
        pass


CREDENTIALS = {"region_name": REGION, "aws_access_key_id": "test", "aws_secret_access_key": "test"}


class Cloud:
    """AWS with the stack `live`."""

    def __init__(self):
        self.moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.moto.start()
        host, port = self.moto.get_host_and_port()
        self.behind = f"http://{host}:{port}"
        self.gateway = boto3.client("apigateway", endpoint_url=self.behind, **CREDENTIALS)
        self.dynamodb = boto3.client("dynamodb", endpoint_url=self.behind, **CREDENTIALS)
        self.formation = boto3.client("cloudformation", endpoint_url=self.behind, **CREDENTIALS)
        stage = self.stage()
        self.plans = {
            tier: self.gateway.create_usage_plan(name=f"live-{tier}", apiStages=[stage])["id"] for tier in ("starter", "pro")
        }
        self.stack("live", TEMPLATE)
        outputs = self.formation.describe_stacks(StackName="live")["Stacks"][0]["Outputs"]
        self.outputs = {output["OutputKey"]: output["OutputValue"] for output in outputs}
        self.proxy = Proxy(self.behind)
        self.thread = threading.Thread(target=self.proxy.serve_forever)
        self.thread.start()
        self.home = tempfile.TemporaryDirectory()

    def stage(self):
        api = self.gateway.create_rest_api(name="live")["id"]
        root = self.gateway.get_resources(restApiId=api)["items"][0]["id"]
        self.gateway.put_method(restApiId=api, resourceId=root, httpMethod="GET", authorizationType="NONE")
        self.gateway.put_integration(restApiId=api, resourceId=root, httpMethod="GET", type="MOCK")
        self.gateway.create_deployment(restApiId=api, stageName="live")
        return {"apiId": api, "stage": "live"}

    def stack(self, name, template):
        parameters = [
            {"ParameterKey": "Starter", "ParameterValue": self.plans["starter"]},
            {"ParameterKey": "Pro", "ParameterValue": self.plans["pro"]},
        ]
        self.formation.create_stack(StackName=name, TemplateBody=json.dumps(template), Parameters=parameters)

    def close(self):
        self.proxy.shutdown()
        self.thread.join()
        self.proxy.server_close()
        self.moto.stop()
        self.home.cleanup()

    def keys(self):
        """The keys of the gateway by value, each with its usage plans."""
        found = {}
        for key in self.gateway.get_api_keys(includeValues=True)["items"]:
            plans = [plan["id"] for plan in self.gateway.get_usage_plans(keyId=key["id"])["items"]]
            assert not KEY.search(json.dumps(key, default=str)), "the gateway has a key in plain text"
            found[key["value"]] = {**key, "tiers": sorted(tier for tier, plan in self.plans.items() if plan in plans)}
        return found

    def clear(self):
        """Deletes all accounts and keys."""
        for key in self.gateway.get_api_keys()["items"]:
            self.gateway.delete_api_key(apiKey=key["id"])
        table = self.outputs["AccessTable"]
        for row in self.dynamodb.scan(TableName=table, ProjectionExpression="pk")["Items"]:
            self.dynamodb.delete_item(TableName=table, Key=row)

    def rows(self, account):
        rows = self.dynamodb.scan(TableName=self.outputs["AccessTable"])["Items"]
        assert not KEY.search(json.dumps(rows)), "the table has a key in plain text"
        return [row for row in rows if row.get("account", {}).get("S") == account]


CLOUD = None


def setUpModule():
    global CLOUD
    CLOUD = Cloud()


def tearDownModule():
    CLOUD.close()


class Result:
    """How the program ended. Only the standard output of `key issue` may contain a key."""

    def __init__(self, code, output, errors):
        self.code, self.output, self.errors = code, output, errors

    def __repr__(self):
        return f"exit code {self.code}\n{KEY.sub('gd_…', self.output)}\n{self.errors}"

    @property
    def document(self):
        return json.loads(self.output)


def admin(*arguments, stack="live", given=None, kill=None, environment=None):
    proxy = CLOUD.proxy
    options = ["--stack", stack] if stack else ["--table", CLOUD.outputs["AccessTable"]]
    variables = {"AWS_ENDPOINT_URL": proxy.url, "HOME": CLOUD.home.name, **(environment or {})}
    command = [str(PROGRAM), *arguments, *options]
    proxy.writes.clear()
    process = subprocess.Popen(
        command, env=variables, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    proxy.process, proxy.kill = process, kill
    try:
        output, errors = process.communicate(given, timeout=TIMEOUT)
    finally:
        process.kill()
        process.wait()
        proxy.kill = None
    ended = Result(process.returncode, output, errors)
    is_issue = arguments[:2] == ("key", "issue")
    assert not KEY.search(errors) and (is_issue or not KEY.search(output)), f"the output has a key: {ended}"
    return ended


class Test(unittest.TestCase):
    names = iter(range(1_000_000))

    def setUp(self):
        CLOUD.proxy.reset()

    def succeed(self, *arguments, **options):
        ended = admin(*arguments, **options)
        self.assertEqual(ended.code, 0, ended)
        return ended

    def fail_with(self, text, *arguments, **options):
        ended = admin(*arguments, **options)
        self.assertEqual((ended.code, ended.output), (1, ""), ended)
        self.assertIn(text, ended.errors)
        self.assertEqual(ended.errors.splitlines()[-1][:7], "error: ", ended)
        return ended

    def account(self, tier="starter", **options):
        name = f"account-{next(self.names)}"
        self.succeed("account", "set", name, "--tier", tier, "--paid-until", "2200-01-01", **options)
        return name

    def issue(self, account, label="ci", **options):
        """The key and its id."""
        issued = self.succeed("key", "issue", account, "--label", label, "--json", **options).document
        return issued["key"], issued["id"]

    def explain(self, key, **options):
        return admin("key", "explain", "-", "--json", given=key, **options)

    def assert_in_order(self, account, tier, keys, key=None):
        """Fails unless the account has this number of issued keys, none is pending, and the gateway has them in the plan."""
        rows = CLOUD.rows(account)
        self.assertFalse([row for row in rows if "pending" in row])
        issued = {row["pk"]["S"].removeprefix("key#") for row in rows if "revoked_at" not in row}
        self.assertEqual(len(issued), keys)
        held = {value: found for value, found in CLOUD.keys().items() if found["name"].startswith(f"{account} ")}
        self.assertEqual(set(held), issued)
        for found in held.values():
            self.assertEqual((found["tiers"], found["enabled"]), ([tier], True))
        if key:
            explained = self.explain(key)
            self.assertEqual((explained.code, explained.document["gateway"]), (0, "good"), explained)

    def each_cut(self, prepare, *, command, given=None):
        """Kills the command before and after each of its writes, every time after a new `prepare`."""
        for when in ("before", "after"):
            number = 1
            while True:
                CLOUD.proxy.reset()
                prepared = prepare()
                ended = admin(*command(prepared), kill=(number, when), given=given)
                if ended.code != -9:
                    self.assertEqual(ended.code, 0, ended)
                    self.assertGreater(number, 2, "there were hardly any writes")
                    break
                cut = f"{when} write {number}, {CLOUD.proxy.writes[-1]}"
                with self.subTest(cut):
                    yield prepared, cut
                number += 1


class Issuing(Test):
    def test_a_new_key_is_in_the_plan_of_its_tier(self):
        for tier in ("starter", "pro"):
            account = self.account(tier)
            key, key_id = self.issue(account, "Bot of Zoë")
            self.assertRegex(key, f"^{KEY.pattern}$")
            self.assert_in_order(account, tier, 1, key)
            self.assertEqual(CLOUD.keys()[key_id]["name"], f"{account} Bot of Zoë")
            listed = self.succeed("key", "list", account, "--json").document
            self.assertEqual([(key["id"], key["state"]) for key in listed["keys"]], [(key_id, "issued")])

    def test_without_json_the_key_is_all_of_the_output(self):
        ended = self.succeed("key", "issue", self.account(), "--label", "ci")
        self.assertRegex(ended.output, f"^{KEY.pattern}\n$")
        self.assertIn("the key is shown only this once", ended.errors)

    def finish(self, account, cut):
        """Repeats the command. If the key is issued already but was not shown, follows the advice in the error."""
        ended = admin("key", "issue", account, "--label", "ci", "--json")
        if ended.code != 0:
            self.assertEqual(cut.split()[0], "after")
            self.assertIn("UpdateItem", cut)
            command = re.search(r"cargo admin (key revoke \S+ --stack live)$", ended.errors.strip()).group(1)
            self.succeed(*command.split()[:3])
            ended = self.succeed("key", "issue", account, "--label", "ci", "--json")
        return ended.document["key"]

    def test_a_key_is_issued_after_an_interruption_at_any_write(self):
        cuts = []
        command = lambda account: ("key", "issue", account, "--label", "ci")
        for account, cut in self.each_cut(self.account, command=command):
            cuts.append(cut)
            self.assert_in_order(account, "starter", 1, self.finish(account, cut))
        self.assertEqual([cut.split()[-1] for cut in cuts[:4]], ["PutItem", "CreateApiKey", "CreateUsagePlanKey", "UpdateItem"])
        self.assertEqual(len(cuts), 8)

    def test_a_key_is_issued_after_two_interruptions(self):
        def cut_off_before_the_end():
            account = self.account()
            ended = admin("key", "issue", account, "--label", "ci", kill=(3, "after"))
            self.assertEqual(ended.code, -9)
            return account

        cuts = []
        command = lambda account: ("key", "issue", account, "--label", "ci")
        for account, cut in self.each_cut(cut_off_before_the_end, command=command):
            cuts.append(cut)
            self.assert_in_order(account, "starter", 1, self.finish(account, cut))
        steps = ["DeleteUsagePlanKey", "DeleteApiKey", "DeleteItem", "PutItem", "CreateApiKey", "CreateUsagePlanKey", "UpdateItem"]
        self.assertEqual([cut.split()[-1] for cut in cuts], steps * 2)

    def test_a_key_issued_without_a_stack_is_added_to_the_gateway(self):
        def issued_without_a_gateway():
            account = self.account(stack=None)
            return account, self.issue(account, stack=None)[0]

        def finish(account, key):
            ended = admin("key", "issue", account, "--label", "ci", "--json")
            self.assert_in_order(account, "starter", 1, key)
            return ended

        account, key = issued_without_a_gateway()
        explained = self.explain(key)
        self.assertEqual((explained.code, explained.document["gateway"]), (1, "missing"))
        self.assertEqual(explained.document["status"], 401)
        self.assertIn(f"to correct this, run: cargo admin key issue {account} --label ci --stack live", explained.errors)
        ended = finish(account, key)
        self.assertEqual((ended.code, ended.document["key"]), (0, None))
        self.assertIn(f"the key itself, which ends in {key[-4:]}, was shown when it was issued", ended.errors)
        self.fail_with("with the label ci;", "key", "issue", account, "--label", "ci")
        CLOUD.proxy.reset()
        account, key = issued_without_a_gateway()
        for when in ("before", "after"):
            for number in (1, 2):
                ended = admin("key", "issue", account, "--label", "ci", kill=(number, when))
                self.assertEqual(ended.code, -9, ended)
                finish(account, key)
                account, key = issued_without_a_gateway()

    def test_a_deleted_gateway_key_is_created_again(self):
        account = self.account("pro")
        key, key_id = self.issue(account)
        CLOUD.gateway.delete_api_key(apiKey=CLOUD.keys()[key_id]["id"])
        self.succeed("key", "issue", account, "--label", "ci")
        self.assert_in_order(account, "pro", 1, key)

    def test_a_lost_response_does_no_harm(self):
        for lost in ("PutItem", "CreateApiKey", "CreateUsagePlanKey", "UpdateItem"):
            with self.subTest(lost):
                account = self.account()
                CLOUD.proxy.losing = {lost}
                key, _ = self.issue(account)
                self.assertFalse(CLOUD.proxy.losing)
                self.assert_in_order(account, "starter", 1, key)

    def test_after_a_failure_of_the_gateway_the_same_command_succeeds(self):
        for failing in ("CreateApiKey", "CreateUsagePlanKey"):
            account = self.account()
            CLOUD.proxy.failing = {failing: (1, 400, "BadRequestException")}
            reason = f"error: API Gateway failed at {failing}: BadRequestException: said so; resolve the cause"
            self.fail_with(reason, "key", "issue", account, "--label", "ci")
            states = [key["state"] for key in self.succeed("key", "list", account, "--json").document["keys"]]
            self.assertEqual(states, ["pending"])
            key, _ = self.issue(account)
            self.assert_in_order(account, "starter", 1, key)

    def test_throttled_requests_are_retried_a_limited_number_of_times(self):
        account = self.account()
        CLOUD.proxy.failing = {"CreateApiKey": (2, 429, "TooManyRequestsException")}
        key, _ = self.issue(account)
        self.assert_in_order(account, "starter", 1, key)
        CLOUD.proxy.failing = {"GetApiKeys": (100, 429, "TooManyRequestsException")}
        self.fail_with("run the same command again later", "key", "issue", account, "--label", "ci")
        self.assertEqual(CLOUD.proxy.failing["GetApiKeys"][0], 94)

    def test_a_missing_permission_is_named(self):
        account = self.account()
        CLOUD.proxy.failing = {"CreateApiKey": (1, 403, "AccessDeniedException")}
        self.fail_with("these credentials need more permissions", "key", "issue", account, "--label", "ci")
        CLOUD.proxy.failing = {"DescribeStacks": (1, 403, "AccessDenied")}
        self.fail_with("CloudFormation failed at DescribeStacks: AccessDenied: said so; these credentials need more permissions",
                       "key", "list", account)

    def test_a_key_that_is_revoked_while_it_is_issued_is_not_shown(self):
        account = self.account()
        proxy, forward = CLOUD.proxy, CLOUD.proxy.as_aws

        def revoked_meanwhile(name, *request):
            if name == "CreateUsagePlanKey":
                key = CLOUD.rows(account)[0]["pk"]
                CLOUD.dynamodb.delete_item(TableName=CLOUD.outputs["AccessTable"], Key={"pk": key})
            return forward(name, *request)

        proxy.as_aws = revoked_meanwhile
        try:
            self.fail_with("before it was issued; run the same command again", "key", "issue", account, "--label", "ci")
        finally:
            del proxy.as_aws
        self.assert_in_order(account, "starter", 0)


class Moving(Test):
    def keys_of_a_starter(self):
        account = self.account()
        return account, [self.issue(account, label)[0] for label in ("one", "two")]

    def test_keys_move_with_their_account(self):
        account, keys = self.keys_of_a_starter()
        ended = self.succeed("account", "set", account, "--tier", "pro")
        self.assertEqual(ended.errors.count("to the usage plan of pro"), 2)
        for key in keys:
            self.assert_in_order(account, "pro", 2, key)
        again = self.succeed("account", "set", account, "--tier", "pro")
        self.assertEqual((again.errors, CLOUD.proxy.writes), ("", []))
        self.succeed("account", "set", account, "--tier", "starter")
        self.assert_in_order(account, "starter", 2, keys[0])

    def test_an_interrupted_move_is_completed(self):
        cuts = []
        command = lambda prepared: ("account", "set", prepared[0], "--tier", "pro")
        for (account, keys), cut in self.each_cut(self.keys_of_a_starter, command=command):
            cuts.append(cut)
            self.succeed("account", "set", account, "--tier", "pro")
            for key in keys:
                self.assert_in_order(account, "pro", 2, key)
        self.assertEqual([cut.split()[-1] for cut in cuts], ["PutItem", *["DeleteUsagePlanKey", "CreateUsagePlanKey"] * 2] * 2)

    def test_revoked_keys_do_not_move_and_unknown_ones_are_named(self):
        account = self.account()
        _, revoked = self.issue(account, "one")
        self.succeed("key", "revoke", revoked)
        _, unknown = self.issue(account, "two words", stack=None)
        ended = self.succeed("account", "set", account, "--tier", "pro")
        self.assertIn(f"API Gateway does not have the key {unknown}; to add it, run: "
                      f"cargo admin key issue {account} --label 'two words' --stack live", ended.errors)
        self.assertNotIn(revoked, ended.errors)

    def test_a_lost_response_does_no_harm(self):
        for lost in ("PutItem", "DeleteUsagePlanKey", "CreateUsagePlanKey"):
            account, keys = self.keys_of_a_starter()
            CLOUD.proxy.losing = {lost}
            self.succeed("account", "set", account, "--tier", "pro")
            self.assertFalse(CLOUD.proxy.losing)
            self.assert_in_order(account, "pro", 2, keys[0])


class Revoking(Test):
    def issued(self):
        account = self.account()
        return account, *self.issue(account)

    def assert_revoked(self, account, key, key_id):
        self.assertIn("revoked_at", CLOUD.rows(account)[0])
        self.assertNotIn(key_id, CLOUD.keys())
        self.assertEqual(self.explain(key).code, 1)

    def test_a_key_is_revoked_in_the_table_and_deleted_in_the_gateway(self):
        account, key, key_id = self.issued()
        ended = self.succeed("key", "revoke", key_id)
        # A second may have passed since.
        self.assertRegex(ended.errors, r"the key may still be accepted for 6[0-5] seconds")
        self.assertIn("deleted the key from API Gateway", ended.errors)
        self.assertEqual(CLOUD.proxy.writes, ["UpdateItem", "DeleteUsagePlanKey", "DeleteApiKey"])
        self.assert_revoked(account, key, key_id)
        again = self.succeed("key", "revoke", key_id)
        self.assertNotIn("deleted", again.errors)

    def test_a_key_that_is_also_in_a_plan_of_another_stack_stays_in_the_gateway(self):
        account, key, key_id = self.issued()
        other = CLOUD.gateway.create_usage_plan(name="other-starter", apiStages=[CLOUD.stage()])["id"]
        known = CLOUD.keys()[key_id]["id"]
        CLOUD.gateway.create_usage_plan_key(usagePlanId=other, keyId=known, keyType="API_KEY")
        for _ in range(2):
            ended = self.succeed("key", "revoke", key_id)
            self.assertIn("API Gateway keeps the key: it is also in a usage plan of another stack", ended.errors)
            self.assertEqual(CLOUD.keys()[key_id]["tiers"], [])
            self.assertEqual([plan["id"] for plan in CLOUD.gateway.get_usage_plans(keyId=known)["items"]], [other])
        self.assertEqual(self.explain(key).code, 1)
        CLOUD.gateway.delete_usage_plan_key(usagePlanId=other, keyId=known)
        self.assertIn("deleted the key", self.succeed("key", "revoke", key_id).errors)
        self.assert_revoked(account, key, key_id)

    def test_an_interrupted_revocation_is_completed(self):
        command = lambda issued: ("key", "revoke", issued[2])
        cuts = 0
        for (account, key, key_id), _ in self.each_cut(self.issued, command=command):
            cuts += 1
            self.succeed("key", "revoke", key_id)
            self.assert_revoked(account, key, key_id)
        self.assertEqual(cuts, 6)

    def test_a_key_is_revoked_in_the_table_even_if_the_gateway_fails(self):
        account, key, key_id = self.issued()
        CLOUD.proxy.failing = {"GetApiKeys": (1, 400, "BadRequestException")}
        ended = admin("key", "revoke", key_id)
        self.assertEqual(ended.code, 1)
        self.assertIn("revoked_at", CLOUD.rows(account)[0])
        self.succeed("key", "revoke", key_id)
        self.assert_revoked(account, key, key_id)

    def test_a_lost_response_does_no_harm(self):
        for lost in ("UpdateItem", "DeleteUsagePlanKey", "DeleteApiKey"):
            account, key, key_id = self.issued()
            CLOUD.proxy.losing = {lost}
            self.succeed("key", "revoke", key_id)
            self.assertFalse(CLOUD.proxy.losing)
            self.assert_revoked(account, key, key_id)


class Explaining(Test):
    def test_the_state_in_the_gateway_is_explained(self):
        account = self.account()
        key, key_id = self.issue(account)
        known = CLOUD.keys()[key_id]["id"]
        starter, pro = CLOUD.plans["starter"], CLOUD.plans["pro"]

        def check(gateway, code, text):
            explained = self.explain(key)
            self.assertEqual((explained.code, explained.document["gateway"]), (code, gateway), explained)
            self.assertEqual(explained.document["allowed"], code == 0)
            said = admin("key", "explain", key)
            self.assertEqual(said.code, code)
            self.assertIn(text, said.output)

        check("good", 0, "the key is in the usage plan of its tier")
        CLOUD.gateway.delete_usage_plan_key(usagePlanId=starter, keyId=known)
        check("no_plan", 1, "no: the API Gateway key is in no usage plan of the stack")
        CLOUD.gateway.create_usage_plan_key(usagePlanId=pro, keyId=known, keyType="API_KEY")
        check("other_plan", 0, "the API Gateway key is in the usage plan of another tier")
        self.succeed("key", "issue", account, "--label", "ci")
        self.assert_in_order(account, "starter", 1, key)
        CLOUD.gateway.update_api_key(
            apiKey=known, patchOperations=[{"op": "replace", "path": "/enabled", "value": "false"}]
        )
        check("disabled", 1, "no: the API Gateway key is disabled")

    def test_the_state_in_the_table_comes_first(self):
        account = self.account()
        key, _ = self.issue(account, stack=None)
        self.succeed("account", "set", account, "--status", "suspended")
        explained = self.explain(key).document
        self.assertEqual((explained["status"], explained["gateway"]), (403, "missing"))
        self.assertEqual(explained["reason"], "the account's subscription is suspended")


class Restoring(Test):
    """`account export` and `account import` after API Gateway or the table has lost everything."""

    def exported(self):
        """The lines of a starter with two keys and a revoked one, and of a pro with one key, and their keys."""
        CLOUD.clear()
        starter, pro = self.account("starter"), self.account("pro")
        keys = {self.issue(starter, label)[0]: starter for label in ("one", "two words")}
        keys[self.issue(pro)[0]] = pro
        _, revoked = self.issue(starter, "old")
        self.succeed("key", "revoke", revoked)
        lines = self.succeed("account", "export", "-").output
        self.assertEqual(len(lines.splitlines()), 6)
        return lines, keys, {starter: "starter", pro: "pro"}

    def assert_restored(self, lines, keys, tiers):
        for key, account in keys.items():
            held = [other for other in keys.values() if other == account]
            self.assert_in_order(account, tiers[account], len(held), key)
        self.assertEqual(len(CLOUD.keys()), len(keys))
        self.assertEqual(self.succeed("account", "export", "-").output, lines)

    def test_everything_is_restored_after_a_loss(self):
        lines, keys, tiers = self.exported()
        CLOUD.clear()
        ended = self.succeed("account", "import", "-", "--json", given=lines)
        self.assertEqual(ended.document["gateway"], {"added": 3, "moved": 0, "already_there": 0, "without_account": 0})
        self.assert_restored(lines, keys, tiers)
        again = self.succeed("account", "import", "-", "--json", given=lines)
        self.assertEqual(again.document["gateway"]["already_there"], 3)
        # Of a row that exists, the condition of a write is false.
        self.assertEqual(set(CLOUD.proxy.writes), {"PutItem"})
        self.assert_restored(lines, keys, tiers)

    def test_keys_in_the_wrong_plan_or_in_none_are_moved(self):
        lines, keys, tiers = self.exported()
        held = [key["id"] for key in CLOUD.keys().values() if key["tiers"] == ["starter"]]
        for key in held:
            CLOUD.gateway.delete_usage_plan_key(usagePlanId=CLOUD.plans["starter"], keyId=key)
        CLOUD.gateway.create_usage_plan_key(usagePlanId=CLOUD.plans["pro"], keyId=held[0], keyType="API_KEY")
        ended = self.succeed("account", "import", "-", given=lines)
        self.assertIn("API Gateway: added 0, moved 2, already there 1\n", ended.errors)
        self.assert_restored(lines, keys, tiers)

    def test_an_interrupted_import_is_completed(self):
        lines, keys, tiers = self.exported()

        def lose():
            CLOUD.clear()
            return "account", "import", "-"

        cuts = []
        for _, cut in self.each_cut(lose, command=lambda command: command, given=lines):
            cuts.append(cut.split()[-1])
            self.succeed("account", "import", "-", given=lines)
            self.assert_restored(lines, keys, tiers)
        steps = ["PutItem"] * 6 + ["CreateApiKey", "CreateUsagePlanKey"] * 3
        self.assertEqual(cuts, steps * 2)

    def test_a_lost_response_does_no_harm(self):
        lines, keys, tiers = self.exported()
        for lost in ("PutItem", "CreateApiKey", "CreateUsagePlanKey"):
            CLOUD.clear()
            CLOUD.proxy.losing = {lost}
            self.succeed("account", "import", "-", given=lines)
            self.assertFalse(CLOUD.proxy.losing)
            self.assert_restored(lines, keys, tiers)

    def test_a_key_without_its_account_is_named(self):
        lines, *_ = self.exported()
        CLOUD.clear()
        only_keys = "".join(line for line in lines.splitlines(keepends=True) if "sha256" in line)
        ended = admin("account", "import", "-", given=only_keys)
        self.assertEqual(ended.code, 1, ended)
        self.assertEqual(ended.errors.count("warning: there is no account "), 3, ended)
        self.assertEqual(CLOUD.keys(), {})
        self.succeed("account", "import", "-", given=lines)
        self.assertEqual(len(CLOUD.keys()), 3)

    def test_without_a_stack_the_gateway_stays_as_it_is(self):
        lines, *_ = self.exported()
        CLOUD.clear()
        ended = self.succeed("account", "import", "-", given=lines, stack=None)
        self.assertEqual(CLOUD.keys(), {})


class Permissions(Test):
    """The tables of permissions in infra/admin/README.md list what the commands use, and nothing else."""

    def listed(self):
        """The actions of each table in the section Permissions."""
        section = (ROOT / "infra/admin/README.md").read_text().split("\n### Permissions\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| DynamoDB, on the table `(\w+)`.*?\| (.*) \|$", section, re.MULTILINE)
        return {table: set(re.findall(r"`(\w+)`", actions)) for table, actions in rows}

    def test_the_actions_on_tables_are_listed(self):
        CLOUD.clear()
        used = {}
        account = self.account()
        _, key_id = self.issue(account)
        # A key that was not issued completely is removed.
        admin("key", "issue", account, "--label", "cut", kill=(1, "after"))
        self.issue(account, "cut")
        self.succeed("key", "revoke", key_id)
        lines = self.succeed("account", "export", "-").output
        self.succeed("account", "import", "-", given=lines)
        times = {"start": 1762000000000, "end": 1762000600000, "recorded_at": "2025-11-01T00:00:00Z"}
        for kind, lines in {
            "events": [
                {"year": 1, "name": "N", "key": "k", "perks": []},
                {"item_id": "A", "amount": 1, "price": 1, **times},
            ],
            "bazaar": [
                {"interval": "1m", "opened_at": now(), "products": {"A": [1, 2, 3, 4]}},
                {"interval": "1d", "opened_at": "2025-11-01T00:00:00Z", "products": {"A": [1] * 11}},
            ],
        }.items():
            for _ in range(2):
                self.succeed("history", "import", kind, "-", given="\n".join(json.dumps(line) for line in lines))
            self.succeed("history", "export", kind, "-")
        names = {CLOUD.outputs[f"{table}Table"]: table for table in ("Access", "History")}
        for table, operation in CLOUD.proxy.operations:
            if table in names:
                used.setdefault(names[table], set()).add(operation)
        self.assertEqual(used, self.listed())


class Stacks(Test):
    def test_an_unknown_stack_is_an_error(self):
        for command in (["key", "list", "bots"], ["account", "show", "bots"], ["history", "export", "events", "-"]):
            self.fail_with(f"error: there is no stack elsewhere in {REGION}; check --stack", *command, stack="elsewhere")

    def test_a_stack_of_another_service_is_an_error(self):
        for missing in ("AccessTable", "StarterUsagePlan", "ProUsagePlan"):
            outputs = {name: value for name, value in TEMPLATE["Outputs"].items() if name != missing}
            CLOUD.stack(f"no-{missing}", {**TEMPLATE, "Outputs": outputs})
            reason = f"the stack no-{missing} has no output {missing}; check --stack"
            self.fail_with(reason, "key", "list", "bots", stack=f"no-{missing}")

    def test_endpoints_of_single_services_take_precedence(self):
        nowhere = "http://127.0.0.1:9"
        account = self.account()
        url = CLOUD.proxy.url
        names = ["DYNAMODB", "CLOUDFORMATION", "API_GATEWAY"]
        single = {f"AWS_ENDPOINT_URL_{name}": url for name in names}
        self.succeed("key", "issue", account, "--label", "one", environment={"AWS_ENDPOINT_URL": nowhere, **single})
        # Empty variables are ignored.
        empty = {name: "" for name in single}
        self.succeed("key", "issue", account, "--label", "two", environment=empty)
        for name, service in zip(names, ["the table", "CloudFormation", "API Gateway"], strict=True):
            environment = {f"AWS_ENDPOINT_URL_{name}": nowhere}
            self.fail_with(f"error: {service}", "key", "issue", account, "--label", "three", environment=environment)


if __name__ == "__main__":
    # moto logs every request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    unittest.main(verbosity=1)
