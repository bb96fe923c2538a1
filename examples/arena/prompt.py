"""A player that asks a language model, or anything else that completes a text, for each move.

    ginrummy match "exec:python examples/arena/prompt.py ./complete.sh; move_seconds=60" simple

The command behind the script is run once per move: it reads the prompt from standard input and
writes its answer to standard output. The last line of the answer that is one of the legal actions,
in words, is played; the first legal action if there is none. No model is shipped: without a command
the script prints the first prompt to standard error and plays the first legal action.
"""

import json
import subprocess
import sys

PROMPT = """\
You are playing gin rummy. Melds are three or four cards of one rank, or three or more consecutive
cards of one suit (aces are low). Deadwood is the points of the cards in no meld: face cards 10,
aces 1, others their number. You may knock with {limit} or less; 0 is gin. The score is {scores}.

{text}
Since your last move: {events}.
Legal moves: {words}.

Think step by step. Then write your move, exactly as it is listed, on a line of its own.
"""


def prompt(message):
    """Return what the model is shown."""
    return PROMPT.format(
        limit=message["knock_limit"],
        scores=" to ".join(map(str, message["scores"])),
        text=message["text"],
        events="; ".join(message["events"]) or "nothing",
        words=", ".join(message["words"]),
    )


def choose(message):
    """Return the words of the move that the model chose."""
    shown = prompt(message)
    if not sys.argv[1:]:
        print(shown, file=sys.stderr)
        return message["words"][0]
    asked = subprocess.run(sys.argv[1:], input=shown, capture_output=True, text=True, check=False)
    said = [line.strip(" .*`").lower() for line in asked.stdout.splitlines()]
    words = {word.lower(): word for word in message["words"]}
    return next((words[line] for line in reversed(said) if line in words), message["words"][0])


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        answer = {"type": "ready", "protocol": 1, "name": "prompt", "send": ["text", "words"]}
    elif message["type"] == "move":
        answer = {"game": message["game"], "action": choose(message)}
    else:
        continue
    print(json.dumps(answer), flush=True)
