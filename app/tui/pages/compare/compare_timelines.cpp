// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/tui/pages/compare/compare_timelines.h"

#include "app/view/compare/trace_difference.h"
#include "core/report/timeline_export.h"

#include <algorithm>
#include <string_view>

namespace fourfold::tui {

namespace {
constexpr std::size_t kMostTerms = 6;
}

void CompareTimelines::fit(std::size_t count, std::size_t reference)
{
    other_ %= std::max<std::size_t>(count, 1);
    if (other_ == reference && count > 1)
        other_ = (other_ + 1) % count;
}

std::vector<std::size_t> CompareTimelines::on_show(std::size_t count, std::size_t reference)
{
    fit(count, reference);
    return count < 2 ? std::vector<std::size_t>{reference} : std::vector<std::size_t>{reference, other_};
}

std::string CompareTimelines::said(const std::vector<NamedTimeline>& all, std::size_t reference)
{
    fit(all.size(), reference);
    if (all.size() < 2)
        return {};
    return all[reference].name + " \u2192 " + all[other_].name + ": "
        + view::trace_difference(
            {*all[reference].timeline, all[reference].steady}, {*all[other_].timeline, all[other_].steady}, kMostTerms);
}

void CompareTimelines::show(const std::array<const NamedTimeline*, 2>& shown)
{
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (about_[i] == shown[i]->timeline)
            continue;
        about_[i] = shown[i]->timeline;
        scenes_[i] = view::TimelineScene(*about_[i]);
        scenes_[i].set_steady(shown[i]->steady);
    }
    control_.show({&scenes_[0], &scenes_[1]});
}

void CompareTimelines::draw(
    Canvas& canvas, const Rect& place, const std::vector<NamedTimeline>& all, std::size_t reference, const Look& look)
{
    const std::string words = said(all, reference);
    if (words.empty())
        return;
    const std::array shown{&all[reference], &all[other_]};
    show(shown);
    int row = place.row;
    for (const std::string& line : wrapped(words, place.columns))
        canvas.text_in(row++, place.column, place.columns, line);
    for (const std::string& line : wrapped(remark(), place.columns))
        canvas.text_in(row++, place.column, place.columns, line, kAccent);
    const int each = std::max(2, (place.row + place.rows - row - 1) / 2);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const int behind = canvas.text(row, place.column, shown[i]->name, kBold) + 2;
        draw_timeline_legend(canvas, {row, behind, 1, place.column + place.columns - behind}, scenes_[i], look);
        control_.draw_rows(canvas, {row + 1, place.column, each - 1, place.columns}, i, true, look);
        row += each;
    }
    control_.draw_axis(canvas, {row, place.column, 1, place.columns});
}

bool CompareTimelines::key(const Key& key, std::size_t count)
{
    const std::size_t all = std::max<std::size_t>(count, 1);
    if (key.is('[') || key.is(']')) {
        other_ = (other_ + (key.is(']') ? 1 : all - 1)) % all;
        return true;
    }
    // The other letters are the page's.
    constexpr std::u32string_view kKeys = U"+-=HL0hjklzM ";
    if (key.code == Key::character && (key.ctrl || kKeys.find(key.letter) == kKeys.npos))
        return false;
    return control_.key(key) != TimelineControl::Took::no;
}

Picture both_timelines(const std::vector<NamedTimeline>& timelines)
{
    Picture picture;
    picture.write = [timelines](const std::filesystem::path& file, const std::optional<PictureSize>& asked) {
        std::vector<TitledTimeline> titled;
        for (const NamedTimeline& one : timelines)
            titled.push_back({one.timeline.get(), one.name, one.steady});
        return export_timelines(titled, file, asked);
    };
    return picture;
}

} // namespace fourfold::tui
