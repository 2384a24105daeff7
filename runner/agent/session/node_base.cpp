// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/agent/session/node_base.h"

#include "runner/protocol/message.h"

namespace fourfold {

Expected<RunFolder> folder_of(const NodeBase& node, const Json& request)
{
    const std::string run = text_field(request, "run");
    const int64_t number = integer_field(request, "node");
    if (!is_run_id(run) || number < 0 || number > 100000)
        return Problem{ProblemCode::bad_input, "the request names no run", {}, {}};
    return RunFolder(node.base, run, static_cast<int>(number));
}

} // namespace fourfold
