// SPDX-License-Identifier: GPL-3.0-or-later
// The transaction log of an offline run of Weights & Biases: LevelDB's log format
// (https://github.com/google/leveldb/blob/main/doc/log_format.md) with a head of its own and CRC-32 over a record's
// type and bytes, which holds messages wandb_internal.Record (wandb/proto/wandb_internal.proto).
#include "core/base/text.h"
#include "core/dashboards/checksum.h"
#include "core/dashboards/dashboard.h"
#include "core/dashboards/wire_format.h"
#include "core/dataset/appended_file.h"
#include "core/history/event_types.h"

#include <cmath>
#include <ctime>
#include <map>
#include <optional>

namespace fourfold {

namespace {
// Fields of the messages; all messages of items (config, summary, history) have the same for key and value.
enum Record { kNumber = 1, kHistory = 2, kSummary = 3, kRun = 17, kExit = 18, kHeader = 21, kInfo = 200 };
enum Item { kKey = 1, kNestedKey = 2, kValueJson = 16 };

class LogFile {
public:
    static Expected<LogFile> open(const std::filesystem::path& path)
    {
        FOURFOLD_TRY(AppendedFile file, AppendedFile::open(path, 0));
        constexpr std::string_view kHead(":W&B\xE1\xBE\0", 7);
        FOURFOLD_CHECK(file.append(kHead));
        return LogFile(std::move(file));
    }

    // Cut where a block ends; a block's last bytes that have no room for a head are zeros.
    Expected<void> append(std::string_view data)
    {
        constexpr std::int64_t kBlock = 32768, kHead = 7;
        enum Type { full = 1, first, middle, last };
        std::string out;
        bool begun = false;
        do {
            std::int64_t room = kBlock - (file_.size() + std::int64_t(out.size())) % kBlock;
            if (room < kHead) {
                out.append(std::size_t(room), '\0');
                room = kBlock;
            }
            const std::string_view part = data.substr(0, std::size_t(room - kHead));
            data.remove_prefix(part.size());
            std::string summed(1, static_cast<char>(data.empty() ? (begun ? last : full) : (begun ? middle : first)));
            summed += part;
            append_little_endian(out, crc32(summed));
            append_little_endian(out, static_cast<std::uint16_t>(part.size()));
            out += summed;
            begun = true;
        } while (!data.empty());
        return file_.append(out);
    }
    Expected<void> sync() { return file_.sync(); }

private:
    explicit LogFile(AppendedFile file)
        : file_(std::move(file))
    {
    }
    AppendedFile file_;
};

std::string date_and_time(double seconds)
{
    const auto whole = static_cast<std::time_t>(seconds);
    std::tm parts{};
    gmtime_r(&whole, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y%m%d_%H%M%S", &parts)};
}

std::string json_text(const Json& json)
{
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class WeightsAndBiasesRun : public Dashboard {
public:
    WeightsAndBiasesRun(std::filesystem::path folder, DashboardRun run)
        : folder_(std::move(folder))
        , run_(std::move(run))
    {
    }

    Expected<void> add(const Json& event) override
    {
        const EventNumbers numbers = numbers_of(event);
        if (!log_)
            FOURFOLD_CHECK(begin(numbers.time));
        if (kind_of(event) == EventKind::end) {
            FOURFOLD_CHECK(write_row());
            exit_code_ = read_event<EndEvent>(event).status == "ok" ? 0 : 1;
        }
        if (numbers.values.empty())
            return {};
        // One row a step: an evaluation stands beside the step that it follows.
        if (!row_.empty() && numbers.step != step_)
            FOURFOLD_CHECK(write_row());
        step_ = numbers.step;
        time_ = numbers.time;
        for (const auto& [name, value] : numbers.values)
            row_[name] = value;
        return {};
    }

    Expected<void> finish() override
    {
        if (!log_)
            return {};
        FOURFOLD_CHECK(write_row());
        if (exit_code_) {
            const double ran = std::max(0.0, time_ - begin_);
            Message exit;
            if (*exit_code_ != 0)
                exit.whole(1, std::uint64_t(*exit_code_));
            FOURFOLD_CHECK(write(kExit, exit.whole(2, std::uint64_t(ran))));
        }
        return log_->sync();
    }
    [[nodiscard]] std::string where() const override { return path_.parent_path().string(); }

private:
    Expected<void> begin(double time)
    {
        begin_ = time_ = time;
        const auto folder = folder_ / "wandb" / ("offline-run-" + date_and_time(time) + "-" + run_.id);
        FOURFOLD_CHECK(make_folders(folder / "files"));
        path_ = folder / ("run-" + run_.id + ".wandb");
        FOURFOLD_TRY(log_, LogFile::open(path_));
        number_ = 0;
        // The oldest wandb that may read it is that which introduced the head's message.
        FOURFOLD_CHECK(write(kHeader, Message().message(1, Message().text(1, "fourfold").text(2, "0.12.0"))));
        Message config;
        for (const auto& [key, value] : run_.plan.items())
            config.message(1, Message().text(kKey, key).text(kValueJson, json_text(value)));
        const auto seconds = static_cast<std::uint64_t>(time);
        const auto nanoseconds = static_cast<std::uint64_t>((time - std::floor(time)) * 1e9);
        return write(kRun,
            Message()
                .text(1, run_.id)
                .text(3, "fourfold")
                .message(4, config)
                .text(8, run_.name)
                .message(17, Message().whole(1, seconds).whole(2, nanoseconds)));
    }

    Expected<void> write(int kind, const Message& content)
    {
        return log_->append(Message()
                                .whole(kNumber, ++number_)
                                .message(kind, content)
                                .message(kInfo, Message().text(1, run_.id))
                                .bytes());
    }

    Expected<void> write_row()
    {
        if (row_.empty())
            return {};
        std::map<std::string, Json> items(row_.begin(), row_.end());
        items["_step"] = step_;
        items["_timestamp"] = time_;
        items["_runtime"] = time_ - begin_;
        Message history, summary;
        for (const auto& [name, value] : items) {
            const Message item = Message().text(kNestedKey, name).text(kValueJson, json_text(value));
            history.message(1, item);
            summary.message(1, item);
        }
        history.message(2, Message().whole(1, std::uint64_t(step_)));
        row_.clear();
        FOURFOLD_CHECK(write(kSummary, summary));
        return write(kHistory, history);
    }

    std::filesystem::path folder_, path_;
    DashboardRun run_;
    std::optional<LogFile> log_;
    std::uint64_t number_ = 0; // of the record before
    double begin_ = 0, time_ = 0; // of the run, of the newest numbers
    std::int64_t step_ = 0;
    std::map<std::string, double> row_; // of step_, not written yet
    std::optional<int> exit_code_;
};
} // namespace

std::unique_ptr<Dashboard> weights_and_biases_run(const std::filesystem::path& folder, DashboardRun run)
{
    return std::make_unique<WeightsAndBiasesRun>(folder, std::move(run));
}

} // namespace fourfold
