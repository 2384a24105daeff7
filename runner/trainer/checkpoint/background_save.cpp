// SPDX-License-Identifier: GPL-3.0-or-later
#include "runner/trainer/checkpoint/background_save.h"

#include "core/base/seconds.h"
#include "runner/trainer/checkpoint/index_files.h"
#include "runner/trainer/checkpoint/names.h"
#include "runner/trainer/checkpoint/publish.h"

#include <utility>

#include <sys/resource.h>

namespace fourfold::trainer {

namespace {
namespace fs = std::filesystem;
constexpr std::chrono::seconds kPatience(10); // of one question, which is asked again and again

Json to_json(const Problem& problem)
{
    return Json::array({int(problem.code), problem.message, problem.hint, problem.where});
}
Problem problem_from_json(const Json& json)
{
    return {static_cast<ProblemCode>(json.at(0).get<int>()), json.at(1).get<std::string>(),
        json.at(2).get<std::string>(), json.at(3).get<std::string>()};
}

// What a killed run left there is none of this checkpoint's.
Expected<void> make_empty(const fs::path& partial)
{
    FOURFOLD_CHECK(check_only_ours(partial));
    std::error_code error;
    fs::remove_all(partial, error);
    if (error)
        return Problem{ProblemCode::io, "cannot empty it: " + error.message(), "", partial.string()};
    return make_folders(partial);
}

Expected<Json> write_files(const SaveRequest& request, const fs::path& partial)
{
    WrittenFiles written;
    if (!request.weights.tensors.empty()) {
        FOURFOLD_TRY(written.files[request.weights.name], request.weights.write(partial));
        for (const HostTensor& tensor : request.weights.tensors) {
            written.tensors[tensor.stored.name] = request.weights.name;
            written.bytes_of_weights += tensor.stored.bytes();
        }
    }
    if (!request.states.tensors.empty()) {
        FOURFOLD_TRY(written.files[request.states.name], request.states.write(partial));
        for (const Piece& piece : request.pieces)
            written.pieces[piece.tensor].emplace_back(request.states.name, piece);
    }
    return to_json(written);
}
} // namespace

BackgroundSave::BackgroundSave(int rank, int ranks, std::shared_ptr<StoreClient> line,
    std::function<void(const SaveOutcome&)> told, std::function<void()> first)
    : rank_(rank)
    , ranks_(ranks)
    , line_(std::move(line))
    , told_(std::move(told))
    , thread_([this, first = std::move(first)] { run(first); })
{
}

BackgroundSave::~BackgroundSave()
{
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void BackgroundSave::start(SaveRequest request)
{
    {
        const std::scoped_lock lock(mutex_);
        request_ = std::move(request);
        outcome_.reset();
        busy_ = true;
    }
    changed_.notify_all();
}

std::optional<SaveOutcome> BackgroundSave::wait()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_; });
    return outcome_;
}

void BackgroundSave::run(const std::function<void()>& first)
{
    // On CPU ranks the training has threads for all processors, and waits for the last of them. Who may not do so, or
    // is as patient already, goes on as it is.
    constexpr int kPatient = 10;
    (void)::setpriority(PRIO_PROCESS, 0, kPatient); // of this thread alone
    if (first)
        first();
    for (std::unique_lock lock(mutex_);;) {
        changed_.wait(lock, [this] { return request_ || ends_; });
        if (!request_)
            return;
        const SaveRequest request = *std::exchange(request_, std::nullopt);
        lock.unlock();
        SaveOutcome outcome = save(request);
        if (told_)
            told_(outcome);
        lock.lock();
        outcome_ = std::move(outcome);
        busy_ = false;
        changed_.notify_all();
    }
}

std::string BackgroundSave::key(const std::string& name) const
{
    return "checkpoint/" + std::to_string(number_) + "/" + name;
}

Expected<void> BackgroundSave::tell(const std::string& name, const Expected<Json>& what)
{
    if (!line_)
        return {};
    told_keys_.push_back(key(name));
    return line_->set(key(name), (what ? Json{{"done", *what}} : Json{{"problem", to_json(what.error())}}).dump());
}

// However long it takes: a rank that is gone ends the job (Watch), a store that is gone this call.
Expected<Json> BackgroundSave::hear(const std::string& name) const
{
    for (;;) {
        const auto text = line_->get(key(name), kPatience);
        if (!text && text.error().code == ProblemCode::not_found)
            continue;
        if (!text)
            return text.error();
        const Json told = Json::parse(*text);
        if (told.contains("problem"))
            return problem_from_json(told["problem"]);
        return told.at("done");
    }
}

Expected<void> BackgroundSave::prepare(const fs::path& partial)
{
    for (const std::string& old : std::exchange(old_keys_, std::exchange(told_keys_, {})))
        (void)line_->erase(old);
    if (rank_ != 0) {
        FOURFOLD_CHECK(hear("folder"));
        return {};
    }
    const auto made = make_empty(partial);
    FOURFOLD_CHECK(tell("folder", made ? Expected<Json>(Json()) : made.error()));
    return made;
}

// Of rank 0: the files of all ranks become a checkpoint. It hears all of them also where one failed, so that none still
// writes when the folder goes.
Expected<void> BackgroundSave::gather(
    const SaveRequest& request, const fs::path& partial, const Expected<Json>& own, SaveOutcome& outcome)
{
    std::optional<Problem> first;
    IndexFiles index(partial);
    const auto add = [&](const Expected<Json>& told) -> Expected<void> {
        FOURFOLD_TRY(const Json json, told);
        FOURFOLD_TRY(WrittenFiles written, written_files_from_json(json));
        return index.add(std::move(written));
    };
    for (int rank = 0; rank < ranks_; ++rank) {
        const auto added = add(rank == 0 ? own : hear(std::to_string(rank)));
        if (!added && !first) {
            first = added.error();
            outcome.own = rank == 0;
        }
    }
    if (first)
        return *first;
    outcome.own = true;
    FOURFOLD_CHECK(index.write(request.state, request.config));
    if (request.own)
        outcome.set_aside = set_others_aside(request.folder, request.own);
    FOURFOLD_CHECK(publish_step(partial, outcome.folder));
    outcome.own = false;
    outcome.bytes = index.bytes();
    remove_oldest(request.folder, request.steps, request.keep);
    return {};
}

SaveOutcome BackgroundSave::save(const SaveRequest& request)
{
    ++number_;
    SaveOutcome outcome;
    outcome.folder = request.folder / step_name(request.steps);
    outcome.steps = request.steps;
    outcome.stopped_s = request.stopped_s;
    const fs::path partial = request.folder / (step_name(request.steps) + kPartial);
    const auto prepared = prepare(partial);
    const Expected<Json> own = prepared ? write_files(request, partial) : prepared.error();
    Expected<void> over;
    if (rank_ == 0) {
        over = gather(request, partial, own, outcome);
        std::error_code ignored;
        if (!over && prepared && over.error().code != ProblemCode::refused) // then it is whole, and set aside
            fs::remove_all(partial, ignored);
        (void)tell("over", over ? Expected<Json>(Json()) : over.error());
    } else {
        outcome.own = prepared && !own;
        if (const auto told = tell(std::to_string(rank_), own); !told)
            over = told;
        else if (const auto heard = hear("over"); !heard)
            over = outcome.own ? own.error() : heard.error();
    }
    if (!over)
        outcome.problem = over.error();
    outcome.time_s = seconds_since(request.begin);
    return outcome;
}

} // namespace fourfold::trainer
