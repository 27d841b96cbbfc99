#!/usr/bin/env bash
# Starts a local cloud, waits until it has recorded a minute of auctions, and runs a command with these variables: the cloud's address in
# BASE_URL, the addresses of its DynamoDB and its Invoke API in DYNAMODB_URL and LAMBDA_URL, a key in API_KEY, and the key of a lapsed account in LAPSED_KEY.
#
#     tests/tools/with_local_cloud.sh COMMAND [argument …]
set -euo pipefail

cd "$(dirname "$0")/../.."
cargo build --locked --package local
output="$(mktemp)"
log="$(mktemp)"
# The default limits would throttle the checks.
target/debug/local --parameter ProRateLimit=1000 --parameter ProBurstLimit=5000 \
    --parameter StripeEventSource=aws.partner/stripe.com/ed_test_local --parameter StripeTestMode=on \
    --parameter PriceTiers=price_starter=starter,price_pro=pro --port 0 >"$output" 2>"$log" &
cloud=$!
finish() {
    kill "$cloud" 2>/dev/null || true
    wait "$cloud" || true
    rm -f "$output" "$log"
}
trap finish EXIT

# Prints the rest of the output line that begins with this word.
printed() { sed -n "s/^$1 //p" "$output"; }
until [[ -n "$(printed ready)" ]]; do
    if ! kill -0 "$cloud" 2>/dev/null; then
        cat "$log" >&2
        exit 1
    fi
    sleep 0.2
done
BASE_URL="$(printed ready)"
API_KEY="$(printed 'key pro')"
DYNAMODB_URL="$(printed dynamodb)"
LAPSED_KEY="$(printed 'key lapsed')"
LAMBDA_URL="$(printed lambda)"
export BASE_URL API_KEY DYNAMODB_URL LAMBDA_URL LAPSED_KEY

# Auction prices are an error until the schedule has recorded a minute, and names lack auctions until they are written after that.
for wanted in '/v1/auctions/prices "lowest"' '/v1/names "auctions"'; do
    read -r path text <<<"$wanted"
    for second in {1..600}; do
        if curl --silent --header "X-API-Key: $API_KEY" "$BASE_URL$path" | grep --fixed-strings "$text" >/dev/null; then
            break
        elif [[ $second == 600 ]]; then
            echo "error: $path had no $text in ten minutes" >&2
            exit 1
        fi
        sleep 1
    done
done

"$@"
