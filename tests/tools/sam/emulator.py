#!/usr/bin/env python3
"""Invokes every built function with its sample events under the Lambda Runtime Interface Emulator of aws-sam-cli. Each
response must suit the event and equal that of the local cloud."""

import contextlib
import pathlib
import sys
from itertools import groupby

import samcli

from events import events, expect_one_for_each, problem_between, remark, shortened
from functions import ARCHITECTURE, BUILT, functions
from processes import Failure, Process, end_politely_when_asked, free_port, started_too_early
from results import Results
from services import UPSTREAM_KEY, local_cloud, request, upstream

EMULATOR = pathlib.Path(samcli.__file__).parent / "local" / "rapid" / f"aws-lambda-rie-{ARCHITECTURE}"

# Another process may take the port between its choice and its use. Then the start is repeated.
TRIES = 3


class Emulated:
    """A function that runs under the emulator."""

    def __init__(self, process, port):
        self.process, self.url = process, f"http://127.0.0.1:{port}"

    def invoke(self, text):
        """The response of the function. The emulator responds with status 200 even if the function fails."""
        before = self.process.log.stat().st_size
        response = self.invoke_once(text)
        return self.invoke_once(text) if started_too_early(self.process.log, before) else response

    def invoke_once(self, text):
        return request(self.url, "POST", "/2015-03-31/functions/function/invocations", body=text).json()


def environment_of(function, dynamodb):
    """The environment that Lambda would set, without variables of this machine."""
    return {
        **function.environment,
        "AWS_LAMBDA_FUNCTION_NAME": function.logical_id,
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
        "AWS_LAMBDA_FUNCTION_TIMEOUT": str(function.timeout_s),
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_REGION": "eu-central-1",
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_ENDPOINT_URL_DYNAMODB": dynamodb,
    }


@contextlib.contextmanager
def emulated(function, dynamodb):
    """The function under an emulator process of its own."""
    for left in reversed(range(TRIES)):
        port, runtime_api = free_port(), free_port()
        command = [EMULATOR, "--runtime-interface-emulator-address", f"127.0.0.1:{port}"]
        command += ["--runtime-api-address", f"127.0.0.1:{runtime_api}", function.program]
        folder, log = function.program.parent, f"emulator-{function.binary}"
        name = f"{function.binary} under the emulator"
        with Process(name, command, environment_of(function, dynamodb), folder, log) as process:
            try:
                process.wait_for_port(port, seconds=20)
            except Failure:
                if left and "address already in use" in process.log.read_text(errors="replace"):
                    continue
                raise
            yield Emulated(process, port)
            return


def check(function, own_events, tables, cloud, results):
    """Invokes one function with its events and compares the responses."""
    with emulated(function, tables.dynamodb) as under_emulator:
        for event in own_events:
            try:
                response, expected = under_emulator.invoke(event.text), cloud.invoke(function.binary, event.text)
            except Failure as failure:
                results.note(event.name, under_emulator.process.failure(failure))
                continue
            problem = problem_between(event, "emulator", response, expected)
            results.note(event.name, problem and under_emulator.process.failure(problem), remark(response))
        if function.binary == "authorizer":
            check_keys(own_events[0], under_emulator, cloud, results)


def check_keys(event, under_emulator, cloud, results):
    """The authorizer's decisions on keys in the table."""
    wanted = {"starter": "Allow", "pro": "Allow", "lapsed": "Deny", "revoked": "Unauthorized"}
    for name, verdict in wanted.items():
        text = event.with_key(cloud.keys[name])
        response, expected = under_emulator.invoke(text), cloud.invoke("authorizer", text)
        decision = response.get("errorMessage") or response["policyDocument"]["Statement"][0]["Effect"]
        problem = None
        if decision != verdict or response != expected:
            problem = f"expected {verdict}: {shortened(response)}\n  local cloud: {shortened(expected)}"
        results.note(f"authorizer, the key {name}", problem, decision)


def main():
    end_politely_when_asked()
    if not BUILT.is_file():
        raise Failure("nothing is built: run `tests/tools/sam/check_with_sam.sh build` first")
    if not EMULATOR.is_file():
        raise Failure(f"aws-sam-cli has no emulator for this machine: {EMULATOR} is missing")
    results = Results()
    # Two clouds, because a recorder that repeats a tick in the same tables reports that nothing was left to record.
    with upstream() as game, local_cloud(game, "tables") as tables, local_cloud(game, "local-cloud") as cloud:
        built = functions(UpstreamBaseUrl=game.url(), NamesBaseUrl=game.url())
        expect_one_for_each(built)
        if "HYPIXEL_API_KEY" in (profile := built["profile"].environment):
            # SAM cannot resolve secrets.
            profile["HYPIXEL_API_KEY"] = UPSTREAM_KEY
        for name, own_events in groupby(events(), key=lambda event: event.function):
            check(built[name], list(own_events), tables, cloud, results)
    return results.exit_code()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"error: {failure}")
