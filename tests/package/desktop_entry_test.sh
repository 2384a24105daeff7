#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The menu entry, its description and the man page are what their own checkers take. Arguments: the folder with the
# generated pages (fourfold.1, fourfold.bash, _fourfold).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
pages=${1:?folder of the generated pages}
id=io.github.fourfold.Fourfold
fail() {
    echo "FAILED: $*" >&2
    exit 1
}

for checker in desktop-file-validate appstreamcli man zsh; do
    command -v "$checker" >/dev/null || fail "$checker is not installed (packaging/debian-packages.txt)"
done
said=$(desktop-file-validate "$root/packaging/desktop/$id.desktop") || fail "desktop-file-validate: $said"
[[ -z $said ]] || fail "desktop-file-validate: $said"
appstreamcli validate --no-net "$root/packaging/desktop/$id.metainfo.xml" || fail "appstreamcli"
grep -q "^Icon=$id\$" "$root/packaging/desktop/$id.desktop" || fail "the entry names no icon that is installed"
grep -q ">$id.desktop<" "$root/packaging/desktop/$id.metainfo.xml" || fail "the description starts another program"

for page in "$pages/fourfold.1" "$root/packaging/man/fourfold-desktop.1"; do
    said=$(LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)
    [[ -z $said ]] || fail "$page: $said"
done
grep -q '^\.SS predict' "$pages/fourfold.1" || fail "the man page has no section about predict"

bash -n "$pages/fourfold.bash" || fail "the completion for bash does not parse"
complete_with() { # the words after fourfold; the last one is being typed
    bash -c 'source "$1"; shift; COMP_WORDS=(fourfold "$@"); COMP_CWORD=$#; _fourfold; echo "${COMPREPLY[*]}"' \
        _ "$pages/fourfold.bash" "$@"
}
[[ $(complete_with pred) == predict ]] || fail "pred is not completed: $(complete_with pred)"
[[ $(complete_with history li) == list ]] || fail "history li is not completed"
[[ $(complete_with history list --lim) == --limit ]] || fail "history list --lim is not completed"
[[ " $(complete_with predict plan.json --ad) " == *" --advice "* ]] || fail "predict --ad is not completed"
zsh -n "$pages/_fourfold" || fail "the completion for zsh does not parse"
echo "ok: menu entry, description, man pages, completions"
