# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward and gradients in PyTorch of a checkpoint that fourfold-trainer wrote.

reference.py NAME BEFORE AFTER TOKENS LOSS BETA1 [NAME ...]: of each model its name, folders of two checkpoints one step
apart, a file of uint16 tokens that holds one sequence, the loss that the trainer reported of the step between them, and
AdamW's beta1. Prints the relative differences of the loss and of the worst gradient (which follows from the two first
moments) and exits with 1 where one is too large.
"""
import json
import math
import pathlib
import struct
import sys

import torch
import torch.nn.functional as F


def read(folder, kind):
    tensors = {}
    for file in sorted(pathlib.Path(folder).glob(kind + "*.safetensors")):
        data = file.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        for name, entry in json.loads(data[8 : 8 + length]).items():
            if name == "__metadata__":
                continue
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            assert entry["dtype"] == "F32"
            flat = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32)
            tensors[name] = flat.reshape(entry["shape"]).double()
    return tensors


def causal(q, k, v, bias=None):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if bias is not None:
        scores = scores + bias
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(mask, -math.inf).softmax(-1) @ v


def inverse_frequencies(config, head_dim):
    frequencies = config["rope_theta"] ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    scaling = config.get("rope_scaling")
    if not scaling:
        return frequencies
    assert scaling["rope_type"] == "llama3"
    original = scaling["original_max_position_embeddings"]
    waves = 2 * math.pi / frequencies
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    smooth = ((original / waves - low) / (high - low)).clamp(0, 1)
    return (1 - smooth) * frequencies / scaling["factor"] + smooth * frequencies


def experts(config, w, p, y, balance):
    """What the routed experts add; balance gets the layer's loss by the sequence."""
    mixtral, deepseek = config["model_type"] == "mixtral", config["model_type"] == "deepseek_v3"
    block = p + ("block_sparse_moe." if mixtral else "mlp.")
    names = ("w1", "w3", "w2") if mixtral else ("gate_proj", "up_proj", "down_proj")
    logits, k = F.linear(y, w[block + "gate.weight"]), config["num_experts_per_tok"]
    count = logits.shape[-1]
    scores = logits.sigmoid() if deepseek else logits.softmax(-1)
    wanted = scores.detach() + (w[block + "gate.e_score_correction_bias"].detach() if deepseek else 0)
    if deepseek and config.get("topk_group", 0):
        groups = wanted.view(-1, config["n_group"], count // config["n_group"])
        best = groups.topk(2, -1)[0].sum(-1).topk(config["topk_group"], -1)[1]
        open_ = torch.zeros(groups.shape[:2], dtype=torch.bool).scatter(-1, best, True)
        wanted = groups.masked_fill(~open_.unsqueeze(-1), -math.inf).flatten(1)
    chosen = torch.zeros_like(scores).scatter(-1, wanted.topk(k, -1)[1], 1)
    weights = scores * chosen
    if mixtral or config.get("norm_topk_prob", deepseek):
        weights = weights / weights.sum(-1, keepdim=True)
    weights = weights * (config.get("routed_scaling_factor", 2.5) if deepseek else 1)
    coefficient = config.get("aux_loss_alpha" if deepseek else "router_aux_loss_coef", 0)
    share = chosen.mean(0) * count / k
    balance.append(coefficient * (share * (scores / scores.sum(-1, keepdim=True)).mean(0)).sum())
    out = 0
    for e in range(count):
        gate, up, down = (w[f"{block}experts.{e}.{n}.weight"] for n in names)
        out = out + weights[:, e : e + 1] * F.linear(F.silu(F.linear(y, gate)) * F.linear(y, up), down)
    return out


def llama(config, w, tokens, balance):
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    latent = config.get("kv_lora_rank")
    d = config["qk_rope_head_dim"] if latent else config["head_dim"]
    s = tokens.numel()
    angles = torch.outer(torch.arange(s, dtype=torch.float64), inverse_frequencies(config, d))
    cos, sin = torch.cat([angles, angles], -1).cos(), torch.cat([angles, angles], -1).sin()

    def norm(x, name):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + config["rms_norm_eps"]) * w[name + ".weight"]

    def linear(x, name):
        return F.linear(x, w[name + ".weight"], w.get(name + ".bias"))

    def turned(x):
        half = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1)
        return x * cos + half * sin

    def grouped(y, p):
        q, k, v = (linear(y, p + f"{n}_proj").view(s, -1, d).transpose(0, 1) for n in "qkv")
        if p + "q_norm.weight" in w:
            q, k = norm(q, p + "q_norm"), norm(k, p + "k_norm")
        return turned(q), *(t.repeat_interleave(heads // kv_heads, 0) for t in (turned(k), v))

    def latents(y, p):
        def neighbours(t):  # pairs of neighbours, put half a head apart
            return turned(t.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2))

        plain, rank = config["qk_nope_head_dim"], config["kv_lora_rank"]
        q = linear(norm(linear(y, p + "q_a_proj"), p + "q_a_layernorm"), p + "q_b_proj")
        q = q.view(s, heads, plain + d).transpose(0, 1)
        low = linear(y, p + "kv_a_proj_with_mqa")
        up = linear(norm(low[:, :rank], p + "kv_a_layernorm"), p + "kv_b_proj").view(s, heads, -1).transpose(0, 1)
        shared = neighbours(low[:, rank:]).expand(heads, s, d)
        return (torch.cat([q[..., :plain], neighbours(q[..., plain:])], -1),
                torch.cat([up[..., :plain], shared], -1), up[..., plain:])

    x = w["model.embed_tokens.weight"][tokens]
    for i in range(config["num_hidden_layers"]):
        p = f"model.layers.{i}."
        heads_of = (latents if latent else grouped)(norm(x, p + "input_layernorm"), p + "self_attn.")
        x = x + linear(causal(*heads_of).transpose(0, 1).reshape(s, -1), p + "self_attn.o_proj")
        y = norm(x, p + "post_attention_layernorm")
        dense = next((m for m in ("mlp.", "mlp.shared_experts.") if p + m + "up_proj.weight" in w), None)
        if dense:
            m = p + dense
            x = x + linear(F.silu(linear(y, m + "gate_proj")) * linear(y, m + "up_proj"), m + "down_proj")
        if dense != "mlp.":
            x = x + experts(config, w, p, y, balance)
    head = w["model.embed_tokens.weight"] if config["tie_word_embeddings"] else w["lm_head.weight"]
    return norm(x, "model.norm") @ head.T


def gpt2(config, w, tokens, _):
    heads, hidden, s = config["n_head"], config["n_embd"], tokens.numel()
    gelu = "none" if config["activation_function"] == "gelu" else "tanh"

    def norm(x, name):
        return F.layer_norm(x, (hidden,), w[name + ".weight"], w[name + ".bias"], config["layer_norm_epsilon"])

    def conv1d(x, name):  # input features first
        return x @ w[name + ".weight"] + w[name + ".bias"]

    x = w["transformer.wte.weight"][tokens] + w["transformer.wpe.weight"][:s]
    for i in range(config["n_layer"]):
        p = f"transformer.h.{i}."
        q, k, v = conv1d(norm(x, p + "ln_1"), p + "attn.c_attn").split(hidden, -1)
        q, k, v = (t.view(s, heads, -1).transpose(0, 1) for t in (q, k, v))
        x = x + conv1d(causal(q, k, v).transpose(0, 1).reshape(s, -1), p + "attn.c_proj")
        x = x + conv1d(F.gelu(conv1d(norm(x, p + "ln_2"), p + "mlp.c_fc"), approximate=gelu), p + "mlp.c_proj")
    head = w["transformer.wte.weight"] if config["tie_word_embeddings"] else w["lm_head.weight"]
    return norm(x, "transformer.ln_f") @ head.T


def bloom(config, w, tokens, _):
    heads, hidden, s = config["n_head"], config["hidden_size"], tokens.numel()
    d = hidden // heads

    def norm(x, name):
        return F.layer_norm(x, (hidden,), w[name + ".weight"], w[name + ".bias"], config["layer_norm_epsilon"])

    def linear(x, name):
        return F.linear(x, w[name + ".weight"], w[name + ".bias"])

    assert heads & (heads - 1) == 0
    slopes = torch.tensor([2 ** (-8 * (i + 1) / heads) for i in range(heads)], dtype=torch.float64)
    bias = slopes[:, None, None] * torch.arange(s, dtype=torch.float64)[None, None, :]
    x = norm(w["transformer.word_embeddings.weight"][tokens], "transformer.word_embeddings_layernorm")
    for i in range(config["n_layer"]):
        p = f"transformer.h.{i}."
        fused = linear(norm(x, p + "input_layernorm"), p + "self_attention.query_key_value").view(s, heads, 3, d)
        q, k, v = (fused[:, :, n].transpose(0, 1) for n in range(3))
        x = x + linear(causal(q, k, v, bias).transpose(0, 1).reshape(s, -1), p + "self_attention.dense")
        y = F.gelu(linear(norm(x, p + "post_attention_layernorm"), p + "mlp.dense_h_to_4h"), approximate="tanh")
        x = x + linear(y, p + "mlp.dense_4h_to_h")
    return norm(x, "transformer.ln_f") @ w["transformer.word_embeddings.weight"].T


def states(folder, weights, config):
    """The optimizer's states in the weights' shapes, from the pieces that the ranks wrote (checkpoint/pieces.h)."""
    index = json.loads((pathlib.Path(folder) / "optimizer.safetensors.index.json").read_text())["pieces"]
    stored, whole = read(folder, "optimizer"), {}
    for name, places in index.items():
        shape = weights[name].shape
        input_first = config["model_type"] == "gpt2" and ".h." in name
        rows, columns = (*(shape[::-1] if input_first else shape), 1)[:2] if len(shape) == 2 else (shape[0], 1)
        for suffix in (".exp_avg", ".exp_avg_sq"):
            table = torch.full((rows, columns), float("nan"), dtype=torch.float64)
            for _, column, width, first, count in places:
                at = torch.arange(first, first + count)
                table[at // width, column + at % width] = stored[f"{name}{suffix}@{column}:{first}"]
            if input_first and "c_attn" in name:  # head after head in the table
                heads = config["n_head"]
                table = table.view(heads, 3, -1, columns).transpose(0, 1).reshape(rows, columns)
            whole[name + suffix] = (table.T if input_first and len(shape) == 2 else table).reshape(shape)
    return whole


def agrees(name, before, after, token_file, reported, beta1):
    reported, beta1 = float(reported), float(beta1)
    config = json.loads((pathlib.Path(before) / "config.json").read_text())
    data = pathlib.Path(token_file).read_bytes()
    tokens = torch.tensor(struct.unpack(f"<{len(data) // 2}H", data))
    weights = {name: tensor.requires_grad_() for name, tensor in read(before, "model").items()}
    forward = {"gpt2": gpt2, "bloom": bloom}.get(config["model_type"], llama)
    balance = []
    loss = F.cross_entropy(forward(config, weights, tokens[:-1], balance), tokens[1:])
    (loss + sum(balance)).backward()
    loss_error = abs(loss.item() - reported) / loss.item()

    old, new = (states(folder, weights, config) for folder in (before, after))
    worst, worst_name = 0.0, ""
    assert set(name + ".exp_avg" for name in weights) == set(name for name in new if name.endswith(".exp_avg"))
    for parameter, tensor in weights.items():
        if parameter.endswith("e_score_correction_bias"):  # moved by a rule
            continue
        gradient = (new[parameter + ".exp_avg"] - beta1 * old[parameter + ".exp_avg"]) / (1 - beta1)
        error = ((gradient - tensor.grad).abs().max() / tensor.grad.abs().max()).item()
        if not error <= worst:
            worst, worst_name = error, parameter
    print(f"{name}: loss {loss.item():.9f}, difference {loss_error:.2e}; worst gradient {worst_name}, "
          f"difference {worst:.2e}")
    return loss_error < 1e-5 and worst < 1e-4


def main():
    arguments, each = sys.argv[1:], 6
    right = [agrees(*arguments[i:i + each]) for i in range(0, len(arguments), each)]
    sys.exit(0 if right and all(right) else 1)


main()
