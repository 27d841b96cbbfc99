#!/usr/bin/env bash
# Checks the template with SAM's tools, builds the functions with SAM, and runs some functions in SAM's containers.
#
#   tests/tools/sam/check_with_sam.sh           everything
#   tests/tools/sam/check_with_sam.sh PART...   some parts, in this order:
#     install      only the installation, for other checks that need SAM
#     template     sam validate, cfn-lint, the SAM translator, and assertions on its output
#     samples      three functions, built with the options of sam build: sizes of the binaries and their version of glibc
#     build        sam build of all functions, then the same checks
#     containers   three functions under sam local invoke, and three requests to sam local start-api
#
# It needs Linux, Rust, a C compiler and Python 3.10 or newer, and installs SAM and cargo-lambda from PyPI into target/sam.
#
# Containers need a Docker engine. As root on Debian, the script installs missing packages from Debian, and starts its own
# engine in separate namespaces, which ends with the script. Otherwise it uses the running engine. Without an engine, it skips
# the part `containers`, and exits with 77 after the other parts have passed.
set -euo pipefail
cd "$(dirname "$0")/../../.."
here=tests/tools/sam

step() { printf '\n== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

parts=("$@")
[ $# -gt 0 ] || parts=(template build containers)
for part in "${parts[@]}"; do
    case $part in
        install | template | samples | build | containers) ;;
        *) fail "'$part' is not one of install, template, samples, build, containers" ;;
    esac
done
is_selected() { [[ " ${parts[*]} " == *" $1 "* ]]; }

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/sam"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR=$target

# Child processes end with this script, and its temporary files are deleted. Only SIGKILL is certain to end the namespaces
# of the containers.
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/sam-XXXXXX")
export TMPDIR
child=
ending=TERM
end() {
    if [ -n "$child" ]; then
        kill "-$ending" "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    rm -rf "$TMPDIR"
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# Runs a command, which also ends if this script gets a signal.
run() {
    "$@" &
    child=$!
    local code=0
    wait "$child" || code=$?
    child=
    return "$code"
}

# --------------------------------------------------------------------------------------------------------------------
# Requirements
# --------------------------------------------------------------------------------------------------------------------

[ "$(uname -s)" = Linux ] || fail "the functions are Linux programs: run this on Linux, not on $(uname -s)"
command -v cargo >/dev/null || fail "cargo is missing: install Rust"
command -v cc >/dev/null || fail "a C compiler (cc) is missing, on Debian: apt-get install gcc libc6-dev"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || fail "Python 3.10 or newer (python3) is missing"
python3 -c 'import venv, ensurepip' || fail "Python's venv is missing, on Debian: apt-get install python3-venv"

# No check may reach AWS or use credentials.
while read -r variable; do unset "$variable"; done < <(compgen -e AWS_ || true)
export AWS_DEFAULT_REGION=eu-central-1 AWS_EC2_METADATA_DISABLED=true
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
export SAM_CLI_TELEMETRY=0 PYTHONDONTWRITEBYTECODE=1
unset DOCKER_CONTEXT

install_sam() {
    local wanted
    wanted=$(cat $here/requirements*.txt)
    if [ "$(cat "$target/sam/installed" 2>/dev/null)" != "$wanted" ]; then
        step "installing SAM and cargo-lambda from PyPI"
        rm -rf "$target/sam/venv" "$target/sam/installed"
        python3 -m venv "$target/sam/venv"
        local pip=("$target/sam/venv/bin/pip" --disable-pip-version-check install --quiet)
        "${pip[@]}" --requirement $here/requirements.txt || fail "SAM cannot be installed from PyPI"
        "${pip[@]}" --no-deps --requirement $here/requirements-without-dependencies.txt ||
            fail "cargo-lambda cannot be installed from PyPI"
        printf '%s' "$wanted" >"$target/sam/installed"
    fi
    export PATH="$target/sam/venv/bin:$PATH"
}

# The packages of Docker's engine, each with a command that it provides.
engine_packages=(docker.io:dockerd containerd:containerd runc:runc tini:tini iptables:iptables
    busybox-static:/bin/busybox iproute2:ip)

# Succeeds if this script can start its own engine. Installs missing packages.
have_own_engine() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && command -v unshare >/dev/null || return 1
    local missing=() package
    for package in "${engine_packages[@]}"; do
        command -v "${package#*:}" >/dev/null || missing+=("${package%%:*}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    # With systemd, Debian's package would start an engine that keeps running.
    if [ -d /run/systemd/system ]; then
        echo "cannot start an engine: with systemd, installing ${missing[*]} would start services that keep running"
        return 1
    fi
    step "installing from Debian: ${missing[*]}"
    local log=$target/sam/apt.log
    local install=(apt-get install --quiet --yes --no-install-recommends "${missing[@]}")
    if ! { apt-get update --quiet && DEBIAN_FRONTEND=noninteractive "${install[@]}"; } >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        fail "these packages cannot be installed from Debian: ${missing[*]}"
    fi
}

install_sam
[[ "${parts[*]}" != install ]] || exit 0
# The section of samconfig.toml for the processor of this machine.
architecture=$(uname -m)
[ "$architecture" != aarch64 ] || architecture=default
skipped=

# --------------------------------------------------------------------------------------------------------------------
# The parts
# --------------------------------------------------------------------------------------------------------------------

if is_selected template; then
    step "template: sam validate, cfn-lint"
    # Each tool finds errors that the others miss.
    for template in template.yaml infra/*.yaml; do
        sam validate --template-file "$template"
        sam validate --lint --template-file "$template"
    done
    cfn-lint template.yaml infra/*.yaml
    # eu-central-2 has no budgets, so only infra/budget.yaml may contain one.
    cfn-lint --regions eu-central-2 --template template.yaml
    step "template: the SAM translator, and assertions on its output"
    python $here/template/assertions.py template.yaml
fi

export CARGO_LAMBDA_COMPILER=cargo

if is_selected samples; then
    # The smallest function, the largest one without files, and a recorder. The latter has a build of its own: functions.py says why.
    step "three released functions"
    cargo lambda build --locked --release --bin=mayor --bin=accounts
    cargo lambda build --locked --release --bin=record-candles
    python $here/binaries.py "$target/lambda" mayor accounts record-candles
fi

if is_selected build; then
    step "programs"
    # Builds all programs in parallel, with the options of sam build, which then finds them up to date. SAM would build one function after
    # the other, each on one core.
    while read -ra binaries; do
        cargo lambda build --locked --release "${binaries[@]/#/--bin=}"
    done < <(python $here/functions.py)
    step "sam build"
    sam build --config-env "$architecture"
    step "sizes and glibc of the binaries"
    python $here/binaries.py .aws-sam/build
fi

if is_selected containers; then
    [ -f .aws-sam/build/template.yaml ] || fail "the functions are not built: run $here/check_with_sam.sh build first"
    step "building the simulator, the upstream"
    cargo build --locked --package simulator
    step "sam local invoke, sam local start-api"
    if have_own_engine; then
        ending=KILL
        run unshare --net --mount --pid --fork --kill-child --mount-proc \
            python $here/containers.py "$architecture" --own-engine
        ending=TERM
    elif PYTHONPATH=$here python -c 'import engine, sys; sys.exit(not engine.is_running())'; then
        run python $here/containers.py "$architecture"
    else
        skipped="containers: no Docker engine is running, and only root on Debian can start one"
    fi
fi

if [ -n "$skipped" ]; then
    step "SAM: SKIPPED $skipped; all other parts passed"
    exit 77
fi
step "SAM: all parts passed"
