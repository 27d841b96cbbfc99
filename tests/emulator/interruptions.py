"""Interrupts the writes of commands that manage keys. Whichever write fails, the command completes, or completes when it is repeated."""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import re
import signal
import threading

from cloud import ADMIN, PATIENCE, STACK
from stack import expect

# The faults of a write, and the exit code of the command. "killed": the function is killed after the write. "lost": the write succeeds, but
# its response is an error. "denied": AWS denies the write.
FAULTS = {"killed": 1, "lost": 0, "denied": 1}
REFUSALS = {"lost": (500, "InternalFailure"), "denied": (403, "AccessDeniedException")}
LABEL = "bot"


class Interruptions:
    """Runs an operator's commands. The accounts function reaches the emulator through a proxy, which makes one write fail."""

    def __init__(self, account):
        self.account, self.outputs = account, account.outputs()
        self.dynamodb, self.gateway = account.client("dynamodb"), account.client("apigateway")
        self.attempts, self.writes, self.fault = 0, 0, None

        class Handler(http.server.BaseHTTPRequestHandler):
            do_GET = do_POST = do_DELETE = lambda handler: self.respond(handler)
            log_message = lambda *_: None

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def respond(self, handler):
        """Forwards a request and its response. A fault changes what happens to one write."""
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        target = handler.headers.get("X-Amz-Target", "")
        of_gateway = handler.path.startswith(("/apikeys", "/usageplans")) and handler.command != "GET"
        fault = None
        if of_gateway or re.search("(Put|Update|Delete)Item$", target):
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
        self.writes = 0
        return self.account.run(ADMIN, *arguments, "--stack", STACK, given=given, environment=self.account.operator, log="admin")

    def run(self):
        with self.function_behind_proxy():
            self.interrupt()
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

    def interrupt(self):
        for command in (self.issue, self.move, self.revoke, self.bring_back):
            writes = self.attempt(command)
            expect(writes > 2, f"{command.__name__} has {writes} writes")
            for fault in FAULTS:
                for number in range(1, writes + 1):
                    self.attempt(command, (number, fault))

    def attempt(self, command, fault=None):
        """Runs the command for a new account, and returns the number of its writes."""
        self.attempts += 1
        name = f"interrupted-{self.attempts}"
        self.account.admin("account", "set", name, "--tier", "starter", "--paid-until", "2100-01-01")
        arguments, given, tier, count = command(name)
        self.fault = fault
        ended = self.admin(*arguments, given=given)
        writes = self.writes
        code = FAULTS[fault[1]] if fault else 0
        about = f"{' '.join(arguments)}, {fault}: "
        expect((self.fault, ended.returncode) == (None, code), f"{about}{ended}")
        denied = bool(fault) and fault[1] == "denied"
        expect(denied == ("AccessDeniedException: on purpose; run the same command again" in ended.stderr), f"{about}{ended}")
        if code != 0:
            ended = self.admin(*arguments, given=given)
            # If the key was issued but not shown, the error names the command that revokes it.
            if advice := re.search(r"cargo admin (key revoke \S+) --stack", ended.stderr):
                self.account.admin(*advice[1].split())
                ended = self.admin(*arguments, given=given)
            expect(ended.returncode == 0, f"{about}repeated: {ended}")
        self.expect_in_order(name, tier, count, about)
        self.forget(name)
        return writes

    def expect_in_order(self, name, tier, count, about):
        """Fails unless the account has this number of keys, no key is pending, and the gateway has the same keys in the plan of the tier."""
        rows = [row for row in self.rows(name) if row["pk"]["S"].startswith("key#")]
        issued = {row["pk"]["S"].removeprefix("key#") for row in rows if "revoked_at" not in row}
        expect(len(issued) == count and not any("pending" in row for row in rows), f"{about}the table has {rows}")
        keys = self.keys(name)
        expect(sorted(key["value"] for key in keys) == sorted(issued), f"{about}the gateway has {keys}, and the table {issued}")
        for key in keys:
            plans = [plan["id"] for plan in self.gateway.get_usage_plans(keyId=key["id"])["items"]]
            expect(plans == [self.outputs[f"{tier.title()}UsagePlan"]], f"{about}a key is in the plans {plans}")

    def rows(self, name):
        """The rows of the account in the table."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.outputs["AccessTable"])
        return [row for page in pages for row in page["Items"] if name in (row["pk"]["S"].removeprefix("account#"), row.get("account", {}).get("S"))]

    def keys(self, name):
        """The keys of the account in the gateway."""
        keys = self.gateway.get_api_keys(includeValues=True, limit=500)["items"]
        return [key for key in keys if key["name"] == f"{name} {LABEL}"]

    def forget(self, name):
        """Deletes the account and its keys."""
        for row in self.rows(name):
            self.dynamodb.delete_item(TableName=self.outputs["AccessTable"], Key={"pk": row["pk"]})
        for key in self.keys(name):
            self.gateway.delete_api_key(apiKey=key["id"])

    # Each method below prepares a command, and returns its arguments, its standard input, and the expected tier and number of keys.

    def issue(self, name):
        return ["key", "issue", name, "--label", LABEL], None, "starter", 1

    def move(self, name):
        self.account.admin("key", "issue", name, "--label", LABEL)
        return ["account", "set", name, "--tier", "pro"], None, "pro", 1

    def revoke(self, name):
        self.account.admin("key", "issue", name, "--label", LABEL)
        [key] = json.loads(self.account.admin("key", "list", name, "--json"))["keys"]
        return ["key", "revoke", key["id"]], None, "starter", 0

    def bring_back(self, name):
        """Imports an account and its key from an export, after the table and the gateway have lost them."""
        self.account.admin("key", "issue", name, "--label", LABEL)
        lines = [line for line in self.account.admin("account", "export", "-").splitlines() if f'"{name}"' in line]
        self.forget(name)
        return ["account", "import", "-"], "\n".join(lines), "starter", 1
