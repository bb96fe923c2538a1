"""For tests/web: a server in a thread, requests to it, and what a person may know of the cards."""

import http.client
import json
import re
import threading
from contextlib import contextmanager

import numpy as np

from ginrummy_env.core.cards import cards_of, parse_card
from ginrummy_env.core.rules import CLASSIC
from ginrummy_env.core.view import OPPONENT, make_view
from ginrummy_training.play.web.game import YOU, WebGame
from ginrummy_training.play.web.server import IDLE_SECONDS, Server


@contextmanager
def serving(folder, agent="simple", rules=CLASSIC, idle_seconds=IDLE_SECONDS, **more):
    """A server on a free port with its game in `folder`."""
    game = WebGame(folder, agent, rules, **more)
    server = Server(game, idle_seconds=idle_seconds)
    server.game = game
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(timeout=60)
        assert not thread.is_alive()


def ask(server, path, body=None, method=None, **headers):
    """Status and JSON of a request; `body` is JSON, or bytes as they are."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
    connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    data = json.loads(text) if answer.headers.get_content_type() == "application/json" else text
    return answer.status, data


def meant_for(scene, **more):
    return {"game": scene["game"], "version": scene["version"], **more}


def choose(scene):
    """A sensible choice: knock as low as can be, throw what leaves least, else draw or pass."""
    cards = [choice for choice in scene["choices"] if "card" in choice]
    knocks = [choice for choice in cards if choice["knock"]]
    if cards:
        return min(knocks or cards, key=lambda choice: choice.get("left", 999))
    return scene["choices"][-1 if scene["choices"][-1]["action"] == 106 else 0]


def visible(game):
    """The cards that the person has seen in this deal, as numbers."""
    view = make_view(game._state, game.rules, YOU)
    seen = view.hand | view.discards | view.known[:, OPPONENT] | view.opponent_hand
    for masks in (view.taken, view.discarded, view.declined):
        seen = seen | np.bitwise_or.reduce(masks, axis=1)
    return {*cards_of(int(seen[0])), int(view.first_upcard[0])}


RANKS = dict(zip("ace two three four five six seven eight nine ten jack queen king".split(),
                 "A23456789TJQK", strict=True))  # fmt: skip
SIGNS = dict(zip("♠♥♦♣", "shdc", strict=True))


def mentioned(text):
    """The cards that an answer of the server names, in whatever way."""
    found = {
        parse_card(rank + SIGNS[suit]) for rank, suit in re.findall("([A2-9TJQK])([♠♥♦♣])", text)
    }
    found |= {parse_card(word) for word in re.findall(r"\b[A2-9TJQK][shdc]\b", text)}
    for rank, suit in re.findall(f"({'|'.join(RANKS)}) of (spade|heart|diamond|club)", text):
        found.add(parse_card(RANKS[rank] + suit[0]))
    lists = re.findall(r'"(?:cards|onto|pile|known)":\[([0-9,]*)\]', text)
    lists += re.findall(r'"(?:card|drawn)":([0-9]+)', text)
    return found | {int(number) for each in lists for number in each.split(",") if number}


def hidden_in(game, text):
    """The cards in an answer that the person cannot know, and the seed if it is there."""
    secret = [f"seed {game._state.seed[0]}"] if str(int(game._state.seed[0])) in text else []
    return sorted(mentioned(text) - visible(game)) + secret
