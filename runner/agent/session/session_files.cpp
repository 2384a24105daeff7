// SPDX-License-Identifier: GPL-3.0-or-later
// The session's requests about files: what is there, what is fetched.
#include "runner/agent/session/session.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace fourfold {

Expected<void> Session::have(const Json& request)
{
    Json found = Json::array(), missing = Json::array();
    for (const Json& item : array_field(request, "files")) {
        const std::string sha256 = text_field(item, "sha256");
        const int64_t size = integer_field(item, "size", -1);
        if (!is_sha256(sha256) || size < 0)
            return Problem{ProblemCode::bad_input, "a file of the list has no SHA-256 or size", {}, {}};
        std::vector<std::string> candidates;
        for (const Json& candidate : array_field(item, "candidates")) {
            if (candidate.is_string())
                candidates.push_back(candidate.get<std::string>());
        }
        auto place = store_->find(sha256, static_cast<uint64_t>(size), candidates);
        if (!place && !text_field(item, "library").empty()) {
            const auto installed = installed_.find(text_field(item, "library"), static_cast<uint64_t>(size));
            place = store_->find(sha256, static_cast<uint64_t>(size), installed);
            candidates.insert(candidates.end(), installed.begin(), installed.end());
        }
        if (!place) // somebody else's is not used where it is
            place = store_->copy(sha256, static_cast<uint64_t>(size), candidates);
        if (place)
            found.push_back(
                {{"sha256", sha256}, {"path", *place == store_->place(sha256) ? std::string() : place->string()}});
        else
            missing.push_back(sha256);
    }
    send({{"is", "have"}, {"found", std::move(found)}, {"missing", std::move(missing)}});
    return {};
}

Expected<void> Session::fetch(const Json& request)
{
    FOURFOLD_TRY(const RunFolder folder, folder_of(request));
    const std::string name = text_field(request, "name");
    const bool rank_log = name.starts_with("rank") && name.ends_with(".log") && name.size() > 8
        && std::all_of(name.begin() + 4, name.end() - 4, [](char c) { return c >= '0' && c <= '9'; });
    if (!rank_log && name != "agent.log")
        return Problem{ProblemCode::refused, "\"" + name + "\" is not a log of a run", {}, {}};
    const uint64_t most = std::clamp<int64_t>(integer_field(request, "max_bytes"), 0, int64_t(1) << 30);
    FOURFOLD_TRY(const FileDescriptor file, open_file(folder.file(name), O_RDONLY | O_NONBLOCK));
    struct stat info { };
    if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
        return Problem{ProblemCode::io, "is not a regular file", {}, folder.file(name).string()};
    const auto size = static_cast<uint64_t>(info.st_size);
    uint64_t offset = size > most ? size - most : 0;
    send({{"is", "file"}, {"size", size - offset}});
    std::string block(1u << 18, '\0');
    while (offset < size && !closed_) {
        const ssize_t got = pread(
            file.get(), block.data(), std::min<uint64_t>(block.size(), size - offset), static_cast<off_t>(offset));
        if (got <= 0)
            break;
        send_data(std::string_view(block).substr(0, static_cast<std::size_t>(got)));
        offset += static_cast<uint64_t>(got);
    }
    send({{"is", "file-end"}});
    return {};
}

} // namespace fourfold
