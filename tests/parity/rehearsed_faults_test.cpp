// SPDX-License-Identifier: GPL-3.0-or-later
// Faults put into one rank of a plan, through the trainer's own code: its rehearsal finds each and names where. What it
// said of each is resources/reports/seeded-faults.md; FOURFOLD_UPDATE_FAULTS=1 writes that anew.
#include "core/base/json.h"
#include "core/rehearsal/match.h"
#include "core/rehearsal/rehearsal_words.h"
#include "runner/trainer/rehearsal/rehearse.h"
#include "runner/trainer/rehearsal/rehearsed_device.h"
#include "tests/parity/compare.h"
#include "tests/parity/ranks.h"
#include "tests/parity/tiny_plans.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>

namespace fourfold::trainer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Changes = std::vector<std::string>;

constexpr int kCulprit = 3;

ResolvedPlan plan_of(const Changes& changes)
{
    const fourfold::testing::TemporaryFolder folder; // its tokens are not read
    return fourfold::testing::tiny_plan(fourfold::testing::write_tokens(folder.path()),
        fourfold::testing::joined({"cluster=\"dgx-h100\""}, changes)); // whose messages are NCCL's
}

// What a rehearsal says where the culprit's plan or its wires differ; "nothing" where it finds nothing.
std::string told(const ResolvedPlan& plan, const ResolvedPlan& culprits, const RankSettings& culprits_settings)
{
    std::vector<RankProgram> programs;
    for (const int rank : ranks_to_rehearse(plan, 8)) {
        auto rehearsed
            = rank == kCulprit ? rehearse_rank(culprits, rank, culprits_settings) : rehearse_rank(plan, rank);
        if (!rehearsed)
            return rehearsed.error().line();
        for (const std::string& found : {rehearsed->misused, rehearsed->ran_out})
            if (!found.empty())
                return rank_words(rehearsed->program) + ": " + found;
        programs.push_back(std::move(rehearsed->program));
    }
    const auto matched = match_programs(programs, {4, true});
    return matched ? "nothing" : matched.error().line();
}

struct OtherPlan {
    const char* name;
    Changes mesh, culprit;
    const char* says;
};

const Changes kAll{"gpus=8", "layout.tp=2", "layout.pp=2", "layout.dp=2"};
const Changes kFsdp{"gpus=4", "layout.dp=4", "training.sharding=\"parameters\"", "model.num_hidden_layers=4"};
const Changes kRing{"gpus=4", "layout.cp=4"};
const OtherPlan kOtherPlans[] = {
    {"rank_order", kAll, {"layout.order=[\"dp\",\"tp\",\"cp\",\"pp\"]"}, "disagree on who they are"},
    {"micro_batch", kAll, {"training.micro_batch=1"}, "disagree"},
    {"sequence", kAll, {"training.seq_len=32"}, "disagree"},
    {"precision", kAll, {"training.precision=\"bf16\""}, "disagree"},
    {"gradients_dtype", {"gpus=4", "layout.dp=4", "training.precision=\"bf16\""}, {"training.grad_dtype=\"bf16\""},
        "disagree"},
    {"sharding", kFsdp, {"training.sharding=\"optimizer\""}, ""},
    {"units", kFsdp, {"training.fsdp.layers_per_unit=2"}, ""},
    {"batch", kAll, {"training.global_batch=16"}, ""},
    {"hidden", kAll, {"model.hidden_size=64"}, "disagree"},
    {"ffn", {"gpus=4", "layout.dp=4"}, {"model.intermediate_size=64"}, "disagree"},
    {"vocabulary", kAll, {"model.vocab_size=97"}, "disagree"},
    {"tied", {"gpus=4", "layout.pp=4", "model.num_hidden_layers=4"}, {"model.tie_word_embeddings=true"}, "ends"},
    {"layers", kAll, {"layout.stage_layers=[1,3]", "model.num_hidden_layers=4"}, ""},
    {"sequence_parallel", kAll, {"training.sequence_parallel=false"}, "disagree"},
    {"recomputes", kAll, {"training.recompute=\"full\""}, ""},
    {"cp_method", kRing, {"training.cp_method=\"all-gather\""}, "rank 3"},
    {"experts",
        {"gpus=4", "layout.dp=4", "layout.ep=4", "model.model_type=\"mixtral\"", "model.num_local_experts=4",
            "model.num_experts_per_tok=2"},
        {"model.num_experts_per_tok=1"}, "disagree on a message"},
    // Beyond eight ranks the ends of every group are rehearsed: rank 3 is one of its experts' alone.
    {"experts_of_many",
        {"gpus=16", "layout.dp=16", "layout.ep=4", "training.global_batch=32", "model.model_type=\"mixtral\"",
            "model.num_local_experts=4", "model.num_experts_per_tok=2"},
        {"model.num_experts_per_tok=1"}, "disagree on a message"},
};

// Passes everything on; each fault changes one thing.
class Faulty : public Transport {
public:
    explicit Faulty(std::shared_ptr<Transport> inner)
        : inner_(std::move(inner))
    {
    }
    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) override
    {
        return inner_->all_reduce(tensor, reduce);
    }
    std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor& in) override
    {
        return inner_->all_gather(out, in);
    }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& out, const at::Tensor& in) override
    {
        return inner_->reduce_scatter(out, in);
    }
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        return inner_->exchange(transfers);
    }
    [[nodiscard]] int rank() const override { return inner_->rank(); }
    [[nodiscard]] int size() const override { return inner_->size(); }

protected:
    struct Nothing final : Pending {
        void wait() override { }
    };
    std::shared_ptr<Transport> inner_;
};

struct DropsAReduce final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> all_reduce(const at::Tensor&, Reduce) override { return std::make_unique<Nothing>(); }
};
struct ReducesTwice final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) override
    {
        inner_->all_reduce(tensor, reduce)->wait();
        return inner_->all_reduce(tensor, reduce);
    }
};
struct WrongReduction final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce) override
    {
        return inner_->all_reduce(tensor, Reduce::max);
    }
};
struct HalfOfIt final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& out, const at::Tensor& in) override
    {
        return inner_->reduce_scatter(out.narrow(0, 0, out.size(0) / 2), in.narrow(0, 0, in.size(0) / 2));
    }
};
struct GathersInstead final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& out, const at::Tensor& in) override
    {
        return inner_->all_gather(in, out);
    }
};
// Two under way with the same memory.
struct StartsTwice final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor, Reduce reduce) override
    {
        kept_.push_back(inner_->all_reduce(tensor, reduce));
        return inner_->all_reduce(tensor, reduce);
    }
    std::vector<std::unique_ptr<Pending>> kept_;
};
// Uses what arrives before it is there.
struct DoesNotWait final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor& in) override
    {
        kept_.push_back(inner_->all_gather(out, in));
        return std::make_unique<Nothing>();
    }
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        kept_.push_back(inner_->exchange(transfers));
        return std::make_unique<Nothing>();
    }
    std::vector<std::unique_ptr<Pending>> kept_;
};
// Nobody holds the memory of an operation under way.
struct FreesEarly final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> all_gather(const at::Tensor& out, const at::Tensor& in) override
    {
        (void)inner_->all_gather(out, at::empty_like(in));
        return std::make_unique<Nothing>();
    }
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        (void)inner_->exchange(transfers);
        return std::make_unique<Nothing>();
    }
};
struct SendsToTheNext final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        auto wrong = transfers;
        for (Transfer& transfer : wrong)
            if (transfer.way == Transfer::Way::send)
                transfer.peer = (transfer.peer + 1) % size() == rank() ? (transfer.peer + 2) % size()
                                                                       : (transfer.peer + 1) % size();
        return inner_->exchange(wrong);
    }
};
struct ForgetsASend final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        auto fewer = transfers;
        if (sends_++ == 0)
            std::erase_if(fewer, [](const Transfer& transfer) { return transfer.way == Transfer::Way::send; });
        return fewer.empty() ? std::make_unique<Nothing>() : inner_->exchange(fewer);
    }
    int sends_ = 0;
};
struct SendsTwice final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        inner_->exchange(transfers)->wait();
        return inner_->exchange(transfers);
    }
};
// Messages of neighbouring micro-batches in each other's place.
struct SwapsSends final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        auto wrong = transfers;
        for (Transfer& transfer : wrong)
            if (transfer.way == Transfer::Way::send)
                transfer.tag ^= 1;
        return inner_->exchange(wrong);
    }
};
struct SendsHalves final : Faulty {
    using Faulty::Faulty;
    std::unique_ptr<Pending> exchange(const std::vector<Transfer>& transfers) override
    {
        auto wrong = transfers;
        for (Transfer& transfer : wrong)
            if (transfer.way == Transfer::Way::send)
                transfer.tensor = transfer.tensor.to(at::kHalf);
        return inner_->exchange(wrong);
    }
};

template <typename Kind>
std::shared_ptr<Transport> made(std::shared_ptr<Transport> inner)
{
    return std::make_shared<Kind>(std::move(inner));
}

struct BadWire {
    const char* name;
    Changes mesh;
    const char* group; // whose wires of the culprit are bad
    std::shared_ptr<Transport> (*make)(std::shared_ptr<Transport>);
    const char* says;
};

const Changes kPlainTp{"gpus=8", "layout.tp=2", "layout.pp=2", "layout.dp=2", "training.sequence_parallel=false"};
const Changes kZero{"gpus=4", "layout.dp=4", "training.sharding=\"gradients\""};
const Changes kPipe{"gpus=4", "layout.pp=4", "model.num_hidden_layers=4"};
// Of sixteen ranks the ends of every group are rehearsed: of dp_shard's first and dp_replicate's last rank 3 is one.
const Changes kHybrid{
    "gpus=16", "layout.dp=16", "layout.dp_shard=4", "training.sharding=\"hybrid\"", "training.global_batch=32"};
const BadWire kBadWires[] = {
    {"drops_a_reduce", kPlainTp, "tp", made<DropsAReduce>, "tp/"},
    {"reduces_twice", kPlainTp, "tp", made<ReducesTwice>, "tp/"},
    {"wrong_reduction", kPlainTp, "dp", made<WrongReduction>, "all_reduce (max)"},
    {"half_of_it", kZero, "dp", made<HalfOfIt>, "disagree"},
    {"gathers_instead", kZero, "dp", made<GathersInstead>, "all_gather"},
    {"starts_twice", kPlainTp, "tp", made<StartsTwice>, "is given to operation"},
    {"half_of_it_in_many", kHybrid, "dp_shard", made<HalfOfIt>, "disagree"},
    {"drops_a_reduce_of_copies", kHybrid, "dp_replicate", made<DropsAReduce>, "dp_replicate/"},
    {"reads_what_is_not_there", kFsdp, "dp", made<DoesNotWait>, "before it was waited for"},
    {"reads_a_message_too_early", kRing, "cp", made<DoesNotWait>, "before it was waited for"},
    {"frees_a_gather_early", kFsdp, "dp", made<FreesEarly>, "is freed"},
    {"frees_a_message_early", kRing, "cp", made<FreesEarly>, "before it was waited for"},
    {"sends_to_another", kRing, "cp", made<SendsToTheNext>, "cp/"},
    {"forgets_an_activation", kPipe, "pp_back", made<ForgetsASend>, "pp_back/"},
    {"sends_twice", kPipe, "pp_back", made<SendsTwice>, "pp_back/"},
    {"swaps_sends", kPipe, "pp_back", made<SwapsSends>, "mean different messages"},
    {"sends_halves", kPipe, "pp_back", made<SendsHalves>, "Half"},
};

constexpr char kHeading[] = R"(# Seeded faults
Faults put into rank 3 of a plan, and what its rehearsal said: `trainer_rehearsal_test --gtest_filter='RehearsedFaults*'` makes
this table. Without the fault each of these meshes is rehearsed without a word.
)";

std::string row(const char* name, const Changes& mesh, const std::string& fault, const std::string& said)
{
    std::string name_in_words = name;
    std::ranges::replace(name_in_words, '_', ' ');
    return "| " + name_in_words + " | " + fourfold::testing::words(mesh) + " | " + fault + " | " + said + " |\n";
}

TEST(RehearsedFaults, AreFoundAndNamed)
{
    std::string made = kHeading;
    made += "\n## A plan of its own\n| fault | mesh | rank 3 has | said |\n| --- | --- | --- | --- |\n";
    for (const OtherPlan& fault : kOtherPlans) {
        const ResolvedPlan plan = plan_of(fault.mesh);
        const std::string said = told(plan, plan_of(fourfold::testing::joined(fault.mesh, fault.culprit)), {});
        EXPECT_EQ(told(plan, plan, {}), "nothing") << fault.name;
        EXPECT_THAT(said, AllOf(HasSubstr("rank 3"), HasSubstr(fault.says))) << fault.name;
        made += row(fault.name, fault.mesh, fourfold::testing::words(fault.culprit), said);
    }
    made += "\n## A wire that does something else\n| fault | mesh | its group | said |\n| --- | --- | --- | --- |\n";
    for (const BadWire& fault : kBadWires) {
        const ResolvedPlan plan = plan_of(fault.mesh);
        RankSettings settings;
        settings.wire = [&](std::shared_ptr<Transport> inner, const std::string& name) {
            return name.starts_with(fault.group) ? fault.make(std::move(inner)) : inner;
        };
        const std::string said = told(plan, plan, settings);
        EXPECT_THAT(said, AllOf(HasSubstr("rank 3"), HasSubstr(fault.says))) << fault.name;
        made += row(fault.name, fault.mesh, fault.group, said);
    }
    const std::string file = FOURFOLD_SOURCE_DIR "/resources/reports/seeded-faults.md";
    if (std::getenv("FOURFOLD_UPDATE_FAULTS") != nullptr) {
        ASSERT_TRUE(write_file_atomically(file, made));
        return;
    }
    const auto text = read_text_file(file);
    ASSERT_TRUE(text) << text.error().line();
    EXPECT_EQ(*text, made) << "FOURFOLD_UPDATE_FAULTS=1 trainer_rehearsal_test writes it anew";
}

// As weights that are freed too early: on a GPU the kernel would fail.
TEST(RehearsedFaults, MemoryThatWasGivenBackIsNotUsed)
{
    const RehearsalPrices prices(plan_of(Changes()));
    Ledger ledger;
    const RehearsedDevice device(ledger, prices, {});
    const at::TensorOptions meta(at::kMeta);
    const at::Tensor x = at::empty({4, 4}, meta), weight = at::empty({4, 4}, meta);
    (void)at::mm(x, weight.t());
    EXPECT_EQ(ledger.misused(), "");
    c10::StorageImpl& storage = *weight.storage().unsafeGetStorageImpl();
    storage.set_data_ptr_noswap(at::DataPtr(nullptr, weight.device()));
    storage.set_nbytes(0);
    const at::Tensor view = weight.t(); // which reads nothing
    EXPECT_EQ(ledger.misused(), "");
    (void)at::mm(x, view);
    EXPECT_EQ(ledger.misused(), "memory that was given back is used by aten::mm");
}

// Room for what one micro-batch keeps, but not for what all of them do.
TEST(RehearsedFaults, OutOfMemoryNamesThePass)
{
    const ResolvedPlan plan = plan_of({"gpus=4", "layout.pp=4", "model.num_hidden_layers=4", "training.seq_len=64",
        "training.micro_batch=32", "training.global_batch=256", "training.schedule=\"gpipe\""});
    const auto few
        = rehearse_rank(plan_of({"gpus=4", "layout.pp=4", "model.num_hidden_layers=4", "training.seq_len=64",
                            "training.micro_batch=32", "training.global_batch=128", "training.schedule=\"gpipe\""}),
            kCulprit);
    ASSERT_TRUE(few) << few.error().line();
    const std::string said = told(plan, plan, {.capacity = few->reserved});
    EXPECT_THAT(said, AllOf(HasSubstr("rank 3 ("), HasSubstr("GiB, in the "), HasSubstr(" of micro-batch ")));
    EXPECT_EQ(told(plan, plan, {.capacity = 4 * few->reserved}), "nothing");
}

} // namespace
} // namespace fourfold::trainer
