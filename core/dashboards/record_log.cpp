// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/dashboards/record_log.h"

#include "core/base/input_file.h"
#include "core/dashboards/checksum.h"
#include "core/dashboards/wire_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>

namespace fourfold {

namespace {
constexpr std::int64_t kLargestRecord = std::int64_t(1) << 28; // of what such programs write: a picture or a table
constexpr std::int64_t kBlock = 32768, kBlockHead = 7;
} // namespace

// A part of the file in memory, moved along as it is asked for.
class RecordLog::Window {
public:
    Window(int fd, std::int64_t size)
        : fd_(fd)
        , size_(size)
    {
    }
    [[nodiscard]] std::int64_t size() const { return size_; }
    // Empty where the file ends before.
    std::optional<std::string_view> at(std::int64_t offset, std::int64_t length)
    {
        constexpr std::int64_t kAtOnce = std::int64_t(1) << 20;
        if (offset + length > size_)
            return {};
        if (offset < begin_ || offset + length > begin_ + std::int64_t(bytes_.size())) {
            begin_ = offset;
            bytes_.resize(static_cast<std::size_t>(std::min(std::max(length, kAtOnce), size_ - offset)));
            std::size_t have = 0;
            while (have < bytes_.size()) {
                const ssize_t got = pread(fd_, bytes_.data() + have, bytes_.size() - have, begin_ + off_t(have));
                if (got < 0 && errno == EINTR)
                    continue;
                if (got <= 0)
                    break;
                have += static_cast<std::size_t>(got);
            }
            bytes_.resize(have);
            if (std::int64_t(have) < length)
                return {};
        }
        return std::string_view(bytes_).substr(
            static_cast<std::size_t>(offset - begin_), static_cast<std::size_t>(length));
    }

private:
    int fd_;
    std::int64_t size_, begin_ = 0;
    std::string bytes_;
};

RecordLog::RecordLog(std::filesystem::path file, RecordFormat format)
    : file_(std::move(file))
    , format_(format)
{
}

Expected<bool> RecordLog::read(const Take& take)
{
    FOURFOLD_TRY(const FileDescriptor file, open_regular(file_));
    struct stat now { };
    if (fstat(file.get(), &now) != 0)
        return Problem{ProblemCode::io, "cannot be looked at", "", file_.string()};
    const bool is_other = now.st_ino != inode_ || now.st_dev != device_ || now.st_size < offset_;
    const bool was_read = inode_ != 0;
    inode_ = now.st_ino;
    device_ = now.st_dev;
    if (is_other) {
        offset_ = 0;
        left_out_ = 0;
        if (was_read)
            return false;
    }
    Window window(file.get(), now.st_size);
    if (format_ == RecordFormat::tfrecord)
        FOURFOLD_CHECK(read_tfrecords(window, take));
    else
        FOURFOLD_CHECK(read_transactions(window, take));
    return true;
}

// Length and its checksum, the record and its own. A wrong length leaves nobody to know where the next one begins: it
// may be of a page that has not arrived yet, so that it is looked at again the next time.
Expected<void> RecordLog::read_tfrecords(Window& window, const Take& take)
{
    constexpr std::int64_t kHead = 12, kTail = 4;
    while (const auto head = window.at(offset_, kHead)) {
        const auto length = little_endian<std::uint64_t>(*head);
        if (little_endian<std::uint32_t>(head->substr(8)) != masked_crc32c(head->substr(0, 8))
            || length > static_cast<std::uint64_t>(kLargestRecord)) {
            if (offset_ == 0 && length != 0)
                return Problem{ProblemCode::bad_input, "is no event file of TensorBoard",
                    "give an events.out.tfevents.*, or the folder that holds it", file_.string()};
            return {};
        }
        const auto size = static_cast<std::int64_t>(length);
        const auto rest = window.at(offset_ + kHead, size + kTail);
        if (!rest)
            return {};
        const std::string_view record = rest->substr(0, static_cast<std::size_t>(size));
        if (little_endian<std::uint32_t>(rest->substr(record.size())) == masked_crc32c(record))
            take(record);
        else
            ++left_out_;
        offset_ += kHead + size + kTail;
    }
    return {};
}

// Blocks of pieces; a record goes over as many of them as it needs. A block with a wrong piece is left out from there
// on, once there is a block behind it: before that the piece may still be on its way.
Expected<void> RecordLog::read_transactions(Window& window, const Take& take)
{
    enum Type { full = 1, first, middle, last };
    if (offset_ == 0) {
        const auto head = window.at(0, kBlockHead);
        if (!head)
            return {}; // just made
        if (*head != std::string_view(":W&B\xE1\xBE\0", kBlockHead))
            return Problem{ProblemCode::bad_input, "is no log of Weights & Biases",
                "give the run-*.wandb of a run's folder", file_.string()};
        offset_ = kBlockHead;
    }
    std::string record;
    bool is_begun = false;
    std::int64_t at = offset_;
    const auto skip_block = [&] {
        const std::int64_t next = (at / kBlock + 1) * kBlock;
        if (next + kBlockHead > window.size())
            return false;
        ++left_out_;
        is_begun = false;
        offset_ = at = next;
        return true;
    };
    while (true) {
        if (const std::int64_t room = kBlock - at % kBlock; room < kBlockHead)
            at += room;
        const auto head = window.at(at, kBlockHead);
        if (!head)
            return {};
        const std::uint32_t sum = little_endian<std::uint32_t>(*head);
        const std::int64_t length = little_endian<std::uint16_t>(head->substr(4));
        const int type = static_cast<unsigned char>((*head)[6]);
        const bool fits = length <= kBlock - at % kBlock - kBlockHead && type >= full && type <= last;
        const auto piece = fits ? window.at(at + 6, length + 1) : std::nullopt; // with its type
        if (fits && !piece)
            return {}; // the rest is on its way
        if (!fits || crc32(*piece) != sum) {
            if (!skip_block())
                return {};
            continue;
        }
        at += kBlockHead + length;
        const bool begins = type == full || type == first;
        if (begins && is_begun)
            ++left_out_; // the record before has no end
        if (begins)
            record.clear();
        if ((!begins && !is_begun) || std::int64_t(record.size()) > kLargestRecord) { // has no beginning
            is_begun = false;
            offset_ = at;
            continue;
        }
        record += piece->substr(1);
        is_begun = type == first || type == middle;
        if (!is_begun) {
            take(record);
            offset_ = at;
        }
    }
}

} // namespace fourfold
