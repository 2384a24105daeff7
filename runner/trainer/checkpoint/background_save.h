// SPDX-License-Identifier: GPL-3.0-or-later
// Writes checkpoints behind the training: each rank's thread its own files, and that of rank 0 the index, when all told
// over the job's store that theirs are on the disk. No collective waits for a disk.
#pragma once

#include "runner/trainer/checkpoint/host_file.h"
#include "runner/trainer/checkpoint/pieces.h"
#include "runner/trainer/comm/store_client.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace fourfold::trainer {

// What there is to write after a step. The memory of the files' tensors must last until it is written.
struct SaveRequest {
    std::filesystem::path folder; // of all steps
    int steps = 0; // finished so far
    int keep = 1; // of the newest steps
    std::function<bool(int step)> own; // whether a step in the folder is of this run's course
    Json state, config; // trainer.json and config.json: of rank 0
    HostFile weights, states; // of this rank; without tensors where it has none to write
    std::vector<Piece> pieces; // what `states` has of each of the optimizer's states
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    double stopped_s = 0; // that the training stood still for it
};

struct SaveOutcome {
    std::filesystem::path folder; // of the step
    int steps = 0;
    int64_t bytes = 0; // of tensors, over all ranks; known to rank 0
    double time_s = 0, stopped_s = 0; // since the request's begin, until it was durable; of these, training stood still
    std::optional<Problem> problem; // why there is no checkpoint of the step
    bool own = false; // it is this rank that failed
    std::vector<std::filesystem::path> set_aside; // steps that were not of this run's course, by their new names
};

class BackgroundSave {
public:
    // `line`: to the job's store, for this object alone; null in a job of one rank. `told` is called on the thread when
    // a save is over, `first` before everything else.
    BackgroundSave(int rank, int ranks, std::shared_ptr<StoreClient> line, std::function<void(const SaveOutcome&)> told,
        std::function<void()> first = {});
    // Waits for what is under way.
    ~BackgroundSave();
    BackgroundSave(const BackgroundSave&) = delete;
    BackgroundSave& operator=(const BackgroundSave&) = delete;

    // Precondition: wait() returned since the last call. All ranks begin the same saves in the same order.
    void start(SaveRequest request);
    // Until the save that was begun last is over on all ranks: its outcome, nothing where none was begun.
    std::optional<SaveOutcome> wait();

private:
    void run(const std::function<void()>& first);
    SaveOutcome save(const SaveRequest& request);
    Expected<void> prepare(const std::filesystem::path& partial);
    Expected<void> gather(const SaveRequest& request, const std::filesystem::path& partial, const Expected<Json>& own,
        SaveOutcome& outcome);
    Expected<void> tell(const std::string& name, const Expected<Json>& what);
    Expected<Json> hear(const std::string& name) const;
    [[nodiscard]] std::string key(const std::string& name) const;

    int rank_, ranks_;
    std::shared_ptr<StoreClient> line_;
    std::function<void(const SaveOutcome&)> told_;
    int number_ = 0; // of the save, the same on all ranks
    std::vector<std::string> told_keys_, old_keys_; // of this save and of the one before, which all have read
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<SaveRequest> request_;
    std::optional<SaveOutcome> outcome_;
    bool busy_ = false, ends_ = false;
    std::thread thread_; // last: it uses all of the above
};

} // namespace fourfold::trainer
