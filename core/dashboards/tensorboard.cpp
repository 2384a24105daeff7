// SPDX-License-Identifier: GPL-3.0-or-later
// TFRecords (https://www.tensorflow.org/tutorials/load_data/tfrecord) of messages tensorboard.Event: wall_time = 1,
// step = 2, file_version = 3, summary = 5; Summary: value = 1; Value: tag = 1, simple_value = 2 (event.proto and
// summary.proto of tensorboard/compat/proto).
#include "core/dashboards/checksum.h"
#include "core/dashboards/dashboard.h"
#include "core/dashboards/wire_format.h"
#include "core/dataset/appended_file.h"

#include <cmath>
#include <optional>

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

class TensorBoardFile : public Dashboard {
public:
    TensorBoardFile(const std::filesystem::path& folder, const DashboardRun& run)
        : folder_(folder / run.id)
    {
    }

    Expected<void> add(const Json& event) override
    {
        const EventNumbers numbers = numbers_of(event);
        if (numbers.values.empty())
            return {};
        if (!file_) {
            FOURFOLD_CHECK(make_folders(folder_));
            path_ = folder_ / ("events.out.tfevents." + std::to_string(std::int64_t(numbers.time)) + ".fourfold");
            FOURFOLD_TRY(file_, AppendedFile::open(path_, 0));
            FOURFOLD_CHECK(file_->append(record_of(Message().real(1, numbers.time).text(3, "brain.Event:2"))));
        }
        Message summary;
        for (const auto& [name, value] : numbers.values)
            summary.message(1, Message().text(1, name).single(2, static_cast<float>(value)));
        return file_->append(
            record_of(Message().real(1, numbers.time).whole(2, std::uint64_t(numbers.step)).message(5, summary)));
    }
    Expected<void> finish() override { return file_ ? file_->sync() : Expected<void>(); }
    [[nodiscard]] std::string where() const override { return path_.string(); }

private:
    std::filesystem::path folder_, path_;
    std::optional<AppendedFile> file_;
};
} // namespace

std::unique_ptr<Dashboard> tensorboard_file(const std::filesystem::path& folder, DashboardRun run)
{
    return std::make_unique<TensorBoardFile>(folder, run);
}

} // namespace fourfold
