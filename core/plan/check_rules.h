// SPDX-License-Identifier: GPL-3.0-or-later
// The rules behind check(), by subject. Each appends the reasons for which a plan cannot run.
#pragma once

#include "core/plan/plan.h"

#include <functional>
#include <optional>

namespace fourfold {

inline std::string number(int64_t value)
{
    return std::to_string(value);
}

class Reasons {
public:
    // `rule` says what is wrong with the numbers; the nearest valid value is added to the message as "use ...".
    void add(const char* code, const char* field, const std::string& rule, const Json& nearest = nullptr);
    [[nodiscard]] std::vector<Reason> take() { return std::move(reasons_); }

private:
    std::vector<Reason> reasons_;
};

void check_degrees(const ResolvedPlan& plan, Reasons& reasons); // product, dp_shard
void check_tensor_parallel(const ResolvedPlan& plan, Reasons& reasons);
void check_sequence(const ResolvedPlan& plan, Reasons& reasons); // sequence and context parallelism
void check_experts(const ResolvedPlan& plan, Reasons& reasons);
void check_pipeline(const ResolvedPlan& plan, Reasons& reasons);
void check_batch(const ResolvedPlan& plan, Reasons& reasons); // and the ramp-up
void check_training(const ResolvedPlan& plan, Reasons& reasons); // precision, recomputation, sharding
void check_optimizer(const ResolvedPlan& plan, Reasons& reasons); // the optimizer, where and when it updates; offload

// How many layers each pipeline rank has, over all of its chunks.
std::vector<int64_t> layers_of_stages(const ResolvedPlan& plan);

// Which rule of the batch a plan breaks, without a message: for a search that asks a million times.
enum class BatchRule {
    none,
    global_batch_not_divisible,
    batch_contradiction,
    micro_batches_not_divisible,
    too_few_micro_batches,
    ramp_up_start,
    ramp_up_increment,
};
BatchRule broken_batch_rule(const ResolvedPlan& plan);
const char* code_of(BatchRule rule);

// The value in [1, limit] that is valid and closest to `value`, the lower one of two; null when there is none.
Json nearest_value(int value, int limit, const std::function<bool(int)>& valid);
// The same, preferring values that also satisfy `better`.
Json nearest_value(int value, int limit, const std::function<bool(int)>& valid, const std::function<bool(int)>& better);

// The sequence rule of context parallelism for a degree (see check_sequence), and of sequence parallelism with it.
bool sequence_splits(const Training& training, int tp, int cp);

} // namespace fourfold
