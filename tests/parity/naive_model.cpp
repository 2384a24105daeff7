// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/parity/naive_model.h"

#include <cmath>
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

double frequency(const ModelShape& model, std::size_t plane)
{
    const double base = std::pow(model.rope_theta, -2.0 * double(plane) / double(model.head_dim));
    const RopeScaling& scaling = model.rope_scaling;
    if (scaling.type != "llama3")
        return base;
    const double turns = double(scaling.original_positions) * base / (2 * std::numbers::pi); // in the old context
    if (turns < scaling.low_freq_factor)
        return base / scaling.factor;
    if (turns > scaling.high_freq_factor)
        return base;
    const double keep = (turns - scaling.low_freq_factor) / (scaling.high_freq_factor - scaling.low_freq_factor);
    return keep * base + (1 - keep) * base / scaling.factor;
}

// Turns each head of `x` to `position`: element i pairs with element i + head_dim / 2.
void rotate(const ModelShape& model, Vector& x, std::size_t position)
{
    const auto head_dim = std::size_t(model.head_dim), half = head_dim / 2;
    for (std::size_t head = 0; head < x.size() / head_dim; ++head)
        for (std::size_t i = 0; i < half; ++i) {
            const double angle = double(position) * frequency(model, i);
            double &a = x[head * head_dim + i], &b = x[head * head_dim + i + half];
            const double turned = a * std::cos(angle) - b * std::sin(angle);
            b = b * std::cos(angle) + a * std::sin(angle);
            a = turned;
        }
}

Vector attend(const ModelShape& model, const Rows& queries, const Rows& keys, const Rows& values, std::size_t position)
{
    const auto head_dim = std::size_t(model.head_dim);
    const auto group = std::size_t(model.heads / model.kv_heads);
    Vector mixed(std::size_t(model.heads) * head_dim, 0.0);
    for (std::size_t head = 0; head < std::size_t(model.heads); ++head) {
        const std::size_t at = head * head_dim, kv_at = head / group * head_dim;
        Vector scores;
        double total = 0;
        for (std::size_t other = 0; other <= position; ++other) {
            double dot = 0;
            for (std::size_t i = 0; i < head_dim; ++i)
                dot += queries[position][at + i] * keys[other][kv_at + i];
            double score = dot / std::sqrt(double(head_dim));
            if (model.positions == Positions::alibi)
                score += alibi_slope(model, head) * double(other);
            scores.push_back(std::exp(score));
            total += scores.back();
        }
        for (std::size_t other = 0; other <= position; ++other)
            for (std::size_t i = 0; i < head_dim; ++i)
                mixed[at + i] += scores[other] / total * values[other][kv_at + i];
    }
    return mixed;
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

// The residual stream after the last layer, before the final norm.
Rows llama_stream(const ModelShape& model, const NamedWeights& weights, Rows stream)
{
    const auto find = [&](const std::string& name) {
        const auto found = weights.find(name);
        return found == weights.end() ? nullptr : &found->second;
    };
    for (int layer = 0; layer < model.layers; ++layer) {
        const std::string prefix = "model.layers." + std::to_string(layer) + ".";
        const auto weight = [&](const char* name) -> const Vector& { return weights.at(prefix + name + ".weight"); };
        const auto bias = [&](const char* name) { return find(prefix + name + ".bias"); };
        Rows queries, keys, values;
        for (std::size_t position = 0; position < stream.size(); ++position) {
            const Vector x = rms_norm(stream[position], weight("input_layernorm"), model.norm_eps);
            queries.push_back(times(weight("self_attn.q_proj"), x, bias("self_attn.q_proj")));
            keys.push_back(times(weight("self_attn.k_proj"), x, bias("self_attn.k_proj")));
            values.push_back(times(weight("self_attn.v_proj"), x, bias("self_attn.v_proj")));
            rotate(model, queries.back(), position);
            rotate(model, keys.back(), position);
        }
        for (std::size_t position = 0; position < stream.size(); ++position) {
            Vector& x = stream[position];
            add(x, times(weight("self_attn.o_proj"), attend(model, queries, keys, values, position), nullptr));
            const Vector in = rms_norm(x, weight("post_attention_layernorm"), model.norm_eps);
            Vector gate = times(weight("mlp.gate_proj"), in, nullptr);
            const Vector up = times(weight("mlp.up_proj"), in, nullptr);
            for (std::size_t i = 0; i < gate.size(); ++i)
                gate[i] *= up[i] / (1 + std::exp(-gate[i]));
            add(x, times(weight("mlp.down_proj"), gate, nullptr));
        }
    }
    return stream;
}

Rows gpt_stream(const ModelShape& model, const NamedWeights& weights, Rows stream)
{
    const bool bloom = model.model_type == "bloom";
    for (int layer = 0; layer < model.layers; ++layer) {
        const std::string prefix = "transformer.h." + std::to_string(layer) + ".";
        const auto name = [&](const char* gpt2, const char* other) { return prefix + (bloom ? other : gpt2); };
        const auto norm = [&](const std::string& which, const Vector& x) {
            return layer_norm(x, weights.at(which + ".weight"), weights.at(which + ".bias"), model.norm_eps);
        };
        const auto linear = [&](const std::string& which, const Vector& x) {
            return times(weights.at(which + ".weight"), x, &weights.at(which + ".bias"));
        };
        Rows queries, keys, values;
        for (const Vector& x : stream) {
            const Vector fused = linear(
                name("attn.c_attn", "self_attention.query_key_value"), norm(name("ln_1", "input_layernorm"), x));
            queries.push_back(unfused(model, fused, 0));
            keys.push_back(unfused(model, fused, 1));
            values.push_back(unfused(model, fused, 2));
        }
        for (std::size_t position = 0; position < stream.size(); ++position) {
            Vector& x = stream[position];
            add(x, linear(name("attn.c_proj", "self_attention.dense"), attend(model, queries, keys, values, position)));
            Vector up
                = linear(name("mlp.c_fc", "mlp.dense_h_to_4h"), norm(name("ln_2", "post_attention_layernorm"), x));
            for (double& value : up)
                value = gelu(model, value);
            add(x, linear(name("mlp.c_proj", "mlp.dense_4h_to_h"), up));
        }
    }
    return stream;
}
} // namespace

double naive_loss(const ModelShape& model, const NamedWeights& weights, const std::vector<int64_t>& tokens,
    const std::vector<int64_t>& labels)
{
    const bool gpt = model.norm == Norm::layer;
    const std::string prefix = gpt ? "transformer." : "model.";
    const Vector& embedding = weights.at(prefix
        + (model.model_type == "gpt2" ? "wte.weight"
                : gpt                 ? "word_embeddings.weight"
                                      : "embed_tokens.weight"));
    const auto row_of = [&](const Vector& table, int64_t row) {
        return Vector(table.begin() + row * model.hidden, table.begin() + (row + 1) * model.hidden);
    };
    Rows stream;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        stream.push_back(row_of(embedding, tokens[i]));
        if (model.positions == Positions::learned)
            add(stream.back(), row_of(weights.at("transformer.wpe.weight"), int64_t(i)));
        if (model.embedding_norm)
            stream.back() = layer_norm(stream.back(), weights.at(prefix + "word_embeddings_layernorm.weight"),
                weights.at(prefix + "word_embeddings_layernorm.bias"), model.norm_eps);
    }
    stream = gpt ? gpt_stream(model, weights, stream) : llama_stream(model, weights, stream);
    const Vector& head = model.tied_embeddings ? embedding : weights.at("lm_head.weight");
    double loss = 0;
    for (std::size_t position = 0; position < stream.size(); ++position) {
        if (labels[position] < 0)
            continue;
        const Vector last = gpt ? layer_norm(stream[position], weights.at("transformer.ln_f.weight"),
                                weights.at("transformer.ln_f.bias"), model.norm_eps)
                                : rms_norm(stream[position], weights.at("model.norm.weight"), model.norm_eps);
        double total = 0, target = 0;
        for (int64_t token = 0; token < model.vocab; ++token) {
            double logit = 0;
            for (std::size_t i = 0; i < last.size(); ++i)
                logit += head[std::size_t(token) * last.size() + i] * last[i];
            total += std::exp(logit);
            if (token == labels[position])
                target = logit;
        }
        loss += std::log(total) - target;
    }
    return loss;
}

} // namespace fourfold::testing
