// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/runs/sweep_form.h"

#include "app/view/compare/grid_around.h"
#include "app/view/text.h"
#include "core/base/input_file.h"
#include "core/base/text.h"
#include "core/calibration/measured_grid.h"

namespace fourfold::tui {

namespace {

using Start = std::function<void(SweepRequest)>;
constexpr std::size_t kLargestFile = 1u << 20; // bytes

void confirm(Desk& desk, const SweepRequest& request, const Start& start)
{
    const auto with = [request, start](bool skip_unfit, bool again) {
        return [request, start, skip_unfit, again] {
            SweepRequest chosen = request;
            chosen.skip_unfit = skip_unfit;
            chosen.again = again;
            start(std::move(chosen));
        };
    };
    desk.open(std::make_unique<Question>("Measure a table of layouts",
        view::counted(double(request.layouts.size() * request.gpus.size()), "cell") + ", one run of "
            + view::counted(request.steps.value_or(0), "step")
            + " each; a stopped sweep continues where it was, cells that were measured stay.",
        std::vector<Question::Choice>{{U'y', "start", with(false, false)},
            {U'f', "only what should fit", with(true, false)}, {U'a', "all anew", with(false, true)},
            {U'n', "no", {}}}));
}

void ask_ranks(Desk& desk, SweepRequest request, int gpus, const Start& start)
{
    desk.open(std::make_unique<Prompt>("Numbers of ranks, separated by commas", std::to_string(gpus),
        [&desk, request = std::move(request), start](const std::string& text) {
            const Expected<std::vector<int>> read = read_grid_gpus(text, "ranks");
            if (!read)
                return read.error().line();
            SweepRequest whole = request;
            whole.gpus = *read;
            confirm(desk, whole, start);
            return std::string();
        }));
}

} // namespace

void ask_for_sweep(Desk& desk, const view::RunSetup& setup, std::function<void(SweepRequest)> start)
{
    SweepRequest request;
    request.plan = setup.plan;
    request.target = setup.request->target;
    request.steps = setup.steps;
    for (const GridLayout& layout : view::layouts_around(setup.request->plan)) {
        if (layout.virtual_stages == 1)
            request.layouts.push_back(layout);
    }
    auto prompt = std::make_unique<Prompt>("Layouts to measure", "",
        [&desk, request, gpus = setup.request->plan.gpus, start = std::move(start)](const std::string& text) {
            SweepRequest chosen = request;
            if (const std::string file(trimmed(text)); !file.empty()) {
                const Expected<std::string> csv = read_text_file(file, kLargestFile);
                const auto layouts
                    = csv ? read_grid_layouts(*csv, file) : Expected<std::vector<GridLayout>>(csv.error());
                if (!layouts)
                    return layouts.error().line();
                chosen.layouts = *layouts;
            }
            ask_ranks(desk, chosen, gpus, start);
            return std::string();
        });
    prompt->explain("A CSV file of tp,cp,pp,micro_batch; empty: "
        + view::counted(double(request.layouts.size()), "layout") + " around the plan");
    desk.open(std::move(prompt));
}

} // namespace fourfold::tui
