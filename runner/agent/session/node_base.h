// SPDX-License-Identifier: GPL-3.0-or-later
// Where a session works on its node, which its client says with `hello`.
#pragma once

#include "runner/agent/files/store.h"
#include "runner/agent/run/run_folder.h"

#include <memory>

namespace fourfold {

struct NodeBase {
    std::filesystem::path base; // empty before hello
    GroupFolders group_writable;
    std::unique_ptr<Store> store;
};

// The folder of the share that a request is about.
Expected<RunFolder> folder_of(const NodeBase& node, const Json& request);

} // namespace fourfold
