// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/sweep/sweep_record.h"

#include "core/base/paths.h"
#include "core/base/sha256.h"
#include "runner/protocol/message.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace fourfold {

namespace {

std::optional<double> figure(const Json& json, const char* key)
{
    return json.contains(key) && json[key].is_number() ? std::optional(json[key].get<double>()) : std::nullopt;
}

} // namespace

bool CellResult::final() const
{
    static constexpr std::array<std::string_view, 6> kFinal{"ok", "oom", "hang", "fail", "unfit", "impossible"};
    return std::find(kFinal.begin(), kFinal.end(), status) != kFinal.end();
}

Expected<SweepRecord> SweepRecord::open(const Json& identity, bool again)
{
    SweepRecord record;
    record.identity_ = identity;
    record.file_ = data_folder() / "sweeps" / (sha256_hex(to_wire(identity)).substr(0, 16) + ".json");
    std::error_code error = make_private_folders(record.file_.parent_path());
    if (!std::filesystem::exists(record.file_, error))
        return record;
    FOURFOLD_TRY(const Json json, read_json_file(record.file_));
    for (const auto& [key, cell] : object_field(json, "cells").items()) {
        // What was never measured to its end is as new as what `again` asks for, and may still run.
        if (!again || text_field(cell, "status") == "running")
            record.cells_[key] = {text_field(cell, "status"), text_field(cell, "run"), text_field(cell, "why"),
                figure(cell, "tps_per_gpu"), figure(cell, "predicted_tps_per_gpu")};
    }
    return record;
}

Expected<FileDescriptor> SweepRecord::take() const
{
    std::filesystem::path file = file_;
    file.replace_extension(".lock");
    FileDescriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock.valid())
        return Problem{ProblemCode::io, "cannot be opened: " + std::string(std::strerror(errno)),
            "see that the folder can be written", file.string()};
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        return Problem{ProblemCode::refused, "another program of this computer measures this sweep",
            "two at a time would measure neither: when it has ended, the same command shows its table", file_.string()};
    return lock;
}

void SweepRecord::forget(const std::function<bool(const std::string& run)>& gone)
{
    std::erase_if(cells_, [&](const auto& cell) { return !cell.second.run.empty() && gone(cell.second.run); });
}

const CellResult* SweepRecord::find(const std::string& key) const
{
    const auto at = cells_.find(key);
    return at == cells_.end() ? nullptr : &at->second;
}

Expected<void> SweepRecord::set(const std::string& key, const CellResult& result)
{
    cells_[key] = result;
    Json cells = Json::object();
    for (const auto& [name, cell] : cells_)
        cells[name] = {{"status", cell.status}, {"run", cell.run}, {"why", cell.why},
            {"tps_per_gpu", number_or_null(cell.tps_per_gpu)},
            {"predicted_tps_per_gpu", number_or_null(cell.predicted_tps_per_gpu)}};
    return write_file_atomically(file_, to_wire({{"sweep", identity_}, {"cells", std::move(cells)}}) + "\n");
}

} // namespace fourfold
