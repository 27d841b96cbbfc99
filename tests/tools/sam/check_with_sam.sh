#!/usr/bin/env bash
# Checks the template as SAM does, builds the functions with SAM, and shows that they answer under SAM's own emulators
# what they answer in the local cloud.
#
#   tests/sam/run              all of it, as CI does
#   tests/sam/run PART...      some of it, in this order:
#     template                 sam validate, cfn-lint, the SAM translator, and what must be true of its result
#     build                    sam build; then the binaries' sizes, and the glibc that they need
#     emulator                 every function with its events under the Lambda Runtime Interface Emulator
#     containers               sam local invoke and sam local start-api
#
# It needs Linux, Rust, a C compiler and Python 3.10 or newer, and installs SAM and cargo-lambda from PyPI into target/sam.
#
# Containers need a Docker engine. As root on Debian this starts one of its own, in namespaces of its own, which ends with
# this script whatever happens; what is missing for it is installed from Debian. Elsewhere a running engine is used; where
# none runs, that part is skipped with a line that says so.
set -euo pipefail
cd "$(dirname "$0")/../.."

step() { printf '\n== %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

parts=("$@")
[ $# -gt 0 ] || parts=(template build emulator containers)
for part in "${parts[@]}"; do
    case $part in
        template | build | emulator | containers) ;;
        *) fail "'$part' is none of template, build, emulator, containers" ;;
    esac
done
wants() { [[ " ${parts[*]} " == *" $1 "* ]]; }

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/sam"
target=$(cd "$target" && pwd)
export CARGO_TARGET_DIR=$target

# What is started ends with this script, and so does what it leaves on the disk. The namespaces of the containers know one
# signal only that is sure to end them.
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
# Runs a command that can be ended while it runs.
run() {
    "$@" &
    child=$!
    local code=0
    wait "$child" || code=$?
    child=
    return "$code"
}

# --------------------------------------------------------------------------------------------------------------------
# What is needed
# --------------------------------------------------------------------------------------------------------------------

[ "$(uname -s)" = Linux ] || fail "the functions are Linux programs, and this is $(uname -s): run this in Linux"
command -v cargo >/dev/null || fail "cargo is missing: install Rust"
command -v cc >/dev/null || fail "a C compiler (cc) is missing, on Debian: apt-get install gcc libc6-dev"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || fail "Python 3.10 or newer (python3) is missing"
python3 -c 'import venv, ensurepip' || fail "Python's venv is missing, on Debian: apt-get install python3-venv"

# Neither somebody's account nor AWS itself is asked anything.
while read -r variable; do unset "$variable"; done < <(compgen -e AWS_ || true)
export AWS_DEFAULT_REGION=eu-central-1 AWS_EC2_METADATA_DISABLED=true
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
export SAM_CLI_TELEMETRY=0 PYTHONDONTWRITEBYTECODE=1
unset DOCKER_CONTEXT

install_sam() {
    local wanted
    wanted=$(cat tests/template/requirements.txt tests/sam/requirements*.txt)
    if [ "$(cat "$target/sam/installed" 2>/dev/null)" != "$wanted" ]; then
        step "installing SAM and cargo-lambda from PyPI"
        rm -rf "$target/sam/venv" "$target/sam/installed"
        python3 -m venv "$target/sam/venv"
        local pip=("$target/sam/venv/bin/pip" --disable-pip-version-check install --quiet)
        "${pip[@]}" --requirement tests/sam/requirements.txt || fail "SAM cannot be installed from PyPI"
        "${pip[@]}" --no-deps --requirement tests/sam/requirements-alone.txt ||
            fail "cargo-lambda cannot be installed from PyPI"
        printf '%s' "$wanted" >"$target/sam/installed"
    fi
    export PATH="$target/sam/venv/bin:$PATH"
}

# The local cloud, which answers what SAM must answer, and a game for those who have no captures.
build_local_cloud() {
    step "building the local cloud"
    cargo build --locked --package local
    if ! python tests/sam/services.py has-captures; then
        # By itself: together, the two would have other features, and the cloud would be built once more.
        cargo build --locked --package simulator
    fi
}

# What an engine of our own is made of, and the command that each package is there for.
engine_packages=(docker.io:dockerd containerd:containerd runc:runc tini:tini iptables:iptables
    busybox-static:/bin/busybox iproute2:ip)

# Whether an engine of our own can be had, after installing what is missing.
have_own_engine() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && command -v unshare >/dev/null || return 1
    local missing=() package
    for package in "${engine_packages[@]}"; do
        command -v "${package#*:}" >/dev/null || missing+=("${package%%:*}")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    # There, Debian's package would start an engine for good, which nobody asked for.
    if [ -d /run/systemd/system ]; then
        echo "no engine of our own: installing Debian's packages ${missing[*]} would start services here for good"
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
architecture=$(python tests/sam/functions.py configuration)

# --------------------------------------------------------------------------------------------------------------------
# The parts
# --------------------------------------------------------------------------------------------------------------------

if wants template; then
    step "template: sam validate, cfn-lint, the SAM translator"
    # Each of them finds what the others do not.
    for template in template.yaml infra/watch.yaml; do
        sam validate --template-file "$template"
        sam validate --lint --template-file "$template"
        python tests/template/translate.py "$template"
    done
    cfn-lint template.yaml infra/watch.yaml
    step "template: what must be true of the result"
    python tests/template/assertions.py template.yaml functions/index/openapi.json
fi

if wants build; then
    step "sam build"
    export CARGO_LAMBDA_COMPILER=cargo
    mapfile -t binaries < <(python tests/sam/functions.py binaries)
    # SAM has cargo build one function after the other, and optimising one keeps one core busy. So all are built before,
    # side by side, in the same way; SAM then finds its work done.
    cargo lambda build --locked --release "${binaries[@]/#/--bin=}"
    sam build --config-env "$architecture"
    step "what was built"
    python tests/sam/binaries.py
fi

if wants emulator || wants containers; then
    build_local_cloud
fi

if wants emulator; then
    step "every function under the Lambda Runtime Interface Emulator"
    run python tests/sam/emulator.py
fi

if wants containers; then
    step "sam local invoke, sam local start-api"
    if have_own_engine; then
        ending=KILL
        # Nothing is left to fetch, and there is no network.
        CARGO_NET_OFFLINE=true run unshare --net --mount --pid --fork --kill-child --mount-proc \
            python tests/sam/containers.py --own-engine
        ending=TERM
    elif python -c 'import sys; sys.path.insert(0, "tests/sam"); import engine; sys.exit(not engine.is_running())'; then
        run python tests/sam/containers.py
    else
        echo "SKIPPED: this is not root on Debian, and no Docker engine answers, so nothing was run in containers"
    fi
fi

step "SAM: all good"
