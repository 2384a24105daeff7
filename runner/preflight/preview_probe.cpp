// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/paths.h"
#include "runner/preflight/probe.h"

namespace fourfold {

Expected<LaunchPreview> preview_probe(const Target& target, bool speed)
{
    const std::vector<std::string> names = session_hosts(target);
    FOURFOLD_TRY(LaunchPreview out, preview_sessions(target, own_program("fourfold-agent")));
    out.document.update(Json{{"target", to_json(target)}, {"hosts", names}, {"speed", speed}});
    out.text = "target " + target.id + "\n" + out.text;
    if (names.size() > 1)
        out.text += "each host listens on one free port for the others, which connect to it in every direction"
            + std::string(speed ? ", and send 8 MiB four times" : "") + "\n";
    out.text += speed ? "measures cores and memory of each host for some seconds\n" : "";
    return out;
}

} // namespace fourfold
