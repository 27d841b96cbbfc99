#!/usr/bin/env python3
"""Deploys the unmodified template to MiniStack and uses the stack. See tests/README.md, Deployment on an emulator."""

import contextlib
import gzip
import json
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from urllib.parse import urlencode

from botocore.exceptions import ClientError

from cloud import ADMIN, OTHER_REGION, STACK, cloud
from differences import DIFFERENCES, FAILED_CHECKS
from gateway_keys import all_gateway_keys, gateway_keys
from interruptions import Interruptions
from inventory import inventory
from payments import PARAMETERS, SOURCE, Payments
from policies import functions_with_tables, operator, without_policies
from processes import LOGS, REPOSITORY, Failure, end_politely_when_asked
from services import UPSTREAM_KEY
from stack import Stack, eventually, expect

SECRET = "game-data-query-service/upstream-key"
# One client does not reach these limits, so the first check is fast.
FIRST = {
    "PublicFiles": "on", "GatewayCache": "off", "ProRateLimit": "500", "ProBurstLimit": "5000", "ProfileRateLimit": "500", "ProfileBurstLimit": "5000",
    "TableProtection": "off",
}
SECOND = {
    "PublicFiles": "on", "GatewayCache": "on", "ProRateLimit": "20", "ProBurstLimit": "200", "ProMonthlyQuota": "70000", "ProfileRateLimit": "1",
    "ProfileBurstLimit": "20", "TableProtection": "on", "FreePlan": "on",
}


@contextlib.contextmanager
def step(sentence):
    """Prints the sentence, and how long the `with` block takes."""
    began = time.monotonic()
    outcome = "FAILED"
    try:
        yield
        outcome = "ok"
    finally:
        print(f"{outcome:6}  {time.monotonic() - began:5.1f} s  {sentence}", flush=True)


class Rehearsal:
    """One run, from an empty account to a removed stack."""

    def __init__(self, account):
        self.account = account
        self.stack = Stack(account)
        self.other = Stack(account.in_region(OTHER_REGION))
        self.payments = Payments(account)

    def run(self):
        """Runs all steps. Each step depends on the earlier steps."""
        self.empty = inventory(self.account)
        with step("packages the development builds as `sam build` would"):
            self.stack.package()
        with step("refuses parameters that are not allowed"):
            self.refuse_parameters()
        with step("fails to create a stack with protected tables, and removes its remains"):
            self.fail_protected_creation()
        with step("fails to create a stack without a role for logs, and leaves nothing behind"):
            self.fail_first_creation()
        with step("creates the web ACL"):
            self.create_web_acl()
        with step("creates the stack"):
            self.create()
        with step("creates a stack of the same name in another region, which has no budgets"):
            self.create_in_other_region()
        with step("issues keys with cargo admin, which needs only the documented rights"):
            self.issue_keys()
        with step("completes commands whose writes are interrupted, if necessary by repeating them"):
            Interruptions(self.account, self.payments).run()
        with step("makes a lost key of API Gateway again"):
            self.correct_keys()
        with step("lets a site manage the keys of one account, without rights on keys of API Gateway"):
            self.use_keys_function()
        with step("lets events of payments decide about a key"):
            self.payments.decide()
        with step("applies an event of payments after the table has failed"):
            self.payments.repeat()
        with step("keeps an event of payments that always fails in the dead-letter queue"):
            self.payments.give_up()
        with step("does not repeat an event of payments that cannot be read"):
            self.payments.refuse_unreadable()
        with step("finds a subscription that no event has renewed"):
            self.payments.find_overdue()
        with step("records on schedule"):
            self.wait_for_records()
        with step("passes cargo admin check"):
            self.check()
        with step("counts the requests of all keys of an account together"):
            self.read_usage()
        with step("builds candles"):
            self.build_candles()
        with step("writes public files into a private bucket"):
            self.read_files()
        with step("limits requests without a key"):
            self.exhaust_open_routes()
        with step("cannot use its tables without its policies"):
            self.take_policies_away()
        with step("keeps failed events in the dead-letter queue, except for the recorders of minutes"):
            self.fail_events()
        with step("writes the functions' log and the audit trail, without keys"):
            self.read_log()
        with step("exports and imports with cargo admin"):
            self.export_and_import()
        with step("updates the stack: stage cache on, other limits, protected tables"):
            self.update()
        with step("delivers the event in the dead-letter queue again, and replays all events of payments"):
            self.payments.deliver_again()
            self.payments.replay()
        with step("passes cargo admin check --throttle"):
            self.check("--throttle")
        with step("enforces limits below one request per second"):
            self.exhaust_page()
        with step("uses restored tables, and then the stack's own tables again"):
            self.use_restored_tables()
        with step("confirms the listed differences from AWS"):
            self.compare_differences()
        with step("removes the stack, but not its tables"):
            self.remove()
        with step("deletes the tables, which are protected"):
            self.delete_tables()
        with step("creates the stack again without pages, public files and an access log, and accepts imported keys"):
            self.create_again()
        with step("deletes the keys of API Gateway, which no stack deletes"):
            self.delete_gateway_keys()

    def refuse_parameters(self):
        """Tries one invalid value for each kind of constraint in the template."""
        for name, value in [
            ("GatewayCache", "maybe"),
            ("DashboardUrl", 'https://dashboard.example/"quoted"'),
            ("DashboardUrl", None),
            ("ProRateLimit", "-1"),
            ("UserAgent", ""),
            # CertificateArn is missing.
            ("DomainName", "api.example.com"),
            ("StripeEventSource", "aws.partner/other.example/ed_test"),
            # PriceTiers is missing.
            ("StripeEventSource", SOURCE),
        ]:
            reason = self.stack.refusal({**self.stack.parameters, name: value})
            expect(name in reason, f"{name}={value} is not refused because of {name}: {reason or 'it is accepted'}")

    def left_behind(self):
        """Returns the resources that the account did not have before the stack."""
        return inventory(self.account) - self.empty

    def fail_protected_creation(self):
        """Follows infra/README.md, Deploy, for a first deployment that fails with TableProtection on."""
        ended = self.stack.deploy(**FIRST | {"TableProtection": "on"})
        expect(ended.returncode != 0, "the deployment succeeds without the secret")
        expect(SECRET in self.stack.reasons(), f"no event of the stack names the missing secret: {self.stack.reasons()}")
        expect(self.account.status() == "ROLLBACK_FAILED", f"the failed stack is {self.account.status()}")
        self.stack.delete()
        self.tables = [name for kind, name in self.left_behind() if kind == "table"]
        self.log = self.listings = None
        self.delete_tables()

    def fail_first_creation(self):
        self.account.client("secretsmanager").create_secret(Name=SECRET, SecretString=UPSTREAM_KEY)
        self.empty = inventory(self.account)
        expect(self.stack.deploy(**FIRST).returncode != 0, "the deployment succeeds without a role for logs")
        expect("CloudWatch Logs role" in self.stack.reasons(), f"the creation fails for other reasons: {self.stack.reasons()}")
        expect(self.account.status() == "ROLLBACK_COMPLETE", f"the failed stack is {self.account.status()}")
        created = [event for event in self.stack.events() if event["ResourceStatus"] == "CREATE_COMPLETE"]
        logs = {event["PhysicalResourceId"] for event in created if event["ResourceType"] == "AWS::Logs::LogGroup"}
        self.stack.delete()
        expect(not self.left_behind(), f"the failed stack leaves behind: {self.left_behind()}")
        # Functions that ran during the creation may deliver their logs late, and Lambda then creates the log group again.
        # Creates the groups, as Lambda would.
        expect(logs, "the failed creation had no log group")
        for group in logs:
            self.account.client("logs").create_log_group(logGroupName=group)

    def create_web_acl(self):
        """Follows infra/README.md, Worst-case cost. MiniStack cannot associate the web ACL with a stage."""
        arn = self.stack.create_beside("firewall", "firewall.yaml")["WebAclArn"]
        [web_acl] = self.account.client("wafv2").list_web_acls(Scope="REGIONAL")["WebACLs"]
        expect(web_acl["ARN"] == arn, f"the output is {arn}, and the web ACL {web_acl['ARN']}")

    def create(self):
        # infra/README.md, Deploy, step 1.
        for stack in (self.stack, self.other):
            stack.create_beside("api-gateway-log-role", "account.yaml")
        self.empty = inventory(self.account)
        # infra/README.md, Sell access, step 2.
        self.payments.create_destination()
        self.stack.create(**FIRST, **PARAMETERS, MonthlyBudget="50")

    def create_in_other_region(self):
        """Follows infra/regions.md. The two stacks must not share names that are unique in the account."""
        other = self.other.account
        other.client("secretsmanager").create_secret(Name=SECRET, SecretString=UPSTREAM_KEY)
        before = inventory(self.account)
        ended = self.other.deploy(**FIRST, MonthlyBudget="50")
        expect(ended.returncode != 0, "a budget is created in a region without budgets")
        expect("Unrecognized resource types" in self.other.reasons(), f"the creation fails for other reasons: {self.other.reasons()}")
        self.other.delete()
        self.other.create(**FIRST)
        outputs = other.outputs()
        self.other.delete()
        for table in ("AccessTable", "HistoryTable"):
            other.client("dynamodb").delete_table(TableName=outputs[table])
        empty_and_delete(other, outputs["ListingsBucket"])
        expect(inventory(self.account) == before, f"the stack in the other region changes: {inventory(self.account) ^ before}")

    def issue_keys(self):
        self.account.operator = operator(self.account)
        self.keys = {name: self.issue(name) for name in ("good", "lapsed", "revoked", "spare", "unused")}
        self.account.admin("account", "set", "lapsed", "--paid-until", "2025-01-01")
        [revoked] = json.loads(self.account.admin("key", "list", "revoked", "--json"))["keys"]
        self.account.admin("key", "revoke", revoked["id"])
        outputs = self.account.outputs()
        for name in self.keys:
            found = gateway_keys(self.account, name)
            expect(found.keys() == {"pro"}, f"{name} has the keys {found} in API Gateway")
            plans = self.account.client("apigateway").get_usage_plans(keyId=found["pro"]["id"])["items"]
            expect([plan["id"] for plan in plans] == [outputs["ProUsagePlan"]], f"the key of {name} is in the plans {plans}")
        ended = self.account.run(
            ADMIN, "account", "set", "visitor", "--tier", "free", "--paid-until", "2100-01-01", "--stack", STACK,
            environment=self.account.operator, log="admin",
        )
        expect("the parameter FreePlan is off" in ended.stderr, f"an account gets the tier free without FreePlan: {ended}")

    def issue(self, name):
        self.account.admin("account", "set", name, "--tier", "pro", "--paid-until", "2100-01-01")
        return self.account.admin("key", "issue", name, "--label", "rehearsal").strip()

    def correct_keys(self):
        """`account set` makes a key of API Gateway that somebody has removed from its plan or deleted. Until then, requests are a 401."""
        gateway, plan = self.account.client("apigateway"), self.account.outputs()["ProUsagePlan"]
        known = lambda: gateway_keys(self.account, "spare")["pro"]["id"]
        for change in (
            lambda: gateway.delete_usage_plan_key(usagePlanId=plan, keyId=known()),
            lambda: gateway.delete_api_key(apiKey=known()),
        ):
            expect(self.status_of("/v1/mayor", self.keys["spare"]) == 200, "the key does not work")
            change()
            response = self.account.get("/v1/mayor", self.keys["spare"])
            expect((response.status, b"two minutes" in response.body) == (401, True), f"without the key of API Gateway: {response.body}")
            self.account.admin("account", "set", "spare")
        expect(self.status_of("/v1/mayor", self.keys["spare"]) == 200, "the key is not made again")

    def command(self, function, command, **fields):
        """Invokes a function for accounts and keys, and returns its reply."""
        payload = json.dumps({"command": command, **fields})
        return json.load(self.account.client("lambda").invoke(FunctionName=self.account.outputs()[function], Payload=payload)["Payload"])

    def use_keys_function(self):
        """Follows infra/README.md, Accounts and keys from a program."""
        run = lambda command, **fields: self.command("KeysFunction", command, **fields)
        issued = run("issue_key", account="spare", label="second", request_id="order-17")["result"]
        again = run("issue_key", account="spare", label="second", request_id="order-17")["result"]
        expect(self.status_of("/v1/mayor", issued["key"]) == 401, "a repeated request leaves the first key valid")
        expect(self.status_of("/v1/mayor", again["key"]) == 200, "a new key of a known account does not work at once")
        replaced = run("replace_key", account="spare", key_id=again["id"], grace_seconds=3600)["result"]
        self.keys["second"] = replaced["key"]
        for code, reply in [
            ("invalid_command", run("set_account", account="spare", tier="pro")),
            ("invalid_command", run("delete_account", account="spare")),
            ("invalid_command", run("revoke_key", key_id=replaced["id"])),
            ("invalid_command", run("issue_key", account="spare", label="other", request_id="order-17")),
            ("no_key", run("revoke_key", account="good", key_id=replaced["id"])),
            ("no_key", run("replace_key", account="good", key_id=replaced["id"], grace_seconds=0)),
            ("label_taken", run("issue_key", account="spare", label="second")),
            ("no_account", run("get_account", account="nobody")),
        ]:
            expect(reply.get("error", {}).get("code") == code, f"the reply is not {code}: {reply}")
        expect(run("revoke_key", account="spare", key_id=again["id"])["result"]["state"] == "revoked", "a key is not revoked")
        states = [key["state"] for key in run("list_keys", account="spare")["result"]["keys"]]
        expect(states.count("issued") == 2, f"the account has keys in the states {states}")

    def read_usage(self):
        """Uses two keys of an account. MiniStack counts at once."""
        used = lambda: self.command("KeysFunction", "usage", account="spare")["result"]["used"]
        before = used()
        statuses = [self.status_of("/v1/mayor", self.keys[key]) for key in ("spare", "second", "spare", "second", "second")]
        expect((statuses, used()) == ([200] * 5, before + 5), f"{before}, and after requests with {statuses} {used()} requests are used")
        usage = json.loads(self.account.admin("account", "usage", "spare", "--json"))
        expect(usage["tier"] == "pro" and usage["remaining"] == usage["quota"] - usage["used"], f"the usage is {usage}")
        response = self.account.get("/v1/usage", self.keys["second"]).json()["data"]
        # The request itself counts before API Gateway is asked.
        expect(response["used"] == usage["used"] + 1, f"the usage is {usage}, and the route responds with {response}")
        expect(sum(day["requests"] for day in response["days"]) == response["used"], f"the days of {response}")

    def check(self, *options):
        """Runs `cargo admin check`, which may fail only in the known checks."""
        keys = {"API_KEY": "good", "LAPSED_API_KEY": "lapsed", "REVOKED_API_KEY": "revoked"}
        ended = self.account.run(
            ADMIN, "check", "--url", self.account.url + self.account.stage_path, "--json", *options,
            environment={variable: self.keys[name] for variable, name in keys.items()}, log="check",
        )
        expect(ended.stdout, f"cargo admin check fails: {ended.stderr}")
        report = json.loads(ended.stdout)
        failed = {check["name"]: check for check in report["checks"] if check["outcome"] == "failed"}
        unexpected = [check for name, check in failed.items() if name not in FAILED_CHECKS]
        expect(not unexpected, f"checks fail: {json.dumps(unexpected, indent=1)}")
        passing = FAILED_CHECKS.keys() - failed.keys()
        expect(not passing, f"these checks no longer fail; remove them from FAILED_CHECKS: {sorted(passing)}")
        skipped = {check["name"] for check in report["checks"] if check["outcome"] == "skipped"}
        known = {"response GET /v1/bazaar/candles/all"}
        if "--throttle" not in options:
            known |= {"error 429", "profiles have their own limit"}
        expect(skipped == known, f"skipped: {sorted(skipped - known)}; no longer skipped: {sorted(known - skipped)}")
        print(f"        {report['passed']} passed, {report['failed']} failed as listed; {report['requests']} requests")

    def wait_for_records(self):
        """Waits until each recorder that fetches has written its kind of row, and heartbeats exist. `build_candles` checks candles."""
        table = self.account.outputs()["HistoryTable"]
        kinds = {"auctions", "bazaar", "feeds", "fire-sales", "mayors", "names"}
        found = set()

        def has_all():
            pages = self.account.client("dynamodb").get_paginator("scan").paginate(
                TableName=table, ProjectionExpression="pk"
            )
            found.update(row["pk"]["S"].split("#")[0] for page in pages for row in page["Items"])
            return found - {"candles"} == kinds

        # `record-candles` writes names every five minutes, if there is a price.
        eventually(has_all, f"the recorders have not written rows of all in {kinds}", seconds=660)

    def build_candles(self):
        """Sends the recorder an event of a later time, when the candles of the current interval are due."""
        due = datetime.now(timezone.utc) + timedelta(minutes=7)
        event = {"time": due.strftime("%Y-%m-%dT%H:%M:%SZ"), "backfill": True}
        [recorder] = [f for n, f in functions_with_tables(self.account).items() if n == "RecordCandlesFunction"]
        result = self.account.client("lambda").invoke(
            FunctionName=recorder["FunctionName"], Payload=json.dumps(event)
        )
        built = json.load(result["Payload"])
        expect("FunctionError" not in result and built["recorded"]["slots"], f"no candles are built: {built}")
        # Uses a listed product, because not every product has a price.
        listed = self.account.get("/v1/bazaar?mode=list", self.keys["good"]).json()["data"]["items"]
        path = f"/v1/bazaar/candles?item_id={listed[0]['id']}&interval=5m"
        candles = self.account.get(path, self.keys["good"]).json()["data"]["candles"]
        expect(any(candle["complete"] for candle in candles), f"{path} has no complete candle: {candles}")

    def read_files(self):
        """Reads the objects in the bucket, as CloudFront does."""
        bucket, storage = self.account.outputs()["PublicFilesBucket"], self.account.client("s3")
        names = {"bazaar.json", "lowestbin.json", "lowestbin.json.gz", "prices.json"}

        def stored():
            return {entry["Key"] for entry in storage.list_objects_v2(Bucket=bucket).get("Contents", [])}

        eventually(lambda: names <= stored(), f"the bucket has {stored()}, not all of {names}")
        contents = {}
        for name in names:
            file = storage.get_object(Bucket=bucket, Key=name)
            gzipped = name.endswith(".gz")
            expect(file["ContentType"] == ("application/gzip" if gzipped else "application/json"), f"{name} is {file['ContentType']}")
            expect(not file.get("ContentEncoding"), f"{name} has an encoding: {file.get('ContentEncoding')}")
            expect(file["CacheControl"] == "public, max-age=60, stale-if-error=3600", f"{name} has {file['CacheControl']}")
            content = file["Body"].read()
            contents[name] = json.loads(gzip.decompress(content) if gzipped else content)
        expect(len(contents["lowestbin.json"]) > 1000 and len(contents["prices.json"]["prices"]) > 2000, "the files are short")
        # The policy of the market page allows it to read the files.
        address, page = self.account.outputs()["PublicFilesAddress"], self.account.get("/market")
        expect(self.account.get("/").json()["data"]["public_files"] == address, "the index does not know the public files")
        policy = page.headers["content-security-policy"]
        expect(f'<meta name="files" content="{address}">' in page.body.decode(), "the market page does not know the public files")
        expect(f"connect-src 'self' {address};" in policy, f"the policy of the market page is {policy}")
        # Waits until a run of the next minute has replaced the files, which requires conditional writes to the bucket.
        before = contents["prices.json"]["updated_at"]
        later = lambda: json.load(storage.get_object(Bucket=bucket, Key="prices.json")["Body"])["updated_at"]
        eventually(lambda: all(later()[market] > before[market] for market in before), "the files do not change")

    def exhaust_open_routes(self):
        """These routes need no key, so their limits are low. Requests to them do not count against the limits of other routes."""
        for path in ("/", "/openapi.json", "/unknown", "/v1/status", "/favicon.ico"):
            # The limits allow bursts of 20 or 50 and at most 10 requests per second, so these requests soon exceed them.
            with ThreadPoolExecutor(8) as clients:
                for _ in range(10):
                    statuses = set(clients.map(lambda path: self.account.get(path).status, [path] * 30))
                    if 429 in statuses:
                        break
            expect(429 in statuses, f"after 300 requests to {path}, the last responses have the statuses {statuses}")
        expect(self.status_of("/v1/mayor") == 200, "/v1/mayor is also limited")

    def take_policies_away(self):
        """Uses every function that has a table: it fails without its policies, and works with them."""
        functions = functions_with_tables(self.account)
        expect({"AuthorizerFunction", "KeysFunction", "StatusFunction", "UsageFunction"} < functions.keys(), f"the functions with tables are {sorted(functions)}")
        for name, function in functions.items():
            with without_policies(self.account, function):
                status = self.use(name, function)
                expect(status == 500, f"without its policies, {name} responds with {status}")
            status = self.use(name, function)
            expect(status == 200, f"with its policies again, {name} responds with {status}")

    def use(self, name, function):
        """Uses the function by a command, a request or a run, and returns the status. A command or run that fails counts as 500."""
        if name == "AccountsFunction":
            ended = self.account.run(ADMIN, "account", "show", "spare", "--stack", STACK, environment=self.account.operator, log="admin")
            return 200 if ended.returncode == 0 else 500
        if name == "KeysFunction":
            return 200 if "result" in self.command(name, "list_keys", account="spare") else 500
        if name == "AuthorizerFunction":
            # No policy about this key is cached yet.
            return self.status_of("/v1/mayor", self.keys["unused"])
        if name == "PaymentsFunction":
            return self.payments.invoke(self.payments.event("payer"))
        if name.startswith("Record"):
            return self.record_now(function)
        status = self.status_of(sample_request(name))
        # A 404 about a past interval also shows that the table was read.
        return 200 if status == 404 else status

    def status_of(self, path, key=None):
        return self.account.get(path, key or self.keys["good"]).status

    def record_now(self, function):
        """Runs the recorder for the current time, and returns the status: 500 if it fails."""
        time_of_event = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        result = self.account.client("lambda").invoke(
            FunctionName=function["FunctionName"], Payload=json.dumps({"time": time_of_event})
        )
        return 500 if "FunctionError" in result else result["StatusCode"]

    def fail_events(self):
        """Follows infra/README.md, Dead letters. Recorders refuse events of the past."""
        event = {"time": "2025-01-01T00:00:00Z"}
        functions = functions_with_tables(self.account)
        recorders = {f["FunctionName"] for n, f in functions.items() if n in ("RecordCandlesFunction", "RecordMayorFunction")}
        for recorder in {f["FunctionName"] for n, f in functions.items() if n.startswith("Record")}:
            self.account.client("lambda").invoke(
                FunctionName=recorder, InvocationType="Event", Payload=json.dumps(event)
            )
        queue = self.account.client("sqs")
        found = set()

        def has_all():
            received = queue.receive_message(QueueUrl=self.account.outputs()["DeadLetters"], MaxNumberOfMessages=10)
            for message in received.get("Messages", []):
                body = json.loads(message["Body"])
                expect(body["requestPayload"] == event, f"another event in the queue: {body}")
                of = [recorder for recorder in recorders if recorder in body["requestContext"]["functionArn"]]
                expect(of, f"a recorder of minutes has a dead letter: {body}")
                found.update(of)
            return found == recorders

        eventually(has_all, f"the events of {recorders - found} are not in the queue")

    def read_log(self):
        group = self.account.outputs()["FunctionLog"]
        pages = self.account.client("logs").get_paginator("filter_log_events").paginate(logGroupName=group)
        messages = [event["message"] for page in pages for event in page["events"]]
        lines = [json.loads(message) for message in messages if message.startswith("{")]
        logged = {line.get("route") or line.get("function") for line in lines}
        expect({"/v1/bazaar", "authorizer", "record-mayor"} <= logged, f"the log has lines of {logged} only")
        pages = self.account.client("logs").get_paginator("filter_log_events").paginate(logGroupName=self.account.outputs()["AccountsLog"])
        trail = [event["message"] for page in pages for event in page["events"]]
        changes = [line for message in trail if message.startswith("{") and (line := json.loads(message))["message"] == "changed"]
        states = [line["after"] for line in changes if (line["account"], line.get("key_id")) == ("lapsed", None)]
        expect(states[1:] == ["active; pro until 2025-01-01T00:00:00Z"], f"the audit trail has the states {states} of an account")
        expect(any(line["account"] == "payer" for line in changes), "the audit trail has no change by a payment")
        for key in [*self.keys.values(), *self.payments.keys.values()]:
            expect(not any(key in message for message in messages + trail), "a log has a key")

    def export_and_import(self):
        """An import writes the missing rows, and an export returns all of them."""
        for kind, lines in self.history().items():
            self.account.admin("history", "import", kind, "-", given="\n".join(map(json.dumps, lines)))
            exported = self.account.admin("history", "export", kind, "-")
            found = [json.loads(row) for row in exported.splitlines() if "REHEARSAL" in row]
            expect(all(line in found for line in lines), f"the export of {kind} has {found}")
        self.accounts = self.account.admin("account", "export", "-")
        expect(len(self.accounts.splitlines()) >= 2 * len(self.keys), f"the export of accounts is {self.accounts}")

    def history(self):
        """Returns lines to import, by kind."""
        minute = datetime.now(timezone.utc).replace(second=0, microsecond=0) - timedelta(minutes=20)
        perks = [{"name": "REHEARSAL", "description": "none"}]
        times = {"recorded_at": "2025-11-01T00:00:00Z", "seen_at": "2025-11-01T12:20:00Z"}
        sale = {"item_id": "REHEARSAL", "start": 1762000000000, "end": 1762000600000, "amount": 5000, "price": 900, **times}
        return {
            "events": [{"year": 100, "name": "Paul", "key": "dungeons", "perks": perks}, sale],
            "bazaar": [{"interval": "1m", "opened_at": minute.strftime("%Y-%m-%dT%H:%M:%SZ"), "products": {"REHEARSAL": [1.9, 2.4, 145, 98]}}],
        }

    def update(self):
        before = self.account.outputs()
        deployment = self.stage()["deploymentId"]
        ended = self.stack.deploy(**SECOND)
        expect(ended.returncode == 0, f"sam deploy fails: {ended.stderr}{self.stack.reasons()}")
        expect(self.account.outputs() == before, f"other outputs: {before}, then {self.account.outputs()}")
        expect(self.stage()["deploymentId"] != deployment, "the stage still has its former deployment")
        plan = self.account.client("apigateway").get_usage_plan(usagePlanId=before["ProUsagePlan"])
        limits = plan["throttle"]
        expect(limits == {"rateLimit": 20, "burstLimit": 200}, f"the limits of pro are {limits}")
        quota = {name: plan["quota"][name] for name in ("limit", "period")}
        expect(quota == {"limit": 70000, "period": "MONTH"}, f"the quota of pro is {quota}")
        [stage] = plan["apiStages"]
        methods = {"/v1/profile/{username}/GET": {"rateLimit": 1, "burstLimit": 20}, "/v1/usage/GET": {"rateLimit": 0.1, "burstLimit": 5}}
        expect(stage["throttle"] == methods, f"the limits of methods are {stage['throttle']}")
        self.use_free_plan()
        # With a stage cache, even the first response for an item says that it is cached.
        new = self.account.get("/v1/bazaar/history?item_id=REHEARSAL:NEW", self.keys["good"]).json()
        expect(new["meta"]["cached"], "the functions do not expect the stage cache")

    def use_free_plan(self):
        """Creates an account of the free plan, and deletes it with everything that it has."""
        self.account.admin("account", "set", "visitor", "--tier", "free", "--paid-until", "2100-01-01")
        key = self.account.admin("key", "issue", "visitor", "--label", "free").strip()
        expect(self.status_of("/v1/mayor", key) == 200, "a key of the free plan does not work")
        usage = json.loads(self.account.admin("account", "usage", "visitor", "--json"))
        expect((usage["quota"], usage["used"]) == (20000, 1), f"the usage of the free plan is {usage}")
        self.account.admin("account", "delete", "visitor")
        expect(self.status_of("/v1/mayor", key) == 401, "a key of a deleted account works")
        expect(not gateway_keys(self.account, "visitor"), "API Gateway has a key of a deleted account")

    def stage(self):
        return self.account.client("apigateway").get_stage(restApiId=self.account.outputs()["ApiId"], stageName="live")

    def exhaust_page(self):
        """Follows infra/README.md, Rehearsal, step 4."""
        statuses = [self.account.get("/docs").status for _ in range(60)]
        expect(statuses[0] == 200 and statuses[-1] == 429, f"60 requests to /docs get {statuses}")
        time.sleep(20)
        statuses = [self.account.get("/docs").status for _ in range(2)]
        expect(statuses == [200, 200], f"20 s later, two requests to /docs get {statuses}")

    def use_restored_tables(self):
        """Follows infra/README.md, Restore a table."""
        own = self.account.outputs()
        restored_tables = {name: self.restored(own[name]) for name in ("HistoryTable", "AccessTable")}
        ended = self.stack.deploy(**SECOND, **{f"{name}Name": restored for name, restored in restored_tables.items()})
        expect(ended.returncode == 0, f"sam deploy fails: {ended.stderr}{self.stack.reasons()}")
        expect(self.account.outputs() == own | restored_tables, f"other outputs: {self.account.outputs()}")
        for name, function in functions_with_tables(self.account).items():
            environment = function["Environment"]["Variables"]
            tables = {value for variable, value in environment.items() if variable.endswith("_TABLE")}
            expect(tables <= set(restored_tables.values()), f"{name} uses {tables}")
        # Issues a key to a new account, which only the restored table has.
        operator_of_the_own_tables, self.account.operator = self.account.operator, {}
        only_there = self.issue("restored")
        eventually(lambda: self.status_of("/v1/mayor/history", only_there) == 200, "a key of the restored table is not accepted")
        self.account.admin("account", "delete", "restored")
        self.account.operator = operator_of_the_own_tables
        rows = self.rows_of(own["HistoryTable"])
        before = self.rows_of(restored_tables["HistoryTable"])
        eventually(lambda: self.rows_of(restored_tables["HistoryTable"]) > before, "nothing is recorded in the restored table")
        expect(self.rows_of(own["HistoryTable"]) == rows, "something is still recorded in the stack's own table")
        ended = self.stack.deploy(**SECOND, **{f"{name}Name": '""' for name in restored_tables})
        expect(ended.returncode == 0, f"sam deploy fails: {ended.stderr}{self.stack.reasons()}")
        expect(self.account.outputs() == own, f"other outputs than at first: {self.account.outputs()}")
        expect(self.status_of("/v1/mayor/history") == 200, "a key of the stack's own table is not accepted")
        for restored in restored_tables.values():
            self.account.client("dynamodb").update_table(TableName=restored, DeletionProtectionEnabled=False)
            self.account.client("dynamodb").delete_table(TableName=restored)

    def restored(self, table):
        """Restores the table as it is now, turns its settings on again, and returns the name of the restored table."""
        dynamodb, name = self.account.client("dynamodb"), f"restored-{table}"
        dynamodb.restore_table_to_point_in_time(SourceTableName=table, TargetTableName=name, UseLatestRestorableTime=True)
        dynamodb.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
        dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "ttl"})
        dynamodb.update_continuous_backups(
            TableName=name, PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True}
        )
        dynamodb.update_table(TableName=name, DeletionProtectionEnabled=True)
        return name

    def compare_differences(self):
        gone = [difference.what for difference in DIFFERENCES if difference.is_there(self.account)]
        expect(not gone, f"MiniStack no longer differs; remove from the lists in differences.py: {gone}")

    def remove(self):
        outputs = self.account.outputs()
        self.tables = [outputs["AccessTable"], outputs["HistoryTable"]]
        pages = self.account.client("dynamodb").get_paginator("scan").paginate(TableName=outputs["AccessTable"])
        accounts = [row["gateway_keys"]["M"] for page in pages for row in page["Items"] if "gateway_keys" in row]
        listed = {key["M"]["id"]["S"] for keys in accounts for key in keys.values()}
        keys = {("API key", id) for id in all_gateway_keys(self.account)}
        expect(keys == {("API key", id) for id in listed}, f"API Gateway has the keys {keys}, and the accounts {listed}")
        rows = self.rows()
        self.stack.delete()
        self.log, self.listings = outputs["AccountsLog"], outputs["ListingsBucket"]
        kept = keys | {("table", table) for table in self.tables} | {("log group", self.log), ("bucket", self.listings)}
        # MiniStack also deletes the nested bucket, although its DeletionPolicy retains it. tests/tools/sam/template asserts the policy.
        left = self.left_behind()
        expect(left == kept, f"left behind: {sorted(left - kept)}; not kept: {sorted(kept - left)}")
        expect(self.rows() == rows, f"the tables had {rows} rows, and have {self.rows()}")

    def delete_tables(self):
        """Follows infra/README.md, Remove."""
        dynamodb = self.account.client("dynamodb")
        for table in self.tables:
            try:
                dynamodb.delete_table(TableName=table)
            except ClientError:
                pass
            expect(table in dynamodb.list_tables()["TableNames"], f"{table} is not protected")
            dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
            dynamodb.delete_table(TableName=table)
        if self.log:
            self.account.client("logs").delete_log_group(logGroupName=self.log)
        if self.listings:
            empty_and_delete(self.account, self.listings)
        left = {resource for resource in self.left_behind() if resource[0] != "API key"}
        expect(not left, f"left behind: {left}")

    def create_again(self):
        self.stack.create(**FIRST | {"Pages": "off", "PublicFiles": "off", "AccessLogging": "off"})
        for path in ("/docs", "/market", "/favicon.ico", "/assets/0123456789abcdef/scalar.js"):
            response = self.account.get(path)
            expect(f"Route GET {path} not found" in response.body.decode(), f"{path} is a {response.status}")
        functions = [function["FunctionName"] for function in self.account.client("lambda").list_functions()["Functions"]]
        expect(not any("Page" in name for name in functions), "there is a function for the pages")
        of_payments = {resource for resource in self.left_behind() if resource[0] in ("event bus", "archive", "consumer")}
        expect(not of_payments, f"without StripeEventSource, there are {of_payments}")
        # The operator has no rights to the new tables.
        self.account.operator = {}
        expect(self.status_of("/v1/mayor") == 401, "the new stack accepts a key that it does not have")
        self.account.admin("account", "import", "-", given=self.accounts)
        eventually(lambda: self.status_of("/v1/mayor") == 200, "an imported key is not accepted")
        expect(self.payments.status_of_key("payer") == 200, "an imported subscription does not allow its account")

    def delete_gateway_keys(self):
        """Follows infra/README.md, Remove."""
        self.stack.delete()
        for id in all_gateway_keys(self.account):
            self.account.client("apigateway").delete_api_key(apiKey=id)
        left = {resource for resource in inventory(self.account) if resource[0] == "API key"}
        expect(not left, f"API Gateway still has keys: {left}")

    def rows(self):
        """Returns the number of rows in each table."""
        return [self.rows_of(table) for table in self.tables]

    def rows_of(self, table):
        """Returns the number of rows in the table."""
        scan = self.account.client("dynamodb").get_paginator("scan")
        return sum(page["Count"] for page in scan.paginate(TableName=table, Select="COUNT"))


def empty_and_delete(account, bucket):
    """Deletes the bucket with its objects. It may be deleted already."""
    storage = account.client("s3")
    try:
        for entry in storage.list_objects_v2(Bucket=bucket).get("Contents", []):
            storage.delete_object(Bucket=bucket, Key=entry["Key"])
        storage.delete_bucket(Bucket=bucket)
    except storage.exceptions.NoSuchBucket:
        pass


def sample_request(logical_id):
    """Returns the path and query of the function's sample event."""
    words = re.findall("[A-Z][a-z]+", logical_id.removesuffix("Function"))
    event = json.loads((REPOSITORY / "events" / f"{'-'.join(words).lower()}.json").read_text())
    return f"{event['path']}?{urlencode(event['queryStringParameters'] or {})}"


def main():
    """Exits with 1 if a step fails."""
    end_politely_when_asked()
    began = time.monotonic()
    try:
        with cloud() as account:
            Rehearsal(account).run()
    except Failure as failure:
        sys.exit(f"error: {failure}\n  Logs are in {LOGS}.")
    print(f"deployed, checked, updated and removed in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
