#!/usr/bin/env python3
"""Deploys the unmodified template to MiniStack and uses it: tests/README.md, Deployment on an emulator."""

import contextlib
import json
import sys
import time
from datetime import datetime, timezone

from botocore.exceptions import ClientError

from cloud import ADMIN, BUCKET, STACK, cloud
from differences import DIFFERENCES, FAILED_CHECKS, OBSERVATIONS
from inventory import inventory
from packing import pack
from policies import functions_with_tables, operator, without_policies
from processes import LOGS, Failure, end_politely_when_asked
from services import UPSTREAM_KEY

CAPABILITIES = ("CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND")
SECRET = "game-data-query-service/upstream-key"
# The default is far above what one client sends, so that the first check is fast.
FIRST = {"GatewayCache": "off", "ProRateLimit": "500", "ProBurstLimit": "5000"}
SECOND = {"GatewayCache": "on", "ProRateLimit": "20", "ProBurstLimit": "200"}


@contextlib.contextmanager
def step(sentence):
    """Prints the sentence and the seconds that the block takes."""
    began = time.monotonic()
    outcome = "FAILED"
    try:
        yield
        outcome = "ok"
    finally:
        print(f"{outcome:6}  {time.monotonic() - began:5.1f} s  {sentence}", flush=True)


def expect(condition, otherwise):
    """Fails with this sentence if the condition is false."""
    if not condition:
        raise Failure(otherwise)


def eventually(look, seconds, otherwise):
    """The first true result of `look`."""
    deadline = time.monotonic() + seconds
    while not (result := look()):
        expect(time.monotonic() < deadline, otherwise)
        time.sleep(0.2)
    return result


class Rehearsal:
    """One run, from an empty account to a removed stack."""

    def __init__(self, account):
        self.account = account
        self.parameters = {
            "Architecture": "x86_64",
            "DashboardUrl": "https://dashboard.example",
            "UpstreamBaseUrl": account.provider,
            "NamesBaseUrl": account.provider,
            "AlarmEmail": "operator@example.com",
        }

    def run(self):
        """Every step depends on the ones before."""
        self.empty = inventory(self.account)
        with step("packages the development builds as `sam build` would"):
            self.package()
        with step("refuses parameters that are not allowed"):
            self.refuse_parameters()
        with step("fails to create a stack without the provider's key, and leaves nothing behind"):
            self.fail_first_creation()
        with step("creates the stack"):
            self.create()
        with step("issues keys with cargo admin, which needs the documented rights only"):
            self.issue_keys()
        with step("passes cargo admin check"):
            self.check("--rate", "250")
        with step("records on schedule"):
            self.wait_for_records()
        with step("cannot use its tables without its policies"):
            self.take_policies_away()
        with step("updates the stack: stage cache on, other limits"):
            self.update()
        with step("passes cargo admin check --throttle"):
            report = self.check("--rate", "10", "--throttle")
        with step("differs from AWS as listed"):
            self.compare_differences(report)
        with step("removes the stack, but not its tables"):
            self.remove()

    def package(self):
        self.built = self.account.folder / "built"
        pack(self.built)
        ended = self.account.sam(
            "package", "--template-file", "template.yaml", "--s3-bucket", BUCKET, "--output-template-file", "packaged.yaml",
            folder=self.built,
        )
        expect(ended.returncode == 0, f"sam package fails: {ended.stderr}")

    def deploy(self, **parameters):
        given = [f"{name}={value}" for name, value in {**self.parameters, **parameters}.items()]
        return self.account.sam(
            "deploy", "--template-file", "template.yaml", "--stack-name", STACK, "--s3-bucket", BUCKET, "--no-progressbar",
            "--no-fail-on-empty-changeset", "--capabilities", *CAPABILITIES, "--parameter-overrides", *given,
            folder=self.built,
        )

    def refuse_parameters(self):
        """One value for each kind of constraint in the template."""
        self.account.client("s3").upload_file(str(self.built / "packaged.yaml"), BUCKET, "template.yaml")
        for name, value in [
            ("GatewayCache", "maybe"),
            ("DashboardUrl", 'https://dashboard.example/"quoted"'),
            ("DashboardUrl", None),
            ("ProRateLimit", "-1"),
            ("UserAgent", ""),
            # Without CertificateArn.
            ("DomainName", "api.example.com"),
        ]:
            reason = self.refusal({**self.parameters, name: value})
            expect(name in reason, f"{name}={value} is not refused, or for another reason: {reason or 'none'}")

    def refusal(self, parameters):
        """Why CloudFormation creates no stack with these parameters. A parameter without a value is not given."""
        given = {name: value for name, value in parameters.items() if value is not None}
        try:
            self.account.client("cloudformation").create_stack(
                StackName="refused",
                TemplateURL=f"{self.account.url}/{BUCKET}/template.yaml",
                Capabilities=CAPABILITIES,
                Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in given.items()],
            )
        except ClientError as error:
            return error.response["Error"]["Message"]
        return ""

    def fail_first_creation(self):
        before = inventory(self.account)
        expect(self.deploy(**FIRST).returncode != 0, "the deployment succeeds without the secret")
        expect(self.account.status() == "ROLLBACK_COMPLETE", f"the failed stack is {self.account.status()}")
        expect(SECRET in self.reasons(), f"no event of the stack names the missing secret: {self.reasons()}")
        self.delete_stack()
        left = inventory(self.account) - before
        expect(not left, f"the failed stack leaves behind: {left}")

    def events(self):
        """What happened to the stack."""
        return self.account.client("cloudformation").describe_stack_events(StackName=STACK)["StackEvents"]

    def reasons(self):
        """The reasons of all failures, one in a line."""
        failed = [event for event in self.events() if event["ResourceStatus"].endswith("_FAILED")]
        return "".join(f"\n  {event['LogicalResourceId']}: {event.get('ResourceStatusReason')}" for event in failed)

    def delete_stack(self):
        self.account.client("cloudformation").delete_stack(StackName=STACK)
        eventually(lambda: self.account.status() is None, 30, "the stack is not deleted")

    def create(self):
        self.account.client("secretsmanager").create_secret(Name=SECRET, SecretString=UPSTREAM_KEY)
        ended = self.deploy(**FIRST)
        expect(ended.returncode == 0, f"sam deploy fails: {ended.stderr}{self.reasons()}")
        expect(self.account.status() == "CREATE_COMPLETE", f"the stack is {self.account.status()}")

    def issue_keys(self):
        self.account.operator = operator(self.account)
        self.keys = {name: self.issue(name) for name in ("good", "lapsed", "revoked", "spare")}
        self.account.admin("account", "set", "lapsed", "--paid-until", "2025-01-01")
        [revoked] = self.account.admin("key", "list", "revoked")["keys"]
        self.account.admin("key", "revoke", revoked["id"])

    def issue(self, name):
        self.account.admin("account", "set", name, "--tier", "pro", "--paid-until", "2100-01-01")
        return self.account.admin("key", "issue", name, "--label", "rehearsal")["key"]

    def check(self, *options):
        """The report of `cargo admin check`, whose failed checks are the known ones."""
        ended = self.account.run(
            ADMIN, "check", "--url", self.account.api_url(), "--key", "-", "--lapsed-key", self.keys["lapsed"],
            "--revoked-key", self.keys["revoked"], "--json", *options, given=self.keys["good"], log="check",
        )
        expect(ended.stdout, f"cargo admin check fails: {ended.stderr}")
        report = json.loads(ended.stdout)
        failed = {check["name"]: check for check in report["checks"] if check["outcome"] == "failed"}
        unexpected = [check for name, check in failed.items() if name not in FAILED_CHECKS]
        expect(not unexpected, f"checks fail: {json.dumps(unexpected, indent=1)}")
        passing = FAILED_CHECKS.keys() - failed.keys()
        expect(not passing, f"these checks no longer fail; remove them from FAILED_CHECKS: {sorted(passing)}")
        skipped = {check["name"] for check in report["checks"] if check["outcome"] == "skipped"}
        allowed = set() if "--throttle" in options else {"error 429"}
        expect(skipped == allowed, f"checks are skipped: {skipped}")
        print(f"        {report['passed']} passed, {report['failed']} failed as listed; {report['requests']} requests")
        return report

    def wait_for_records(self):
        """Each recorder has a kind of row of its own."""
        table = self.account.outputs()["HistoryTable"]
        kinds = {"bazaar", "fire-sales", "mayors"}
        found = set()

        def has_all():
            pages = self.account.client("dynamodb").get_paginator("scan").paginate(
                TableName=table, ProjectionExpression="pk"
            )
            found.update(row["pk"]["S"].split("#")[0] for page in pages for row in page["Items"])
            return found == kinds

        eventually(has_all, 40, f"of {kinds}, the recorders wrote {found} only")

    def take_policies_away(self):
        """A use of every function with a table fails without its policies, and succeeds with them."""
        uses = {
            "AuthorizerFunction": lambda _: self.status_of("/v1/mayor", self.keys["spare"]),
            "BazaarHistoryFunction": lambda _: self.status_of("/v1/bazaar/history?item_id=INK_SACK:3&range=1h"),
            "FireSalesHistoryFunction": lambda _: self.status_of("/v1/fire-sales/history"),
            "MayorHistoryFunction": lambda _: self.status_of("/v1/mayor/history"),
            "RecordBazaarFunction": self.record_now,
            "RecordFireSalesFunction": self.record_now,
            "RecordMayorFunction": self.record_now,
        }
        functions = functions_with_tables(self.account)
        expect(functions.keys() == uses.keys(), f"the functions with tables are {sorted(functions)}")
        for name, function in functions.items():
            with without_policies(self.account, function):
                status = uses[name](function)
                expect(status == 500, f"without its policies, {name} responds with {status}")
            status = uses[name](function)
            expect(status == 200, f"with its policies again, {name} responds with {status}")

    def status_of(self, path, key=None):
        return self.account.get(path, key or self.keys["good"]).status

    def record_now(self, function):
        """500 if the recorder fails."""
        time_of_event = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        result = self.account.client("lambda").invoke(
            FunctionName=function["FunctionName"], Payload=json.dumps({"time": time_of_event})
        )
        return 500 if "FunctionError" in result else result["StatusCode"]

    def update(self):
        before = self.account.outputs()
        deployment = self.stage()["deploymentId"]
        ended = self.deploy(**SECOND)
        expect(ended.returncode == 0, f"sam deploy fails: {ended.stderr}{self.reasons()}")
        expect(self.account.outputs() == before, f"other outputs: {before}, then {self.account.outputs()}")
        expect(self.stage()["deploymentId"] != deployment, "the stage still has its former deployment")
        plan = self.account.client("apigateway").get_usage_plan(usagePlanId=before["ProUsagePlan"])
        limits = plan["throttle"]
        expect(limits == {"rateLimit": 20, "burstLimit": 200}, f"the limits of pro are {limits}")

    def stage(self):
        return self.account.client("apigateway").get_stage(restApiId=self.account.outputs()["ApiId"], stageName="live")

    def compare_differences(self, report):
        observed = {(observation["name"], observation["value"]) for observation in report["observations"]}
        gone = [f"{name}: {value}" for name, value in OBSERVATIONS.keys() - observed]
        gone += [difference.what for difference in DIFFERENCES if difference.is_there(self.account)]
        expect(not gone, f"MiniStack no longer differs; remove from the lists in differences.py: {gone}")
        expect(("functions_expect_stage_cache", "on") in observed, "the functions do not expect the stage cache")

    def remove(self):
        outputs = self.account.outputs()
        tables = [outputs["AccessTable"], outputs["HistoryTable"]]
        keys = {resource for resource in inventory(self.account) if resource[0] == "API key"}
        expect(len(keys) == len(self.keys) - 1, f"API Gateway has other keys than the issued ones: {keys}")
        rows = self.rows(tables)
        self.delete_stack()
        left = inventory(self.account) - self.empty
        kept = keys | {("table", table) for table in tables} | {("secret", SECRET)}
        kept |= {resource for resource in left if "ApiGatewayLogRole" in resource[1]}
        expect(left == kept, f"left behind: {sorted(left - kept)}; not kept: {sorted(kept - left)}")
        expect(self.rows(tables) == rows, f"the tables had {rows} rows, and have {self.rows(tables)}")

    def rows(self, tables):
        pages = [self.account.client("dynamodb").get_paginator("scan").paginate(TableName=table, Select="COUNT") for table in tables]
        return [sum(page["Count"] for page in pages) for pages in pages]


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
