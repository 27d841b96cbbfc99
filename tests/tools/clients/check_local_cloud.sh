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
curl --silent --fail --output "$clients/openapi.json" "$BASE_URL/openapi.json"
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
