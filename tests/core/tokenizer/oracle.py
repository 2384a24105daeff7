#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Hugging Face's own library makes of the same lines, for tests of core/tokenizer.

usage: oracle.py CORPUS FOLDER LINES SEED

Trains one tokenizer of each kind on CORPUS and on words of many scripts, and writes into FOLDER: lines.txt (LINES lines,
one JSON string each), and of each kind NAME.json (the tokenizer) and NAME.ids (little-endian 32-bit numbers: of each
line how many tokens, then the tokens). Of kinds with a decoder also NAME.text: of each line two JSON strings, the text of
its tokens, and that of its tokens in reverse order, whose bytes are seldom characters.
"""
import array
import copy
import json
import pathlib
import random
import sys
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

SCRIPTS = [(0x41, 0x7A), (0xC0, 0x24F), (0x250, 0x2AF), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x530, 0x58F),
           (0x590, 0x5FF), (0x600, 0x6FF), (0x700, 0x74F), (0x900, 0x97F), (0x980, 0x9FF), (0xA00, 0xA7F),
           (0xB80, 0xBFF), (0xC00, 0xC7F), (0xE00, 0xE7F), (0xE80, 0xEFF), (0xF00, 0xFFF), (0x1000, 0x109F),
           (0x10A0, 0x10FF), (0x1100, 0x11FF), (0x1200, 0x137F), (0x13A0, 0x13FF), (0x1780, 0x17FF), (0x1800, 0x18AF),
           (0x1E00, 0x1EFF), (0x2000, 0x206F), (0x2100, 0x214F), (0x2150, 0x218F), (0x2190, 0x21FF), (0x2200, 0x22FF),
           (0x2460, 0x24FF), (0x2500, 0x257F), (0x2E80, 0x2FDF), (0x3000, 0x303F), (0x3040, 0x309F), (0x30A0, 0x30FF),
           (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFB00, 0xFB4F), (0xFE30, 0xFE4F), (0xFF00, 0xFFEF),
           (0x10330, 0x1034F), (0x1D400, 0x1D7FF), (0x1F100, 0x1F1FF), (0x1F300, 0x1F6FF), (0x1F900, 0x1F9FF),
           (0x20000, 0x2A6DF)]
BLANKS = [" "] * 12 + ["  ", "   ", "\n", "\n\n", " \n", "\t", "\r\n", "\u00a0", "\u3000", "\u2009", "\u2028", "\u200b"]
ODD = ["\u0000", "\u0001", "\u007f", "\u0085", "\u00ad", "\ufeff", "\ufffd", "\ue000", "\u0130", "\u017f", "\u1e9e",
       "e\u0301\u0327", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\u1100\u1161\u11a8",
       "\u0915\u094d\u0937\u093f", "\ufb01", "\u2168", "\u00bd", "\u0661\u0662\u0663\u0664", "<0x41>", "\u2581", "##", "</w>"]
TOKENS = ["<|begin|>", "<|end|>", "<|end|>more", "[MASK]", "<unk>", "</s>", "Token", "TOKEN", "\u00c4dded", "_one_"]


def known(character):
    """The library's own tables are of several versions of Unicode: what has been there since 3.2, and emoji, without the
    two Mongolian letters that became marks in Unicode 9."""
    if character in "\u1885\u1886":
        return False
    return 0x1F300 <= ord(character) <= 0x1F64F or unicodedata.ucd_3_2_0.category(character) not in ("Cn", "Cs")


LETTERS = [letters for first, last in SCRIPTS if (letters := list(filter(known, map(chr, range(first, last + 1)))))]


def line_of(rng, corpus):
    parts = []
    for _ in range(rng.randint(1, 12)):
        kind = rng.random()
        if kind < 0.35:
            parts.append(rng.choice(corpus))
        elif kind < 0.7:
            letters = rng.choice(LETTERS)
            parts.append("".join(rng.choice(letters) for _ in range(rng.randint(1, 9))))
        elif kind < 0.78:
            parts.append(str(rng.randint(0, 10 ** rng.randint(1, 12))))
        elif kind < 0.84:
            parts.append(rng.choice(["it's", "I'LL", "we've", "'S", "don't", "x_1 = f(y[2:3])", "https://a.b/c?d=e", "!!!", "...",
                                     "a" * rng.randint(1, 200), "-->", "#include <b>", "\\n", "100%", "1,000.50"]))
        elif kind < 0.92:
            parts.append(rng.choice(ODD))
        else:
            parts.append(rng.choice(TOKENS))
        if rng.random() < 0.8:
            parts.append(rng.choice(BLANKS))
    return "".join(parts)


LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BYTES = pre_tokenizers.ByteLevel.alphabet()


def byte_pairs(texts, pre_tokenizer, normalizer=None, alphabet=BYTES, special=(), size=3000, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    keep = {key: value for key, value in model.items() if key in ("continuing_subword_prefix", "end_of_word_suffix")}
    tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=list(alphabet), special_tokens=list(special), show_progress=False, **keep))
    return tokenizer


def changed(tokenizer, change):
    data = json.loads(tokenizer.to_str())
    change(data)
    return Tokenizer.from_str(json.dumps(data))


def sequence(*steps):
    return pre_tokenizers.Sequence(list(steps))


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def bytes_of(**options):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, **options)


def sentence_piece_like(data):
    """As Llama 2: no words, bytes for what is unknown."""
    data["pre_tokenizer"] = None
    data["normalizer"] = {"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "\u2581"}, {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]}
    data["model"].update(byte_fallback=True, fuse_unk=True, unk_token="<unk>")


def like_gemma(data):
    data["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    data["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    data["model"].update(byte_fallback=True, fuse_unk=True, unk_token="<unk>")


FALLBACK = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]


def tokenizers_of(texts):
    plain = byte_pairs(texts, bytes_of())
    yield "gpt2", plain
    yield "gpt2-blank", byte_pairs(texts, pre_tokenizers.ByteLevel(add_prefix_space=True))
    llama3 = byte_pairs(texts, sequence(split(LLAMA3), bytes_of(use_regex=False)), ignore_merges=True,
                        special=["<|begin|>", "<|end|>"])
    llama3.post_processor = processors.TemplateProcessing(single="<|begin|> $A", special_tokens=[("<|begin|>", 0)])
    yield "llama3", llama3
    yield "qwen2", byte_pairs(texts, sequence(split(QWEN2), bytes_of(use_regex=False)), normalizers.NFC())
    yield "o200k", byte_pairs(texts, sequence(split(O200K), bytes_of(use_regex=False)))
    yield "deepseek", byte_pairs(texts, sequence(split(r"\p{N}{1,3}"), split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"),
                                                 split(DEEPSEEK), bytes_of(use_regex=False)))
    yield "starcoder", byte_pairs(texts, sequence(pre_tokenizers.Digits(individual_digits=True), bytes_of()))
    letters_first = byte_pairs(texts, sequence(bytes_of(), pre_tokenizers.Digits(individual_digits=False)))
    yield "letters-first", letters_first
    spaced = byte_pairs(texts, pre_tokenizers.Metaspace(), alphabet=(), special=FALLBACK, unk_token="<unk>", size=4000)
    yield "llama2", changed(spaced, sentence_piece_like)
    yield "gemma", changed(spaced, like_gemma)
    yield "metaspace-first", changed(spaced, lambda data: data["pre_tokenizer"].update(prepend_scheme="first"))
    yield "unknown-apart", changed(spaced, lambda data: data["model"].update(fuse_unk=False, byte_fallback=False))
    clip = byte_pairs(texts, sequence(split(r"'s|'t|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+", "removed", True), bytes_of(use_regex=False)),
                      normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]),
                      end_of_word_suffix="</w>", unk_token="<|end|>", special=["<|begin|>", "<|end|>"])
    yield "clip", clip
    yield "prefix", byte_pairs(texts, pre_tokenizers.Whitespace(), alphabet=(), special=["[UNK]"], unk_token="[UNK]",
                               continuing_subword_prefix="##")
    for behavior in ("merged_with_next", "merged_with_previous", "contiguous", "removed"):
        yield behavior, byte_pairs(texts, sequence(split(r"[aeiou ]", behavior), bytes_of(use_regex=False)))

    unigram = Tokenizer(models.Unigram())
    unigram.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    # Its vocabulary has every letter that it was trained on: few of the odd ones.
    unigram.train_from_iterator(texts[:1600], trainers.UnigramTrainer(
        vocab_size=6000, special_tokens=["<unk>", "</s>"], unk_token="<unk>", show_progress=False))
    yield "unigram", unigram
    yield "unigram-bytes", changed(unigram, lambda data: data["model"].update(
        byte_fallback=True, vocab=data["model"]["vocab"] + [[f"<0x{byte:02X}>", -30.0] for byte in range(256)]))
    table = pathlib.Path(sys.argv[2]) / "charsmap.base64"
    if table.exists():
        yield "charsmap", changed(unigram, lambda data: data.update(
            normalizer={"type": "Precompiled", "precompiled_charsmap": table.read_text()}))

    bert = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    bert.normalizer = normalizers.BertNormalizer()
    bert.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    bert.train_from_iterator(texts, trainers.WordPieceTrainer(
        vocab_size=3000, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False))
    bert.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    yield "bert", bert
    cased = changed(bert, lambda data: data["normalizer"].update(lowercase=False, strip_accents=True, clean_text=False))
    yield "bert-cased", cased
    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Strip()])
    words.pre_tokenizer = sequence(pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous"),
                                   pre_tokenizers.CharDelimiterSplit("x"))
    words.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=5000, special_tokens=["<unk>"], show_progress=False))
    yield "words", words

    added = Tokenizer.from_str(plain.to_str())
    added.normalizer = normalizers.Lowercase()
    added.add_special_tokens([AddedToken("<|begin|>", normalized=False), AddedToken("<|end|>", lstrip=True, normalized=False),
                              AddedToken("<|end|>more", rstrip=True, normalized=False)])
    added.add_tokens([AddedToken("[MASK]", lstrip=True, rstrip=True), AddedToken("Token", single_word=True),
                      AddedToken("_one_", single_word=True, normalized=False), AddedToken("\u00c4dded", normalized=True)])
    yield "added", added


SPACES = decoders.Replace("\u2581", " ")
DECODERS = {
    "gpt2": decoders.ByteLevel(), "llama3": decoders.ByteLevel(), "starcoder": decoders.ByteLevel(),
    "llama2": decoders.Sequence([SPACES, decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]),
    "gemma": decoders.Sequence([SPACES, decoders.ByteFallback(), decoders.Fuse()]),
    "unigram": decoders.Metaspace(), "metaspace-first": decoders.Metaspace(prepend_scheme="first"),
    "unknown-apart": decoders.Metaspace(prepend_scheme="never"), "clip": decoders.BPEDecoder(suffix="</w>"),
    "bert": decoders.WordPiece(), "bert-cased": decoders.WordPiece(prefix="##", cleanup=False)}


def main():
    corpus_file, folder, count, seed = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    words = pathlib.Path(corpus_file).read_text(encoding="utf-8").split()
    rng = random.Random(seed)
    texts = [" ".join(words[i:i + 12]) for i in range(0, len(words), 12)][:1500]
    texts += [line_of(rng, words) for _ in range(1500)]
    lines = [line_of(rng, words) for _ in range(count)]
    with open(folder / "lines.txt", "w", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)
    for name, tokenizer in tokenizers_of(texts):
        if name in DECODERS:
            tokenizer.decoder = DECODERS[name]
        tokenizer.save(str(folder / f"{name}.json"))
        ids, texts_back = array.array("I"), []
        for encoded in tokenizer.encode_batch(lines, add_special_tokens=False):
            ids.append(len(encoded.ids))
            ids.extend(encoded.ids)
            if name in DECODERS:
                texts_back += [tokenizer.decode(encoded.ids, skip_special_tokens=False),
                               tokenizer.decode(encoded.ids[::-1], skip_special_tokens=False)]
        if sys.byteorder == "big":
            ids.byteswap()
        (folder / f"{name}.ids").write_bytes(ids.tobytes())
        if name in DECODERS:
            (folder / f"{name}.text").write_text("".join(json.dumps(text) + "\n" for text in texts_back))


main()
