// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/view/trace/scene_picture.h"

#include <deque>
#include <limits>

namespace fourfold::view {

std::vector<TitledScene> titled_scenes(const TraceStudy& study, const std::string& name)
{
    std::vector<TitledScene> scenes;
    const auto add = [&scenes](const TimelineScene& scene, const std::string& title, const std::string& words) {
        if (scene.rows() > 0)
            scenes.push_back({&scene, words.empty() ? title : title + ", " + words});
    };
    add(study.predicted, name + ", predicted", study.predicted_words);
    add(study.measured, "Measured", study.measured_words);
    return scenes;
}

Expected<void> export_scenes(const std::vector<TitledScene>& scenes, const TimePart& part,
    const std::filesystem::path& file, const std::optional<PictureSize>& asked)
{
    const auto [begin, end] = part.value_or(std::pair(0.0, std::numeric_limits<double>::max()));
    std::deque<Timeline> stages;
    std::deque<KernelTimeline> kernels;
    std::vector<TitledTimeline> drawn;
    for (const TitledScene& one : scenes) {
        TitledTimeline& timeline = drawn.emplace_back();
        timeline.title = one.title;
        timeline.steady = one.scene->steady();
        if (one.scene->has_kernels())
            timeline.kernels = &kernels.emplace_back(one.scene->kernel_timeline(begin, end));
        else
            timeline.timeline = &stages.emplace_back(one.scene->timeline());
    }
    return export_timelines(drawn, file, asked, part);
}

} // namespace fourfold::view
