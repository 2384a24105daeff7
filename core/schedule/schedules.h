// SPDX-License-Identifier: GPL-3.0-or-later
// The pipeline schedules. Everything that tells one from another is a column of one table: plan rules, search, memory,
// timeline, front ends and trainer read the row and compare no names. A new schedule is a value of `Schedule`, its row
// in schedules.cpp and its generator; what a row does not promise (a formula, a memory rule) is simulated.
#pragma once

#include "core/base/expected.h"
#include "core/schedule/actions.h"

#include <limits>
#include <optional>
#include <span>
#include <string>

namespace fourfold {

// `csv`: the actions stand in a file that the plan names, core/plan/plan_schedule.h.
enum class Schedule { gpipe, one_f_one_b, interleaved, zb_h1, zb_v, dualpipe_v, csv };
// What a plan has when nothing else is said, and a pipeline of one stage whatever is said.
inline constexpr Schedule kPlainSchedule = Schedule::one_f_one_b;

// Which stage holds which of the pp * virtual_stages chunks. `loop`: chunk c on stage c % pp (Narayanan et al. 2021,
// arXiv:2104.04473, section 2.2). `v`: every second round walks back, so that with two chunks per stage the first stage
// holds the first and the last chunk (Qi et al. 2023, arXiv:2401.10241, section 6).
enum class ChunkOrder { loop, v };

// How many micro-batches a stage holds when it holds most.
enum class InFlight {
    all, // the whole batch
    stages_behind, // pp - stage
    interleaved, // core/memory/interleaved_peak.h
    replayed, // no rule: the actions are walked
};

// The formula of core/schedule/pipeline_ends.h for stages that differ.
enum class EndsFormula { none, flow_shops, one_f_one_b };

// Seconds from the first forward to the last action for equal chunks and free hops; empty where that is not exact.
// Preconditions: pp > 1, virtual_stages and micro_batches as the schedule takes them.
using ClosedForm = std::optional<double> (*)(int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk);
// Tells a rank's actions as patterns that repeat: core/schedule/rank_actions.h. Precondition: pp > 1.
class RankActions;
using Generator = void (*)(RankActions& actions);

inline constexpr int kAnyChunks = std::numeric_limits<int>::max();

struct ScheduleTraits {
    Schedule schedule;
    const char* name; // in plan files
    const char* label; // for people
    const char* short_label;
    int least_chunks, most_chunks; // per stage of a pipeline
    bool whole_rounds; // micro-batches come in multiples of pp
    bool splits_backward; // into input and weight gradients (a file may)
    ChunkOrder order;
    InFlight in_flight;
    EndsFormula ends;
    bool common; // every software has it: what a search tries when nothing else is said
    bool advised; // worth trying as a change of a plan
    bool trainer_runs;
    bool hides_exchanges; // forwards of one micro-batch run beside backwards of another, behind which tokens travel
    Generator generator; // null: the actions are in a file
    ClosedForm length; // null: none is known
};

std::span<const ScheduleTraits> schedules(); // in the order of the enum
const ScheduleTraits& traits_of(Schedule schedule);
std::string to_text(Schedule schedule); // as in plan files

// Does a stage of a pipeline (pp > 1) take so many chunks?
bool takes_chunks(Schedule schedule, int virtual_stages);
// `wanted` where it takes so many chunks, else the schedule that every software has for them.
Schedule schedule_taking(Schedule wanted, int virtual_stages);
// What the number of micro-batches must be a multiple of.
int micro_batch_rounds(Schedule schedule, int pp);

// The stage of a chunk; a schedule file has a placement of its own.
int stage_of_chunk(Schedule schedule, int pp, int chunk);
// The stage of each of the pp * virtual_stages chunks.
std::vector<int> chunk_placement(Schedule schedule, int pp, int virtual_stages);

// A generated schedule.
struct ScheduleShape {
    Schedule schedule = kPlainSchedule;
    int pp = 1, virtual_stages = 1, micro_batches = 1;
    int ahead = 0; // of one stage alone: forwards before its first backward that nothing asks for but what hides there
};
// Does the schedule take these? Fails with `bad_input` where it does not take so many chunks or micro-batches,
// `unsupported` for a schedule file.
Expected<void> check_schedule(const ScheduleShape& shape);
// One list per pipeline rank, in execution order. One stage alone accumulates gradients, whatever the schedule is
// called. Fails as check_schedule().
Expected<std::vector<std::vector<Action>>> make_schedule(const ScheduleShape& shape);
Expected<std::vector<std::vector<Action>>> make_schedule(
    Schedule schedule, int pp, int virtual_stages, int micro_batches);

// The closed form of a schedule's length in seconds, for one stage as well; empty for other durations and for what the
// schedule does not take.
std::optional<double> closed_form_length(
    Schedule schedule, int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk);
// Share of that time in which a stage idles.
std::optional<double> closed_form_idle_share(
    Schedule schedule, int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk);

// --- generators and closed forms, by paper -----------------------------------------------------------------------
// F = forward, B = whole backward, W = weight gradient of one chunk, p stages, v chunks per stage, m micro-batches.

// Huang et al. 2019, arXiv:1811.06965, section 2.3: all forwards, then all backwards. (m + p - 1) (F + B), of which a
// stage idles (p - 1) / (m + p - 1).
void gpipe_actions(RankActions& actions);
// Narayanan et al. 2021, arXiv:2104.04473, figure 4. Top, one chunk: warm-up forwards, then one forward and one
// backward in turn; as long as GPipe. Bottom, interleaved: micro-batches go through the chunks of a rank in groups of
// pp; (v m + p - 1) (F + B), section 2.2.2.
void one_f_one_b_actions(RankActions& actions);
std::optional<double> looped_length(int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk);

// Qi, Wan, Huang and Lin, "Zero Bubble Pipeline Parallelism", arXiv:2401.10241: weight gradients where a pipeline would
// idle.
//
// Section 2.3, figure 3 (ZB-H1): the order of 1F1B, with the weight gradient of a micro-batch `rank` micro-batches
// after its input gradient. Every stage then holds at most pp micro-batches, 1F1B's memory. For W <= min(F, B - W)
// m (F + B) + (p - 1) (F + B - W) - min(m - 1, p - 1) W; from p micro-batches on the bubble is (p - 1)(T_F + T_B - T_W)
// of table 2 (T_B = B - W).
void zb_h1_actions(RankActions& actions);
std::optional<double> zb_h1_length(int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk);
// Section 6 (ZB-V): two chunks per stage, placed as a V. Stage 0 holds first and last chunk, so that the first backward
// starts where the first forward did. For F = B - W = W 2 m (F + B) + max(p - 1, 4 (p - 1) - 2 (m - 1)) F: from 2 p - 1
// micro-batches on only the way down the V longer than the work, in 1F1B's memory (2 pp chunks of half a stage).
void zb_v_actions(RankActions& actions);
std::optional<double> zb_v_length(int pp, int virtual_stages, int micro_batches, const ChunkTimes& chunk);

// DeepSeek-V3, arXiv:2412.19437, section 3.2.1, in the form that keeps each weight once ("DualPipeV", dualpipev.py of
// deepseek-ai/DualPipe): the V of ZB-V, where a forward and a backward of two micro-batches share the GPU and each
// hides the other's exchange of tokens. At most 2 pp + 1 chunks of half a stage are held: the report's PP + 1 of twice
// as many stages.
void dualpipe_v_actions(RankActions& actions);

} // namespace fourfold
