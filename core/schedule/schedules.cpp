// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/schedule/rank_actions.h"

#include <array>

namespace fourfold {
namespace {

constexpr std::array kSchedules{
    ScheduleTraits{.schedule = Schedule::gpipe,
        .name = "gpipe",
        .label = "GPipe",
        .short_label = "GPipe",
        .least_chunks = 1,
        .most_chunks = 1,
        .whole_rounds = false,
        .splits_backward = false,
        .order = ChunkOrder::loop,
        .in_flight = InFlight::all,
        .ends = EndsFormula::flow_shops,
        .common = false,
        .advised = false, // never faster than 1F1B, and holds more
        .trainer_runs = true,
        .hides_exchanges = false,
        .generator = gpipe_actions,
        .length = looped_length},
    ScheduleTraits{.schedule = Schedule::one_f_one_b,
        .name = "1f1b",
        .label = "1F1B",
        .short_label = "1F1B",
        .least_chunks = 1,
        .most_chunks = 1,
        .whole_rounds = false,
        .splits_backward = false,
        .order = ChunkOrder::loop,
        .in_flight = InFlight::stages_behind,
        .ends = EndsFormula::one_f_one_b,
        .common = true,
        .advised = true,
        .trainer_runs = true,
        .hides_exchanges = false,
        .generator = one_f_one_b_actions,
        .length = looped_length},
    ScheduleTraits{.schedule = Schedule::interleaved,
        .name = "interleaved",
        .label = "Interleaved 1F1B",
        .short_label = "Interleaved",
        .least_chunks = 2,
        .most_chunks = kAnyChunks,
        .whole_rounds = true,
        .splits_backward = false,
        .order = ChunkOrder::loop,
        .in_flight = InFlight::interleaved,
        .ends = EndsFormula::none,
        .common = true,
        .advised = true,
        .trainer_runs = true,
        .hides_exchanges = false,
        .generator = one_f_one_b_actions,
        .length = looped_length},
    ScheduleTraits{.schedule = Schedule::zb_h1,
        .name = "zb-h1",
        .label = "Zero bubble ZB-H1",
        .short_label = "ZB-H1",
        .least_chunks = 1,
        .most_chunks = 1,
        .whole_rounds = false,
        .splits_backward = true,
        .order = ChunkOrder::loop,
        .in_flight = InFlight::replayed,
        .ends = EndsFormula::none,
        .common = false,
        .advised = true,
        .trainer_runs = true,
        .hides_exchanges = false,
        .generator = zb_h1_actions,
        .length = zb_h1_length},
    ScheduleTraits{.schedule = Schedule::zb_v,
        .name = "zb-v",
        .label = "Zero bubble ZB-V",
        .short_label = "ZB-V",
        .least_chunks = 2,
        .most_chunks = 2,
        .whole_rounds = false,
        .splits_backward = true,
        .order = ChunkOrder::v,
        .in_flight = InFlight::replayed,
        .ends = EndsFormula::none,
        .common = false,
        .advised = true,
        .trainer_runs = true,
        .hides_exchanges = false,
        .generator = zb_v_actions,
        .length = zb_v_length},
    ScheduleTraits{.schedule = Schedule::dualpipe_v,
        .name = "dualpipe-v",
        .label = "DualPipe, cut in half",
        .short_label = "DualPipeV",
        .least_chunks = 2,
        .most_chunks = 2,
        .whole_rounds = false,
        .splits_backward = true,
        .order = ChunkOrder::v,
        .in_flight = InFlight::replayed,
        .ends = EndsFormula::none,
        .common = false,
        .advised = false, // few have it; without experts ZB-V does as well
        .trainer_runs = true,
        .hides_exchanges = true,
        .generator = dualpipe_v_actions,
        .length = nullptr},
    ScheduleTraits{.schedule = Schedule::csv,
        .name = "csv",
        .label = "File",
        .short_label = "File",
        .least_chunks = 1,
        .most_chunks = kAnyChunks,
        .whole_rounds = false,
        .splits_backward = true,
        .order = ChunkOrder::loop,
        .in_flight = InFlight::all, // nothing is known: as much as there is
        .ends = EndsFormula::none,
        .common = false,
        .advised = false,
        .trainer_runs = true,
        .hides_exchanges = false,
        .generator = nullptr,
        .length = nullptr},
};

constexpr bool in_the_order_of_the_enum()
{
    for (std::size_t i = 0; i < kSchedules.size(); ++i) {
        if (static_cast<std::size_t>(kSchedules[i].schedule) != i)
            return false;
    }
    return true;
}
static_assert(in_the_order_of_the_enum());

Problem refused(const std::string& message, const std::string& hint, const char* field)
{
    return {ProblemCode::bad_input, message, hint, field};
}

std::string chunks_text(const ScheduleTraits& traits)
{
    const std::string least = std::to_string(traits.least_chunks);
    return (traits.most_chunks == traits.least_chunks ? least : "at least " + least)
        + (traits.most_chunks == 1 ? " chunk per stage" : " chunks per stage");
}

} // namespace

std::span<const ScheduleTraits> schedules()
{
    return kSchedules;
}

const ScheduleTraits& traits_of(Schedule schedule)
{
    return kSchedules[static_cast<std::size_t>(schedule)];
}

std::string to_text(Schedule schedule)
{
    return traits_of(schedule).name;
}

bool takes_chunks(Schedule schedule, int virtual_stages)
{
    const ScheduleTraits& traits = traits_of(schedule);
    return traits.least_chunks <= virtual_stages && virtual_stages <= traits.most_chunks;
}

Schedule schedule_taking(Schedule wanted, int virtual_stages)
{
    if (takes_chunks(wanted, virtual_stages))
        return wanted;
    for (const ScheduleTraits& traits : kSchedules) {
        if (traits.common && takes_chunks(traits.schedule, virtual_stages))
            return traits.schedule;
    }
    return wanted;
}

int micro_batch_rounds(Schedule schedule, int pp)
{
    return traits_of(schedule).whole_rounds ? pp : 1;
}

int stage_of_chunk(Schedule schedule, int pp, int chunk)
{
    const int stage = chunk % pp;
    const bool walks_back = traits_of(schedule).order == ChunkOrder::v && chunk / pp % 2 == 1;
    return walks_back ? pp - 1 - stage : stage;
}

std::vector<int> chunk_placement(Schedule schedule, int pp, int virtual_stages)
{
    std::vector<int> stages;
    for (int chunk = 0; chunk < pp * virtual_stages; ++chunk)
        stages.push_back(stage_of_chunk(schedule, pp, chunk));
    return stages;
}

Expected<void> check_schedule(const ScheduleShape& shape)
{
    const auto& [schedule, pp, virtual_stages, micro_batches, ahead] = shape;
    const ScheduleTraits& traits = traits_of(schedule);
    if (pp < 1 || virtual_stages < 1 || micro_batches < 1)
        return refused("a schedule needs at least one stage and one micro-batch, not pp " + std::to_string(pp)
                + ", virtual stages " + std::to_string(virtual_stages) + ", micro-batches "
                + std::to_string(micro_batches),
            "", "training.global_batch");
    if (traits.generator == nullptr)
        return Problem{ProblemCode::unsupported, "the actions of a schedule file are in the file, not generated",
            "read it with the plan that names it", "training.schedule"};
    const std::string name = std::string("schedule ") + traits.name;
    // An interleaved schedule without virtual stages is 1F1B.
    const bool plain = virtual_stages == 1 && traits.order == ChunkOrder::loop;
    if (pp > 1 && !takes_chunks(schedule, virtual_stages) && !plain)
        return refused(name + " has " + chunks_text(traits) + ", not " + std::to_string(virtual_stages),
            "use schedule " + to_text(schedule_taking(schedule, virtual_stages)), "layout.virtual_stages");
    if (virtual_stages > 1 && micro_batches % micro_batch_rounds(schedule, pp) != 0)
        return refused(name + " needs micro-batches in multiples of pp " + std::to_string(pp) + ", not "
                + std::to_string(micro_batches),
            "change global_batch", "training.global_batch");
    return {};
}

Expected<std::vector<std::vector<Action>>> make_schedule(const ScheduleShape& shape)
{
    FOURFOLD_CHECK(check_schedule(shape));
    std::vector<std::vector<Action>> lists;
    lists.reserve(static_cast<std::size_t>(shape.pp));
    for (int rank = 0; rank < shape.pp; ++rank)
        lists.push_back(RankActions(shape, rank).list());
    return lists;
}

Expected<std::vector<std::vector<Action>>> make_schedule(
    Schedule schedule, int pp, int virtual_stages, int micro_batches)
{
    return make_schedule({schedule, pp, virtual_stages, micro_batches});
}

std::optional<double> closed_form_length(
    Schedule schedule, int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk)
{
    if (pp < 1 || virtual_stages < 1 || micro_batches < 1)
        return std::nullopt;
    if (pp == 1)
        return double(micro_batches) * virtual_stages * (chunk.forward_s + chunk.backward_s);
    const ScheduleTraits& traits = traits_of(schedule);
    if (traits.length == nullptr || !takes_chunks(schedule, virtual_stages)
        || micro_batches % micro_batch_rounds(schedule, pp) != 0)
        return std::nullopt;
    return traits.length(pp, virtual_stages, micro_batches, chunk);
}

std::optional<double> closed_form_idle_share(
    Schedule schedule, int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk)
{
    const auto length = closed_form_length(schedule, pp, virtual_stages, micro_batches, chunk);
    if (!length || *length <= 0)
        return std::nullopt;
    return 1 - virtual_stages * double(micro_batches) * (chunk.forward_s + chunk.backward_s) / *length;
}

} // namespace fourfold
