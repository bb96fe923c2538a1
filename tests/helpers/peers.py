"""The long comparison with the peers: ``make test-peers``, or ``python tests/helpers/peers.py``.

Deals of RLCard's game against ``faithful=True``, and of OpenSpiel's against the preset OPENSPIEL,
with 52 cards and with small decks.
What is done is written down every few seconds, so an interrupted run resumes where it stopped.
"""

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import openspiel
import rlcard_peer

from ginrummy_env.core.rules import OPENSPIEL

ROOT = Path(__file__).parents[2]
SAVE_SECONDS = 5
BAR = 30


class Run:
    """One peer: pieces of deals, done in order, with the counts kept in a file."""

    def __init__(self, name, folder, deals, piece, play, settings):
        self.name, self.deals, self.piece, self.play = name, deals, piece, play
        self.file = folder / f"{name}.json"
        self.settings = settings
        self.done, self.seconds, self.counts, self.examples = 0, 0.0, Counter(), {}
        if self.file.exists():
            kept = json.loads(self.file.read_text(encoding="utf-8"))
            if kept["settings"] == settings:
                self.done, self.seconds = kept["done"], kept["seconds"]
                self.counts, self.examples = Counter(kept["counts"]), kept["examples"]

    def save(self):
        kept = {
            "settings": self.settings,
            "done": self.done,
            "seconds": round(self.seconds, 1),
            "counts": self.counts,
            "examples": self.examples,
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        partial = self.file.with_suffix(".partial")
        partial.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        partial.replace(self.file)

    def go_on(self):
        """Play what is missing; Ctrl-C leaves the file complete."""
        saved = told = time.perf_counter()
        try:
            while self.done < self.deals:
                began = time.process_time()
                counts, examples = self.play(self.done, self.piece)
                self.seconds += time.process_time() - began
                self.counts.update(counts)
                for cause, shown in examples.items():
                    self.examples[cause] = (self.examples.get(cause, []) + shown)[:3]
                self.done += self.piece
                now = time.perf_counter()
                if now - saved > SAVE_SECONDS:
                    self.save()
                    saved = now
                if now - told > (0.2 if sys.stderr.isatty() else 60):
                    self.tell()
                    told = now
        finally:
            self.save()
            self.tell()
            print(file=sys.stderr)

    def tell(self):
        part = min(1.0, self.done / self.deals)
        bar = "#" * round(BAR * part)
        left = self.seconds * (self.deals - self.done) / max(1, self.done)
        print(
            f"\r{self.name:16} [{bar:{BAR}}] {self.done:,} / {self.deals:,} deals, "
            f"{self.seconds:,.0f} s of the processor, {max(0, left):,.0f} s to go ",
            end="" if sys.stderr.isatty() else "\n",
            file=sys.stderr,
            flush=True,
        )


def play_rlcard(first, count):
    assert count == rlcard_peer.DEALS_A_STREAM
    stream = first // count
    play = rlcard_peer.play_of(stream)
    counts = rlcard_peer.compare(stream, count, play)
    different = [name for name in counts if name.startswith("different")]
    return counts, {name: [f"stream {stream}, {play}"] for name in different}


def play_openspiel(first, count, size=None):
    rules = None if size is None else replace(OPENSPIEL, **openspiel.SMALL[size])
    report = openspiel.compare(count, first=first, rules=rules)
    names = ("deals", "decisions", "knocks", "tried")
    counts = Counter({name: getattr(report, name) for name in names})
    counts.update({f"ended by {how}": n for how, n in report.endings.items()})
    counts.update({f"difference: {cause}": n for cause, n in report.differences.items()})
    return counts, report.examples


def failures(run):
    """The counts that must be zero."""
    bad = ("different", f"difference: {openspiel.UNEXPLAINED}")
    return {name: count for name, count in run.counts.items() if name.startswith(bad)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=100_000, help="of each peer (100000)")
    parser.add_argument(
        "--peers",
        default="rlcard,openspiel,small",
        help="(rlcard,openspiel,small); small: OpenSpiel with small decks, a fifth of the deals "
        "of each size",
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "peers", help="(build/peers)")
    options = parser.parse_args()
    pieces = {
        "rlcard": (
            rlcard_peer.DEALS_A_STREAM,
            play_rlcard,
            {"shares": rlcard_peer.SHARES, "knocking": rlcard_peer.KNOCKING},
        ),
        "openspiel": (openspiel.DEALS_A_BATCH, play_openspiel, {"policy": "mixed", "dense": 0.2}),
    }
    piece, play, settings = pieces["openspiel"]
    for size, changed in openspiel.SMALL.items():
        pieces[size] = piece, partial(play, size=size), {**settings, **changed}
    failed = False
    chosen = options.peers.split(",")
    for name in (each for one in chosen for each in (openspiel.SMALL if one == "small" else [one])):
        piece, play, settings = pieces[name]
        deals = options.deals // 5 if name in openspiel.SMALL else options.deals
        run = Run(name, options.out, deals, piece, play, settings)
        run.go_on()
        print(f"{name}: {run.seconds:,.0f} s of the processor")
        for what, count in sorted(run.counts.items(), key=lambda item: -item[1]):
            print(f"{count:>14,} {what}")
        if bad := failures(run):
            failed = True
            print(f"{name} FAILED: {bad}, such as {run.examples}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
