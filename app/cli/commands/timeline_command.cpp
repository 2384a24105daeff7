// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold timeline`: the pipeline timeline of a plan as a file, predicted or as a run measured it, or its kernels.
#include "app/cli/output_file.h"
#include "app/cli/planning/plan_source.h"
#include "app/view/trace/scene_picture.h"
#include "core/base/file_kind.h"
#include "core/base/input_file.h"
#include "core/base/text.h"
#include "core/calibration/user/evidence.h"
#include "core/predict/step_time.h"
#include "core/predict/term_off.h"
#include "core/profile/step_trace.h"
#include "core/report/timeline_export.h"

#include <fstream>
#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

constexpr std::size_t kMostLineBytes = 16u << 20, kMostBytes = std::size_t(16) << 30; // of events.jsonl

struct TimelineOptions {
    PlanOptions plan;
    std::string output, measured;
    bool kernels = false;
    std::vector<double> between; // seconds; empty: all
};

// The last `trace` event of a run's events.jsonl; or a trace file of stages, as `fourfold rehearse --trace` writes it.
Expected<Timeline> measured_timeline(const std::string& file)
{
    if (looks_like_trace(file)) {
        FOURFOLD_TRY(StepTrace trace, read_step_trace(file));
        if (!trace.stages)
            return Problem{ProblemCode::bad_input, "has a rank's kernels, expected stages",
                "`fourfold profile` looks at it", file};
        return *std::move(trace.stages);
    }
    std::ifstream events(file);
    if (!events)
        return Problem{ProblemCode::not_found, "cannot be read", "give the events.jsonl of a run's folder", file};
    std::string found, line;
    bool whole = true;
    for (std::size_t number = 1, bytes = 0; read_line(events, line, kMostLineBytes, whole); ++number) {
        bytes += line.size() + 1;
        if (const std::string_view kind = number == 1 ? other_kind_of(line) : std::string_view(); !kind.empty())
            return Problem{
                ProblemCode::bad_input, "is " + std::string(kind) + ", expected events", "unpack or save it so", file};
        if (!whole || bytes > kMostBytes)
            return Problem{ProblemCode::bad_input,
                whole ? "is larger than " + std::to_string(kMostBytes >> 30) + " GiB"
                      : "line " + std::to_string(number) + " is longer than " + std::to_string(kMostLineBytes >> 20)
                        + " MiB, no event is",
                "give the events.jsonl of a run's folder", file};
        if (line.find("\"trace\"") != std::string::npos)
            found.swap(line);
    }
    if (found.empty())
        return Problem{
            ProblemCode::bad_input, "holds no trace event", "fourfold-trainer writes one at its tenth step", file};
    FOURFOLD_TRY(const Json event, parse_json(found, file));
    return timeline_from_chrome_trace(event, file);
}

Expected<TimePart> part_of(const TimelineOptions& options)
{
    if (options.between.empty())
        return TimePart();
    if (std::filesystem::path(options.output).extension() == ".json")
        return Problem{
            ProblemCode::bad_input, "a Chrome trace has all of a step", "leave it out, or name a picture", "--between"};
    if (!(options.between[0] < options.between[1]))
        return Problem{ProblemCode::bad_input, "begins no earlier than it ends",
            "give two times in seconds, the earlier one first", "--between"};
    return TimePart({options.between[0], options.between[1]});
}

Expected<int> draw_kernels(
    const Prediction& prediction, const std::string& title, const TimePart& part, const std::string& output)
{
    const view::TraceBeside beside{title, std::make_shared<const Prediction>(prediction), {}};
    FOURFOLD_TRY(const view::TraceStudy study, view::study_traces({}, beside));
    FOURFOLD_CHECK(view::export_scenes(view::titled_scenes(study, title), part, output));
    const int streams = study.predicted.rows();
    std::cerr << "wrote " << printable(output) << ": " << shown_number(streams, 0)
              << (streams == 1 ? " stream, " : " streams, ") << shown_number(double(study.predicted.barCount()), 0)
              << " kernels\n";
    for (const std::string& remark : study.remarks)
        warn(remark);
    return kDone;
}

Expected<int> run_timeline(const TimelineOptions& options)
{
    FOURFOLD_CHECK(check_output(options.output, {options.plan.plan, options.measured}));
    FOURFOLD_TRY(const TimePart part, part_of(options));
    if (options.kernels)
        FOURFOLD_CHECK(check_picture_file("kernels", options.output));
    FOURFOLD_TRY(const auto plan, options.plan.load_sound(Presets()));
    const Prediction prediction = predict_with_evidence(plan);
    warn_of_missing_runs();
    if (prediction.timeline.spans.empty()) {
        const std::string why = prediction.reasons.empty() ? too_long_to_list(simulated_shape(plan)).message
                                                           : prediction.reasons[0].message;
        return fail({ProblemCode::unsupported, "this plan has no timeline: " + why, "", plan.where});
    }
    std::string title = plan.name.empty() ? plan.model.name : plan.name;
    Timeline timeline = prediction.timeline;
    std::optional<SteadyPart> steady = steady_part(prediction);
    const ListedStep predicted{prediction.timeline, steady};
    if (!options.measured.empty()) {
        FOURFOLD_TRY(auto measured, measured_timeline(options.measured));
        timeline = std::move(measured);
        steady.reset();
        title += ", measured";
    }
    if (part && part->first >= timeline.length_s)
        return Problem{ProblemCode::bad_input,
            "begins at " + shown_number(part->first) + " s, and the step ends at " + shown_number(timeline.length_s)
                + " s",
            "give two times within the step", "--between"};
    if (options.kernels)
        return draw_kernels(prediction, title, part, options.output);
    if (part) {
        const TitledTimeline one{&timeline, title, steady};
        FOURFOLD_CHECK(export_timelines({&one, 1}, options.output, {}, part));
    } else {
        FOURFOLD_CHECK(export_timeline({timeline, steady}, title, options.output));
    }
    std::cerr << "wrote " << printable(options.output) << ": " << timeline.stages
              << (timeline.stages == 1 ? " stage, " : " stages, ") << timeline.spans.size() << " spans\n";
    if (steady)
        std::cerr << "not listed: " << steady_words(*steady) << ", from " << shown_number(steady->begin_s) << " to "
                  << shown_number(steady->end_s) << " s\n";
    if (!options.measured.empty()) {
        std::cout << "an average stage, the furthest off first\n";
        for (const TermOff& term : terms_off(predicted, timeline))
            std::cout << "  " << term_off_text(term) << "\n";
    }
    return kDone;
}

} // namespace

void add_timeline(Cli& cli)
{
    auto* command = cli.app.add_subcommand("timeline", "The pipeline timeline of a plan as a file");
    const auto options = std::make_shared<TimelineOptions>();
    options->plan.add_to(*command, true);
    command->add_option("-o,--output", options->output, "F.json (Chrome trace events), F.svg, F.pdf or F.png")
        ->type_name("FILE")
        ->required();
    CLI::Option* measured = command
                                ->add_option("--measured", options->measured,
                                    "draw the traced step of a run's events.jsonl, or of `fourfold rehearse --trace "
                                    "F.json`, instead; print\n"
                                    "what differs from the prediction")
                                ->type_name("FILE");
    command
        ->add_flag("--kernels", options->kernels,
            "draw the kernels of every stage's streams, with their names where there is room")
        ->excludes(measured);
    command->add_option("--between", options->between, "draw this part of the step only")
        ->type_name("BEGIN END")
        ->expected(2)
        ->check(number_up_to(1e9, true));
    command->callback([&cli, options] { cli.chosen = [options] { return run_timeline(*options); }; });
}

} // namespace fourfold::cli
