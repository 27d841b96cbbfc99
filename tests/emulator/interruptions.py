"""Interrupts the writes of commands that manage accounts and keys. Whichever write fails, the command completes, or completes when it is
repeated. Only commands that change tiers send requests to API Gateway."""

import contextlib
import dataclasses
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import threading

from cloud import ADMIN, PATIENCE, STACK
from gateway_keys import gateway_keys
from stack import expect

# The faults of a write, and the exit code of the command. "killed": the function is killed after the write. "lost": the write succeeds, but
# its response is an error. "denied": AWS denies the write.
FAULTS = {"killed": 1, "lost": 0, "denied": 1}
REFUSALS = {"lost": (500, "InternalFailure"), "denied": (403, "AccessDeniedException")}
WRITE = re.compile("(Put|Update|Delete|BatchWrite)Item$|TransactWriteItems$")
# More keys than API Gateway lists at once without a limit.
OTHER_KEYS = 30
MANY_ACCOUNTS = 10_000


@dataclasses.dataclass
class Command:
    """A command line, and the state in which the command leaves the account."""

    arguments: list
    # The number of writes, and how many of them are to API Gateway.
    writes: tuple
    given: str | None = None
    # The tiers for which API Gateway has a key of the account. None if the account is deleted.
    tiers: set | None = dataclasses.field(default_factory=lambda: {"starter"})
    # The number of issued keys.
    issued: int = 1


class Interruptions:
    """Runs an operator's commands. The accounts function reaches the emulator through a proxy, which makes one write fail."""

    def __init__(self, account, payments):
        self.account, self.outputs, self.payments = account, account.outputs(), payments
        self.dynamodb, self.gateway = account.client("dynamodb"), account.client("apigateway")
        self.attempts, self.writes, self.gateway_requests, self.fault = 0, 0, 0, None

        class Handler(http.server.BaseHTTPRequestHandler):
            do_GET = do_POST = do_DELETE = lambda handler: self.respond(handler)
            log_message = lambda *_: None

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def respond(self, handler):
        """Forwards a request and its response. A fault changes what happens to one write."""
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        of_gateway = handler.path.startswith(("/apikeys", "/usageplans"))
        self.gateway_requests += of_gateway
        fault = None
        if (of_gateway and handler.command != "GET") or WRITE.search(handler.headers.get("X-Amz-Target", "")):
            self.writes += 1
            if self.fault and self.fault[0] == self.writes:
                (_, fault), self.fault = self.fault, None
        status, headers, response = 0, {}, b""
        if fault != "denied":
            status, headers, response = self.passed_on(handler, body)
        if fault == "killed":
            self.kill_function()
            return
        if fault:
            status, code = REFUSALS[fault]
            headers, response = {"x-amzn-ErrorType": code}, json.dumps({"__type": code, "message": "on purpose"}).encode()
        handler.send_response(status)
        for name, value in {**headers, "Content-Length": len(response), "Connection": "close"}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(response)

    def kill_function(self):
        variable = f"AWS_LAMBDA_FUNCTION_NAME={self.outputs['AccountsFunction']}\0".encode()
        for environment in pathlib.Path("/proc").glob("[0-9]*/environ"):
            # Other processes may end meanwhile, or belong to another user.
            with contextlib.suppress(OSError):
                if variable in environment.read_bytes():
                    os.kill(int(environment.parent.name), signal.SIGKILL)

    def passed_on(self, handler, body):
        connection = http.client.HTTPConnection(self.account.url.removeprefix("http://"), timeout=PATIENCE)
        connection.request(handler.command, handler.path, body, dict(handler.headers))
        response = connection.getresponse()
        kept = {name: value for name, value in response.getheaders() if name.lower().startswith(("content-type", "x-amz"))}
        return response.status, kept, response.read()

    def admin(self, *arguments, given=None):
        """Runs the command and returns the completed process."""
        self.writes = self.gateway_requests = 0
        return self.account.run(ADMIN, *arguments, "--stack", STACK, given=given, environment=self.account.operator, log="admin")

    def run(self):
        # An account that lapsed long ago, in addition to those that a command prepares, would add writes to `account prune`.
        self.account.admin("account", "prune")
        with self.function_behind_proxy(), self.keys_of_others():
            self.interrupt()
            with self.many_accounts():
                for command in (self.issue, self.revoke):
                    self.attempt(command)
        self.server.shutdown()

    @contextlib.contextmanager
    def function_behind_proxy(self):
        """Within the `with` block, the function reaches its table and API Gateway through the proxy."""
        functions, name = self.account.client("lambda"), self.outputs["AccountsFunction"]
        variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
        url = f"http://127.0.0.1:{self.server.server_port}"
        endpoints = {f"AWS_ENDPOINT_URL_{service}": url for service in ("DYNAMODB", "API_GATEWAY")}
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": variables | endpoints})
        yield
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": variables})

    @contextlib.contextmanager
    def keys_of_others(self):
        """Within the `with` block, API Gateway has more keys than fit into a page of its list."""
        ids = [self.gateway.create_api_key(name=f"other-{number}", enabled=True)["id"] for number in range(OTHER_KEYS)]
        yield
        for id in ids:
            self.gateway.delete_api_key(apiKey=id)

    @contextlib.contextmanager
    def many_accounts(self):
        """Within the `with` block, the table has 10,000 more accounts."""
        table = self.account.session.resource("dynamodb", endpoint_url=self.account.url).Table(self.outputs["AccessTable"])
        row = table.get_item(Key={"pk": "account#spare"})["Item"]
        names = [f"account#many-{number}" for number in range(MANY_ACCOUNTS)]
        with table.batch_writer() as batch:
            for name in names:
                batch.put_item(Item={**row, "pk": name})
        yield
        with table.batch_writer() as batch:
            for name in names:
                batch.delete_item(Key={"pk": name})

    def interrupt(self):
        for command in (self.issue, self.revoke, self.move, self.bring_back, self.prune, self.delete):
            writes = self.attempt(command)
            for fault in FAULTS:
                for number in range(1, writes + 1):
                    self.attempt(command, (number, fault))

    def attempt(self, prepare, fault=None):
        """Runs the command for a new account with a key and a lapsed subscription, and returns the number of its writes."""
        self.attempts += 1
        name = f"interrupted_{self.attempts}"
        self.account.admin("account", "set", name, "--tier", "starter", "--paid-until", "2100-01-01")
        self.account.admin("key", "issue", name, "--label", "first")
        self.payments.invoke(self.payments.event(name, price="price_starter", ends_in_days=-400))
        command = prepare(name)
        self.fault = fault
        ended = self.admin(*command.arguments, given=command.given)
        writes, of_gateway = self.writes, self.gateway_requests
        code = FAULTS[fault[1]] if fault else 0
        about = f"{' '.join(command.arguments)}, {fault}: "
        expect((self.fault, ended.returncode) == (None, code), f"{about}{ended}")
        if not fault:
            expect((writes, of_gateway) == command.writes, f"{about}{writes} writes, {of_gateway} requests to API Gateway")
        expect(command.writes[1] or not of_gateway, f"{about}{of_gateway} requests to API Gateway")
        denied = bool(fault) and fault[1] == "denied"
        expect(denied == ("AccessDeniedException: on purpose; run the same command again" in ended.stderr), f"{about}{ended}")
        if code != 0:
            ended = self.admin(*command.arguments, given=command.given)
            # If the key was issued but not shown, the error names the command that revokes it.
            if advice := re.search(r"cargo admin (key revoke \S+) --stack", ended.stderr):
                self.account.admin(*advice[1].split())
                ended = self.admin(*command.arguments, given=command.given)
            # If only the response was missing, there is nothing left to delete.
            is_gone = command.tiers is None and f"there is no account {name}" in ended.stderr
            expect(ended.returncode == 0 or is_gone, f"{about}repeated: {ended}")
        self.expect_in_order(name, command, about)
        self.forget(name)
        return writes

    def expect_in_order(self, name, command, about):
        """Fails unless table and API Gateway have the state in which the command leaves the account."""
        rows = {row["pk"]["S"]: row for row in self.rows(name)}
        account, subscription = (rows.pop(key, None) for key in (f"account#{name}", f"subscription#sub_{name}"))
        issued = {pk.removeprefix("key#") for pk, row in rows.items() if "ends_at" not in row}
        found = gateway_keys(self.account, name)
        if command.tiers is None:
            expect(not (account or subscription or issued or found), f"{about}{account}, {subscription}, {issued} and {found} remain")
            return
        expect(subscription and f"sub_{name}" in account["subscriptions"]["S"], f"{about}{account} has lost its subscription")
        expect(len(issued) == command.issued, f"{about}the table has {rows}")
        expect(set(account["keys"]["M"]) == issued, f"{about}{account} lists other keys than {issued}")
        known = {tier: (key["M"]["id"]["S"], [key["M"]["plan"]["S"]]) for tier, key in account["gateway_keys"]["M"].items()}
        plans = lambda id: [plan["id"] for plan in self.gateway.get_usage_plans(keyId=id)["items"]]
        found = {tier: (key["id"], plans(key["id"])) for tier, key in found.items()}
        expect(known == found, f"{about}{account} lists other keys than {found}")
        expected = {tier: [self.outputs[f"{tier.title()}UsagePlan"]] for tier in command.tiers}
        expect({tier: of for tier, (_, of) in found.items()} == expected, f"{about}the keys are in the plans {found}")

    def rows(self, name):
        """The rows of the account, of its keys and of its subscription in the table."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.outputs["AccessTable"])
        return [row for page in pages for row in page["Items"] if name in (row["pk"]["S"].removeprefix("account#"), row.get("account", {}).get("S"))]

    def forget(self, name):
        """Deletes the account, its keys and its subscription."""
        for row in self.rows(name):
            self.dynamodb.delete_item(TableName=self.outputs["AccessTable"], Key={"pk": row["pk"]})
        for key in gateway_keys(self.account, name).values():
            self.gateway.delete_api_key(apiKey=key["id"])

    # Each method below prepares a command for the account.

    def issue(self, name):
        return Command(["key", "issue", name, "--label", "second"], (1, 0), issued=2)

    def revoke(self, name):
        [key] = json.loads(self.account.admin("key", "list", name, "--json"))["keys"]
        return Command(["key", "revoke", key["id"]], (1, 0), issued=0)

    def move(self, name):
        # The command also completes the key of the subscription, which is in the tier starter.
        return Command(["account", "set", name, "--tier", "pro"], (4, 3), tiers={"starter", "pro"})

    def bring_back(self, name):
        """Imports an account and its key from an export, after the table and the gateway have lost them."""
        lines = [line for line in self.account.admin("account", "export", "-").splitlines() if f'"{name}"' in line]
        self.forget(name)
        return Command(["account", "import", "-"], (4, 2), "\n".join(lines))

    def prune(self, name):
        self.account.admin("account", "set", name, "--paid-until", "2025-01-01")
        return Command(["account", "prune"], (3, 1), tiers=set())

    def delete(self, name):
        return Command(["account", "delete", name], (3, 1), tiers=None, issued=0)
