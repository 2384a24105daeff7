// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/runs/watch.h"

#include "core/base/data_file.h"
#include "core/base/pause.h"
#include "core/history/store.h"
#include "runner/runs/recorder.h"
#include "runner/runs/run_record.h"

#include <algorithm>

namespace fourfold {

namespace {

using namespace std::chrono_literals;

constexpr auto kBetweenLooks = 300ms;
constexpr std::int64_t kAtOnce = 1 << 20; // bytes

// Of a file that another program appends whole lines to.
class EventTail {
public:
    EventTail(std::filesystem::path file, RunObserver& observer)
        : file_(std::move(file))
        , observer_(observer)
    {
    }

    // What was added since; how many events.
    Expected<int> look(const std::stop_token& stop)
    {
        int count = 0;
        std::error_code error;
        if (!std::filesystem::exists(file_, error)) // it has no events yet
            return count;
        FOURFOLD_TRY(const auto file, DataFile::open(file_));
        while (read_ < file->size() && !stop.stop_requested()) {
            std::string bytes(static_cast<std::size_t>(std::min(kAtOnce, file->size() - read_)), '\0');
            FOURFOLD_CHECK(file->read(read_, bytes.size(), bytes.data()));
            read_ += static_cast<std::int64_t>(bytes.size());
            rest_ += bytes;
            count += tell();
        }
        return count;
    }

private:
    int tell()
    {
        int count = 0;
        std::size_t begin = 0;
        for (std::size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
            const auto event = parse_json(std::string_view(rest_).substr(begin, end - begin), file_.string());
            if (!event)
                continue;
            observer_.on_event(*event);
            ++count;
        }
        rest_.erase(0, begin);
        return count;
    }

    std::filesystem::path file_;
    RunObserver& observer_;
    std::int64_t read_ = 0;
    std::string rest_; // of a line that is not whole yet
};

} // namespace

Expected<RunResult> watch_run(const std::string& run_id, RunObserver& observer, const std::stop_token& stop,
    const std::filesystem::path& history_file)
{
    FOURFOLD_TRY(const HistoryStore store,
        HistoryStore::open(history_file.empty() ? HistoryStore::default_file() : history_file, StoreMode::read_only));
    FOURFOLD_TRY(const RunDetail detail, store.show(run_id));
    RunResult result;
    result.id = detail.summary.id;
    result.folder = run_record_folder(result.id);
    result.state = detail.summary.state;
    result.predicted_tps_per_gpu = detail.summary.predicted_tps_per_gpu;
    observer.on_created(result.id, result.folder);
    observer.on_state(result.state, "another program of this computer follows it");
    EventTail tail(result.folder / "events.jsonl", observer);
    for (;;) {
        const bool followed = is_followed(result.folder); // before the look, which then sees its last words
        FOURFOLD_TRY(const int count, tail.look(stop));
        if (count > 0 && result.state < RunState::running) {
            result.state = RunState::running;
            observer.on_state(result.state, "");
        }
        if (!followed || pause_until_stopped(stop, kBetweenLooks))
            return result;
    }
}

} // namespace fourfold
