#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The scripts are well formed, refuse unknown arguments, and a failed step names itself and how to go on.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cd "$root"
scratch=$(mktemp -d -p /tmp) # where another user may pass too
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

mapfile -t scripts < <(find packaging tests .ci -type f \( -name '*.sh' -o -path .ci/run \))
((${#scripts[@]} >= 6)) || fail "only ${#scripts[@]} scripts found"
for script in "${scripts[@]}"; do
    bash -n "$script" || fail "$script does not parse"
    [[ -x $script ]] || fail "$script is not executable"
done
command -v shellcheck >/dev/null || fail "shellcheck is not installed (packaging/debian-packages.txt)"
shellcheck -x "${scripts[@]}" || fail "shellcheck"
echo "ok: shellcheck on ${#scripts[@]} scripts"

for script in run test setup; do
    status=0
    "packaging/$script.sh" --no-such-argument >"$scratch/out" 2>&1 || status=$?
    [[ $status == 2 ]] || fail "$script.sh takes an unknown argument (status $status)"
    grep -q "usage: packaging/$script.sh" "$scratch/out" || fail "$script.sh shows no usage"
done
echo "ok: unknown arguments"

# A step that fails, in a script made like run.sh.
cat >"$scratch/failing.sh" <<SCRIPT
source "$root/packaging/setup.sh"
setup_logs=$scratch
setup_total=3
step "First" first "not shown"
say "fine"
step "Second" second "Mend the thing."
say "going to fail"
logged bash -c 'echo the reason is here; exit 7'
echo "not reached"
SCRIPT
status=0
bash "$scratch/failing.sh" >"$scratch/out" 2>&1 || status=$?
[[ $status == 1 ]] || fail "a failed step ends with status $status"
for expected in "[1/3] First: fine" 'step 2 of 3, "Second", failed (exit status 7)' "    the reason is here" \
    "How to go on: Mend the thing. Then run failing.sh again"; do
    grep -qF -- "$expected" "$scratch/out" || fail "missing in the report: $expected"
done
! grep -q "not reached" "$scratch/out" || fail "the script went on after a failed step"
[[ $(grep -c "How to go on" "$scratch/out") == 1 ]] || fail "the failure is reported more than once"
echo "ok: a failed step"

# Packages: installed ones are not missing, an unknown one is.
if command -v dpkg-query >/dev/null; then
    mkdir -p "$scratch/tree/packaging"
    cp packaging/*.sh packaging/libtorch-*.txt "$scratch/tree/packaging/"
    printf '%s\n' "# comment" "dpkg test always there" "no-such-package-of-fourfold test never there" \
        "no-such-package-either desktop another group" >"$scratch/tree/packaging/debian-packages.txt"
    missing=$(bash -c "source '$scratch/tree/packaging/setup.sh'; missing_packages test")
    [[ $missing == no-such-package-of-fourfold ]] || fail "missing packages found: $missing"
    echo "ok: missing packages"

    # Who may not install is told in one line what an administrator has to, and nothing is tried.
    mkdir "$scratch/bin"
    printf '#!/bin/sh\necho "sudo: a password is required" >&2\nexit 1\n' >"$scratch/bin/sudo"
    printf '#!/bin/sh\ntouch "%s/tried"\n' "$scratch" >"$scratch/bin/apt-get"
    chmod +x "$scratch/bin/"*
    as_user=(env)
    if ((EUID == 0)); then
        as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        chmod 711 "$scratch"
        chmod -R a+rX "$scratch/tree" "$scratch/bin"
        mkdir -m 777 "$scratch/tree/build" # the scripts keep their logs there
    fi
    status=0
    "${as_user[@]}" env PATH="$scratch/bin:$PATH" bash "$scratch/tree/packaging/setup.sh" --yes >"$scratch/out" 2>&1 \
        </dev/null || status=$?
    [[ $status == 1 ]] || fail "without the right to install: status $status: $(<"$scratch/out")"
    grep -qF "sudo does not let you install packages: an administrator has to install what is missing" "$scratch/out" ||
        fail "without the right to install: $(<"$scratch/out")"
    grep -qx "    apt-get install --yes --no-install-recommends no-such-package-either" "$scratch/out" ||
        fail "no line for an administrator: $(<"$scratch/out")"
    [[ ! -e $scratch/tried ]] || fail "apt-get was called without the right to install"
    echo "ok: without the right to install"
fi

# Services of the packages stay off; no other package has any.
units=$(bash -c "source packaging/setup.sh; services_of cmake munge slurmd openssh-server")
[[ $units == "munge.service slurmd.service ssh.service ssh.socket" ]] || fail "services: $units"
echo "ok: services"

# Every line of the package list has a name, a known group and a reason.
while read -r package group reason; do
    [[ $package == "" || $package == \#* ]] && continue
    [[ $group =~ ^(build|desktop|trainer|test|long)$ && -n $reason ]] || fail "packaging/debian-packages.txt: $package $group"
done <packaging/debian-packages.txt
# Every wheel is pinned by version and SHA-256.
bad=$(grep -vE '^(#.*|[a-z0-9-]+==[0-9.]+ --hash=sha256:[0-9a-f]{64})$' packaging/libtorch-*.txt packaging/test-wheels.txt || true)
[[ -z $bad ]] || fail "not pinned: $bad"
echo "all passed"
