# SPDX-License-Identifier: GPL-3.0-or-later
"""Losses of Hugging Face's transformers, trained on from models that fourfold-trainer exported.

hundred_steps.py TOKENS SEQ_LEN STEPS LR BETA1 BETA2 EPS MODEL...: a file of uint16 tokens, whose windows are the batch
of every step; AdamW without weight decay; the exported folders. Prints a JSON list of losses a model. All is in fp64:
where the models ask for fp32 by name (norms, softmax, rotary positions, routers), they get it too.
"""
import array
import json
import sys

import torch
import torch.nn.functional as F
import transformers
import transformers.models.bloom.modeling_bloom


def stored(folder):
    """Config and weights, in fp64, as they were loaded with every type as it is."""
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float64)
    return model.config, {name: tensor.clone() for name, tensor in model.state_dict().items()}


def everything_in_fp64():
    torch.set_default_dtype(torch.float64)
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    # Its own has sqrt(2 / pi) to eight digits.
    transformers.models.bloom.modeling_bloom.bloom_gelu_forward = lambda x: F.gelu(x, approximate="tanh")


def losses(config, weights, inputs, labels, steps, rate, beta1, beta2, eps):
    model = transformers.AutoModelForCausalLM.from_config(
        config, attn_implementation="eager", experts_implementation="eager")
    model.load_state_dict(weights)
    assert all(parameter.dtype == torch.float64 for parameter in model.parameters())
    model.eval()  # no dropout
    optimizer = torch.optim.AdamW(model.parameters(), rate, (beta1, beta2), eps, weight_decay=0)
    found = []
    for _ in range(steps):
        logits = model(input_ids=inputs, use_cache=False).logits
        assert logits.dtype == torch.float64
        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))
        found.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return found


def main():
    tokens, seq_len, steps, rate, beta1, beta2, eps, *folders = sys.argv[1:]
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    with open(tokens, "rb") as file:
        ids = torch.tensor(array.array("H", file.read()).tolist())
    windows = (len(ids) - 1) // int(seq_len)
    count = windows * int(seq_len)
    inputs, labels = ids[:count].view(windows, -1), ids[1:count + 1].view(windows, -1)
    models = [stored(folder) for folder in folders]
    everything_in_fp64()
    for config, weights in models:
        config.dtype = torch.float64
        print(json.dumps(losses(config, weights, inputs, labels, int(steps), *map(float, (rate, beta1, beta2, eps)))))


main()
