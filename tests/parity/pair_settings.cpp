// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/pair_settings.h"

#include "tests/parity/tiny_plans.h"

namespace fourfold::testing {

namespace {
std::string number(int value)
{
    return std::to_string(value);
}

// Four layers of a model that says its sides by itself. `more`: further fields, each with a comma before it.
std::string config(const char* type, const Sides& s, const std::string& more)
{
    return std::string(R"(model={"model_type":")") + type + R"(","vocab_size":61,"hidden_size":)" + number(s.hidden)
        + R"(,"num_hidden_layers":4,"num_attention_heads":)" + number(s.heads) + R"(,"intermediate_size":)"
        + number(s.ffn) + R"(,"max_position_embeddings":512)" + more + '}';
}

std::string grouped(const Sides& s)
{
    return R"(,"num_key_value_heads":)" + number(s.kv_heads) + R"(,"head_dim":)" + number(s.head)
        + R"(,"rms_norm_eps":1e-5,"rope_theta":100.0)";
}

constexpr char kLlama3Scaling[] = R"(,"rope_scaling":{"rope_type":"llama3","factor":4.0,"low_freq_factor":1.0,)"
                                  R"("high_freq_factor":4.0,"original_max_position_embeddings":32})";

std::string llama(const Sides& s)
{
    return config("llama", s, grouped(s) + kLlama3Scaling + R"(,"tie_word_embeddings":false)");
}
std::string tied_llama(const Sides& s)
{
    return config("llama", s, grouped(s) + R"(,"tie_word_embeddings":true)");
}
std::string qwen3(const Sides& s)
{
    return config("qwen3", s, grouped(s) + R"(,"tie_word_embeddings":false)");
}
std::string gemma3(const Sides& s)
{
    return config("gemma3_text", s,
        grouped(s)
            + R"(,"rope_local_base_freq":20.0,"query_pre_attn_scalar":10,"sliding_window":5,"sliding_window_pattern":2,)"
              R"("tie_word_embeddings":true)");
}
std::string gpt2(const Sides& s)
{
    return R"(model={"model_type":"gpt2","vocab_size":61,"n_layer":4,"n_positions":512,"n_embd":)" + number(s.hidden)
        + R"(,"n_head":)" + number(s.heads) + '}';
}
std::string bloom(const Sides& s)
{
    return R"(model={"model_type":"bloom","vocab_size":61,"n_layer":4,"hidden_size":)" + number(s.hidden)
        + R"(,"n_head":)" + number(s.heads) + '}';
}
std::string neox(const Sides& s)
{
    return config("gpt_neox", s, R"(,"rotary_pct":0.5,"hidden_act":"gelu")");
}

std::string routed(int experts, int active)
{
    return R"(,"num_local_experts":)" + number(experts) + R"(,"num_experts_per_tok":)" + number(active)
        + R"(,"router_aux_loss_coef":0.05,"tie_word_embeddings":false)";
}
std::string mixtral(const Sides& s)
{
    return config("mixtral", s, grouped(s) + routed(4, 2));
}
// Of eight experts some get no token in a micro-batch.
std::string sparse_mixtral(const Sides& s)
{
    return config("mixtral", s, grouped(s) + routed(8, 1));
}
std::string gpt_oss(const Sides& s)
{
    Sides of_experts = s;
    of_experts.ffn = s.expert;
    return config("gpt_oss", of_experts,
        grouped(s) + routed(4, 2)
            + R"(,"sliding_window":6,"swiglu_limit":0.02,"rope_scaling":{"rope_type":"yarn","factor":4.0,)"
              R"("original_max_position_embeddings":32,"beta_fast":4,"beta_slow":0.5,"truncate":false})");
}
std::string with_latents(const Sides& s, int modules_ahead, bool tied)
{
    return config("deepseek_v3", s,
        R"(,"moe_intermediate_size":)" + number(s.expert)
            + R"(,"n_routed_experts":8,"num_experts_per_tok":3,"n_shared_experts":1,"n_group":4,"topk_group":2,)"
              R"("first_k_dense_replace":1,"q_lora_rank":)"
            + number(2 * s.latent) + R"(,"kv_lora_rank":)" + number(2 * s.latent) + R"(,"qk_nope_head_dim":)"
            + number(s.latent) + R"(,"qk_rope_head_dim":)" + number(s.latent) + R"(,"v_head_dim":)" + number(s.latent)
            + R"(,"rms_norm_eps":1e-6,"rope_theta":100.0,"aux_loss_alpha":0.05,"num_nextn_predict_layers":)"
            + number(modules_ahead) + (tied ? R"(,"tie_word_embeddings":true)" : R"(,"tie_word_embeddings":false)"));
}
std::string deepseek(const Sides& s)
{
    return with_latents(s, 0, false);
}
std::string deepseek_ahead(const Sides& s)
{
    return with_latents(s, 2, false);
}
std::string deepseek_ahead_tied(const Sides& s)
{
    return with_latents(s, 1, true);
}

std::vector<std::string> recomputed(const char* mode, const std::string& more = "")
{
    std::vector<std::string> words{std::string("training.recompute=\"") + mode + '"'};
    if (!more.empty())
        words.push_back("training." + more);
    return words;
}

std::vector<std::string> schedule(const char* name, bool chunks)
{
    std::vector<std::string> words{"layout.pp=2", std::string("training.schedule=\"") + name + '"'};
    if (chunks)
        words.emplace_back("layout.virtual_stages=2");
    return words;
}

std::vector<std::string> sharded(const char* how, const std::vector<std::string>& more = {})
{
    std::vector<std::string> words{std::string("training.sharding=\"") + how + '"'};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

std::vector<std::string> fp8(const char* recipe)
{
    return {"training.precision=\"fp8\"", std::string("training.fp8_recipe=\"") + recipe + '"'};
}
// 16 after a cut in two; 32; 128, of which two heads and one piece of a sequence are enough.
constexpr Sides kSixteens{64, 128, 4, 16, 2, 64, 32, 16}, kBlocks32{128, 128, 4, 32, 2, 128, 64, 32},
    kBlocks128{256, 256, 2, 128, 2, 256, 256, 128};
} // namespace

const std::vector<Choice>& choices()
{
    static const std::vector<std::vector<std::string>> replicas{{"dp2"}, {"cp2ring"}},
        pipelined_replicas{{"pp2", "dp2"}, {"pp2", "cp2ring"}}, experts{{"mixtral"}, {"deepseek"}},
        spread_experts{{"mixtral", "dp2"}, {"mixtral", "cp2ring"}, {"mixtral", "tp2"}, {"deepseek", "dp2"}},
        exchanged{{"mixtral", "ep2", "dp2"}, {"mixtral", "ep2", "cp2ring"}, {"mixtral", "ep2alone", "tp2"},
            {"mixtral", "ep2", "dp2", "pp2dualpipev"}, {"deepseek", "ep2", "dp2"}};
    static const std::vector<Choice> list{
        {"tp",
            {{"tp1", {}, {}}, {"tp2", {"layout.tp=2"}, {}, 2},
                {"tp2plain", {"layout.tp=2", "training.sequence_parallel=false"}, {}, 2},
                {"tp2async", {"layout.tp=2", "training.async_tp=true"}, {}, 2}}},
        {"pp",
            {{"pp1", {}, {}}, {"pp2", {"layout.pp=2"}, {}, 2},
                {"pp2gpipe", {"layout.pp=2", "training.schedule=\"gpipe\"", "layout.stage_layers=[1,3]"}, {}, 2},
                {"pp2interleaved", schedule("interleaved", true), {}, 2}, {"pp2zbh1", schedule("zb-h1", false), {}, 2},
                {"pp2zbv", schedule("zb-v", true), {}, 2}, {"pp2dualpipev", schedule("dualpipe-v", true), {}, 2}}},
        {"dp", {{"dp1", {}, {}}, {"dp2", {"layout.dp=2"}, {}, 2}}},
        {"cp",
            {{"cp1", {}, {}}, {"cp2ring", {"layout.cp=2", "training.cp_method=\"ring\""}, {}, 2},
                {"cp2gather", {"layout.cp=2", "training.cp_method=\"all-gather\""}, {}, 2},
                {"cp2ulysses", {"layout.cp=2", "training.cp_method=\"ulysses\""}, {}, 2}}},
        {"sharding",
            {{"ddp", {}, {}}, {"zero1", sharded("optimizer"), {}, 1, replicas},
                {"zero2", sharded("gradients"), {}, 1, replicas}, {"zero3", sharded("parameters"), {}, 1, replicas},
                {"zero3each", sharded("parameters", {"training.fsdp.each_micro_batch=true"}), {}, 1,
                    pipelined_replicas},
                {"zero3kept", sharded("parameters", {"training.fsdp.reshard_after_forward=false"}), {}, 1, replicas},
                {"zero3units",
                    sharded("parameters", {"training.fsdp.layers_per_unit=2", "training.fsdp.prefetch=false"}), {}, 1,
                    replicas},
                {"hsdp", sharded("hybrid", {"layout.dp_shard=2"}), {}, 1, replicas}}},
        {"recompute",
            {{"keep", {}, {}}, {"full", recomputed("full"), {}},
                {"full1", recomputed("full", "recompute_layers=1"), {}},
                {"everysecond", recomputed("full", "recompute_every=2"), {}},
                {"selective", recomputed("selective"), {}},
                {"operations", recomputed("selective", R"(recompute_parts=["operations"])"), {}},
                {"mlpnorm", recomputed("selective", R"(recompute_parts=["mlp","layer-norm"])"), {}},
                {"attentionnorm", recomputed("selective", R"(recompute_parts=["core-attention","layer-norm"])"), {}},
                {"moe", recomputed("selective", R"(recompute_parts=["moe"])"), {}, 1, experts}}},
        {"overlap",
            {{"overlap", {}, {}},
                {"late", {R"(training.overlap={"grad_reduce":false,"param_gather":false,"p2p":false})"}, {}}}},
        {"model",
            {{"llama", {}, {}, 1, {}, {}, llama}, {"llamatied", {}, {}, 1, {}, {}, tied_llama},
                {"qwen3", {}, {}, 1, {}, {}, qwen3}, {"gemma", {}, {}, 1, {}, {}, gemma3},
                {"gpt2", {}, {}, 1, {}, {}, gpt2}, {"bloom", {}, {}, 1, {}, {}, bloom},
                {"neox", {}, {}, 1, {}, {}, neox}, {"mixtral", {}, {}, 1, {}, {}, mixtral},
                {"sparse", {}, {}, 1, {}, {}, sparse_mixtral}, {"gptoss", {}, {}, 1, {}, {}, gpt_oss},
                {"deepseek", {}, {}, 1, {}, {}, deepseek}, {"ahead", {}, {}, 1, {}, {}, deepseek_ahead},
                {"aheadtied", {}, {}, 1, {}, {}, deepseek_ahead_tied}}},
        {"experts",
            {{"together", {}, {}}, {"ep2", {"layout.ep=2"}, {}, 1, spread_experts},
                {"ep2alone", {"layout.ep=2", "layout.etp=1"}, {}, 1, spread_experts},
                {"etp1", {"layout.etp=1"}, {}, 1, {{"mixtral", "tp2"}, {"mixtral", "tp2async"}, {"deepseek", "tp2"}}},
                {"etp2", {"layout.etp=2"}, {}, 1, spread_experts},
                {"ep2etp2", {"layout.ep=2", "layout.etp=2"}, {}, 1,
                    {{"mixtral", "tp2", "dp2"}, {"mixtral", "dp2", "cp2ring"}, {"mixtral", "tp2", "cp2ring"},
                        {"mixtral", "tp2plain", "dp2"}, {"mixtral", "tp2async", "dp2"}, {"deepseek", "tp2", "dp2"}}}}},
        {"routing",
            {{"dropless", {}, {}}, {"capacity", {}, {"training.experts.capacity=0.8"}, 1, experts},
                {"biased", {}, {"run.routing_bias_rate=0.01"}, 1, {{"deepseek"}}}}},
        {"exchange",
            {{"inturn", {}, {}}, {"beside", {"training.overlap.expert_exchange=true"}, {}, 1, exchanged},
                {"tensorbeside", {"training.overlap.tensor_parallel=true"}, {}, 1,
                    {{"tp2async"}, {"tp2async", "pp2dualpipev"}}}}},
        {"precision",
            {{"fp32", {}, {}}, {"fp16", {}, {"training.precision=\"fp16\""}},
                {"fp8", {}, fp8("tensorwise"), 1, {}, kSixteens}, {"rowwise", {}, fp8("rowwise"), 1, {}, kSixteens},
                {"mxfp8", {}, fp8("mxfp8"), 1, {}, kBlocks32}, {"blockwise", {}, fp8("blockwise"), 1, {}, kBlocks128}}},
        {"optimizer",
            {{"adamw", {}, {}}, {"muon", {}, {"training.optimizer=\"muon\""}},
                {"adam", {}, {"training.optimizer=\"adam\""}}}},
        {"states", {{"wide", {}, {}}, {"bf16states", {}, {"training.optimizer_state_dtype=\"bf16\""}}}},
        {"update",
            {{"after", {}, {}},
                {"within", {"training.optimizer_in_backward=true"},
                    {"run.clip_norm=0", "run.watch.not_finite=\"stop\""}}}},
        {"batch", {{"steady", {}, {}}, {"rampup", {}, {R"(training.ramp_up={"start":4,"increment":4,"samples":8})"}}}},
        {"documents",
            {{"stream", {}, {}}, {"documents", {}, {R"(run.documents={"mask":true,"end":8})"}},
                {"restarting", {},
                    {R"(run.documents={"mask":true,"end":8})", "run.documents.restart_positions=true"}}}},
        {"kernel", {{"flash", {}, {}}, {"unfused", {"training.attention=\"unfused\""}, {}}}},
        {"offload",
            {{"here", {}, {}}, {"activationsaway", {"training.offload=\"activations\""}, {}},
                {"optimizeraway", {"training.offload=\"optimizer\""}, {}}}},
        {"kernels", {{"fused", {}, {}}, {"plainkernels", {"training.compile=false"}, {}}}},
        {"order",
            {{"inside", {}, {}}, {"ppfirst", {R"(layout.order=["pp","tp","cp","dp"])"}, {}},
                {"cplast", {R"(layout.order=["tp","dp","pp","cp"])"}, {}}}},
        {"labels", {{"all", {}, {}}, {"padded", {}, {R"(run.environment={"FOURFOLD_PADDING":"5"})"}}}},
    };
    return list;
}

} // namespace fourfold::testing
