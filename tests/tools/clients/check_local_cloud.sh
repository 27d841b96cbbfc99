#!/usr/bin/env bash
# Generates clients for TypeScript and Python from the OpenAPI document, sends a request to a local cloud with each client, sends events of
# payments that have the types of Stripe's library, and runs the examples in functions/examples. It needs Node.js 20 or newer, npm, and
# Python 3 with venv. It starts a local cloud, unless the variables of with_local_cloud.sh name a running cloud.
set -euo pipefail
cd "$(dirname "$0")/../../.."
[[ -n "${BASE_URL:-}" ]] || exec tests/tools/with_local_cloud.sh tests/tools/clients/check_local_cloud.sh

here="$PWD/tests/tools/clients"
examples="$PWD/functions/examples"
mkdir -p target/clients
cp "$here"/*.mts target/clients
cd target/clients
curl --silent --fail --output openapi.json "$BASE_URL/openapi.json"

npm install --silent --no-save --no-package-lock @types/node@20.19.25 openapi-fetch@0.17.0 openapi-typescript@7.13.0 playwright-core@1.65.1 stripe@23.1.0 typescript@5.9.3
node_modules/.bin/openapi-typescript openapi.json --output schema.d.ts
node_modules/.bin/tsc --strict --target es2022 --module nodenext --skipLibCheck dashboard.mts payments.mts request.mts
node request.mjs
node payments.mjs

python3 -m venv python
python/bin/pip install --quiet openapi-python-client==0.29.1
PATH="$PWD/python/bin:$PATH" openapi-python-client generate --path openapi.json --output-path generated --meta none --overwrite --fail-on-warning
python/bin/python "$here/request.py"

# The notebook reads candles of past hours. Waits until the local cloud has generated them.
yesterday="$(date --utc --date yesterday +%FT00:00:00Z)"
curl --silent --fail --output /dev/null --retry 300 --retry-delay 1 --retry-all-errors --header "X-API-Key: $API_KEY" \
    "$BASE_URL/v1/bazaar/candles/all?interval=1d&opened_at=$yesterday"
python3 "$here/examples.py" "$examples"
python3 "$here/alerts.py" "$examples"
python/bin/pip install --quiet boto3==1.43.106 mcp==2.3.0
python/bin/python "$here/mcp_tools.py" "$examples"
node "$here/sheets.mjs" "$examples/prices.gs"
if CHROMIUM="$(command -v chromium-headless-shell || command -v chromium)"; then
    CHROMIUM="$CHROMIUM" PYTHON="$PWD/python/bin/python" EXAMPLES="$examples" node dashboard.mjs
else
    echo "SKIPPED the dashboard: it needs chromium"
fi
