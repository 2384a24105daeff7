// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/predict/allocation_formula.h"

#include "core/cost/context.h"
#include "core/program/build.h"

#include <algorithm>

namespace fourfold {
namespace {

constexpr const char* kZero = "Rajbhandari et al., arXiv:1910.02054: what data parallel ranks share out";
constexpr const char* kActivations
    = "Korthikanti et al., arXiv:2205.05198, table 2, with grouped queries, gated MLP and "
      "fused attention; stack constants activation_hidden_factor, "
      "activation_gathered_factor";

// 6.64e9 as "6.64 B", 7.1e6 as "7.1 M".
std::string count(double number)
{
    if (number >= 1e9)
        return text_of("%.4g B", number / 1e9);
    return number >= 1e5 ? text_of("%.4g M", number / 1e6) : text_of("%.6g", number);
}

std::string size(double bytes)
{
    return bytes >= 1e10 ? text_of("%.4g GB", bytes / 1e9) : text_of("%.4g MB", bytes / 1e6);
}

Explanation input_of(const char* label, AllocationFormula formula)
{
    Explanation node;
    node.label = label;
    node.value = formula.bytes / kGib;
    node.unit = "GiB";
    node.formula = std::move(formula.text);
    node.source = std::move(formula.source);
    return node;
}

} // namespace

AllocationFormulas::AllocationFormulas(const ResolvedPlan& plan, const StageProgram& stage)
    : plan_(plan)
    , rank_(rank_shape(plan))
{
    // As in build_program(): the recomputed layers of a stage are its first ones.
    double left = plan.training.recompute_layers.value_or(plan.model.layers);
    for (const ChunkProgram& chunk : stage.chunks) {
        const double again = std::min<double>(left, chunk.layers);
        left -= again;
        add_chunk_parameters(parameters_, plan, rank_,
            {chunk.chunk, chunk.first_layer, chunk.layers, chunk.embedding, chunk.head, again});
        const int dense = dense_layers(plan.model, chunk.first_layer, chunk.layers);
        chunks_[chunk.chunk] = {dense, chunk.layers - dense, again, chunk.embedding, chunk.head};
    }
}

AllocationFormula AllocationFormulas::of(const Allocation& allocation, int chunk) const
{
    if (chunk < 0)
        return of_stage(allocation.name);
    const auto found = chunks_.find(chunk);
    return found == chunks_.end() ? AllocationFormula() : of_chunk(allocation.name, found->second);
}

void AllocationFormulas::scale(AllocationFormula& formula, Constant constant) const
{
    const double value = rank_.constants[constant];
    formula.bytes *= value;
    if (value != 1)
        formula.text += text_of(" * %s %.4g", std::string(info(constant).name).c_str(), value);
}

// Elements, not bytes.
AllocationFormula AllocationFormulas::parameters(double dense_split, double expert_split) const
{
    const auto part = [](double number, const char* what, double split) {
        std::string text = count(number) + what;
        if (split > 1)
            text += text_of(" / %.4g shards", split);
        return text;
    };
    AllocationFormula formula;
    formula.bytes = parameters_.dense / dense_split + parameters_.experts / expert_split;
    formula.text = part(parameters_.dense, parameters_.experts > 0 ? " dense parameters" : " parameters", dense_split);
    if (parameters_.experts > 0)
        formula.text = text_of(
            "(%s + %s)", formula.text.c_str(), part(parameters_.experts, " of experts", expert_split).c_str());
    return formula;
}

Explanation AllocationFormulas::held_parameters() const
{
    const ModelShape& model = plan_.model;
    const double attention = attention_parameters(model, rank_);
    Explanation node;
    node.label = "parameters of this GPU";
    node.unit = "parameters";
    node.value = 0;
    node.source = "shape of the model, after TP, PP and EP";
    const auto add = [&](const std::string& text, double number) {
        node.formula += (node.formula.empty() ? "" : " + ") + text;
        *node.value += number;
    };
    const auto add_layers = [&](int layers, bool moe) {
        if (layers == 0)
            return;
        const double norms = norm_and_bias_parameters(model, rank_, moe);
        const double experts = expert_parameters(model, rank_), shared = shared_expert_parameters(model, rank_);
        const double mlp = moe ? experts + shared : mlp_parameters(rank_);
        const std::string inside
            = moe ? "experts " + count(experts) + " + shared experts and router " + count(shared) : "MLP " + count(mlp);
        add(text_of("%d %s * (attention %s + %s + norms and biases %s)", layers, layers == 1 ? "layer" : "layers",
                count(attention).c_str(), inside.c_str(), count(norms).c_str()),
            layers * (attention + mlp + norms));
    };
    Chunk all;
    for (const auto& [index, chunk] : chunks_) {
        all.dense += chunk.dense;
        all.moe += chunk.moe;
        all.embedding = all.embedding || chunk.embedding;
        all.head = all.head || chunk.head;
    }
    add_layers(all.dense, false);
    add_layers(all.moe, true);
    if (all.embedding)
        add("embedding " + count(embedding_parameters(model, rank_)), embedding_parameters(model, rank_));
    const double tied = model.tied_embeddings && plan_.layout.pp == 1 ? rank_.vocab * rank_.hidden / rank_.tp : 0;
    const double head = head_parameters(model, rank_) - tied;
    if (all.head)
        add(std::string(tied > 0 ? "final norm (the head is the embedding) " : "head ") + count(head), head);
    return node;
}

AllocationFormula AllocationFormulas::of_stage(std::string_view name) const
{
    const Sharded split = sharded(plan_);
    const bool fsdp = fully_sharded(plan_.training);
    const bool mixed = plan_.training.precision != Precision::fp32;
    const auto sized = [&](const std::string& each, double bytes, AllocationFormula elements, std::string source) {
        elements.text = each + " * " + elements.text;
        elements.bytes *= bytes;
        elements.source = std::move(source);
        return elements;
    };
    const AllocationFormula whole = parameters(1, 1);
    if (name == "weights") {
        const double bytes = fsdp && mixed ? 4 : rank_.element_bytes;
        auto formula = sized(text_of("%.4g bytes", bytes), bytes, parameters(split.weights, split.expert_weights),
            fsdp && mixed ? std::string("fp32 masters; ") + kZero : "parameters of this GPU after TP, PP and EP");
        scale(formula, Constant::weight_memory_scale);
        formula.inputs = {held_parameters()};
        return formula;
    }
    if (name == "gradients") {
        auto formula = sized(text_of("%.4g bytes", rank_.gradient_bytes), rank_.gradient_bytes,
            parameters(split.gradients, split.expert_gradients),
            "accumulated in " + to_text(plan_.training.grad_dtype)
                + (split.gradients > 1 ? std::string("; ") + kZero : ""));
        scale(formula, Constant::gradient_memory_scale);
        return formula;
    }
    if (name == "optimizer states") {
        const double masters = mixed && !fsdp ? 4 : 0;
        const std::string each = masters > 0 ? text_of("(4 + 2 * %.4g) bytes", rank_.state_bytes)
                                             : text_of("2 * %.4g bytes", rank_.state_bytes);
        auto formula = sized(each, 2 * rank_.state_bytes + masters, parameters(split.states, split.expert_states),
            split.states > 1 ? kZero : "");
        scale(formula, Constant::optimizer_memory_scale);
        return formula;
    }
    if (name == "gathered weights")
        return sized(text_of("%.4g bytes", rank_.element_bytes), rank_.element_bytes, whole, "");
    if (name == "unsharded gradients") {
        const double bytes = rank_.constants[Constant::pipeline_gradient_bytes];
        return sized(text_of("%.4g bytes", bytes), bytes, whole, "stack constant pipeline_gradient_bytes");
    }
    if (name == "gathered units" || name == "unit gradients")
        return of_units();
    if (name == "optimizer temporaries") {
        const double copies = rank_.constants[Constant::unfused_optimizer_copies];
        AllocationFormula formula;
        formula.bytes = copies * 4 * parameters_.largest_tensor / split.states;
        formula.text
            = text_of("%.4g copies * 4 bytes * %s elements", copies, count(parameters_.largest_tensor).c_str());
        if (split.states > 1)
            formula.text += text_of(" / %.4g shards", split.states);
        formula.source = "stack constant unfused_optimizer_copies";
        return formula;
    }
    if (name == "library workspaces") {
        const double gib = rank_.constants[Constant::framework_memory_gib];
        return {text_of("%.4g GiB, whatever the plan", gib), gib * kGib, "stack constant framework_memory_gib", {}};
    }
    return {};
}

AllocationFormula AllocationFormulas::of_units() const
{
    const double units = rank_.constants[Constant::fsdp_unit_buffers];
    return {text_of("%.4g units * %s parameters of the largest * %.4g bytes", units,
                count(parameters_.largest_unit).c_str(), rank_.element_bytes),
        units * parameters_.largest_unit * rank_.element_bytes, "stack constant fsdp_unit_buffers", {}};
}

AllocationFormula AllocationFormulas::layer_input() const
{
    AllocationFormula formula;
    formula.bytes = rank_.tokens * rank_.hidden * rank_.element_bytes / rank_.sequence_split;
    formula.text = text_of("%.6g tokens * %.6g hidden * %.4g bytes", rank_.tokens, rank_.hidden, rank_.element_bytes);
    if (rank_.sequence_split > 1)
        formula.text += text_of(" / TP %.4g", rank_.sequence_split);
    formula.source = "what passes from layer to layer";
    return formula;
}

AllocationFormula AllocationFormulas::scores() const
{
    const double each = 2 * rank_.element_bytes + 1;
    return {text_of("%.4g bytes * %.4g sequences * %.4g heads * %.6g^2%s", each, rank_.sequences, rank_.heads,
                rank_.seq_len, rank_.cp > 1 ? text_of(" / CP %.4g", rank_.cp).c_str() : ""),
        each * rank_.sequences * rank_.heads * rank_.seq_len * rank_.seq_len / rank_.cp,
        "scores, their softmax and the dropout mask: Korthikanti et al., arXiv:2205.05198, equation 1", {}};
}

AllocationFormula AllocationFormulas::layer(bool moe) const
{
    const Constants& constants = rank_.constants;
    const double tensors = plan_.model.gated() ? 3 : 2;
    const double kept = constants[Constant::activation_hidden_factor];
    const double gathered = rank_.tp > 1 ? constants[Constant::activation_gathered_factor] : 0;
    double width = kept * rank_.hidden / rank_.sequence_split + gathered * rank_.hidden
        + (rank_.query + rank_.output) / rank_.tp + rank_.key_local + rank_.value_local;
    const auto over = [](double degree, const char* word) {
        return degree > 1 ? text_of(" / %s %.4g", word, degree) : std::string();
    };
    std::string inner = text_of("hidden %.4g * %.6g", kept, rank_.hidden) + over(rank_.sequence_split, "TP");
    if (gathered > 0)
        inner += text_of(" + gathered %.4g * %.6g", gathered, rank_.hidden);
    inner += text_of(" + queries and output %.6g", rank_.query + rank_.output) + over(rank_.tp, "TP")
        + text_of(" + keys and values %.6g", rank_.key_local + rank_.value_local);
    if (moe) {
        const double rows = rank_.expert_rows * rank_.local_experts / rank_.tokens;
        width += tensors * (rows * rank_.expert_ffn / rank_.expert_tp + rank_.shared_ffn / rank_.tp);
        inner += text_of(" + experts %.4g * %.4g rows a token * %.6g", tensors, rows, rank_.expert_ffn)
            + over(rank_.expert_tp, "ETP");
        if (rank_.shared_ffn > 0)
            inner += text_of(" + shared %.4g * %.6g", tensors, rank_.shared_ffn) + over(rank_.tp, "TP");
    } else {
        width += tensors * rank_.ffn / rank_.tp;
        inner += text_of(" + MLP %.4g * %.6g", tensors, rank_.ffn) + over(rank_.tp, "TP");
    }
    AllocationFormula formula;
    formula.bytes = rank_.tokens * rank_.element_bytes * width;
    formula.text = text_of("%.6g tokens * %.4g bytes * (", rank_.tokens, rank_.element_bytes) + inner + ")";
    formula.source = kActivations;
    if (moe) {
        formula.bytes += 2 * rank_.routed_tokens * rank_.hidden * rank_.element_bytes;
        formula.text = "(" + formula.text
            + text_of(
                " + 2 * %.6g routed * %.6g * %.4g bytes)", rank_.routed_tokens, rank_.hidden, rank_.element_bytes);
    }
    if (!plan_.training.compile)
        scale(formula, Constant::eager_activation_factor);
    const double saving = constants[Constant::async_tp_memory_saving];
    if (plan_.training.async_tp && rank_.tp > 1 && saving > 0) {
        formula.bytes *= 1 - saving;
        formula.text += text_of(" * (1 - async_tp_memory_saving %.4g)", saving);
    }
    const AttentionKernel kernel = plan_.training.attention;
    if (kernel == AttentionKernel::unfused || kernel == AttentionKernel::fused_softmax) {
        const AllocationFormula matrix = scores();
        formula.bytes += matrix.bytes;
        formula.text += " + scores " + matrix.text;
    }
    return formula;
}

AllocationFormula AllocationFormulas::layers_of(
    const Chunk& chunk, AllocationFormula (AllocationFormulas::*one)(bool) const, const char* label) const
{
    AllocationFormula sum;
    const auto add = [&](int layers, bool moe) {
        if (layers == 0)
            return;
        AllocationFormula each = (this->*one)(moe);
        const std::string name = std::string(label) + (moe ? " with experts" : "");
        sum.text += (sum.text.empty() ? "" : " + ")
            + text_of("%d %s * %s", layers, layers == 1 ? "layer" : "layers", size(each.bytes).c_str());
        sum.bytes += layers * each.bytes;
        sum.inputs.push_back(input_of(name.c_str(), std::move(each)));
    };
    add(chunk.dense, false);
    add(chunk.moe, true);
    return sum;
}

AllocationFormula AllocationFormulas::recomputed(std::string_view name, const Chunk& chunk) const
{
    const int layers = chunk.dense + chunk.moe;
    AllocationFormula formula = layers_of(chunk, &AllocationFormulas::layer, "one layer");
    formula.bytes /= layers;
    const bool one_kind = chunk.dense == 0 || chunk.moe == 0;
    formula.text = one_kind ? formula.inputs.front().formula : "(" + formula.text + ") / " + std::to_string(layers);
    if (one_kind) {
        formula.source = formula.inputs.front().source;
        formula.inputs.clear();
    }
    if (name == "recomputed layer")
        return formula;
    const double share = rank_.constants[Constant::selective_memory_share];
    AllocationFormula freed = formula;
    freed.bytes *= 1 - share;
    freed.text = text_of("(1 - selective_memory_share %.4g) * %s", share, size(formula.bytes).c_str());
    freed.inputs = {input_of("one layer", formula)};
    const AttentionKernel kernel = plan_.training.attention;
    if (kernel == AttentionKernel::unfused || kernel == AttentionKernel::fused_softmax) {
        AllocationFormula matrix = scores();
        if (matrix.bytes > freed.bytes)
            return matrix;
    }
    return freed;
}

AllocationFormula AllocationFormulas::kept_activations(const Chunk& chunk) const
{
    const Training& training = plan_.training;
    const int layers = chunk.dense + chunk.moe;
    AllocationFormula kept = layers_of(chunk, &AllocationFormulas::layer, "one layer");
    const double one = kept.bytes / layers;
    if (training.recompute == Recompute::full && chunk.again > 0) {
        AllocationFormula input = layer_input();
        const double whole = layers - chunk.again;
        kept.bytes = whole * one + chunk.again * input.bytes;
        kept.text = whole > 0 ? text_of("%.4g layers * %s + ", whole, size(one).c_str()) : std::string();
        kept.text += text_of("%.4g recomputed layers * input %s", chunk.again, size(input.bytes).c_str());
        if (whole <= 0)
            kept.inputs.clear();
        kept.inputs.push_back(input_of("input of a layer", std::move(input)));
    } else if (training.recompute == Recompute::selective && chunk.again > 0) {
        AllocationFormula freed = recomputed("recomputed part of a layer", chunk);
        kept.bytes -= chunk.again * freed.bytes;
        kept.text += text_of(" - %.4g * recomputed part %s", chunk.again, size(freed.bytes).c_str());
        kept.inputs.push_back(input_of("recomputed part of a layer", std::move(freed)));
    }
    if (training.offload == Offload::activations && 2 * one < kept.bytes) {
        kept.bytes = 2 * one;
        kept.text = text_of("2 layers * %s: the one in use and the one in transfer to the host", size(one).c_str());
    }
    return kept;
}

AllocationFormula AllocationFormulas::layer_operands(bool moe) const
{
    const double up = plan_.model.gated() ? 2 : 1;
    const double hidden = rank_.hidden / rank_.sequence_split;
    const double attention = 2 * hidden + (rank_.query + rank_.output) / rank_.tp + rank_.key_local + rank_.value_local;
    const double dense = moe ? rank_.shared_ffn : rank_.ffn;
    double width = attention + (dense > 0 ? 2 * hidden + (1 + up) * dense / rank_.tp : 0);
    AllocationFormula formula;
    formula.bytes = rank_.tokens * width * rank_.element_bytes;
    formula.text = text_of("%.6g tokens * (attention %.6g + MLP %.6g) * %.4g bytes", rank_.tokens, attention,
        width - attention, rank_.element_bytes);
    if (moe) {
        const double rows = rank_.expert_rows * rank_.local_experts;
        const double expert = 2 * rank_.hidden + (1 + up) * rank_.expert_ffn / rank_.expert_tp;
        formula.bytes += rows * expert * rank_.element_bytes;
        formula.text += text_of(" + %.6g rows of experts * %.6g * %.4g bytes", rows, expert, rank_.element_bytes);
    }
    formula.source = "inputs and output gradients of the products: Qi et al., arXiv:2401.10241";
    return formula;
}

AllocationFormula AllocationFormulas::of_chunk(std::string_view name, const Chunk& chunk) const
{
    if (name == "activations")
        return kept_activations(chunk);
    if (name == "recomputed layer" || name == "recomputed part of a layer")
        return recomputed(name, chunk);
    if (name == "embedding output")
        return layer_input();
    if (name == "logits" || name == "blocks of the logits") {
        const double each = rank_.constants[Constant::logits_memory_bytes] * rank_.element_bytes / 2;
        return {
            text_of("%.6g tokens * vocabulary %.6g / TP %.4g * %.4g bytes", rank_.tokens, rank_.vocab, rank_.tp, each),
            rank_.tokens * rank_.vocab / rank_.tp * each, "stack constant logits_memory_bytes", {}};
    }
    if (name == "operands of weight gradients")
        return layers_of(chunk, &AllocationFormulas::layer_operands, "operands of one layer");
    if (name == "operands of the head's weight gradient") {
        const double width = rank_.hidden / rank_.sequence_split + rank_.vocab / rank_.tp;
        return {text_of("%.6g tokens * (hidden and vocabulary of this rank) %.6g * %.4g bytes", rank_.tokens, width,
                    rank_.element_bytes),
            rank_.tokens * width * rank_.element_bytes, "", {}};
    }
    return {};
}

} // namespace fourfold
