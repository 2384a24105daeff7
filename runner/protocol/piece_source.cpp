// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/protocol/piece_source.h"

#include "core/base/input_file.h"
#include "runner/protocol/chunk.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

namespace fourfold {

namespace {

constexpr uint64_t kAhead = 6; // pieces made before they are asked for
constexpr uint64_t kMostBytes = 96u << 20; // of finished pieces
constexpr int kFirstLevel = 1, kLeastLevel = -5, kMostLevel = 6;
constexpr int kLook = 8; // pieces between changes of the level
// Content that does not shrink is passed on nearly as it is; now and then a piece is tried again.
constexpr int kDenseLevel = -10000, kDensePieces = 7;
constexpr double kDense = 0.97;

Problem unreadable(const std::string& file, const std::string& what)
{
    return {ProblemCode::io, "changed or became unreadable while it was sent: " + what, "start again", file};
}

Expected<std::string> read_piece(const std::string& file, uint64_t offset, std::size_t bytes)
{
    const auto fd = open_regular(file);
    if (!fd)
        return unreadable(file, fd.error().message);
    std::string raw(bytes, '\0');
    std::size_t done = 0;
    ssize_t got = 1;
    while (done < bytes && got > 0) {
        got = pread(fd->get(), raw.data() + done, bytes - done, static_cast<off_t>(offset + done));
        done += got > 0 ? static_cast<std::size_t>(got) : 0;
    }
    const int error = errno;
    if (done < bytes)
        return unreadable(file, got < 0 ? std::strerror(error) : "it is shorter than it was");
    return raw;
}

} // namespace

PieceSource::PieceSource(int threads)
    : level_(kFirstLevel)
{
    const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const int count = threads > 0 ? threads : std::min(4, cores);
    for (int i = 0; i < count; ++i)
        threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

PieceSource::~PieceSource()
{
    for (std::jthread& thread : threads_)
        thread.request_stop();
}

int PieceSource::level() const
{
    const std::lock_guard lock(mutex_);
    return level_;
}

Expected<std::shared_ptr<const PieceSource::Piece>> PieceSource::get(
    const std::filesystem::path& file, uint64_t offset, uint64_t size)
{
    const std::string name = file.string();
    std::unique_lock lock(mutex_);
    for (uint64_t ahead = 0, at = offset; ahead <= kAhead && at < size; ++ahead, at += kChunkBytes)
        want({name, at}, size);
    changed_.notify_all();
    const Place place{name, offset};
    const std::shared_ptr<Entry> entry = entries_.at(place); // stays when another thread takes it off the list
    const bool waited = !entry->piece && !entry->problem;
    changed_.wait(lock, [&] { return entry->piece || entry->problem; });
    adapt(waited);
    if (entry->problem) {
        entries_.erase(place); // another attempt reads it again
        return *entry->problem;
    }
    entry->used = ++clock_;
    forget();
    return entry->piece;
}

void PieceSource::want(const Place& place, uint64_t size)
{
    auto& entry = entries_[place];
    if (entry)
        return;
    entry = std::make_shared<Entry>(Entry{{}, {}, size, ++clock_});
    open_.push_back(place);
}

void PieceSource::work(const std::stop_token& stop)
{
    std::unique_lock lock(mutex_);
    for (;;) {
        if (!changed_.wait(lock, stop, [this] { return !open_.empty(); }))
            return;
        const Place place = open_.front();
        open_.pop_front();
        const std::shared_ptr<Entry> entry = entries_.at(place);
        const bool dense = dense_left_ > 0;
        dense_left_ -= dense ? 1 : 0;
        const int level = dense ? kDenseLevel : level_;
        lock.unlock();
        const auto bytes = static_cast<std::size_t>(std::min<uint64_t>(kChunkBytes, entry->size - place.second));
        const auto raw = read_piece(place.first, place.second, bytes);
        std::shared_ptr<const Piece> piece;
        if (raw)
            piece = std::make_shared<const Piece>(Piece{compress_chunk(*raw, level), raw->size()});
        lock.lock();
        if (piece) {
            entry->piece = piece;
            bytes_ += piece->compressed.size();
            if (!dense)
                dense_left_ = double(piece->compressed.size()) > kDense * double(piece->raw_bytes) ? kDensePieces : 0;
        } else {
            entry->problem = raw.error();
        }
        changed_.notify_all();
    }
}

// Who waits for most pieces has a line that is quicker than the compressor.
void PieceSource::adapt(bool waited)
{
    waited_ += waited ? 1 : 0;
    if (++asked_ < kLook)
        return;
    if (waited_ > kLook / 2)
        level_ = std::max(kLeastLevel, level_ - 1);
    else if (waited_ == 0)
        level_ = std::min(kMostLevel, level_ + 1);
    if (level_ == 0)
        level_ = waited_ > 0 ? -1 : 1; // 0 is zstd's name for its default
    waited_ = asked_ = 0;
}

// The pieces that nobody has asked for longest go first; what is being made stays.
void PieceSource::forget()
{
    while (bytes_ > kMostBytes) {
        auto oldest = entries_.end();
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            if (entry->second->piece && (oldest == entries_.end() || entry->second->used < oldest->second->used))
                oldest = entry;
        }
        if (oldest == entries_.end())
            return;
        bytes_ -= oldest->second->piece->compressed.size();
        entries_.erase(oldest);
    }
}

} // namespace fourfold
