#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small stories that nobody has to be asked for: JSONL with one story per line, made by a grammar.

    stories.py --megabytes 12 > stories.jsonl      # seed 1: the same bytes everywhere
    stories.py --megabytes 1 --seed 2 > held-out.jsonl

Prints to standard error how many bits the choices took: what is left of the loss when all of the grammar is learnt.
"""
import argparse
import json
import math
import random
import sys

NAMES = "Anna Ben Clara David Emma Finn Greta Hugo Ida Jonas Klara Leo Mia Nils Olga Paul Rosa Sam Tilda Viktor".split()
ANIMALS = "cat dog fox hen horse mouse owl rabbit sheep squirrel goose hedgehog".split()
PLACES = ["the garden", "the old mill", "the market", "the river", "the wood", "the harbour", "the attic", "the hill"]
THINGS = ["a red kite", "a little lamp", "a silver key", "a wooden boat", "a warm loaf", "a blue ball", "a big drum",
          "a yellow scarf", "an old map", "a clay whistle"]
MOODS = ["happy", "sad", "tired", "proud", "afraid", "curious", "hungry", "lonely"]
WEATHERS = ["The sun was shining", "It was raining", "Snow lay on the roofs", "A cold wind blew", "The sky was grey",
            "It was a warm evening"]
LESSONS = ["to share", "to ask for help", "to wait", "to tell the truth", "to say sorry", "to try once more"]
WAYS = ["shouted", "whispered", "said", "asked", "laughed and said"]


class Teller:
    def __init__(self, seed):
        self.random, self.bits = random.Random(seed), 0.0

    def of(self, choices):
        self.bits += math.log2(len(choices))
        return choices[self.random.randrange(len(choices))]

    def once_in(self, n):
        return self.of(range(n)) == 0

    def story(self):
        child = self.of(NAMES)
        friend = self.of([name for name in NAMES if name != child])
        animal, thing, place = self.of(ANIMALS), self.of(THINGS), self.of(PLACES)
        other = self.of([each for each in PLACES if each != place])
        bare = thing.split(" ", 1)[1]
        lines = [f"{self.of(WEATHERS)}. {child} went to {place} with {self.pronoun(child)[1]} {animal}.",
                 f"There {self.pronoun(child)[0]} found {thing}. {child} was very {self.of(MOODS)}."]
        if self.once_in(2):
            lines.append(f'"Whose {bare} is this?" {child} {self.of(WAYS)}. The {animal} did not know.')
        lines.append(f"Then {friend} came from {other}. {friend} looked {self.of(MOODS)}.")
        lost = self.once_in(3)
        if lost:
            lines.append(f'"I have lost my {bare}," {friend} {self.of(WAYS)}. "I looked for it at {other}."')
            lines.append(f'"Here it is," {child} {self.of(WAYS)}, and gave {friend} the {bare}.')
        else:
            lines.append(f'"May I play with the {bare}?" {friend} {self.of(WAYS)}.')
            lines.append(f"{child} thought about it. "
                         + ("Then they played together until it was dark." if self.once_in(2)
                            else f'"Yes," {self.pronoun(child)[0]} {self.of(WAYS)}, "but be careful."'))
        if self.once_in(2):
            lines.append(f"The {animal} ran around them, and both of them laughed.")
        lines.append(f"On the way home {child} was {self.of(MOODS)}. "
                     f"That day {child} and {friend} had learnt {self.of(LESSONS)}.")
        return "\n".join(lines)

    @staticmethod
    def pronoun(name):
        return ("she", "her") if name[-1] == "a" or name in ("Mia", "Emma") else ("he", "his")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=12)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    teller, written, stories = Teller(arguments.seed), 0, 0
    while written < arguments.megabytes * 1e6:
        text = teller.story()
        written += len(text.encode())
        stories += 1
        sys.stdout.write(json.dumps({"text": text}) + "\n")
    print(f"{stories} stories, {written} bytes, {teller.bits * math.log(2) / written:.4f} nats per byte at the least",
          file=sys.stderr)


if __name__ == "__main__":
    main()
