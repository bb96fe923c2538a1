"""The server of `ginrummy play --web`, spoken to without a browser."""

import json
import random
import re
import shutil
import socket
from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("flask", reason="the extra `web` is not installed")
from web_play import ask, choose, hidden_in, meant_for, mentioned, serving, visible

from ginrummy_env.core.cards import CARD_BIT, cards_of
from ginrummy_env.core.rules import CLASSIC, EAAI, OKLAHOMA
from ginrummy_env.records.recorder import load
from ginrummy_training.play import saved_game
from ginrummy_training.play.web.game import WebError, WebGame

SHORT = replace(CLASSIC, target=25)


@pytest.fixture
def server(tmp_path):
    with serving(tmp_path, "simple", CLASSIC, seed=4) as started:
        yield started


def advance(game, scene):
    """One step of the person; the scene after it."""
    if scene["status"] == "deal over":
        return game.go_on(scene["game"], scene["version"])
    return game.act(scene["game"], scene["version"], choose(scene)["action"])


@pytest.mark.parametrize("rules", [SHORT, EAAI, OKLAHOMA], ids=["short", "eaai", "oklahoma"])
def test_a_game_to_its_end_and_no_unseen_card_leaves_the_server(tmp_path, rules):
    with serving(tmp_path, "gold", replace(rules, target=25), seed=7_000_019) as server:
        _, scene = ask(server, "/api/game")
        steps = 0
        while scene["status"] != "game over":
            assert hidden_in(server.game, json.dumps(scene, ensure_ascii=False)) == []
            if scene["status"] == "deal over":
                status, scene = ask(server, "/api/go-on", meant_for(scene))
            else:
                body = meant_for(scene, action=choose(scene)["action"])
                status, scene = ask(server, "/api/act", body)
            assert status == 200
            steps += 1
        assert steps > 10
        (record,) = load(server.game.path)
        assert record.finished
        assert scene["sheet"]["bonuses"][-1]["points"] == list(record.final_scores)
        assert scene["won"] == (record.winner == 0)
        assert ask(server, "/api/go-on", meant_for(scene))[0] == 409
        status, fresh = ask(
            server, "/api/new-game", meant_for(scene, agent="random", rules="modern")
        )
        assert (status, fresh["game"]) == (200, 2)
        assert (fresh["agent"], fresh["rules"]) == ("random", "modern")


def test_the_check_for_unseen_cards_finds_them():
    assert mentioned('T♥ "cards":[3,4] "drawn":7 Ks ace of clubs') == {22, 3, 4, 7, 12, 39}


def test_the_scene_is_the_same_whatever_is_hidden(tmp_path):
    """Swapping a hidden card of the opponent's with one of the stock changes nothing of it."""
    game = WebGame(tmp_path, "gold", CLASSIC, seed=11)
    scene = game.scene()
    compared = 0
    for _ in range(28):
        state = game._game.state
        if not state.over[0]:
            before = json.dumps(scene), game.replay_page()
            loose = cards_of(int(state.hands[0, 1] & ~state.known[0, 1]))
            stock = state.deck[0, 52 - int(state.stock_count[0]) :].tolist()
            swapped = state.copy()
            swapped.hands[0, 1] ^= CARD_BIT[loose[0]] | CARD_BIT[stock[-1]]
            places = [
                int(np.flatnonzero(state.deck[0] == card)[0]) for card in (loose[0], stock[-1])
            ]
            swapped.deck[0, places] = swapped.deck[0, places[::-1]]
            game._game.state = swapped
            assert json.dumps(game.scene()) == before[0]
            game._game.state = state
            compared += 1
        scene = advance(game, scene)
    assert compared > 15


def test_a_replayed_request_and_a_second_tab_change_nothing(server):
    _, scene = ask(server, "/api/game")
    body = meant_for(scene, action=choose(scene)["action"])
    status, after = ask(server, "/api/act", body)
    assert status == 200
    assert after["version"] > scene["version"]
    kept = server.game.path.read_bytes()
    agent = {"agent": "simple"}
    new = agent | {"rules": "classic"}
    old = {"act": {"action": body["action"]}, "go-on": {}, "new-game": new, "hint": agent}
    for path, more in old.items():
        status, answer = ask(server, f"/api/{path}", meant_for(scene, **more))
        assert status == 409
        assert "moved on" in answer["error"]
    assert ask(server, "/api/game") == (200, after)
    assert server.game.path.read_bytes() == kept


def test_what_is_not_legal_gets_the_reason(server):
    _, scene = ask(server, "/api/game")
    status, answer = ask(server, "/api/act", meant_for(scene, action=0))
    assert status == 400
    assert "draw a card" in answer["error"]
    assert ask(server, "/api/go-on", meant_for(scene))[0] == 409
    assert ask(server, "/api/game") == (200, scene)


def test_a_game_goes_on_after_a_restart(tmp_path):
    """The file holds every move: another server on the folder shows the same."""
    game = WebGame(tmp_path, "simple", CLASSIC, seed=2)
    scene = game.scene()
    for number in range(30):
        if number % 5 == 0:
            other = WebGame(tmp_path, "random", EAAI)  # of a new game; this one keeps its own
            assert other.scene()["frame"] == scene["frame"]
            assert other.version == game.version
            assert other.scene()["sheet"] == scene["sheet"]
            game = other
        scene = advance(game, scene)
        if scene["status"] == "game over":
            break
    alone = WebGame(tmp_path / "alone", "simple", CLASSIC, seed=2)
    again = alone.scene()
    while again["version"] < scene["version"]:
        again = advance(alone, again)
    assert again["frame"] == scene["frame"], "the restarts have changed the game"


def test_the_agent_moves_on_after_a_stop_in_its_turn(tmp_path, monkeypatch):
    game = WebGame(tmp_path, "simple", CLASSIC, seed=2)
    scene = game.scene()
    monkeypatch.setattr(WebGame, "_answer", lambda self: None)
    while scene["status"] == "your move":
        scene = game.act(scene["game"], scene["version"], choose(scene)["action"])
    assert scene["status"] == "agent's move"
    monkeypatch.undo()
    shutil.copytree(tmp_path, tmp_path / "copy")
    assert WebGame(tmp_path / "copy", "simple", CLASSIC).scene()["status"] == "your move"
    assert game.go_on(scene["game"], scene["version"])["status"] == "your move"


def test_nothing_changes_when_the_game_cannot_be_saved(server, monkeypatch):
    _, scene = ask(server, "/api/game")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saved_game, "save", full)
    for path, more in (
        ("act", {"action": choose(scene)["action"]}),
        ("new-game", {"agent": "gold", "rules": "classic"}),
    ):
        status, answer = ask(server, f"/api/{path}", meant_for(scene, **more))
        assert status == 500
        assert "No space left" in answer["error"]
    monkeypatch.undo()
    assert ask(server, "/api/game") == (200, scene)
    assert ask(server, "/api/act", meant_for(scene, action=choose(scene)["action"]))[0] == 200


def test_two_servers_on_one_folder_do_not_overwrite_each_other(tmp_path):
    one, two = (WebGame(tmp_path, "simple", CLASSIC, seed=2) for _ in range(2))
    scene = advance(one, one.scene())
    with pytest.raises(WebError, match="another program"):
        advance(two, two.scene())
    assert WebGame(tmp_path, "simple", CLASSIC).scene() == scene


def test_a_damaged_file_is_named_and_left_alone(tmp_path):
    WebGame(tmp_path, "simple", CLASSIC)
    path = tmp_path / "game-0001.txt"
    path.write_text(path.read_text().replace("upcard", "upcart"))
    with pytest.raises(ValueError, match=r"game-0001[.]txt, line"):
        WebGame(tmp_path, "simple", CLASSIC)
    assert "upcart" in path.read_text()


def test_hints_change_nothing_and_come_from_any_agent(server):
    _, scene = ask(server, "/api/game")
    for agent in server.game.agents:
        status, advice = ask(server, "/api/hint", meant_for(scene, agent=agent))
        if agent == "ppo" and status == 400:  # its weights are not in every checkout
            assert "there is no such file" in advice["error"]
            new = meant_for(scene, agent=agent, rules="classic")
            assert ask(server, "/api/new-game", new)[0] == 400
            continue
        assert status == 200
        assert advice["action"] in [choice["action"] for choice in scene["choices"]]
    status, answer = ask(server, "/api/hint", meant_for(scene, agent="simple:knock=3"))
    assert status == 400, "only agents on the list: a request cannot make others"
    assert "there are simple" in answer["error"]
    status, answer = ask(
        server, "/api/new-game", meant_for(scene, agent="simple", rules="target=9")
    )
    assert status == 400, "only rules on the list"
    assert "there are classic, eaai" in answer["error"]
    assert ask(server, "/api/game") == (200, scene)


def test_a_search_says_why_it_advises_what_it_does(server):
    _, scene = ask(server, "/api/game")
    while not any("card" in choice for choice in scene["choices"]):
        body = meant_for(scene, action=choose(scene)["action"])
        _, scene = ask(server, "/api/act", body)
    _, advice = ask(server, "/api/hint", meant_for(scene, agent="search"))
    assert len(advice["gains"]) == len(advice["values"])
    assert "base policy" in advice["why"]
    for (words, _, _), (gain, half) in zip(advice["values"], advice["gains"], strict=True):
        assert (gain == half == 0) == (words == advice["base"])
    assert advice["opponent"].startswith("simple is taken to hold about ")
    assert mentioned(json.dumps(advice, ensure_ascii=False)) <= visible(server.game)


def test_other_hosts_and_pages_are_refused(server):
    _, scene = ask(server, "/api/game")
    own = f"127.0.0.1:{server.port}"
    assert ask(server, "/api/game", Host=f"localhost:{server.port}")[0] == 200
    for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1", f"{own}.evil.example"):
        assert ask(server, "/api/game", Host=host)[0] == 403
        assert ask(server, "/", Host=host)[0] == 403
    body = meant_for(scene, action=choose(scene)["action"])
    for origin in ("http://evil.example", "null", f"https://{own}", "http://127.0.0.1:1"):
        assert ask(server, "/api/act", body, Origin=origin)[0] == 403
    assert ask(server, "/api/act", body, **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        assert ask(server, "/api/act", body, **{"Content-Type": kind})[0] == 415
    assert ask(server, "/api/game") == (200, scene)
    assert ask(server, "/api/act", body, Origin=f"http://{own}")[0] == 200


def test_the_page_asks_no_other_server_for_anything(server):
    for path in ("/", "/static/viewer.css", "/static/table.js", "/static/play.js"):
        status, text = ask(server, path)
        assert status == 200
        assert not re.search(r"https?://|//[a-z]+[.]|@import", text)
    for path in ("/static/game.py", "/static/..%2fgame.py", "/static/", "/favicon.ico"):
        assert ask(server, path)[0] == 404


def malformed(rng, scene):
    """One request that must not be done: method, path, body, headers."""
    good = meant_for(scene, action=choose(scene)["action"])
    junk = [
        None,
        True,
        False,
        -1,
        1.0,
        0.5,
        "1",
        "",
        [],
        {},
        [1],
        2**31,
        2**63,
        10**400,
        1e308,
        "💣" * 9,
    ]
    kind = rng.randrange(9)
    path = rng.choice(["/api/act", "/api/go-on", "/api/new-game", "/api/hint"])
    if kind == 0:  # a value of the wrong type
        name = rng.choice(list(good))
        return "POST", "/api/act", json.dumps({**good, name: rng.choice(junk)}).encode(), {}
    if kind == 1:  # keys missing or too many
        body = {name: value for name, value in good.items() if rng.random() < 0.5}
        return "POST", "/api/act", json.dumps({**body, rng.choice("abc"): 1}).encode(), {}
    if kind == 2:  # cut off, or bytes changed
        text = bytearray(json.dumps(good).encode())
        text[rng.randrange(len(text))] = rng.choice(b"\x00{}\xff[")
        return "POST", path, bytes(text[: rng.randrange(len(text))]), {}
    if kind == 3:  # no JSON at all
        return "POST", path, rng.randbytes(rng.randrange(200)), {}
    if kind == 4:  # deep, or no number, or no object
        deep = b"[" * 2000 + b"]" * rng.choice([0, 2000])
        return (
            "POST",
            path,
            rng.choice([deep, b"NaN", b'{"game":Infinity}', b"[]", b"7", b'"x"']),
            {},
        )
    if kind == 5:  # large
        return "POST", path, b" " * rng.choice([4097, 100_000]) + json.dumps(good).encode(), {}
    if kind == 6:  # other methods and places
        method = rng.choice(["GET", "PUT", "DELETE", "PATCH"])
        return method, path + rng.choice(["", "/", "/x", "?action=1", "/%00", "/../game"]), None, {}
    if kind == 7:  # from elsewhere
        strange = [("Host", "a.example"), ("Host", "127.0.0.1:99999999"), ("Origin", "null")]
        kinds = ["text/plain", "application/json; charset=\xff" * 3]
        name, value = rng.choice([*strange, *(("Content-Type", kind) for kind in kinds)])
        body = {**good, "version": 5} if "charset" in value else good
        return "POST", "/api/act", json.dumps(body).encode(), {name: value}
    # for another position, an action that there is not, or rules and agents that there are not
    if rng.random() < 0.3:
        new = meant_for(scene, agent=rng.choice(["nobody", 5, "simple"]))
        strange = rng.choice([{}, {"rules": 7}, {"rules": "eaai,target=9"}, {"rules": "x" * 300}])
        return "POST", "/api/new-game", json.dumps({**new, **strange}).encode(), {}
    wrong = rng.choice([{"version": 77}, {"game": 9}, {"action": 108}, {"action": 300}])
    return "POST", "/api/act", json.dumps({**good, **wrong}).encode(), {}


def test_a_thousand_malformed_requests_change_nothing(server):
    _, scene = ask(server, "/api/game")
    kept = server.game.path.read_bytes()
    rng, refused = random.Random(10), 0
    for number in range(1000):
        method, path, body, headers = malformed(rng, scene)
        try:
            status, answer = ask(server, path, body, method, **headers)
        except ConnectionError:  # the server hung up on it
            refused += 1
            continue
        what = (number, method, path, (body or b"")[:80], headers)
        assert 400 <= status < 500, (what, answer)
        if isinstance(answer, dict):
            assert answer["error"], what
    assert refused < 50
    assert ask(server, "/api/game") == (200, scene)
    assert server.game.path.read_bytes() == kept


def test_bytes_that_are_no_request_change_nothing(server):
    _, scene = ask(server, "/api/game")
    rng = random.Random(3)
    own = f"Host: 127.0.0.1:{server.port}\r\n"
    lines = [
        b"\x00" * 100, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 50, rng.randbytes(500),
        f"POST /api/act HTTP/1.1\r\n{own}Content-Length: -5\r\n\r\n".encode(),
        f"POST /api/act HTTP/1.1\r\n{own}Content-Length: 9999999999\r\n\r\nx".encode(),
        f"POST /api/act HTTP/1.1\r\n{own}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx".encode(),
        f"POST /api/act HTTP/1.1\r\n{own}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode(),
        f"GET /api/game HTTP/1.1\r\n{own}{'X: ' + 'a' * 40_000}\r\n\r\n".encode(),
    ]  # fmt: skip
    for line in lines:
        with socket.create_connection(("127.0.0.1", server.port), timeout=5) as connection:
            try:
                connection.sendall(line)
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(1000)
            except OSError:  # refused before all was sent or read
                answer = b""
            assert answer == b"" or re.match(rb"HTTP/1\.[01] 4", answer), (line[:60], answer[:100])
    assert ask(server, "/api/game") == (200, scene)


def test_the_game_itself_refuses_what_the_server_lets_through(tmp_path):
    game = WebGame(tmp_path, "simple", CLASSIC, seed=1)
    for call in (
        lambda: game.new_game(1, game.version, "nobody", "classic"),
        lambda: game.act(1, 99, 104),
    ):
        with pytest.raises(WebError):
            call()
    with pytest.raises(ValueError, match="unknown policy"):
        WebGame(tmp_path / "other", "nobody", CLASSIC)


def test_half_open_connections_stop_nobody_and_are_closed(tmp_path):
    with serving(tmp_path, "simple", CLASSIC, seed=1, idle_seconds=2) as server:
        with ExitStack() as opened:
            idle = []
            for number in range(150):
                connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
                idle.append(opened.enter_context(connection))
                if number % 2:
                    connection.sendall(b"GET / HTTP/1.1\r\nHost: ")  # and then nothing more
            assert ask(server, "/api/game")[0] == 200
            assert all(each.recv(1) == b"" for each in idle), "the server has not closed them"
