"""A player for the arena's tests: plays the first legal action that suits it, and one fault."""

import json
import os
import subprocess
import sys
import time


def say(message):
    print(json.dumps(message), flush=True)


def play(fault, after):
    moves = 0
    if "ARENA_STARTS" in os.environ:
        with open(os.environ["ARENA_STARTS"], "a") as starts:
            starts.write(f"{os.getpid()} ")
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            if fault == "silent at hello":
                time.sleep(60)
            if fault == "another protocol":
                say({"type": "ready", "protocol": 99})
            elif fault == "asks for nonsense":
                say({"type": "ready", "protocol": 1, "send": ["the stock"]})
            elif fault == "wants all":
                say({"type": "ready", "protocol": 1, "name": "all", "send": ["text", "words"]})
            else:
                say({"type": "ready", "protocol": 1, "name": fault})
            if fault == "leaves a child":
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
                print("child", child.pid, os.getpid(), file=sys.stderr, flush=True)
                with open(os.environ["ARENA_PIDS"], "w") as pids:
                    pids.write(f"{child.pid} {os.getpid()}")
        if message["type"] == "lay_down":
            if fault == "exits at melds":
                sys.exit(3)
            melds = {"melds two cards": ["3s 4s"], "melds are words": "none"}.get(fault, [])
            say({"game": message["game"], "melds": melds})
        if message["type"] != "move":
            continue
        moves += 1
        game, legal = message["game"], message["legal"]
        # Knock if possible, else throw the dearest card; draw from the stock.
        action = max((each for each in legal if 52 <= each < 104), default=None)
        if action is None:
            action = 104 if 104 in legal else max(legal, key=lambda each: (each % 13, each))
        if moves == after:
            if fault == "crashes":
                raise RuntimeError("out of luck")
            if fault == "exits":
                sys.exit(3)
            if fault == "stalls":
                time.sleep(60)
            if fault == "garbage":
                print("I knock!", flush=True)
                continue
            if fault == "long line":
                print("x" * 100_000, flush=True)
                continue
            if fault == "wrong game":
                game = 10**9
            if fault == "illegal":
                action = next(each for each in range(108) if each not in legal)
            if fault == "no action":
                action = None
            if fault == "true":
                action = True
            if fault == "words":
                action = "throw the king"
            if fault == "memory":
                _held = bytearray(1 << 31)
        if fault == "knocks with nothing":
            say({"game": game, "action": action, "melds": []})
            continue
        say({"game": game, "action": action})


if __name__ == "__main__":
    play(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
