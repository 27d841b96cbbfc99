#!/usr/bin/env bash
# Deploys the template to MiniStack, an emulator of AWS, as an operator would: creates, checks, updates and removes a stack.
#
#     cargo build --workspace
#     tests/emulator/deploy.sh
#
# It needs Linux, `strip` (a part of binutils, like the linker) and Python 3.10 or newer, and installs MiniStack and SAM from
# PyPI into target/.
set -euo pipefail
cd "$(dirname "$0")/../.."

# No tool may reach AWS, use credentials, or send requests to the emulator through a proxy.
while read -r variable; do unset "$variable"; done < <(compgen -e AWS_ || true)
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/emulator"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR=$target

tests/tools/sam/check_with_sam.sh install

[ -x "$target/emulator/venv/bin/python" ] || python3 -m venv "$target/emulator/venv"
"$target/emulator/venv/bin/pip" --disable-pip-version-check install --quiet --requirement tests/emulator/requirements.txt
PYTHONDONTWRITEBYTECODE=1 exec "$target/emulator/venv/bin/python" tests/emulator/rehearsal.py
