// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold libtorch`: what the trainer is written on and no package brings.
#include "app/cli/command.h"
#include "core/base/paths.h"
#include "runner/bundle/trainer_libraries.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace fourfold::cli {

namespace {

// The script takes this program's place: its output, exit status and signals are the user's.
int get(bool cuda)
{
    Problem problem{
        ProblemCode::not_found, "did not come with this program", "install the package again", "libtorch.sh"};
    for (const std::filesystem::path& folder : script_folders()) {
        const std::string script = (folder / "libtorch.sh").string();
        if (access(script.c_str(), R_OK) != 0)
            continue;
        std::signal(SIGPIPE, SIG_DFL); // ignored by this program, and what it becomes would inherit that
        execlp("bash", "bash", script.c_str(), cuda ? "--cuda" : nullptr, nullptr);
        problem = {ProblemCode::failed, std::string("bash cannot be started: ") + std::strerror(errno), "", script};
    }
    return fail(problem);
}

Expected<int> where(bool cuda)
{
    const auto trainer = own_program(cuda ? "fourfold-trainer-cuda" : "fourfold-trainer");
    FOURFOLD_TRY(const auto found, trainer_libraries(trainer));
    const auto at = std::find_if(found.libraries.begin(), found.libraries.end(),
        [](const SharedLibrary& library) { return library.name == "libtorch_cpu.so"; });
    if (at == found.libraries.end())
        return fail({ProblemCode::failed, "needs no LibTorch", "", trainer.string()});
    std::cout << at->file.parent_path().parent_path().string() << "\n";
    return kDone;
}

} // namespace

void add_libtorch(Cli& cli)
{
    auto* command = cli.app.add_subcommand("libtorch", "The LibTorch that the trainer needs and no package brings");
    command->footer("The trainer takes the LibTorch in the folder that FOURFOLD_LIBTORCH names, else the one that was\n"
                    "fetched into the cache, else the one that it was built with. Nodes get it from this computer.");
    command->require_subcommand(1);
    const auto cuda = std::make_shared<bool>(false);
    auto* getter
        = command->add_subcommand("get", "Download LibTorch, pinned by SHA-256, into ~/.cache/fourfold (550 MB)");
    getter->add_flag("--cuda", *cuda, "also what the CUDA trainer needs beside a CUDA 13 toolkit (230 MB)");
    getter->callback([&cli, cuda] { cli.chosen = [cuda] { return get(*cuda); }; });
    auto* finder = command->add_subcommand("where", "Print the folder of the LibTorch that the trainer would load");
    finder->add_flag("--cuda", *cuda, "of the CUDA trainer");
    finder->callback([&cli, cuda] { cli.chosen = [cuda] { return where(*cuda); }; });
}

} // namespace fourfold::cli
