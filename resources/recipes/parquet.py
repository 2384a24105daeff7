#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parquet files of a data set as JSONL for `fourfold pack`, a file for each. Needs `pip install pyarrow`.

    parquet.py FOLDER OUTPUT [COLUMN]

COLUMN holds the texts (default: text). A file that is there already is not made again.
"""
import json
import pathlib
import sys

try:
    from pyarrow import parquet
except ImportError:
    sys.exit("parquet.py needs pyarrow: `pip install pyarrow`")


def main(folder, output, column="text"):
    files = sorted(pathlib.Path(folder).rglob("*.parquet"))
    if not files:
        sys.exit(f"{folder}: no parquet files in it; put the data set's there, as `hf download` would have")
    output = pathlib.Path(output)
    output.mkdir(parents=True, exist_ok=True)
    for file in files:
        made = output / (file.stem + ".jsonl")
        if made.exists():
            continue
        partial = made.with_suffix(".partial")
        with open(partial, "w", encoding="utf-8") as out:
            for batch in parquet.ParquetFile(file).iter_batches(columns=[column]):
                for text in batch.column(0).to_pylist():
                    out.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
        partial.rename(made)
        print(made, flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
