"""A player for the arena: knocks when it can, else throws the dearest card with no neighbours.

ginrummy match "exec:python examples/arena/player.py" simple --games 200
"""

import json
import sys

RANKS = "A23456789TJQK"


def useful(card, hand):
    """Say how many other cards of the hand go well with a card: same rank, or near in its suit."""
    rank, suit = RANKS.index(card[0]), card[1]
    return sum(
        other != card
        and (other[0] == card[0] or (other[1] == suit and abs(RANKS.index(other[0]) - rank) <= 2))
        for other in hand
    )


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        names = message["actions"]  # of the actions, by number
        answer = {"type": "ready", "protocol": 1, "name": "example"}
    elif message["type"] == "move":
        hand, legal = (
            message["hand"].split(),
            {names[action]: action for action in message["legal"]},
        )
        cards = [card for card in hand if f"discard {card}" in legal]
        worst = min(cards, key=lambda card: (useful(card, hand), -RANKS.index(card[0])), default="")
        wishes = [
            "big gin",
            f"knock {worst}",
            *(f"knock {card}" for card in cards),
            f"discard {worst}",
        ]
        if message["upcard"] and useful(message["upcard"], hand) >= 2:
            wishes.append("take")
        action = next(legal[wish] for wish in [*wishes, "draw", "pass", "take"] if wish in legal)
        answer = {"game": message["game"], "action": action}
    else:
        continue  # deal_over and game_over want no answer
    print(json.dumps(answer), flush=True)
