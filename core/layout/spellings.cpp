// SPDX-License-Identifier: GPL-3.0-or-later
// The one place that knows how the values of an enum are written in a plan file.
#include "core/base/text.h"
#include "core/layout/run_settings.h"
#include "core/layout/training.h"

#include <utility>

namespace fourfold {

namespace {
template <typename Enum>
using Table = std::vector<std::pair<Enum, const char*>>;

template <typename Enum>
const Table<Enum>& table();

template <>
const Table<Schedule>& table<Schedule>()
{
    // A schedule file is written by its own name, not by a word.
    static const auto kTable = [] {
        Table<Schedule> table;
        for (const ScheduleTraits& traits : schedules()) {
            if (traits.generator != nullptr)
                table.emplace_back(traits.schedule, traits.name);
        }
        return table;
    }();
    return kTable;
}
template <>
const Table<Sharding>& table<Sharding>()
{
    static const Table<Sharding> kTable{{Sharding::none, "none"}, {Sharding::optimizer, "optimizer"},
        {Sharding::gradients, "gradients"}, {Sharding::parameters, "parameters"}, {Sharding::hybrid, "hybrid"}};
    return kTable;
}
template <>
const Table<Recompute>& table<Recompute>()
{
    static const Table<Recompute> kTable{
        {Recompute::none, "none"}, {Recompute::selective, "selective"}, {Recompute::full, "full"}};
    return kTable;
}
template <>
const Table<Precision>& table<Precision>()
{
    static const Table<Precision> kTable{
        {Precision::fp32, "fp32"}, {Precision::fp16, "fp16"}, {Precision::bf16, "bf16"}, {Precision::fp8, "fp8"}};
    return kTable;
}
template <>
const Table<AttentionKernel>& table<AttentionKernel>()
{
    static const Table<AttentionKernel> kTable{{AttentionKernel::flash1, "flash1"}, {AttentionKernel::flash2, "flash2"},
        {AttentionKernel::flash3, "flash3"}, {AttentionKernel::cudnn, "cudnn"},
        {AttentionKernel::fused_softmax, "fused-softmax"}, {AttentionKernel::unfused, "unfused"}};
    return kTable;
}
template <>
const Table<Fp8Recipe>& table<Fp8Recipe>()
{
    static const Table<Fp8Recipe> kTable{{Fp8Recipe::tensorwise, "tensorwise"}, {Fp8Recipe::rowwise, "rowwise"},
        {Fp8Recipe::blockwise, "blockwise"}, {Fp8Recipe::mxfp8, "mxfp8"}};
    return kTable;
}
template <>
const Table<CpMethod>& table<CpMethod>()
{
    static const Table<CpMethod> kTable{
        {CpMethod::ring, "ring"}, {CpMethod::all_gather, "all-gather"}, {CpMethod::ulysses, "ulysses"}};
    return kTable;
}
template <>
const Table<Optimizer>& table<Optimizer>()
{
    static const Table<Optimizer> kTable{{Optimizer::adamw, "adamw"}, {Optimizer::adam, "adam"},
        {Optimizer::fused_adamw, "fused-adamw"}, {Optimizer::fused_adam, "fused-adam"}};
    return kTable;
}
template <>
const Table<Offload>& table<Offload>()
{
    static const Table<Offload> kTable{
        {Offload::none, "none"}, {Offload::activations, "activations"}, {Offload::optimizer, "optimizer"}};
    return kTable;
}
template <>
const Table<FlopConvention>& table<FlopConvention>()
{
    static const Table<FlopConvention> kTable{{FlopConvention::megatron_lm, "megatron-lm"},
        {FlopConvention::bloom_before_02_21, "bloom-before-02-21"},
        {FlopConvention::bloom_from_02_21, "bloom-from-02-21"}, {FlopConvention::palm, "palm"}};
    return kTable;
}
template <>
const Table<LrSchedule>& table<LrSchedule>()
{
    static const Table<LrSchedule> kTable{{LrSchedule::constant, "constant"}, {LrSchedule::linear, "linear"},
        {LrSchedule::cosine, "cosine"}, {LrSchedule::wsd, "wsd"}};
    return kTable;
}

template <typename Enum>
std::string spelling(Enum value)
{
    for (const auto& [known, text] : table<Enum>()) {
        if (known == value)
            return text;
    }
    return ""; // every table is complete
}
} // namespace

template <typename Enum>
std::vector<std::string> spellings()
{
    std::vector<std::string> out;
    for (const auto& entry : table<Enum>())
        out.emplace_back(entry.second);
    return out;
}

template <typename Enum>
Expected<Enum> from_text(const std::string& text, const std::string& where)
{
    for (const auto& [value, known] : table<Enum>()) {
        if (text == known)
            return value;
    }
    const auto near = nearest_words(text, spellings<Enum>(), 1);
    return Problem{ProblemCode::bad_input,
        "found " + in_quotes(text) + ", expected one of " + joined(spellings<Enum>(), ", "),
        near.empty() ? "" : "did you mean " + near.front() + "?", where};
}

#define FOURFOLD_SPELLED(Enum)                                                                                         \
    std::string to_text(Enum value)                                                                                    \
    {                                                                                                                  \
        return spelling(value);                                                                                        \
    }                                                                                                                  \
    template std::vector<std::string> spellings<Enum>();                                                               \
    template Expected<Enum> from_text<Enum>(const std::string&, const std::string&);

FOURFOLD_SPELLED(Sharding)
FOURFOLD_SPELLED(Recompute)
FOURFOLD_SPELLED(Precision)
FOURFOLD_SPELLED(AttentionKernel)
FOURFOLD_SPELLED(CpMethod)
FOURFOLD_SPELLED(Fp8Recipe)
FOURFOLD_SPELLED(Optimizer)
FOURFOLD_SPELLED(Offload)
FOURFOLD_SPELLED(FlopConvention)
FOURFOLD_SPELLED(LrSchedule)
#undef FOURFOLD_SPELLED
template std::vector<std::string> spellings<Schedule>();
template Expected<Schedule> from_text<Schedule>(const std::string&, const std::string&);

std::string schedule_name(const Training& training)
{
    return training.schedule_csv.empty() ? to_text(training.schedule) : training.schedule_csv;
}

double bytes_per_element(Precision precision)
{
    switch (precision) {
    case Precision::fp32:
        return 4;
    case Precision::fp16:
    case Precision::bf16:
        return 2;
    case Precision::fp8:
        break;
    }
    return 1;
}

} // namespace fourfold
