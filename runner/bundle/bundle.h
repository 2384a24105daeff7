// SPDX-License-Identifier: GPL-3.0-or-later
// What a run needs on a node besides the agent: the trainer, its libraries, the plan's data. By content: a file that a
// node has under any name is not sent again.
#pragma once

#include "core/plan/plan.h"
#include "runner/protocol/run_spec.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fourfold {

struct BundleFile {
    std::string name; // in the run folder: "bin/libtorch.so", "data/0/corpus.txt"
    std::filesystem::path file; // on this computer
    std::string sha256; // empty when the file is used in place
    uint64_t size = 0;
};

struct Bundle {
    std::vector<BundleFile> files;
    std::string program; // name of the trainer among them
    bool library_path = false; // the program finds its libraries through bin/
    int glibc_minor = 0; // the node needs glibc 2.x
    ResolvedPlan plan; // with absolute paths of this computer

    [[nodiscard]] uint64_t bytes() const;
    // The plan as a node reads it: data paths below its run folder.
    [[nodiscard]] Json plan_on_node(const std::string& run_folder) const;
};

// Everything is used where it is (the node is this computer); libraries are only named when the trainer does not find
// them by itself.
Expected<Bundle> local_bundle(const ResolvedPlan& plan, const std::filesystem::path& trainer);
// With libraries and hashes; hashes are remembered in cache_folder(). Both fail with not_found when LibTorch is
// missing.
Expected<Bundle> portable_bundle(const ResolvedPlan& plan, const std::filesystem::path& trainer);

} // namespace fourfold
