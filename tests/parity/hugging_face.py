# SPDX-License-Identifier: GPL-3.0-or-later
"""What Hugging Face's transformers makes of models that fourfold-trainer exported.

hugging_face.py LINES TOKENS SEQ_LEN PROMPT MODEL...: a file of lines of token ids as --score takes them; a file of
uint16 tokens and the length of its windows; the ids of a prompt; the exported folders. Prints one JSON object a model:
the log-likelihoods of each line's continuations, the mean nats of the windows, the twelve tokens that greedy search
finds, and what the generation settings say ends a text.
"""
import array
import json
import sys

import torch
import transformers


def likelihood(log_probabilities, context, continuation):
    rows = log_probabilities((context + continuation)[:-1])[len(context) - 1:]
    return sum(float(row[token]) for row, token in zip(rows, continuation))


def answer(folder, lines, ids, seq_len, prompt):
    model, info = transformers.AutoModelForCausalLM.from_pretrained(
        folder, output_loading_info=True, attn_implementation="eager", dtype=torch.float32)
    assert not info["missing_keys"] and not info["unexpected_keys"] and not info["mismatched_keys"], info
    model.eval()

    @torch.no_grad()
    def log_probabilities(tokens):
        return model(torch.tensor([tokens]), use_cache=False).logits[0].double().log_softmax(-1)

    answers = [[likelihood(log_probabilities, line["context"], each) for each in line.get("choices") or [line["continuation"]]]
               for line in lines]
    nats, count = 0.0, 0
    for begin in range(0, len(ids) - seq_len, seq_len):
        found = log_probabilities(ids[begin:begin + seq_len])
        nats -= sum(float(found[i][ids[begin + i + 1]]) for i in range(seq_len))
        count += seq_len
    made = list(prompt)
    for _ in range(12):
        made.append(int(log_probabilities(made)[-1].argmax()))
    generation = transformers.GenerationConfig.from_pretrained(folder)
    return {"lines": answers, "nats_per_token": nats / count, "made": made, "eos": generation.eos_token_id}


def main():
    lines_file, tokens, seq_len, prompt, *folders = sys.argv[1:]
    transformers.logging.set_verbosity_error()
    with open(lines_file, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    with open(tokens, "rb") as file:
        ids = list(array.array("H", file.read()))
    for folder in folders:
        print(json.dumps(answer(folder, lines, ids, int(seq_len), json.loads(prompt))))


main()
