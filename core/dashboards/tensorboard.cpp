// SPDX-License-Identifier: GPL-3.0-or-later
// TFRecords (https://www.tensorflow.org/tutorials/load_data/tfrecord) of messages tensorboard.Event: wall_time = 1,
// step = 2, file_version = 3, summary = 5; Summary: value = 1; Value: tag = 1, simple_value = 2 (event.proto and
// summary.proto of tensorboard/compat/proto). What a tag holds stands in the metadata of its first value.
// Hyperparameters are values without numbers, whose metadata is a message of the plugin
// (plugins/hparams/plugin_data.proto).
#include "core/base/text.h"
#include "core/dashboards/checksum.h"
#include "core/dashboards/dashboard.h"
#include "core/dashboards/settings.h"
#include "core/dashboards/wire_format.h"
#include "core/dataset/appended_file.h"
#include "core/history/event_types.h"

#include <algorithm>
#include <optional>
#include <set>

namespace fourfold {

namespace {
std::string record_of(const Message& event)
{
    std::string record;
    append_little_endian(record, std::uint64_t(event.bytes().size()));
    append_little_endian(record, masked_crc32c(record));
    record += event.bytes();
    append_little_endian(record, masked_crc32c(event.bytes()));
    return record;
}

// SummaryMetadata: plugin_data = 1 (its name = 1, content = 2), summary_description = 3.
Message of_plugin(std::string_view name, const Message& content)
{
    return Message().message(1, Message().text(1, name).message(2, content));
}

// A tensor of one text: dtype = 1 (7: string), tensor_shape = 2, string_val = 8. Markdown: the plan as it is, in a
// block.
Message text_value(std::string_view tag, const std::string& text)
{
    return Message()
        .text(1, tag)
        .message(8, Message().whole(1, 7).message(2, Message()).text(8, text))
        .message(9, of_plugin("text", Message()));
}

// google.protobuf.Value: number_value = 2, string_value = 3, bool_value = 4.
Message struct_value(const Json& value)
{
    if (value.is_boolean())
        return Message().whole(4, value.get<bool>() ? 1 : 0);
    if (value.is_number())
        return Message().real(2, value.get<double>());
    return Message().text(3, value.get<std::string>());
}

// With an empty tensor of floats: dtype = 1 (1: float), tensor_shape = 2 with one dim = 2 of size 0.
Message hparams_value(std::string_view tag, int field, const Message& content)
{
    return Message()
        .text(1, tag)
        .message(8, Message().whole(1, 1).message(2, Message().message(2, Message())))
        .message(9, of_plugin("hparams", Message().message(field, content)));
}

// TensorBoard calls a run by its folder: the name, as far as a folder can have it, stands before the id, which nobody
// tells apart from another.
std::string folder_name(const DashboardRun& run)
{
    constexpr std::size_t kLongest = 60;
    std::string name = printable(run.name, kLongest);
    std::ranges::replace(name, '/', '-');
    return name.empty() ? run.id : name + ' ' + run.id;
}

class TensorBoardFile : public Dashboard {
public:
    TensorBoardFile(const std::filesystem::path& folder, DashboardRun run)
        : folder_(folder / folder_name(run))
        , run_(std::move(run))
    {
    }

    Expected<void> add(const Json& event) override
    {
        const EventNumbers numbers = numbers_of(event);
        if (file_ && kind_of(event) == EventKind::end)
            return write_end(numbers.time, read_event<EndEvent>(event).status == "ok");
        if (numbers.values.empty())
            return {};
        if (!file_)
            FOURFOLD_CHECK(begin(numbers.time));
        Message summary;
        for (const auto& [name, number] : numbers.values) {
            Message value;
            value.text(1, name).single(2, static_cast<float>(number));
            if (described_.insert(name).second)
                value.message(9, Message().text(3, about_number(name)));
            summary.message(1, value);
        }
        return write(numbers.time, numbers.step, summary);
    }
    Expected<void> finish() override { return file_ ? file_->sync() : Expected<void>(); }
    [[nodiscard]] std::string where() const override { return path_.string(); }

private:
    Expected<void> begin(double time)
    {
        FOURFOLD_CHECK(make_folders(folder_));
        path_ = folder_ / ("events.out.tfevents." + std::to_string(std::int64_t(time)) + ".fourfold");
        FOURFOLD_TRY(file_, AppendedFile::open(path_, 0));
        FOURFOLD_CHECK(file_->append(record_of(Message().real(1, time).text(3, "brain.Event:2"))));
        if (!run_.plan.is_object())
            return {};
        // SessionStartInfo: hparams = 1 (a map), start_time_secs = 5.
        Message session;
        for (const auto& [name, value] : settings_of(run_.plan))
            session.message(1, Message().text(1, name).message(2, struct_value(value)));
        Message summary;
        const std::string plan = run_.plan.dump(2, ' ', false, Json::error_handler_t::replace);
        summary.message(1, text_value("plan", "```\n" + plan + "\n```"));
        summary.message(1, hparams_value("_hparams_/session_start_info", 3, session.real(5, time)));
        return write(time, 0, summary);
    }

    // SessionEndInfo: status = 1 (1: success, 2: failure), end_time_secs = 2.
    Expected<void> write_end(double time, bool ok)
    {
        if (!run_.plan.is_object())
            return {};
        const Message end = Message().whole(1, ok ? 1 : 2).real(2, time);
        return write(time, 0, Message().message(1, hparams_value("_hparams_/session_end_info", 4, end)));
    }

    Expected<void> write(double time, std::int64_t step, const Message& summary)
    {
        return file_->append(record_of(Message().real(1, time).whole(2, std::uint64_t(step)).message(5, summary)));
    }

    std::filesystem::path folder_, path_;
    DashboardRun run_;
    std::optional<AppendedFile> file_;
    std::set<std::string> described_; // tags
};
} // namespace

std::unique_ptr<Dashboard> tensorboard_file(const std::filesystem::path& folder, DashboardRun run)
{
    return std::make_unique<TensorBoardFile>(folder, std::move(run));
}

} // namespace fourfold
