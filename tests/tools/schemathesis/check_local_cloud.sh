#!/usr/bin/env bash
# Sends a local cloud valid and invalid requests by the OpenAPI document, and checks every response against the document. It
# needs Python 3 with venv. It starts a local cloud, unless BASE_URL and API_KEY name a running cloud.
#
#     tests/tools/schemathesis/check_local_cloud.sh [generated requests for each route, by default 60]
set -euo pipefail
cd "$(dirname "$0")/../../.."
[[ -n "${BASE_URL:-}" ]] || exec tests/tools/with_local_cloud.sh tests/tools/schemathesis/check_local_cloud.sh "$@"

checks="$PWD/target/schemathesis"
python3 -m venv "$checks"
"$checks/bin/pip" install --quiet --requirement tests/tools/schemathesis/requirements.txt
"$checks/bin/openapi-spec-validator" functions/index/openapi.json

# schemathesis writes to the current folder. One check is excluded, because methods other than GET are 404 instead of 405.
run_schemathesis() {
    bin/schemathesis run "$@" --url "$BASE_URL" --header "X-API-Key: $API_KEY" \
        --checks all --exclude-checks unsupported_method --seed 1 --generation-database none \
        --continue-on-failure --no-color
}
description="$PWD/functions/index/openapi.json"
export SCHEMATHESIS_HOOKS="$PWD/tests/tools/schemathesis/hooks.py"
cd "$checks"
# schemathesis sends no request to the URL from which it reads the document. So the second run reads the document from a file, and
# requests only that URL. If it also requested other routes, it would take player names from the document in the response.
run_schemathesis "$BASE_URL/openapi.json" --max-examples "${1:-60}"
run_schemathesis "$description" --max-examples 10 --include-path /openapi.json
