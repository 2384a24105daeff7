// SPDX-License-Identifier: GPL-3.0-or-later
// Fields of tensorboard.Event, Summary and TensorProto (tensorboard/compat/proto), and of wandb_internal.Record
// (wandb/proto/wandb_internal.proto), as far as a curve needs them.
#include "core/dashboards/tracked_run.h"

#include "core/base/json_member.h"
#include "core/base/text.h"
#include "core/dashboards/wire_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace fourfold {

namespace {
namespace fs = std::filesystem;

constexpr std::string_view kEvents = "events.out.tfevents.", kTransactions = ".wandb";
constexpr int kDeepest = 8;
constexpr std::size_t kMostRuns = 1000, kMostLooked = 100'000;

bool is_event_file(const fs::path& file)
{
    return file.filename().string().starts_with(kEvents);
}

bool is_transaction_log(const fs::path& file)
{
    return file.extension() == kTransactions;
}

// A tensor that holds one number, as TensorFlow 2 writes a scalar.
std::optional<double> scalar_of(std::string_view tensor)
{
    enum Type { single = 1, real = 2 };
    std::int64_t type = 0;
    std::string_view content, values;
    for (WireReader field(tensor); field.next();) {
        if (field.field() == 1)
            type = field.whole();
        else if (field.field() == 4)
            content = field.bytes();
        else if (field.field() == (type == real ? 6 : 5) && !field.bytes().empty())
            values = field.bytes(); // packed
    }
    const std::string_view bytes = content.empty() ? values : content;
    if (type == single && bytes.size() == 4)
        return std::bit_cast<float>(little_endian<std::uint32_t>(bytes));
    if (type == real && bytes.size() == 8)
        return std::bit_cast<double>(little_endian<std::uint64_t>(bytes));
    return {};
}

// Key and JSON value of an item of W&B's messages.
std::pair<std::string, std::string_view> item_of(std::string_view message)
{
    std::string key;
    std::string_view value;
    for (WireReader field(message); field.next();) {
        if (field.field() == 1)
            key = field.bytes();
        else if (field.field() == 2)
            key += (key.empty() ? "" : ".") + std::string(field.bytes());
        else if (field.field() == 16)
            value = field.bytes();
    }
    return {std::move(key), value};
}
} // namespace

const char* name_of(Tracker tracker)
{
    return tracker == Tracker::tensorboard ? "TensorBoard" : "W&B";
}

Expected<std::vector<TrackedPlace>> tracked_runs(const fs::path& path)
{
    std::error_code error;
    std::vector<TrackedPlace> places;
    std::size_t looked = 0;
    const auto add = [&](Tracker tracker, const fs::path& place, const fs::path& below) {
        const bool known = std::ranges::any_of(places, [&](const TrackedPlace& one) { return one.path == place; });
        if (known || places.size() >= kMostRuns)
            return;
        const fs::path shown = place.lexically_relative(below);
        const std::string name = shown.empty() || shown == "." ? place.filename().string() : shown.string();
        places.push_back({tracker, place, printable(name)});
    };
    const auto add_file = [&](const fs::path& file, const fs::path& below) {
        if (is_event_file(file))
            add(Tracker::tensorboard, file.parent_path(), below);
        else if (is_transaction_log(file))
            add(Tracker::weights_and_biases, file, below);
    };
    const fs::path whole = fs::absolute(path, error).lexically_normal();
    const fs::path from = whole.has_filename() ? whole : whole.parent_path();
    if (!fs::is_directory(from, error)) {
        add_file(from, from.parent_path().parent_path());
    } else {
        std::vector<fs::path> files;
        auto entry = fs::recursive_directory_iterator(from, fs::directory_options::skip_permission_denied, error);
        for (; !error && entry != fs::recursive_directory_iterator() && looked < kMostLooked;
             entry.increment(error), ++looked) {
            if (entry.depth() >= kDeepest)
                entry.disable_recursion_pending();
            if (entry->is_regular_file(error) && (is_event_file(entry->path()) || is_transaction_log(entry->path())))
                files.push_back(entry->path());
        }
        std::ranges::sort(files);
        for (const fs::path& file : files)
            add_file(file, from);
    }
    if (places.empty())
        return Problem{ProblemCode::not_found,
            std::string("holds no run of TensorBoard or Weights & Biases")
                + (looked < kMostLooked ? "" : " among its first " + std::to_string(kMostLooked) + " files"),
            "give a folder with events.out.tfevents.* or run-*.wandb in it", path.string()};
    return places;
}

bool may_hold_tracked_runs(const fs::path& path)
{
    constexpr int kLevels = 4, kMost = 2000; // while something is dragged, the window must answer
    std::error_code error;
    if (!fs::is_directory(path, error))
        return is_event_file(path) || is_transaction_log(path);
    auto entry = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
    for (int looked = 0; !error && entry != fs::recursive_directory_iterator() && looked < kMost;
         entry.increment(error), ++looked) {
        if (entry.depth() >= kLevels)
            entry.disable_recursion_pending();
        if (is_event_file(entry->path()) || is_transaction_log(entry->path()))
            return true;
    }
    return false;
}

TrackedRun::TrackedRun(TrackedPlace place)
    : place_(std::move(place))
    , name_(place_.name)
{
}

std::size_t TrackedRun::left_out() const
{
    std::size_t sum = 0;
    for (const auto& [file, log] : logs_)
        sum += log.left_out();
    return sum;
}

Expected<void> TrackedRun::read(
    const std::function<void(const TrackedValue&)>& take, const std::function<void()>& begins)
{
    const bool board = place_.tracker == Tracker::tensorboard;
    const RecordFormat format = board ? RecordFormat::tfrecord : RecordFormat::transaction_log;
    if (board) {
        std::error_code error;
        for (fs::directory_iterator entry(place_.path, error); !error && entry != fs::directory_iterator();
             entry.increment(error)) {
            if (is_event_file(entry->path()))
                logs_.try_emplace(entry->path().string(), entry->path(), format);
        }
        if (logs_.empty())
            return Problem{ProblemCode::not_found, "has no event file any more", "", place_.path.string()};
    } else if (logs_.empty()) {
        logs_.try_emplace(place_.path.string(), place_.path, format);
    }
    bool anew = false;
    for (auto& [file, log] : logs_) { // in the order of the times in their names
        FOURFOLD_TRY(const bool goes_on, log.read([&](std::string_view record) {
            if (board)
                take_event(record, take);
            else
                take_record(record, take);
        }));
        anew = anew || !goes_on;
    }
    if (!anew)
        return {};
    for (auto& [file, log] : logs_)
        log = RecordLog(log.file(), format);
    ended_ = false;
    begins();
    return read(take, begins);
}

void TrackedRun::take_event(std::string_view record, const std::function<void(const TrackedValue&)>& take) const
{
    double time = 0;
    std::int64_t step = 0;
    std::string_view summary;
    for (WireReader field(record); field.next();) {
        if (field.field() == 1)
            time = field.real();
        else if (field.field() == 2)
            step = field.whole();
        else if (field.field() == 5)
            summary = field.bytes();
    }
    for (WireReader value(summary); value.next();) {
        if (value.field() != 1)
            continue;
        std::string_view tag;
        std::optional<double> number;
        for (WireReader field(value.bytes()); field.next();) {
            if (field.field() == 1)
                tag = field.bytes();
            else if (field.field() == 2)
                number = field.single();
            else if (field.field() == 8)
                number = scalar_of(field.bytes());
        }
        if (number && std::isfinite(*number) && !tag.empty())
            take({tag, step, time, *number});
    }
}

void TrackedRun::take_record(std::string_view record, const std::function<void(const TrackedValue&)>& take)
{
    enum Kind { history = 2, run = 17, exit = 18 };
    for (WireReader field(record); field.next();) {
        if (field.field() == run)
            take_about(field.bytes());
        else if (field.field() == exit)
            ended_ = true;
        if (field.field() != history)
            continue;
        std::vector<std::pair<std::string, double>> row;
        std::optional<double> step, time;
        std::int64_t number = 0;
        for (WireReader part(field.bytes()); part.next();) {
            if (part.field() == 2) {
                for (WireReader of_step(part.bytes()); of_step.next();)
                    number = of_step.field() == 1 ? of_step.whole() : number;
                continue;
            }
            if (part.field() != 1)
                continue;
            auto [key, text] = item_of(part.bytes());
            // Of what is no number (pictures, tables, texts) nothing is read.
            const Json value = text.size() < 64 ? Json::parse(text, nullptr, false) : Json();
            if (!value.is_number() || !std::isfinite(value.get<double>()))
                continue;
            if (key == "_step")
                step = value.get<double>();
            else if (key == "_timestamp")
                time = value.get<double>();
            else
                row.emplace_back(std::move(key), value.get<double>());
        }
        if (step && std::abs(*step) < 1e15)
            number = static_cast<std::int64_t>(*step);
        for (const auto& [key, value] : row)
            take({key, number, time.value_or(0), value});
    }
}

// RunRecord: display_name = 8, tags = 10.
void TrackedRun::take_about(std::string_view run)
{
    tags_.clear();
    for (WireReader field(run); field.next();) {
        if (field.field() == 8 && !field.bytes().empty())
            name_ = printable(field.bytes());
        else if (field.field() == 10)
            tags_.push_back(printable(field.bytes()));
    }
}

} // namespace fourfold
