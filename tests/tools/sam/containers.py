#!/usr/bin/env python3
"""Runs built functions in containers with `sam local invoke` and `sam local start-api`, as in events/README.md.

    python containers.py CONFIGURATION [--own-engine]
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import requests

import engine
from functions import functions
from processes import REPOSITORY, TARGET, Failure, Process, end_politely_when_asked, free_port

SAM = pathlib.Path(sys.executable).parent / "sam"
# The functions to invoke, with their sample events. The first needs no provider, the second needs the provider, and the third also needs
# the provider's key.
INVOKED = {"IndexFunction": "index", "MayorFunction": "mayor", "ProfileFunction": "profile"}
# For each path: the status and the beginning of the body.
REQUESTS = {
    "/v1/mayor": (200, '{"success":true,'),
    "/docs": (200, "<!doctype html>"),
    "/v1/bazaar?mode=item": (400, '{"success":false,'),
}


def attempted(attempt):
    """Returns the first result of up to three attempts. On a busy machine, SAM may start a function before SAM's emulator listens."""
    for number in range(3):
        try:
            return attempt()
        except Failure as failure:
            if number == 2:
                raise
            print(f"repeated: {failure}", flush=True)


def invoke(logical_id, event, options, environment):
    command = [SAM, "local", "invoke", logical_id, "--event", REPOSITORY / "events" / f"{event}.json", *options]
    ended = subprocess.run(command, cwd=REPOSITORY, env=environment, text=True, capture_output=True, timeout=120)
    try:
        response = json.loads(ended.stdout.strip().splitlines()[-1])
        is_success = response["statusCode"] == 200 and json.loads(response["body"])["success"]
    except (IndexError, KeyError, ValueError) as error:
        raise Failure(f"{logical_id} has sent no response ({error!r}): {ended.stdout[-600:]}\n{ended.stderr[-4000:]}") from error
    if not is_success:
        raise Failure(f"{logical_id} has failed: {ended.stdout[-600:]}\n{ended.stderr[-4000:]}")
    print(f"ok      sam local invoke {logical_id} -e events/{event}.json", flush=True)


def get(api, path, status, beginning):
    response = requests.get(f"{api}{path}", timeout=60)
    if response.status_code != status or not response.text.lower().startswith(beginning):
        raise Failure(f"GET {path}: {response.status_code} {response.text[:400]}")
    print(f"ok      sam local start-api: GET {path}", flush=True)


def main(configuration, *engine_options):
    end_politely_when_asked()
    with contextlib.ExitStack() as stack:
        if engine_options == ("--own-engine",):
            stack.enter_context(engine.own_engine())
        bridge, port = engine.bridge_address(), free_port()
        image = stack.enter_context(engine.image([function.program for function in functions()]))
        game = stack.enter_context(Process("upstream", [TARGET / "debug" / "simulator", "--address", bridge, "--port", port]))
        game.wait_for_port(port, seconds=20, host=bridge)
        scratch = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sam-local-")))
        url = f"http://{bridge}:{port}"
        variables = {"HYPIXEL_BASE_URL": url, "MOJANG_BASE_URL": url, "HYPIXEL_API_KEY": "local-without-a-key"}
        (scratch / "variables.json").write_text(json.dumps({"Parameters": variables}))
        options = ["--config-env", configuration, "--skip-pull-image", "--invoke-image", image, "--env-vars", scratch / "variables.json"]
        environment = {**os.environ, "HOME": str(scratch), "TMPDIR": str(scratch)}
        for logical_id, event in INVOKED.items():
            attempted(lambda: invoke(logical_id, event, options, environment))
        port = free_port()
        # Containers stay warm, like instances in Lambda.
        command = [SAM, "local", "start-api", "--port", port, "--warm-containers", "LAZY", "--disable-authorizer", *options]
        api = stack.enter_context(Process("sam local start-api", command, environment))
        api.wait_for_port(port, seconds=60)
        for path, (status, beginning) in REQUESTS.items():
            attempted(lambda: get(f"http://127.0.0.1:{port}", path, status, beginning))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Failure as failure:
        sys.exit(f"error: {failure}")
