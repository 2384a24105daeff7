// SPDX-License-Identifier: GPL-3.0-or-later
// Plans of many techniques at once, drawn at random: what no table of cases puts together.
#include "tests/parity/matrix.h"

#include "core/plan/trainable.h"
#include "tests/parity/compare.h"
#include "tests/parity/tiny_plans.h"

#include <random>

namespace fourfold::testing {

namespace {
using Words = std::vector<std::string>;

const std::string kDeepseek
    = R"(model={"model_type":"deepseek_v3","vocab_size":61,"hidden_size":32,"num_hidden_layers":4,)"
      R"("num_attention_heads":4,"intermediate_size":48,"moe_intermediate_size":16,"n_routed_experts":8,)"
      R"("num_experts_per_tok":3,"n_shared_experts":1,"n_group":4,"topk_group":2,"first_k_dense_replace":1,)"
      R"("q_lora_rank":12,"kv_lora_rank":8,"qk_nope_head_dim":6,"qk_rope_head_dim":4,"v_head_dim":8,)"
      R"("max_position_embeddings":64,"rms_norm_eps":1e-6,"rope_theta":100.0,"aux_loss_alpha":0.05,)"
      R"("tie_word_embeddings":false})";
const std::string kMixtral = "model.model_type=\"mixtral\"", kBalance = "model.router_aux_loss_coef=0.05",
                  kOneTable = "model.tie_word_embeddings=true";

class Draw {
public:
    explicit Draw(unsigned seed)
        : random_(seed)
    {
    }
    // The standard leaves distributions to each library.
    std::size_t below(std::size_t count) { return random_() % count; }
    bool chance(int percent) { return int(below(100)) < percent; }
    template <typename T>
    T of(const std::vector<T>& list)
    {
        return list[below(list.size())];
    }

private:
    std::mt19937 random_;
};

struct Model {
    Words words;
    bool experts = false;
};

Model draw_model(Draw& draw)
{
    const std::string layers = "model.num_hidden_layers=" + draw.of(Words{"4", "4", "6"});
    const auto ahead = [](int modules) { return "model.num_nextn_predict_layers=" + std::to_string(modules); };
    const std::vector<Model> models{{{layers}}, {{layers, kOneTable}},
        {{layers, "model.model_type=\"qwen3\"", "model.head_dim=12"}}, {{kGemma, layers}}, {{kNeox, layers}},
        {{layers, kMixtral, "model.num_local_experts=4", "model.num_experts_per_tok=2", kBalance}, true},
        {{layers, kMixtral, "model.num_local_experts=8", "model.num_experts_per_tok=1", kBalance}, true},
        {{kGptOss, layers}, true}, {{kDeepseek, layers}, true}, {{kDeepseek, layers, ahead(1)}, true},
        {{kDeepseek, layers, ahead(2)}, true}, {{kDeepseek, layers, ahead(1), kOneTable}, true}};
    return draw.of(models);
}

// What one rank does too.
void add_training(Draw& draw, bool experts, Words& words)
{
    words.emplace_back("training.micro_batch=1");
    if (draw.chance(30)) {
        words.emplace_back(R"(run.documents={"mask":true,"end":8})");
        if (draw.chance(50))
            words.emplace_back("run.documents.restart_positions=true");
    } else if (draw.chance(25)) {
        words.insert(
            words.end(), {"training.optimizer_in_backward=true", "run.clip_norm=0", "run.watch.not_finite=\"stop\""});
    }
    if (draw.chance(30))
        words.push_back("training.optimizer=\"" + draw.of(Words{"muon", "muon", "adam"}) + '"');
    if (draw.chance(20))
        words.emplace_back("training.optimizer_state_dtype=\"bf16\"");
    if (draw.chance(15))
        words.emplace_back(R"(training.ramp_up={"start":4,"increment":4,"samples":8})");
    if (experts && draw.chance(20))
        words.emplace_back("training.experts.capacity=0.8");
    if (experts && draw.chance(20))
        words.emplace_back("run.routing_bias_rate=0.01");
}

void add_pipeline(Draw& draw, int pp, Words& words)
{
    const std::string schedule = draw.of(Words{"gpipe", "1f1b", "interleaved", "zb-h1", "zb-v", "dualpipe-v"});
    words.insert(words.end(), {"layout.pp=" + std::to_string(pp), "training.schedule=\"" + schedule + '"'});
    if (schedule == "interleaved" || schedule == "zb-v" || schedule == "dualpipe-v")
        words.emplace_back("layout.virtual_stages=2");
    if (draw.chance(20))
        words.emplace_back("training.overlap.p2p=false");
}

void add_sharding(Draw& draw, int replicas, int pp, Words& words)
{
    const std::string sharding = draw.of(Words{"none", "optimizer", "gradients", "parameters", "parameters", "hybrid"});
    words.push_back("training.sharding=\"" + sharding + '"');
    if (sharding == "hybrid")
        words.push_back("layout.dp_shard=" + std::to_string(draw.of(std::vector<int>{1, 2, replicas})));
    if (sharding == "parameters" || sharding == "hybrid") {
        if (pp > 1 && draw.chance(60))
            words.emplace_back("training.fsdp.each_micro_batch=true");
        for (const char* off : {"training.fsdp.reshard_after_forward=false", "training.fsdp.prefetch=false",
                 "training.fsdp.layers_per_unit=2"})
            if (draw.chance(20))
                words.emplace_back(off);
    }
    for (const char* off : {"training.overlap.grad_reduce=false", "training.overlap.param_gather=false"})
        if (draw.chance(15))
            words.emplace_back(off);
}

void add_experts(Draw& draw, int tp, int ranks, Words& words)
{
    const int ep = draw.of(std::vector<int>{1, 2, 2, 4}), etp = draw.of(std::vector<int>{tp, tp, 1, 2});
    if (ranks % (ep * etp) != 0)
        return;
    words.insert(words.end(), {"layout.ep=" + std::to_string(ep), "layout.etp=" + std::to_string(etp)});
    if (ep > 1 && draw.chance(50))
        words.emplace_back("training.overlap.expert_exchange=true");
}

void add_memory(Draw& draw, Words& words)
{
    const std::string parts = "training.recompute_parts=";
    const auto selective = [&](const char* list) { return Words{"training.recompute=\"selective\"", parts + list}; };
    const std::vector<Words> recompute{{}, {}, {"training.recompute=\"full\""},
        {"training.recompute=\"full\"", "training.recompute_every=2"}, {"training.recompute=\"selective\""},
        selective(R"(["operations"])"), selective(R"(["layer-norm","core-attention"])"), selective(R"(["moe"])")};
    const Words chosen = draw.of(recompute);
    words.insert(words.end(), chosen.begin(), chosen.end());
    if (draw.chance(25))
        words.insert(words.end(),
            {"cluster=\"dgx-h100\"", "training.offload=\"" + draw.of(Words{"activations", "optimizer"}) + '"'});
    if (draw.chance(20))
        words.emplace_back("training.compile=false");
}

Case draw_case(Draw& draw, int most_ranks)
{
    Case c;
    const Model model = draw_model(draw);
    c.model = model.words;
    add_training(draw, model.experts, c.model);
    int tp = 1, cp = 1, pp = 1, dp = 1;
    do {
        tp = draw.of(std::vector<int>{1, 1, 2});
        cp = draw.of(std::vector<int>{1, 1, 2});
        pp = draw.of(std::vector<int>{1, 1, 2, 2, 3});
        dp = draw.of(std::vector<int>{1, 2, 2, 4});
    } while (tp * cp * pp * dp > most_ranks || tp * cp * pp * dp == 1);
    c.model.push_back("training.global_batch=" + std::to_string(8 * (pp == 3 ? 3 : 1)));
    c.mesh = {"gpus=" + std::to_string(tp * cp * pp * dp), "layout.tp=" + std::to_string(tp),
        "layout.cp=" + std::to_string(cp), "layout.dp=" + std::to_string(dp)};
    if (tp > 1 && draw.chance(30))
        c.mesh.emplace_back("training.sequence_parallel=false");
    else if (tp > 1 && draw.chance(30))
        c.mesh.insert(c.mesh.end(),
            {"training.async_tp=true",
                std::string("training.overlap.tensor_parallel=") + (draw.chance(50) ? "true" : "false")});
    if (cp > 1)
        c.mesh.push_back("training.cp_method=\"" + draw.of(Words{"ring", "all-gather", "ulysses"}) + '"');
    if (pp > 1)
        add_pipeline(draw, pp, c.mesh);
    add_sharding(draw, dp * cp, pp, c.mesh);
    if (model.experts)
        add_experts(draw, tp, tp * cp * dp, c.mesh);
    add_memory(draw, c.mesh);
    return c;
}

bool runs(const Case& c)
{
    try {
        const ResolvedPlan plan = tiny_plan("tokens.bin", joined(c.model, c.mesh));
        return check(plan).empty() && trainer_limits(plan).empty();
    } catch (const std::exception&) { // it does not even resolve
        return false;
    }
}
} // namespace

std::vector<Case> random_cases(int count, unsigned seed, int most_ranks)
{
    Draw draw(seed);
    std::vector<Case> cases;
    while (int(cases.size()) < count) {
        Case c = draw_case(draw, most_ranks);
        if (!runs(c))
            continue;
        c.name = "seed" + std::to_string(seed) + "_" + std::to_string(cases.size());
        cases.push_back(std::move(c));
    }
    return cases;
}

} // namespace fourfold::testing
