#!/usr/bin/env python3
"""Runs the built functions in containers, with `sam local invoke` and `sam local start-api`. Their responses must equal those
of the local cloud. `tests/service/routes.rs` tests those of the local cloud to the same events.

    python containers.py [--own-engine]

`sam local start-api` emulates no gateway responses, cache, usage plans or compression.
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
from functions import BUILT, CONFIGURATION, functions
from processes import LOGS, REPOSITORY, Failure, Process, end_politely_when_asked, free_port, started_too_early, tail
from services import UPSTREAM_KEY, game_url, local_cloud, request, upstream

SAM = pathlib.Path(sys.executable).parent / "sam"

# The sample events.
EVENTS = REPOSITORY / "events"

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

# Auctions begin and end from one reading to the next, so only this part of a function's responses is compared.
COMPARED_PART = {"auctions-prices": "statusCode", "record-auctions": "tick"}

# The requests of the OpenAPI document's examples. The status and prices of auctions depend on the time.
EXAMPLES = [json.loads(path.read_text())["request"] for path in sorted(REPOSITORY.glob("infra/openapi/examples/*.json"))]
# Method and path.
REQUESTS = [("GET", path) for path in EXAMPLES if not path.startswith(("/v1/status", "/v1/auctions/prices"))] + [
    ("GET", "/openapi.json"),
    ("GET", "/docs.md"),
    ("GET", "/llms.txt"),
    ("GET", "/docs"),
    ("GET", "/market"),
    ("GET", "/favicon.ico"),
    ("GET", "/assets/0123456789abcdef/market.js"),
    ("GET", "/v1/mayor/history"),
    ("GET", "/v1/fire-sales/history?limit=2"),
    ("GET", "/v1/fire-sales/history?limit="),
    ("GET", "/v1/bazaar"),
    ("GET", "/v1/bazaar?mode=item&id=INK_SACK%3A3"),
    ("GET", "/v1/bazaar?mode=item&id=NO_SUCH_PRODUCT"),
    ("GET", "/v1/bazaar?mode=flips&limit=3&limit=5"),
    ("GET", "/v1/bazaar?mode=none%20such"),
    ("GET", "/v1/bazaar/history?item_id=INK_SACK:3"),
    ("GET", "/v1/bazaar/candles?item_id=INK_SACK:3&interval=5m"),
    ("GET", "/v1/bazaar/candles?item_id=INK_SACK:3&before=2026-11-21T15:00:00%2B01:00&limit=1"),
    ("GET", "/v1/auctions"),
    ("GET", "/v1/auctions?page=99999"),
    ("GET", "/v1/auctions/prices?ids=A,,B"),
    ("GET", "/v1/auctions/averages?window=2d"),
    ("GET", "/v1/auctions/candles"),
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


class Sam:
    """`sam local` with the options and the environment that the functions need."""

    def __init__(self, image, game, scratch):
        # `check_with_sam.sh` has removed all credentials.
        self.environment = {**os.environ, "HOME": str(scratch), "TMPDIR": str(scratch)}
        variables = {"HYPIXEL_BASE_URL": game, "MOJANG_BASE_URL": game, "HYPIXEL_API_KEY": UPSTREAM_KEY}
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


def shortened(response):
    """A response, shortened for a message."""
    text = response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)
    return text if len(text) <= 600 else f"{text[:400]} … ({len(text):,} characters) … {text[-100:]}"


def check_invoke(sam, built, cloud):
    """`sam local invoke` of every function with every sample event: the checks, each with its problem or None."""
    # Those of recorders come first, so that the history routes have data.
    for path in sorted(EVENTS.glob("*.json"), key=lambda path: ("record-" not in path.name, path.name)):
        function, text = built[path.stem], path.read_text()
        problem = None
        try:
            response, expected = sam.invoke(function, text), cloud.invoke(function.binary, text)
            if part := COMPARED_PART.get(function.binary):
                response, expected = response.get(part), expected.get(part)
            if response != expected:
                problem = f"the responses differ.\n  SAM: {shortened(response)}\n  local cloud: {shortened(expected)}"
        except Failure as failure:
            problem = failure
        yield f"sam local invoke {function.logical_id} -e events/{path.name}", problem


def check_api(sam, tables, cloud):
    """The same requests to `sam local start-api` and to the local cloud: the checks, each with its problem or None."""
    # Both record the same history, at the current minute.
    minute = time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime())
    for recorder in ["record-bazaar", "record-candles", "record-fire-sales", "record-mayor"]:
        for each in [tables, cloud]:
            each.invoke(recorder, json.dumps({"time": minute, "backfill": True}))
    key = {"X-API-Key": cloud.keys["pro"]}
    with sam.api() as (process, api):
        for method, path in REQUESTS:
            try:
                of_sam, of_cloud = request_sam(process, api, method, path, key), request(cloud.api, method, path, key)
                problem = difference(of_sam, of_cloud)
            except Failure as failure:
                problem = failure
            yield f"sam local start-api: {method} {path}", problem


def request_sam(process, api, method, path, headers):
    """SAM's response. If the function was started too early, the response to a second request."""
    before = process.log.stat().st_size
    response = request(api, method, path, headers)
    if response.status == 502 and started_too_early(process.log, before):
        response = request(api, method, path, headers)
    return response


def difference(of_sam, of_cloud):
    """What differs between two responses, or None."""
    if of_sam.status != of_cloud.status:
        return f"{of_sam.status} from SAM, {of_cloud.status} from the local cloud: {shortened(of_sam.body.decode())}"
    # A TTL may have ended on one side only.
    cached = rb'"cached":(true|false),"api_version"'
    bodies = [re.sub(cached, b'"cached":null,"api_version"', each.body) for each in (of_sam, of_cloud)]
    # Only the local cloud has public files.
    bodies[1] = bodies[1].replace(b'<meta name="files" content="public">', b'<meta name="files" content="">')
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
        to_game = enter(engine.Forwarder(bridge, game))
        to_tables = enter(engine.Forwarder(bridge, int(tables.dynamodb.rsplit(":", 1)[1])))
        scratch = pathlib.Path(enter(tempfile.TemporaryDirectory(prefix="sam-local-")))
        programs = [function.program for function in built.values()]
        # SAM sets only variables that the template has. This one is not in the template, so the image sets it.
        variables = {"AWS_ENDPOINT_URL_DYNAMODB": f"http://{bridge}:{to_tables.port}"}
        image = enter(engine.image(programs, variables))
        yield Sam(image, game_url(bridge, to_game.port), scratch), tables, cloud


def main(arguments):
    end_politely_when_asked()
    if not BUILT.is_file():
        raise Failure("nothing is built: run `tests/tools/sam/check_with_sam.sh build` first")
    built = functions()
    with contextlib.ExitStack() as stack:
        if arguments == ["--own-engine"]:
            stack.enter_context(engine.own_engine())
        elif not engine.is_running():
            raise Failure("no Docker engine is running")
        game = stack.enter_context(upstream())
        with environment(game, built, "invoke") as (sam, _, cloud):
            problems = note(check_invoke(sam, built, cloud))
        with environment(game, built, "start-api") as (sam, tables, cloud):
            problems += note(check_api(sam, tables, cloud))
    return f"{problems} checks failed; logs are in {LOGS}" if problems else 0


def note(checks):
    """Prints the checks; returns the number of problems."""
    problems = 0
    for what, problem in checks:
        problems += bool(problem)
        print(f"FAILED  {what}: {problem}" if problem else f"ok      {what}", flush=True)
    return problems


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"error: {failure}")
