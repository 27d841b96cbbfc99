#!/usr/bin/env bash
# Generates clients for TypeScript and Python from the OpenAPI document, sends the requests of its examples to a local cloud with each of
# them, and runs the examples in functions/examples. It needs Node.js 20 or newer, npm, and Python 3 with venv. It starts a local cloud,
# unless BASE_URL and API_KEY name a running one.
set -euo pipefail
cd "$(dirname "$0")/../../.."
[[ -n "${BASE_URL:-}" ]] || exec tests/tools/with_local_cloud.sh tests/tools/clients/check_local_cloud.sh

here="$PWD/tests/tools/clients"
examples="$PWD/functions/examples"
clients="$PWD/target/clients"
mkdir -p "$clients"
cp "$here"/package*.json "$here/typescript.mjs" "$clients"
# The example of the candles of all products is of a day that the local game does not have. It has yesterday's after a while.
day="$(date --utc --date yesterday +%FT00:00:00Z)"
candles="$BASE_URL/v1/bazaar/candles/all?interval=1d&opened_at=$day"
for second in {1..300}; do
    if curl --silent --fail --output /dev/null --header "X-API-Key: $API_KEY" "$candles"; then
        break
    elif [[ $second == 300 ]]; then
        echo "error: there are no candles of yesterday after five minutes" >&2
        exit 1
    fi
    sleep 1
done
curl --silent --fail "$BASE_URL/openapi.json" | sed "s/2026-01-01T00:00:00Z/$day/g" >"$clients/openapi.json"
python3 -m venv "$clients/python"
"$clients/python/bin/pip" install --quiet --requirement "$here/requirements.txt"

cd "$clients"
npm ci --silent
node_modules/.bin/openapi-typescript openapi.json --output schema.d.ts
node typescript.mjs requests
compile() { node_modules/.bin/tsc --strict --target es2022 --module nodenext --skipLibCheck "$@"; }
compile requests.ts
node requests.js
node typescript.mjs responses
compile --noEmit responses.ts

PATH="$PWD/python/bin:$PATH" openapi-python-client generate --path openapi.json --output-path generated --meta none --overwrite --fail-on-warning
python/bin/python "$here/python_client.py" openapi.json

python3 "$here/examples.py" "$examples"
node "$here/sheets.mjs" "$examples/prices.gs"
