#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`fourfold pack` beside Hugging Face's tokenizers (Rust), one thread each, in alternating pairs; tokens are compared.

usage: pack_speed.py FOURFOLD WHEELS [MEGABYTES] [PAIRS] [TEXT.jsonl]

Trains a byte-level BPE (Llama 3's expression) and a Unigram on the corpus of the example, packs MEGABYTES of documents
made of its sentences, and prints MB/s of text of each, and the ratio of each pair. TEXT.jsonl: its documents instead,
each met once.
"""
import array
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
sys.path.insert(0, sys.argv[2])
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers  # noqa: E402

EXPRESSION = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
              r"|\s+(?!\S)|\s+")


def tokenizers_of(text):
    lines = text.splitlines()
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(EXPRESSION), "isolated"),
                                                 pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    bpe.train_from_iterator(lines, trainers.BpeTrainer(
        vocab_size=16000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    unigram = Tokenizer(models.Unigram())
    unigram.normalizer = normalizers.NFKC()
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    unigram.train_from_iterator(lines, trainers.UnigramTrainer(
        vocab_size=8000, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False))
    return {"BPE": bpe, "Unigram": unigram}


def documents_of(text, megabytes):
    rng, sentences = random.Random(5), text.split(". ")
    documents, size = [], 0
    while size < megabytes * 1e6:
        document = ". ".join(rng.choice(sentences) for _ in range(rng.randint(1, 40)))
        documents.append(document)
        size += len(document.encode())
    return documents, size


def documents_in(file, megabytes):
    documents, size = [], 0
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            if size >= megabytes * 1e6:
                break
            documents.append(json.loads(line)["text"])
            size += len(documents[-1].encode())
    return documents, size


def main():
    fourfold = sys.argv[1]
    megabytes = float(sys.argv[3]) if len(sys.argv) > 3 else 20
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    corpus = pathlib.Path(__file__).parents[2] / "resources/corpus/devils-dictionary.txt"
    text = corpus.read_text(encoding="utf-8")
    documents, size = documents_in(sys.argv[5], megabytes) if len(sys.argv) > 5 else documents_of(text, megabytes)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with open(folder / "documents.jsonl", "w", encoding="utf-8") as out:
            out.writelines(json.dumps({"text": document}) + "\n" for document in documents)
        for kind, tokenizer in tokenizers_of(text).items():
            tokenizer.save(str(folder / "tokenizer.json"))
            ratios, speeds = [], []
            for pair in range(pairs):
                begin = time.perf_counter()
                encoded = tokenizer.encode_batch(documents, add_special_tokens=False)
                theirs = time.perf_counter() - begin
                begin = time.perf_counter()
                subprocess.run(
                    [fourfold, "pack", str(folder / "documents.jsonl"), "--tokenizer", str(folder / "tokenizer.json"),
                     "--output", str(folder / f"{kind}{pair}"), "--eos", "", "--threads", "1"],
                    check=True, capture_output=True)
                ours = time.perf_counter() - begin
                expected = array.array("H")  # vocabularies of less than 2^16
                for document in encoded:
                    expected.extend(document.ids)
                if (folder / f"{kind}{pair}.bin").read_bytes() != expected.tobytes():
                    sys.exit(f"{kind}: other tokens")
                ratios.append(theirs / ours)
                speeds.append((size / 1e6 / ours, size / 1e6 / theirs))
            print(f"{kind}: fourfold pack {statistics.median(s for s, _ in speeds):.1f} MB/s, tokenizers "
                  f"{statistics.median(s for _, s in speeds):.1f} MB/s, ratio {statistics.median(ratios):.2f} "
                  f"({min(ratios):.2f} to {max(ratios):.2f}), {len(expected):,} tokens, all equal")


main()
