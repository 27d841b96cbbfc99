#!/usr/bin/env python3
"""Runs the built functions in containers, with `sam local invoke` and `sam local start-api`. Their responses must equal those
of the local cloud.

    python containers.py [--own-engine]

`sam local start-api` emulates no gateway responses, cache, usage plans or compression, so responses of the gateway itself
differ from the template (`REFUSED`).
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import engine
from events import events, expect_one_for_each, problem_between, remark, shortened
from functions import BUILT, CONFIGURATION, functions
from processes import LOGS, REPOSITORY, Failure, Process, end_politely_when_asked, free_port, started_too_early, tail
from results import Results
from services import UPSTREAM_KEY, local_cloud, request, upstream

SAM = pathlib.Path(sys.executable).parent / "sam"

# Longer than any function's timeout plus the start of a container.
INVOKE_SECONDS = 120

# The headers that must be equal. (Dates differ.)
COMPARED_HEADERS = [
    "content-type",
    "cache-control",
    "content-security-policy",
    "retry-after",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-expose-headers",
    "access-control-max-age",
]

# The requests of the OpenAPI document's examples. The status depends on the time at which it is requested.
EXAMPLES = [json.loads(path.read_text())["request"] for path in sorted(REPOSITORY.glob("infra/openapi/examples/*.json"))]
# Method and path.
REQUESTS = [("GET", path) for path in EXAMPLES if path != "/v1/status"] + [
    ("GET", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/market"),
    ("GET", "/favicon.ico"),
    ("GET", "/assets/0123456789abcdef/market.js"),
    ("GET", "/v1/mayor/history"),
    ("GET", "/v1/mayor/history?limit=101"),
    ("GET", "/v1/fire-sales/history?limit=2"),
    ("GET", "/v1/fire-sales/history?limit="),
    ("GET", "/v1/bazaar"),
    ("GET", "/v1/bazaar?mode=item&id=INK_SACK%3A3"),
    ("GET", "/v1/bazaar?mode=item&id=NO_SUCH_PRODUCT"),
    ("GET", "/v1/bazaar?mode=flips&limit=3&limit=5"),
    ("GET", "/v1/bazaar?mode=items&ids=INK_SACK%3A3,NO_SUCH_PRODUCT"),
    ("GET", "/v1/bazaar?mode=none%20such"),
    ("GET", "/v1/bazaar/history?item_id=INK_SACK:3"),
    ("GET", "/v1/bazaar/history"),
    ("GET", "/v1/bazaar/candles?item_id=INK_SACK:3&interval=5m"),
    ("GET", "/v1/bazaar/candles?item_id=INK_SACK:3&before=2026-11-21T15:00:00%2B01:00&limit=1"),
    ("GET", "/v1/bazaar/candles?item_id=INK_SACK:3&before=now"),
    ("GET", "/v1/auctions"),
    ("GET", "/v1/auctions?page=99999"),
    ("GET", "/v1/auctions/prices"),
    ("GET", "/v1/auctions/prices?ids=A,,B"),
    ("GET", "/v1/items?unknown=parameter"),
    ("GET", "/v1/profile/nobody_here"),
    ("GET", "/v1/profile/not%20a%20name"),
    ("GET", "/v1/nothing"),
    ("GET", "/nothing/at/all?limit=1"),
    ("POST", "/v1/mayor"),
    ("DELETE", "/"),
    ("OPTIONS", "/"),
    ("OPTIONS", "/v1/mayor"),
    ("OPTIONS", "/v1/profile/Notch"),
]

# Refused keys, with the statuses of the local cloud, which follows the template, and of start-api, which responds with 502
# when the authorizer fails.
REFUSED = [("no key", None, 401, 401), ("lapsed", "lapsed", 403, 403), ("revoked", "revoked", 401, 502)]


class Sam:
    """`sam local` with the options and the environment that the functions need."""

    def __init__(self, image, game_url, scratch):
        # No credentials, no telemetry.
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            "HOME": str(scratch),
            "TMPDIR": str(scratch),
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "SAM_CLI_TELEMETRY": "0",
        }
        variables = {"HYPIXEL_BASE_URL": game_url, "MOJANG_BASE_URL": game_url, "HYPIXEL_API_KEY": UPSTREAM_KEY}
        overrides = scratch / "variables.json"
        overrides.write_text(json.dumps({"Parameters": variables}))
        self.options = ["--config-env", CONFIGURATION, "--skip-pull-image", "--invoke-image", image]
        self.options += ["--env-vars", str(overrides)]

    def log(self, function):
        """Standard error of `sam local invoke`, which includes the log of the function."""
        return LOGS / f"sam-local-invoke-{function.binary}.log"

    def invoke(self, function, text):
        """The response of the function to the event."""
        try:
            response = self.invoke_once(function, text)
        except Failure:
            if not started_too_early(self.log(function)):
                raise
        else:
            if not started_too_early(self.log(function)):
                return response
        return self.invoke_once(function, text)

    def invoke_once(self, function, text):
        log = self.log(function)
        command = [SAM, "local", "invoke", function.logical_id, "--event", "-", *self.options]
        with open(log, "wb") as errors:
            try:
                ended = subprocess.run(
                    command,
                    cwd=REPOSITORY,
                    env=self.environment,
                    input=text.encode(),
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    timeout=INVOKE_SECONDS,
                )
            except subprocess.TimeoutExpired as error:
                raise Failure(f"no response within {INVOKE_SECONDS} s:\n{tail(log)}") from error
        try:
            return json.loads(ended.stdout.decode().strip().splitlines()[-1])
        except (IndexError, ValueError) as error:
            output = shortened(ended.stdout.decode(errors="replace"))
            raise Failure(f"no response (exit code {ended.returncode}): {output}\n{tail(log)}") from error

    @contextlib.contextmanager
    def api(self):
        """The process and the base URL of `sam local start-api`. Containers stay warm, like instances in the local cloud."""
        port = free_port()
        command = [SAM, "local", "start-api", "--port", port, "--warm-containers", "LAZY", *self.options]
        with Process("sam local start-api", command, self.environment) as process:
            process.wait_for_port(port, seconds=60)
            yield process, f"http://127.0.0.1:{port}"


def check_invoke(sam, built, cloud, results):
    """`sam local invoke` of every function with every event."""
    for event in events():
        function = built[event.function]
        what = f"sam local invoke {function.logical_id} -e events/{event.path.name}"
        try:
            response, expected = sam.invoke(function, event.text), cloud.invoke(function.binary, event.text)
        except Failure as failure:
            results.note(what, failure)
            continue
        problem = problem_between(event, "sam local invoke", response, expected)
        if problem:
            problem = f"{problem}\n{tail(sam.log(function))}"
        results.note(what, problem, remark(response))


def check_api(sam, tables, cloud, results):
    """The same requests to `sam local start-api` and to the local cloud."""
    # Both record the same history, at the current minute.
    minute = time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime())
    for recorder in ["record-auctions", "record-bazaar", "record-candles", "record-fire-sales", "record-mayor"]:
        for each in [tables, cloud]:
            each.invoke(recorder, json.dumps({"time": minute, "backfill": True}))
    with sam.api() as (process, api):
        key = {"X-API-Key": cloud.keys["pro"]}
        for method, path in REQUESTS:
            what = f"sam local start-api: {method} {path}"
            try:
                of_sam, of_cloud = request_sam(process, api, method, path, key), request(cloud.api, method, path, key)
            except Failure as failure:
                results.note(what, failure)
                continue
            results.note(what, difference(path, of_sam, of_cloud), f"{of_sam.status}, {len(of_sam.body):,} bytes")
        for who, name, of_template, of_sam in REFUSED:
            headers = {"X-API-Key": cloud.keys[name]} if name else {}
            statuses = [request(base, "GET", "/v1/mayor", headers).status for base in [cloud.api, api]]
            problem = None
            if statuses != [of_template, of_sam]:
                problem = f"expected {of_template} from the local cloud and {of_sam} from start-api, got {statuses}"
            results.note(f"sam local start-api: GET /v1/mayor, {who}", problem, of_sam)
        if results.failed:
            print(process.failure("the output of sam local start-api"))
            print(cloud.process.failure("the output of the local cloud"))


def request_sam(process, api, method, path, headers):
    """SAM's response. If the function was started too early, the response to a second request."""
    before = process.log.stat().st_size
    response = request(api, method, path, headers)
    if response.status == 502 and started_too_early(process.log, before):
        response = request(api, method, path, headers)
    return response


def difference(path, of_sam, of_cloud):
    """What differs between two responses, or None."""
    if of_sam.status != of_cloud.status:
        return f"{of_sam.status} from SAM, {of_cloud.status} from the local cloud: {shortened(of_sam.body.decode())}"
    bodies = [of_sam.body, of_cloud.body]
    if path.startswith("/v1/bazaar"):
        # The TTL of five seconds may have ended on one side only.
        bodies = [re.sub(rb'"cached":(true|false),"api_version"', b'"cached":null,"api_version"', body) for body in bodies]
    if path.startswith("/v1/auctions/prices") and of_sam.status == 200:
        # The prices were recorded one after the other.
        bodies = [re.sub(rb'"data":.*,"meta"', b'"data":null,"meta"', body) for body in bodies]
    if bodies[0] != bodies[1]:
        both = [shortened(body.decode(errors="replace")) for body in bodies]
        return f"the bodies differ.\n  SAM: {both[0]}\n  local cloud: {both[1]}"
    for header in COMPARED_HEADERS:
        if of_sam.headers.get(header) != of_cloud.headers.get(header):
            return f"{header} is {of_sam.headers.get(header)} from SAM, {of_cloud.headers.get(header)} from the local cloud"
    return None


@contextlib.contextmanager
def environment(game, built, name):
    """SAM, the local cloud whose tables its functions use, and the local cloud that they are compared with."""
    bridge = engine.bridge_address()
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        tables, cloud = enter(local_cloud(game, f"{name}-tables")), enter(local_cloud(game, f"{name}-local-cloud"))
        to_game = enter(engine.Forwarder(bridge, game.port))
        to_tables = enter(engine.Forwarder(bridge, int(tables.dynamodb.rsplit(":", 1)[1])))
        scratch = pathlib.Path(enter(tempfile.TemporaryDirectory(prefix="sam-local-")))
        programs = [function.program for function in built.values()]
        # SAM sets only variables that the template has. This one is not in the template, so the image sets it.
        variables = {"AWS_ENDPOINT_URL_DYNAMODB": f"http://{bridge}:{to_tables.port}"}
        image = enter(engine.image(programs, variables))
        yield Sam(image, game.url(bridge, to_game.port), scratch), tables, cloud


def main(arguments):
    end_politely_when_asked()
    if not BUILT.is_file():
        raise Failure("nothing is built: run `tests/tools/sam/check_with_sam.sh build` first")
    results = Results()
    built = functions()
    expect_one_for_each(built)
    with contextlib.ExitStack() as stack:
        if arguments == ["--own-engine"]:
            stack.enter_context(engine.own_engine())
        elif not engine.is_running():
            raise Failure("no Docker engine is running")
        game = stack.enter_context(upstream())
        with environment(game, built, "invoke") as (sam, _, cloud):
            check_invoke(sam, built, cloud, results)
        with environment(game, built, "start-api") as (sam, tables, cloud):
            check_api(sam, tables, cloud, results)
    return results.exit_code()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"error: {failure}")
