// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/slurm/trusted_start.h"

#include "core/base/sha256.h"
#include "core/base/shell_word.h"
#include "core/base/text.h"
#include "runner/protocol/trusted_shell.h"

namespace fourfold {

namespace {

// The words are those of distrust(). Slurm's own folder for the task is where the agent goes on.
constexpr std::string_view kBefore
    = "set -f; path=\"$1\"; file=\"./$2\"; want=\"$3\"; groups=\"$4\"; first=\"$5\"; second=\"$6\"; here=\"$PWD\"; "
      "no() { case \"$1\" in owner) why=\"belongs to another user\";; group) why=\"may be written by its group\";; "
      "others) why=\"may be written by others\";; hash) why=\"is not the agent that submitted the job\";; "
      "*) why=\"is not there\";; esac; "
      "echo \"fourfold: nothing can safely be run from here: $2 $why (on $(uname -n))\" >&2; exit 1; }; "
      "mkdir() { no folder \"$at\"; }; ";
constexpr std::string_view kAfter
    = "look \"$file\"; case \"$mode\" in -*) { if right; then leave; cd \"$here\" 2>/dev/null; "
      "exec /proc/self/fd/3 \"$first\" \"$second\"; fi; } 3<\"$file\";; esac; no hash \"$PWD/${file#./}\"";

} // namespace

Expected<std::string> trusted_start(const std::filesystem::path& program, const GroupFolders& group_writable)
{
    FOURFOLD_TRY(const std::string hash, sha256_file(program));
    std::string out = "/bin/sh -c '";
    out.append(kBefore).append(kTrustedShell).append(kAfter);
    return out + "' fourfold-agent " + in_single_quotes(program.parent_path().string()) + " "
        + in_single_quotes(program.filename().string()) + " " + hash + " "
        + in_single_quotes(joined(group_writable, ":"));
}

} // namespace fourfold
