// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/naive_model.h"

#include "tests/parity/naive_experts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace fourfold::testing {

namespace {
using Vector = std::vector<double>;
using Rows = std::vector<Vector>; // one per position

Vector times(const Vector& matrix, const Vector& x, const Vector* bias)
{
    const std::size_t rows = matrix.size() / x.size();
    Vector y(rows, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < x.size(); ++c)
            y[r] += matrix[r * x.size() + c] * x[c];
        if (bias)
            y[r] += (*bias)[r];
    }
    return y;
}

Vector rms_norm(const Vector& x, const Vector& weight, double eps)
{
    double mean_square = 0;
    for (const double value : x)
        mean_square += value * value / double(x.size());
    Vector y = x;
    for (std::size_t i = 0; i < x.size(); ++i)
        y[i] *= weight[i] / std::sqrt(mean_square + eps);
    return y;
}

Vector layer_norm(const Vector& x, const Vector& weight, const Vector& bias, double eps)
{
    double mean = 0, variance = 0;
    for (const double value : x)
        mean += value / double(x.size());
    for (const double value : x)
        variance += (value - mean) * (value - mean) / double(x.size());
    Vector y = x;
    for (std::size_t i = 0; i < x.size(); ++i)
        y[i] = (x[i] - mean) / std::sqrt(variance + eps) * weight[i] + bias[i];
    return y;
}

double gelu(const ModelShape& model, double x)
{
    if (model.exact_gelu)
        return x * (1 + std::erf(x / std::numbers::sqrt2)) / 2;
    return x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))) / 2;
}

// Of BLOOM, for a number of heads that is a power of two.
double alibi_slope(const ModelShape& model, std::size_t head)
{
    return std::pow(2, -8 * double(head + 1) / model.heads);
}

// Layers with a window turn by a theta of their own, where the model has one.
double frequency(const ModelShape& model, bool window, std::size_t plane)
{
    const bool local = window && model.window_rope_theta > 0;
    const double width
        = model.latent ? double(model.latent->rope_head_dim) : double(model.head_dim) * model.rotary_share;
    const double base = std::pow(local ? model.window_rope_theta : model.rope_theta, -2.0 * double(plane) / width);
    const RopeScaling& scaling = model.rope_scaling;
    if (local || scaling.type.empty())
        return base;
    if (scaling.type == "linear")
        return base / scaling.factor;
    if (scaling.type == "yarn") { // a ramp over the planes, between those of beta_fast and beta_slow turns
        const auto plane_of = [&](double turns) {
            return width * std::log(double(scaling.original_positions) / (turns * 2 * std::numbers::pi))
                / (2 * std::log(model.rope_theta));
        };
        const double from = plane_of(scaling.beta_fast), to = plane_of(scaling.beta_slow);
        const double low = std::max(0.0, scaling.truncate ? std::floor(from) : from);
        const double high = std::min(width - 1, scaling.truncate ? std::ceil(to) : to);
        const double stretched = std::min(1.0, std::max(0.0, (double(plane) - low) / (high - low)));
        return base * (1 - stretched) + base / scaling.factor * stretched;
    }
    const double turns = double(scaling.original_positions) * base / (2 * std::numbers::pi); // in the old context
    if (turns < scaling.low_freq_factor)
        return base / scaling.factor;
    if (turns > scaling.high_freq_factor)
        return base;
    const double keep = (turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
    return keep * base + (1 - keep) * base / scaling.factor;
}

// Turns the first elements of each head of `x` to `position`: element i pairs with the one half of them further.
void rotate(const ModelShape& model, bool window, Vector& x, std::size_t position)
{
    const auto head_dim = std::size_t(model.head_dim);
    const auto half = std::size_t(double(head_dim) * model.rotary_share) / 2;
    // Of yarn (arXiv:2309.00071, equation 22: by this both queries and keys grow).
    const double grown = model.rope_scaling.type == "yarn" ? 0.1 * std::log(model.rope_scaling.factor) + 1 : 1;
    for (std::size_t head = 0; head < x.size() / head_dim; ++head)
        for (std::size_t i = 0; i < half; ++i) {
            const double angle = double(position) * frequency(model, window, i);
            double &a = x[head * head_dim + i], &b = x[head * head_dim + i + half];
            const double turned = a * std::cos(angle) - b * std::sin(angle);
            b = grown * (b * std::cos(angle) + a * std::sin(angle));
            a = grown * turned;
        }
}

// `sinks`: of each head, or null. `window`: of a layer that sees the nearest tokens alone.
Vector attend(const ModelShape& model, bool window, const Vector* sinks, const Rows& queries, const Rows& keys,
    const Rows& values, std::size_t position)
{
    const auto seen = std::size_t(model.window.tokens);
    const std::size_t first = window && position + 1 > seen ? position + 1 - seen : 0;
    const double divisor = std::sqrt(model.score_dimension > 0 ? model.score_dimension : double(model.head_dim))
        / (model.latent && model.rope_scaling.type == "yarn"
                ? std::pow(0.1 * model.rope_scaling.mscale_all_dim * std::log(model.rope_scaling.factor) + 1, 2)
                : 1);
    const auto head_dim = std::size_t(model.head_dim);
    const auto group = std::size_t(model.heads / model.kv_heads);
    const std::size_t width = values[0].size() / std::size_t(model.kv_heads);
    Vector mixed(std::size_t(model.heads) * width, 0.0);
    for (std::size_t head = 0; head < std::size_t(model.heads); ++head) {
        const std::size_t at = head * head_dim, kv_at = head / group * head_dim;
        Vector scores;
        double total = sinks ? std::exp((*sinks)[head]) : 0;
        for (std::size_t other = first; other <= position; ++other) {
            double dot = 0;
            for (std::size_t i = 0; i < head_dim; ++i)
                dot += queries[position][at + i] * keys[other][kv_at + i];
            double score = dot / divisor;
            if (model.positions == Positions::alibi)
                score += alibi_slope(model, head) * double(other);
            scores.push_back(std::exp(score));
            total += scores.back();
        }
        for (std::size_t other = first; other <= position; ++other)
            for (std::size_t i = 0; i < width; ++i)
                mixed[head * width + i] += scores[other - first] / total * values[other][head / group * width + i];
    }
    return mixed;
}

// Elements 2i and 2i + 1 of x[begin ...) turn by the angle of plane i.
void rotate_neighbours(const ModelShape& model, Vector& x, std::size_t begin, std::size_t position)
{
    for (std::size_t i = 0; i < std::size_t(model.latent->rope_head_dim) / 2; ++i) {
        const double angle = double(position) * frequency(model, false, i);
        double &a = x[begin + 2 * i], &b = x[begin + 2 * i + 1];
        const double turned = a * std::cos(angle) - b * std::sin(angle);
        b = b * std::cos(angle) + a * std::sin(angle);
        a = turned;
    }
}

struct Projected {
    Vector query, key, value;
};

// Multi-head latent attention of one position. weight(): by the name within self_attn.
template <typename Weight>
Projected latent_projections(const ModelShape& model, const Weight& weight, const Vector& x, std::size_t position)
{
    const LatentAttention& latent = *model.latent;
    const auto plain = std::size_t(latent.nope_head_dim), turned = std::size_t(latent.rope_head_dim),
               width = std::size_t(latent.value_head_dim), rank = std::size_t(latent.kv_rank);
    Projected out;
    out.query = latent.q_rank > 0 ? times(weight("q_b_proj"),
                    rms_norm(times(weight("q_a_proj"), x, nullptr), weight("q_a_layernorm"), model.norm_eps), nullptr)
                                  : times(weight("q_proj"), x, nullptr);
    const Vector low = times(weight("kv_a_proj_with_mqa"), x, nullptr);
    const Vector normed
        = rms_norm(Vector(low.begin(), low.begin() + latent.kv_rank), weight("kv_a_layernorm"), model.norm_eps);
    const Vector up = times(weight("kv_b_proj"), normed, nullptr);
    for (std::size_t head = 0; head < std::size_t(model.heads); ++head) {
        rotate_neighbours(model, out.query, head * (plain + turned) + plain, position);
        const std::size_t at = head * (plain + width);
        for (std::size_t i = 0; i < plain; ++i)
            out.key.push_back(up[at + i]);
        for (std::size_t i = 0; i < turned; ++i)
            out.key.push_back(low[rank + i]);
        rotate_neighbours(model, out.key, out.key.size() - turned, position);
        for (std::size_t i = 0; i < width; ++i)
            out.value.push_back(up[at + plain + i]);
    }
    return out;
}

void add(Vector& x, const Vector& y)
{
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += y[i];
}

// The part of a row of the fused projection that is query (0), key (1) or value (2): head after head, each with all
// three.
Vector unfused(const ModelShape& model, const Vector& row, std::size_t part)
{
    const auto head_dim = std::size_t(model.head_dim);
    Vector out;
    for (std::size_t head = 0; head < std::size_t(model.heads); ++head)
        for (std::size_t i = 0; i < head_dim; ++i)
            out.push_back(row[(head * 3 + part) * head_dim + i]);
    return out;
}

// Gemma's weights are what a norm multiplies by beyond one.
Vector rms_norm_of(const ModelShape& model, const Vector& x, Vector weight)
{
    for (double& factor : weight)
        factor += model.offset_norms ? 1 : 0;
    return rms_norm(x, weight, model.norm_eps);
}

// Of each head apart.
Vector heads_normed(const ModelShape& model, const Vector& x, const Vector& weight)
{
    const auto head_dim = std::ptrdiff_t(model.head_dim);
    Vector out;
    for (auto head = x.begin(); head != x.end(); head += head_dim) {
        const Vector normed = rms_norm_of(model, Vector(head, head + head_dim), weight);
        out.insert(out.end(), normed.begin(), normed.end());
    }
    return out;
}

// The residual stream behind layer `last` - 1, before the final norm.
Rows llama_stream(const ModelShape& model, const NamedWeights& weights, Rows stream, int first, int last,
    double capacity, NaiveLoss& loss)
{
    const auto find = [&](const std::string& name) {
        const auto found = weights.find(name);
        return found == weights.end() ? nullptr : &found->second;
    };
    const bool gemma = model.model_type == "gemma3_text";
    for (int layer = first; layer < last; ++layer) {
        const bool window = model.window.tokens > 0 && (layer + 1) % model.window.full_every != 0;
        const std::string prefix = "model.layers." + std::to_string(layer) + ".";
        const auto weight = [&](const char* name) -> const Vector& { return weights.at(prefix + name + ".weight"); };
        const auto bias = [&](const char* name) { return find(prefix + name + ".bias"); };
        Rows queries, keys, values;
        for (std::size_t position = 0; position < stream.size(); ++position) {
            const Vector x = rms_norm_of(model, stream[position], weight("input_layernorm"));
            if (model.latent) {
                Projected made = latent_projections(
                    model,
                    [&](const char* name) -> const Vector& {
                        return weights.at(prefix + "self_attn." + name + ".weight");
                    },
                    x, position);
                queries.push_back(std::move(made.query));
                keys.push_back(std::move(made.key));
                values.push_back(std::move(made.value));
                continue;
            }
            queries.push_back(times(weight("self_attn.q_proj"), x, bias("self_attn.q_proj")));
            keys.push_back(times(weight("self_attn.k_proj"), x, bias("self_attn.k_proj")));
            values.push_back(times(weight("self_attn.v_proj"), x, bias("self_attn.v_proj")));
            if (model.query_key_norm) {
                queries.back() = heads_normed(model, queries.back(), weight("self_attn.q_norm"));
                keys.back() = heads_normed(model, keys.back(), weight("self_attn.k_norm"));
            }
            rotate(model, window, queries.back(), position);
            rotate(model, window, keys.back(), position);
        }
        Rows normed;
        for (std::size_t position = 0; position < stream.size(); ++position) {
            Vector& x = stream[position];
            Vector mixed = times(weight("self_attn.o_proj"),
                attend(model, window, find(prefix + "self_attn.sinks"), queries, keys, values, position),
                bias("self_attn.o_proj"));
            if (gemma)
                mixed = rms_norm_of(model, mixed, weight("post_attention_layernorm"));
            add(x, mixed);
            normed.push_back(
                rms_norm_of(model, x, weight(gemma ? "pre_feedforward_layernorm" : "post_attention_layernorm")));
        }
        if (model.is_moe_layer(layer)) {
            const NaiveExperts experts = naive_experts(model, weights, prefix, normed, capacity);
            loss.balance += model.experts->balance * experts.balance * double(stream.size());
            loss.margin = std::min(loss.margin, experts.margin);
            for (std::size_t position = 0; position < stream.size(); ++position)
                add(stream[position], experts.out[position]);
            continue;
        }
        for (std::size_t position = 0; position < stream.size(); ++position) {
            Vector& x = stream[position];
            const Vector& in = normed[position];
            Vector gate = times(weight("mlp.gate_proj"), in, nullptr);
            const Vector up = times(weight("mlp.up_proj"), in, nullptr);
            for (std::size_t i = 0; i < gate.size(); ++i)
                gate[i] = up[i] * (gemma ? gelu(model, gate[i]) : gate[i] / (1 + std::exp(-gate[i])));
            Vector down = times(weight("mlp.down_proj"), gate, nullptr);
            if (gemma)
                down = rms_norm_of(model, down, weight("post_feedforward_layernorm"));
            add(x, down);
        }
    }
    return stream;
}

Rows gpt_stream(const ModelShape& model, const NamedWeights& weights, Rows stream)
{
    const bool gpt2 = model.model_type == "gpt2", neox = model.model_type == "gpt_neox";
    for (int layer = 0; layer < model.layers; ++layer) {
        const std::string prefix = (neox ? "gpt_neox.layers." : "transformer.h.") + std::to_string(layer) + ".";
        const std::string attention = prefix + (gpt2 ? "attn." : neox ? "attention." : "self_attention.");
        const auto name = [&](const char* of_gpt2, const char* other) { return prefix + (gpt2 ? of_gpt2 : other); };
        const auto norm = [&](const std::string& which, const Vector& x) {
            return layer_norm(x, weights.at(which + ".weight"), weights.at(which + ".bias"), model.norm_eps);
        };
        const auto linear = [&](const std::string& which, const Vector& x) {
            return times(weights.at(which + ".weight"), x, &weights.at(which + ".bias"));
        };
        Rows queries, keys, values;
        for (std::size_t position = 0; position < stream.size(); ++position) {
            const Vector in = norm(name("ln_1", "input_layernorm"), stream[position]);
            const Vector fused = linear(attention + (gpt2 ? "c_attn" : "query_key_value"), in);
            queries.push_back(unfused(model, fused, 0));
            keys.push_back(unfused(model, fused, 1));
            values.push_back(unfused(model, fused, 2));
            if (model.positions == Positions::rope) {
                rotate(model, false, queries.back(), position);
                rotate(model, false, keys.back(), position);
            }
        }
        for (std::size_t position = 0; position < stream.size(); ++position) {
            Vector& x = stream[position];
            const Vector before = x;
            add(x,
                linear(attention + (gpt2 ? "c_proj" : "dense"),
                    attend(model, false, nullptr, queries, keys, values, position)));
            Vector up = linear(name("mlp.c_fc", "mlp.dense_h_to_4h"),
                norm(name("ln_2", "post_attention_layernorm"), model.parallel_residual ? before : x));
            for (double& value : up)
                value = gelu(model, value);
            add(x, linear(name("mlp.c_proj", "mlp.dense_4h_to_h"), up));
        }
    }
    return stream;
}
} // namespace

NaiveLoss naive_loss(const ModelShape& model, const NamedWeights& weights, const std::vector<int64_t>& tokens,
    const std::vector<int64_t>& labels, double capacity)
{
    const bool gpt = model.norm == Norm::layer, neox = model.model_type == "gpt_neox";
    const std::string prefix = neox ? "gpt_neox." : gpt ? "transformer." : "model.";
    const Vector& embedding = weights.at(prefix
        + (model.model_type == "gpt2" ? "wte.weight"
                : neox                ? "embed_in.weight"
                : gpt                 ? "word_embeddings.weight"
                                      : "embed_tokens.weight"));
    const auto row_of = [&](const Vector& table, int64_t row) {
        return Vector(table.begin() + row * model.hidden, table.begin() + (row + 1) * model.hidden);
    };
    Rows stream;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        stream.push_back(row_of(embedding, tokens[i]));
        for (double& value : stream.back())
            value *= model.scaled_embedding ? std::sqrt(double(model.hidden)) : 1;
        if (model.positions == Positions::learned)
            add(stream.back(), row_of(weights.at("transformer.wpe.weight"), int64_t(i)));
        if (model.embedding_norm)
            stream.back() = layer_norm(stream.back(), weights.at(prefix + "word_embeddings_layernorm.weight"),
                weights.at(prefix + "word_embeddings_layernorm.bias"), model.norm_eps);
    }
    NaiveLoss loss{0, 0, 0, std::numeric_limits<double>::infinity()};
    stream = gpt ? gpt_stream(model, weights, stream)
                 : llama_stream(model, weights, stream, 0, model.layers, capacity, loss);
    const Vector& head = model.tied_embeddings ? embedding : weights.at(neox ? "embed_out.weight" : "lm_head.weight");
    const std::string final_norm = prefix + (neox ? "final_layer_norm" : gpt ? "ln_f" : "norm");
    const auto cross_entropy = [&](const Vector& last, int64_t label) {
        double total = 0, target = 0;
        for (int64_t token = 0; token < model.vocab; ++token) {
            double logit = 0;
            for (std::size_t i = 0; i < last.size(); ++i)
                logit += head[std::size_t(token) * last.size() + i] * last[i];
            total += std::exp(logit);
            if (token == label)
                target = logit;
        }
        return std::log(total) - target;
    };
    for (std::size_t position = 0; position < stream.size(); ++position) {
        const Vector& weight = weights.at(final_norm + ".weight");
        stream[position] = gpt ? layer_norm(stream[position], weight, weights.at(final_norm + ".bias"), model.norm_eps)
                               : rms_norm_of(model, stream[position], weight);
        if (labels[position] >= 0)
            loss.cross_entropy += cross_entropy(stream[position], labels[position]);
    }
    // Token i has predicted token i + 1; module `depth` takes token i + depth and predicts the one behind it.
    for (int depth = 1; depth <= model.predicted_ahead; ++depth) {
        const int layer = model.layers + depth - 1;
        const auto weight = [&](const char* name) -> const Vector& {
            return weights.at("model.layers." + std::to_string(layer) + "." + name + ".weight");
        };
        const std::size_t count = tokens.size(), ahead = std::size_t(depth);
        Rows joined;
        for (std::size_t i = 0; i < count; ++i) {
            const int64_t next = i + ahead < count ? tokens[i + ahead]
                : i + ahead == count               ? std::max<int64_t>(labels[count - 1], 0)
                                                   : 0;
            Vector both = rms_norm(row_of(embedding, next), weight("enorm"), model.norm_eps);
            const Vector own = rms_norm(stream[i], weight("hnorm"), model.norm_eps);
            both.insert(both.end(), own.begin(), own.end());
            joined.push_back(times(weight("eh_proj"), both, nullptr));
        }
        stream = llama_stream(model, weights, joined, layer, layer + 1, capacity, loss);
        for (std::size_t i = 0; i + ahead < count; ++i) {
            bool counts = true;
            for (std::size_t at = i; at <= i + ahead; ++at)
                counts = counts && labels[at] >= 0;
            if (counts)
                loss.ahead
                    += cross_entropy(rms_norm(stream[i], weight("shared_head.norm"), model.norm_eps), labels[i + ahead])
                    / model.predicted_ahead;
        }
    }
    return loss;
}

} // namespace fourfold::testing
