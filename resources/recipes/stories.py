#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Children's books of Project Gutenberg as JSONL for `fourfold pack`: a line is a tale or a chapter.

    stories.py BOOKS stories.jsonl

BOOKS is a checkout of github.com/rcdm-uga/Gutenberg_Text: a folder for each author, a text file for each book. Licence,
title pages, contents, pictures and verse go; lines of a paragraph become one. Tales come in an order that depends on
their text alone, so that the last ones of the file, which are held out, are of all books.
"""
import hashlib
import json
import pathlib
import re
import sys

# Folders, and which of the titles in them are for children.
AUTHORS = {
    "Alcott, Louisa May": r"Little|Flower|Lulu|Jack and|Cousins|Rose|Lilacs|Jo's|Candy|Fables|Garland",
    "Andersen, H. C. (Hans Christian)": r"Tale|Stories|Ice-Maiden",
    "Baum, L. Frank (Lyman Frank)": r"Oz|Fairy|Santa|Merryland|Cherub|Goose|Bluejay|Prairie|Zixi|Sky|Yew|Mo |Sea|Key|"
                                    r"Wizard|Chubbins|Woggle",
    "Burnett, Frances Hodgson": r"Little|Sara|Secret|Racketty|Cozy|Wolf|Blue|Editha|Barty|Robin",
    "Carroll, Lewis": r"Alice|Looking-Glass|Sylvie",
    "Grimm, Jacob": r"",
    "Lang, Andrew": r"Fairy|Story Book|Fairyland|Prigio|Troy|Arthur|Animal|Ring",
    "Montgomery, L. M. (Lucy Maud)": r"",
    "Nesbit, E. (Edith)": r"Children|Treasure|Tales|Oswald|Dragons|Castle|House|Magic|Phoenix|Railway|Amulet|Garden|"
                          r"Wouldbe|Stories",
}
LEAST = 800  # characters of a tale; less is a title page or a list
HEADING = re.compile(r"(?i:(chapter|book|part|story|tale)\b).{0,60}|[IVXLC]+\.?|[^a-z]{3,70}")
OTHER = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2014": "--", "\u2013": "-",
                       "_": None, "\r": "\n"})


def body(text):
    """What stands between the marks of the licence; None where it is not English."""
    language = re.search(r"^Language: (.*)", text, re.MULTILINE)
    if language and "English" not in language[1]:
        return None
    start = re.search(r"^\*\*\* ?START OF.*$|^\*END\*?.*SMALL PRINT.*$", text, re.MULTILINE)
    end = re.search(r"^(\*\*\* ?END OF|End of (the |this )?Project Gutenberg).*$", text, re.MULTILINE)
    return text[start.end() if start else 0:end.start() if end else len(text)]


def is_heading(block):
    return len(block) == 1 and HEADING.fullmatch(block[0].strip()) and (
        block[0].upper() == block[0] or block[0].lower().lstrip().startswith("chapter"))


def is_prose(block):
    """Verse, lists and captions are indented or short; the lines of a paragraph are full, but for the last."""
    if block[0].startswith((" ", "\t", "[")) or "Illustration" in block[0] or "Produced by" in block[0]:
        return False
    return len(block) == 1 and block[0].rstrip()[-1] in ".!?\"'" or len(block) > 1 and min(map(len, block[:-1])) > 45


def tales(text):
    blocks = [[line.rstrip() for line in block.split("\n") if line.strip()] for block in re.split(r"\n\s*\n", text)]
    tale = []
    for block in filter(None, blocks):
        if is_heading(block):
            yield "\n".join(tale)
            tale = []
        elif is_prose(block):
            tale.append(" ".join(line.strip() for line in block))
    yield "\n".join(tale)


def main(books, output):
    found = {}
    for author, titles in AUTHORS.items():
        for folder in {author, author + " "}:  # as the checkout has them
            for file in sorted((pathlib.Path(books) / folder).glob("*.txt")):
                if not re.search(titles, file.name):
                    continue
                text = body(file.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").translate(OTHER))
                for tale in tales(text or ""):
                    if len(tale) >= LEAST and "\ufffd" not in tale:
                        found[hashlib.sha256(tale[:LEAST].encode()).hexdigest()] = tale  # one of each tale
    if not found:
        sys.exit(f"{books}: no books of these authors in it; fetch them with `git clone --depth 1 "
                 f"https://github.com/rcdm-uga/Gutenberg_Text {books}`, or copy such a checkout there")
    with open(output, "w", encoding="utf-8") as out:
        for _, tale in sorted(found.items()):
            out.write(json.dumps({"text": tale}, ensure_ascii=False) + "\n")
    print(f"{len(found)} tales and chapters, {sum(map(len, found.values())) / 1e6:.1f} million characters")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
