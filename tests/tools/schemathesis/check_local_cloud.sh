#!/usr/bin/env bash
# Sends a local cloud requests that the OpenAPI document allows and requests that it forbids, and checks every response
# against the document. It needs Python 3 with venv.
#
#     tests/tools/schemathesis/check_local_cloud.sh [generated requests for each route, by default 60]
set -euo pipefail
cd "$(dirname "$0")/../../.."

checks="$PWD/target/schemathesis"
python3 -m venv "$checks"
"$checks/bin/pip" install --quiet --requirement tests/tools/schemathesis/requirements.txt
"$checks/bin/openapi-spec-validator" functions/index/openapi.json

cargo build --locked --package local
output="$(mktemp)"
log="$(mktemp)"
# With the default limits, schemathesis would be throttled.
target/debug/local --parameter ProRateLimit=1000 --parameter ProBurstLimit=5000 --port 0 --lambda-port 0 \
    --dynamodb-port 0 >"$output" 2>"$log" &
cloud=$!
finish() {
    kill "$cloud" 2>/dev/null || true
    wait "$cloud" || true
    rm -f "$output" "$log"
}
trap finish EXIT

# The rest of the line of the cloud's output that begins with this word.
printed() { sed -n "s/^$1 //p" "$output"; }
until [[ -n "$(printed ready)" ]]; do
    if ! kill -0 "$cloud" 2>/dev/null; then
        cat "$log" >&2
        exit 1
    fi
    sleep 0.2
done

# The prices of auctions are an error until the schedule has recorded a minute.
for second in {1..120}; do
    if curl --silent --fail --output /dev/null --header "X-API-Key: $(printed 'key pro')" "$(printed ready)/v1/auctions/prices"; then
        break
    elif [[ $second == 120 ]]; then
        echo "error: no prices of auctions were recorded in two minutes" >&2
        exit 1
    fi
    sleep 1
done

# schemathesis writes to the folder that it runs in. One check is excluded: methods other than GET are 404, not 405.
run_schemathesis() {
    bin/schemathesis run "$@" --url "$(printed ready)" --header "X-API-Key: $(printed 'key pro')" \
        --checks all --exclude-checks unsupported_method --seed 1 --generation-database none \
        --continue-on-failure --no-color
}
description="$PWD/functions/index/openapi.json"
export SCHEMATHESIS_HOOKS="$PWD/tests/tools/schemathesis/hooks.py"
cd "$checks"
# schemathesis sends no request to the URL of the document. The second run, with the document in a file, includes it. That
# run has only this route: otherwise schemathesis would take names of players from the response.
run_schemathesis "$(printed ready)/openapi.json" --max-examples "${1:-60}"
run_schemathesis "$description" --max-examples 10 --include-path /openapi.json
