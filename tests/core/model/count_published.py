# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the parameters of published configurations with Hugging Face's transformers.

count_published.py TABLE: builds the model of each row of published_configs.json with transformers' own class on the meta
device and writes how many parameters it has, and which version of transformers counted, into the table. With --check
nothing is written: rows whose number is another one are printed, and the exit status is 1.

What counts: parameters, a tied one once, and the biases that choose experts, which transformers keeps as buffers and
checkpoints hold. Of models with images or sound the language model, with its head.
"""
import json
import sys

import torch
import transformers

ROUTING_BIASES = ("e_score_correction_bias", "expert_bias")
# Families that others' code runs under transformers, with the class that has the same tensors.
SAME_TENSORS = {"kimi_k2": "deepseek_v3"}


def language_model(config):
    config = json.loads(json.dumps(config))
    inner = config.get("text_config")
    if not isinstance(inner, dict):
        return config
    if "tie_word_embeddings" in config:
        inner.setdefault("tie_word_embeddings", config["tie_word_embeddings"])
    inner.setdefault("model_type", config["model_type"])
    return inner


def parameters(config):
    config = language_model(config)
    family = config.pop("model_type")
    config = transformers.AutoConfig.for_model(SAME_TENSORS.get(family, family), **config)
    with torch.device("meta"):
        try:
            model, head = transformers.AutoModelForCausalLM.from_config(config), 0
        except ValueError:  # transformers has it as a part of a larger model alone
            model = transformers.AutoModel.from_config(config)
            head = 0 if config.tie_word_embeddings else config.vocab_size * config.hidden_size
    biases = sum(buffer.numel() for name, buffer in model.named_buffers()
                 if name.endswith(ROUTING_BIASES) and name not in dict(model.named_parameters()))
    return head + biases + sum(parameter.numel() for parameter in model.parameters())


def main(table, check):
    with open(table, encoding="utf-8") as file:
        content = json.load(file)
    wrong = 0
    for row in content["models"]:
        counted = parameters(row["config"])
        if counted != row["parameters"]:
            wrong += 1
            print(row["model"], "has", counted, "parameters, the table says", row["parameters"], flush=True)
        row["parameters"] = counted
    if check:
        return 1 if wrong else 0
    with open(table, "w", encoding="utf-8") as file:
        rows = ",\n".join(json.dumps(row) for row in content["models"])
        file.write('{"transformers": "%s", "models": [\n%s\n]}\n' % (transformers.__version__, rows))
    return 0


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    sys.exit(main(sys.argv[1], "--check" in sys.argv))
