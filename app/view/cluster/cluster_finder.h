// SPDX-License-Identifier: GPL-3.0-or-later
// A cluster in one step: from a name to a saved target, its cluster preset, and the hardware of a plan. The looking and
// measuring is on another thread; the owner calls from its own.
#pragma once

#include "app/view/cluster/measure_machine.h"
#include "app/view/runs/run_job.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

class ClusterFinder {
public:
    // `presets` outlives it; `wake` is called on another thread when receive() has something.
    ClusterFinder(const Presets& presets, std::function<void()> wake);

    // What receive() hands on; a host waits for the answer, answer_host_key() or answer_secret().
    std::function<void(const HostKeyQuestion&)> ask_host_key;
    std::function<void(const SecretQuestion&)> ask_secret;
    void answer_host_key(bool trusted) { job_.answer_host_key(trusted); }
    void answer_secret(const std::optional<std::string>& secret) { job_.answer_secret(secret); }
    [[nodiscard]] bool is_checking_secret() const { return job_.is_checking_secret(); }

    // Looks behind the name; what was found before goes. A Problem says at once which of the answers will not do.
    Expected<void> look(const FindQuestions& questions);
    // Ends what is under way.
    void stop() { job_.stop(); }
    bool receive(); // whether what is told below changed
    [[nodiscard]] bool is_busy() const { return job_.is_running(); }
    [[nodiscard]] const std::string& progress() const { return progress_; } // of it, in words
    [[nodiscard]] const std::optional<FoundCluster>& found() const { return found_; }
    // What went wrong last; empty where nothing did.
    [[nodiscard]] const std::string& problem() const { return problem_; }
    // What was found, a line each; what was measured behind it.
    [[nodiscard]] std::vector<std::string> lines() const;

    // As people type it; empty or 0 = as found. Precondition of all from here on: found().
    struct Controls {
        std::string id; // of target and cluster
        bool slurm = false; // there is one, and its queue is used
        std::string partition, account, qos, time;
        std::string options; // of sbatch, separated by blanks
        int nodes = 0; // of Slurm
        std::string like; // cluster preset
        bool operator==(const Controls&) const = default;
    };
    // `gpus`: of the plan that it is for; 0 = none.
    [[nodiscard]] Controls first_controls(int gpus) const;
    // What the plan's cluster will be, in a sentence; or why it cannot be saved so.
    [[nodiscard]] Expected<std::string> outcome(const Controls& controls) const;
    // The same twice is one save: what was measured since stays.
    Expected<void> save(const Controls& controls);
    [[nodiscard]] const std::optional<SavedCluster>& saved() const { return saved_; }
    // Measures the saved target's ranks, with the shapes of `open` where it has GPUs. Precondition: saved(),
    // !is_busy().
    Expected<void> measure(const std::optional<Plan>& open);

private:
    [[nodiscard]] ClusterChoice choice_of(const Controls& controls) const;

    const Presets& presets_;
    std::optional<FoundCluster> found_;
    std::optional<SavedCluster> saved_;
    Controls saved_as_;
    FoundNodes nodes_; // of what was saved
    std::optional<SavedMachine> measured_;
    std::string progress_, problem_;
    RunJob job_; // last: its thread wakes the owner
};

// The plan on the saved hardware: its cluster, and its number of GPUs where they are known.
Expected<Plan> with_hardware(const Plan& plan, const SavedCluster& saved);

} // namespace fourfold::view
