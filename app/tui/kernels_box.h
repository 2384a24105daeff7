// SPDX-License-Identifier: GPL-3.0-or-later
// A step down to its kernels, over the page: what a plan predicts of the streams of its stages, under it what a
// profiler saw on ranks (or what the trainer, or a rehearsal, tells of the stages), and the difference by part.
#pragma once

#include "app/tui/desk.h"
#include "app/tui/widgets/table_view.h"
#include "app/tui/widgets/timeline_control.h"
#include "app/view/background.h"
#include "app/view/trace/trace_study.h"

#include <optional>
#include <string>
#include <vector>

namespace fourfold::tui {

// What was opened and how it is looked at; it stays when the box is closed.
class Kernels {
public:
    explicit Kernels(Desk& desk);
    // Reads traces and lays them beside the plan, besides those that are there: several ranks of one training.
    void open(const std::vector<std::filesystem::path>& files);
    // Instead of what is there. `beside`: what was planned for it.
    void show(StepTrace trace, view::TraceBeside beside);
    void refresh(); // the plans may be others since
    void tick();

    void draw(Canvas& canvas, const Rect& place, const Look& look);
    bool key(const Key& key); // false: not for this
    void drag(const Key& key) { control_.key(key); }
    [[nodiscard]] bool holds_something() const // that Esc lets go of
    {
        return shown_ == Shown::timelines && control_.holds_something();
    }
    [[nodiscard]] std::vector<std::string> lines() const;
    void take_line(const std::string& line); // "open FILE", "step 4", "find flash"
    [[nodiscard]] std::string copied() const;
    [[nodiscard]] bool is_busy() const { return reader_.is_running() || studier_.is_running(); }

private:
    enum class Shown { timelines, parts, collectives };
    struct Beside { // that may be chosen
        const view::PlanEditor* plan; // null: what was planned for the trace itself
        std::string name;
    };
    [[nodiscard]] std::vector<Beside> choices() const;
    [[nodiscard]] view::TraceBeside chosen_beside() const;
    void study();
    void take(Expected<view::TraceStudy> study);
    void step_to(int by);
    [[nodiscard]] const Table* table() const; // null: there is none
    void draw_head(Canvas& canvas, const Rect& place) const;
    int draw_timelines(Canvas& canvas, const Rect& place, const Look& look); // the rows taken
    void draw_table(Canvas& canvas, const Rect& place);
    void ask_to_open();
    void ask_beside();
    void ask_to_find();
    void find(bool forward);
    void ask_to_export();
    [[nodiscard]] std::string said() const; // what stands beside what, of which step and rank

    Desk& desk_;
    view::Traces traces_;
    std::optional<view::TraceBeside> own_;
    std::vector<std::filesystem::path> reading_; // that were asked for and have not come
    bool is_own_ = false; // own_ is what the traces stand beside
    const view::PlanEditor* beside_ = nullptr; // an open plan; null or closed: the one on show
    std::shared_ptr<const Prediction> studied_; // of the study on show, or under way
    std::int64_t step_ = -1; // the last one
    std::size_t rank_ = 0; // of study_.ranks
    view::TraceStudy study_;
    Shown shown_ = Shown::timelines;
    TimelineControl control_;
    TableView table_view_;
    std::string wanted_; // part of a kernel's name
    view::Background reader_, studier_;
};

class KernelsBox : public Overlay {
public:
    explicit KernelsBox(Kernels& kernels) // outlives it
        : kernels_(kernels)
    {
        kernels.refresh();
    }
    void draw(Canvas& canvas, const Look& look) override;
    void key(const Key& key) override;
    void drag(const Key& key) override { kernels_.drag(key); }
    void tick() override { kernels_.tick(); }
    [[nodiscard]] std::string read_out() override;
    void answer(const std::string& line) override;
    [[nodiscard]] std::string copied() const override { return kernels_.copied(); }

private:
    Kernels& kernels_;
};

} // namespace fourfold::tui
