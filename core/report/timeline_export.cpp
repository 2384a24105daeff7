// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/timeline_export.h"

#include "core/base/json.h"
#include "core/report/picture_file.h"

namespace fourfold {

Expected<void> check_timeline_file(const std::filesystem::path& file)
{
    if (file.extension() == ".json" || check_picture_file("a timeline", file))
        return {};
    return Problem{ProblemCode::bad_input,
        "cannot write a timeline to a file ending in '" + file.extension().string() + "'",
        "name a file that ends in .json, .svg, .pdf or .png", file.string()};
}

Expected<void> export_timeline(const ListedStep& step, const std::string& title, const std::filesystem::path& file,
    const std::optional<PictureSize>& asked)
{
    FOURFOLD_CHECK(check_timeline_file(file));
    if (file.extension() == ".json") {
        const Json trace = chrome_trace(step, title);
        return write_file_atomically(file, trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    }
    const TitledTimeline one{&step.timeline, title, step.steady};
    return export_timelines({&one, 1}, file, asked);
}

Expected<void> export_timelines(std::span<const TitledTimeline> timelines, const std::filesystem::path& file,
    const std::optional<PictureSize>& asked, const TimePart& part)
{
    FOURFOLD_CHECK(check_picture_file("timelines", file));
    const PictureSize size = asked ? asked_size(*asked, file) : timelines_picture_size(timelines);
    return write_picture(
        size, [&](cairo_t* cairo) { paint_timelines(cairo, timelines, size, part); }, file);
}

} // namespace fourfold
