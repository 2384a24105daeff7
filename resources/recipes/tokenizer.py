#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A byte-level BPE tokenizer of a text, as a tokenizer.json for `fourfold pack`. Needs `pip install tokenizers`.

    tokenizer.py stories.jsonl 4096 tokenizer.json

The tokens are made of the texts of a JSONL file; <|endoftext|> is one of them, and ends a document.
"""
import json
import pathlib
import sys

try:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
except ImportError:
    sys.exit("tokenizer.py needs tokenizers: `pip install tokenizers`")

END = "<|endoftext|>"


def main(texts, vocabulary, output):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=int(vocabulary), special_tokens=[END], show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    try:
        lines = open(texts, encoding="utf-8")
    except OSError as problem:
        sys.exit(f"{texts}: {problem.strerror}: the texts are made before their tokenizer")
    with lines:
        tokenizer.train_from_iterator((json.loads(line)["text"] for line in lines), trainer)
    tokenizer.save(output)
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": END}
    pathlib.Path(output).with_name("tokenizer_config.json").write_text(json.dumps(about, indent=2) + "\n")
    print(f"{tokenizer.get_vocab_size()} tokens")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
