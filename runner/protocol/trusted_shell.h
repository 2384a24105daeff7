// SPDX-License-Identifier: GPL-3.0-or-later
// How a shell goes to the agent's folder and looks at the agent before its first byte is run: at the first contact
// (runner/ssh/bootstrap.cpp) and on the nodes of a Slurm job (runner/agent/slurm/trusted_start.h).
//
// Nothing is read, made or run where anybody but the user and root could put something else (the rule of
// runner/agent/system/trusted_path.h): from / on, one name at a time, the folder that the shell stands in is looked at,
// then the next name in it, which is entered, followed (a link) or made. What was looked at stays as it is, since
// whoever could change it has been found to be the user or root. The agent is opened once; that descriptor is looked
// at, hashed and run, and a file that is none is never opened.
#pragma once

#include <string_view>

namespace fourfold {

// No program is one of the folder that the shell stands in: a login shell's PATH may hold ".", or an empty name, which
// means the same, and this shell goes through other people's folders. It may also lack the system's folders.
//
// POSIX sh on one line, for within single quotes. Needs `set -f`, the variables `path` (absolute), `want` (SHA-256) and
// `groups` ("/a:/b", folders that their group may write), and a function `no WHY [PLACE]` that ends the shell. Goes to
// `path`, making what is missing with `mkdir`, and leaves `look FILE` (sets `mode` and `owner`; both empty where there
// is nothing), `right`, which says whether descriptor 3 is what `want` names and only the user's or root's to write,
// and `leave`, which gives the program that is run then its PATH back.
inline constexpr std::string_view kTrustedShell
    = "given=\"$PATH\"; PATH=\"\"; IFS=:; "
      "for at in $given; do case \"$at\" in /*) PATH=\"${PATH:+$PATH:}$at\";; esac; done; "
      "PATH=\"${PATH:+$PATH:}/usr/bin:/bin\"; "
      "look() { set -- $(ls -ldn \"$@\" 2>/dev/null); mode=\"$1\"; owner=\"$3\"; }; "
      // The last "." is there to look at the last folder too.
      "me=\"$(id -u)\"; links=0; IFS=/; set -- $path .; IFS=\" \"; cd /; "
      "while [ $# -gt 0 ]; do "
      "name=\"./$1\"; case \"$PWD\" in /) at=\"/$1\";; *) at=\"$PWD/$1\";; esac; shift; "
      "look .; case \"$owner\" in 0|\"$me\") ;; \"\") no look \"$PWD\";; *) no owner \"$PWD\";; esac; "
      "case \"$mode\" in ????\?-?\?-*|?????????[tT]*) ;; "
      "?????w?\?-*) case \":$groups:\" in *\":$PWD:\"*) ;; *) no group \"$PWD\";; esac;; "
      "*) no others \"$PWD\";; esac; "
      "look \"$name\"; case \"$owner\" in \"\") mkdir \"$name\"; look \"$name\";; esac; "
      "case \"$owner\" in 0|\"$me\") ;; \"\") no folder \"$at\";; *) no owner \"$at\";; esac; "
      "case \"$mode\" in d*) cd -P \"$name\" || no folder \"$at\";; "
      "l*) links=$((links + 1)); [ $links -lt 40 ] || no folder \"$at\"; "
      "to=\"$(readlink \"$name\")\"; case \"$to\" in /*) cd /;; esac; IFS=/; set -- $to \"$@\"; IFS=\" \";; "
      "*) no kind \"$at\";; esac; done; "
      "sum() { if command -v sha256sum >/dev/null 2>&1; then sha256sum; else openssl dgst -sha256 -r; fi; }; "
      "right() { look -L /proc/self/fd/3; case \"$owner:$mode\" in 0:-???\?-?\?-*|\"$me\":-???\?-?\?-*) "
      "case \"$(sum </proc/self/fd/3 2>/dev/null)\" in \"$want\"*) return 0;; esac;; esac; return 1; }; "
      "leave() { case \":$given:\" in *:/usr/bin:*) PATH=\"$given\";; "
      "*) PATH=\"${given:+$given:}/usr/bin:/bin\";; esac; }; ";

} // namespace fourfold
