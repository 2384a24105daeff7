// SPDX-License-Identifier: GPL-3.0-or-later
// A start that asks three things and answers with a plan: the questions as they are typed, the search for the answer on
// another thread, and what may be taken.
#pragma once

#include "app/view/background.h"
#include "core/start/recommend.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold::view {

class Start {
public:
    // As people type them.
    struct Questions {
        std::string model, gpus, cluster, extent;
    };
    // A plan that may be taken, in two lines.
    struct Choice {
        std::string title, figures;
        const Plan* plan = nullptr;
    };

    // `presets` outlives it; `wake` is called on another thread when receive() has something.
    Start(const Presets& presets, std::function<void()> wake);

    // What the questions stand at first: model, GPUs and cluster of the open plan, where they are presets.
    static Questions first_questions(const std::optional<ResolvedPlan>& open);

    // A whole question in the place of the model, "llama 405b on 512 dgx h100", as the answers that are in it.
    static Questions spread(Questions questions);

    // Looks for a plan, also by a whole question; what was found before goes. A Problem says which of the answers will
    // not do.
    Expected<void> ask(const Questions& typed);
    // Which of them the last ask() would not take, in their order; -1: none.
    [[nodiscard]] int refused() const { return refused_; }
    // The questions are others now: what was found goes, and nothing is looked for.
    void take_back();
    bool receive(); // on the owner's thread; whether what is told below changed
    [[nodiscard]] bool is_looking() const { return work_.is_running(); }

    [[nodiscard]] const std::optional<Recommendation>& recommendation() const { return found_; }
    [[nodiscard]] const std::optional<Problem>& problem() const { return problem_; }
    // The recommended plan first, then what else would do.
    [[nodiscard]] std::vector<Choice> choices() const;
    // Reasons, then what was taken where nothing was said, then what the whole training takes; a sentence each.
    [[nodiscard]] std::vector<std::string> sentences() const;

private:
    const Presets& presets_;
    std::optional<Recommendation> found_;
    std::optional<Problem> problem_;
    int refused_ = -1;
    Background work_;
};

} // namespace fourfold::view
