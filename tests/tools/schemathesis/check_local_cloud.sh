#!/usr/bin/env bash
# Asks a local cloud what its API description allows, and much that it does not, and holds every answer against it. A
# finding is mended in the service or in its description. It needs Python 3 with venv, and takes a minute or two.
#
#     tests/openapi/run [how many requests to make up for each route; 60 if not given]
set -euo pipefail
cd "$(dirname "$0")/../.."

checks="$PWD/target/openapi-checks"
python3 -m venv "$checks"
"$checks/bin/pip" install --quiet --requirement tests/openapi/requirements.txt
"$checks/bin/openapi-spec-validator" functions/index/openapi.json

cargo build --locked --package local
output="$(mktemp)"
log="$(mktemp)"
# The rates are the tester's, not a caller's.
target/debug/local --parameter ProRateLimit=1000 --parameter ProBurstLimit=5000 --port 0 --lambda-port 0 \
    --dynamodb-port 0 --no-schedules >"$output" 2>"$log" &
cloud=$!
finish() {
    kill "$cloud" 2>/dev/null || true
    wait "$cloud" || true
    rm -f "$output" "$log"
}
trap finish EXIT

# What stands behind this word in the cloud's output.
said() { sed -n "s/^$1 //p" "$output"; }
until [[ -n "$(said ready)" ]]; do
    if ! kill -0 "$cloud" 2>/dev/null; then
        cat "$log" >&2
        exit 1
    fi
    sleep 0.2
done

# It keeps notes where it runs. One check is left out: the contract has no 405, another method than GET is a route that does
# not exist, so 404.
ask() {
    bin/schemathesis run "$@" --url "$(said ready)" --header "X-API-Key: $(said 'key pro')" \
        --checks all --exclude-checks unsupported_method --seed 1 --generation-database none \
        --continue-on-failure --no-color
}
description="$PWD/functions/index/openapi.json"
export SCHEMATHESIS_HOOKS="$PWD/tests/openapi/hooks.py"
cd "$checks"
# An address that it has a description from it does not ask for; and with the others, it would take names of players from it.
ask "$(said ready)/openapi.json" --max-examples "${1:-60}"
ask "$description" --max-examples 10 --include-path /openapi.json
