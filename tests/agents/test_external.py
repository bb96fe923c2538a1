"""Programs as players: what is sent, what faults cost, and that nothing is left behind."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ginrummy_agents.external import ExternalPolicy, Limits, ProgramError, protocol
from ginrummy_agents.external.java_bridge import bridge_agent, compile_bridge
from ginrummy_env.core.actions import PASS, TAKE_UPCARD, format_action, random_actions
from ginrummy_env.core.cards import format_card, format_hand
from ginrummy_env.core.game import new_games, next_deals, restart
from ginrummy_env.core.legal import action_masks
from ginrummy_env.core.rules import EAAI, MINI
from ginrummy_env.core.sampling import sample_states
from ginrummy_env.core.state import NOBODY
from ginrummy_env.core.step import step
from ginrummy_env.core.view import make_view
from ginrummy_env.policy import Forfeit, SeatPolicy, make_policy
from ginrummy_env.records.recorder import load, save
from ginrummy_training.evaluation import ranges
from ginrummy_training.evaluation.lockstep import Games, Lockstep
from ginrummy_training.evaluation.match import match_records, play_match
from ginrummy_training.evaluation.match_summary import summarise
from ginrummy_training.evaluation.processes import play_games

ROOT = Path(__file__).parents[2]
BOT = ROOT / "tests" / "helpers" / "arena_bot.py"


SHORT = replace(EAAI, target=10)
"""A game of a deal or two."""


def bot(fault="none", after=0, **limits):
    command = [sys.executable, "-I", str(BOT), fault, str(after)]
    return ExternalPolicy(command, Limits(**limits))


def played(policies, games=6, batch=3, seed=2, rules=SHORT):
    """Play games of the first policy as A against the second, and return the table."""
    lockstep = Lockstep(
        [make_policy(each) for each in policies],
        Games(
            np.zeros(games, dtype=np.intp),
            np.arange(games),
            np.tile(np.int8([0, len(policies) - 1]), (games, 1)),
        ),
        rules,
        seed=seed,
        batch=batch,
    )
    while lockstep.running:
        lockstep.step()
    table = lockstep.collect()[1]
    return table[np.argsort(table["game"])]


def positions(count=40, steps=60, seed=4):
    """Views of games at many stages."""
    state, rng = new_games(seed=seed, games=count, rules=EAAI), np.random.default_rng(seed)
    for _ in range(steps):
        yield state, make_view(state, EAAI)
        step(state, random_actions(action_masks(state, EAAI), rng.random(count)), EAAI)
        next_deals(state, EAAI)


def requests(view):
    rows = len(view)
    lines = protocol.move_requests(
        view, range(rows), [0] * rows, view.action_masks(), protocol.SECTIONS
    )
    return [json.loads(line) for line in lines]


def test_a_request_says_what_the_view_says():
    for _, view in positions(count=8, steps=30):
        for row, request in enumerate(requests(view)):
            assert sorted(request["hand"].split()) == sorted(format_hand(view.hand[row]).split())
            assert request["legal"] == np.flatnonzero(view.action_masks()[row]).tolist()
            assert request["words"] == [format_action(action) for action in request["legal"]]
            assert request["scores"] == view.scores[row].tolist()
            assert request["dealer"] == ("you" if view.is_dealer[row] else "opponent")
            assert request["stock"] == view.stock_count[row]
            assert len(request["events"]) == view.step_count[row]


def test_reports_show_the_opponents_cards_only_after_a_knock():
    seen = set()
    state, rng, policy = new_games(3, 40, EAAI), np.random.default_rng(3), make_policy("simple")
    for _ in range(120):
        actions = random_actions(action_masks(state, EAAI), rng.random(40))
        actions[:20] = policy.act(make_view(state, EAAI), rng)[:20]
        step(state, actions, EAAI)
        over = np.flatnonzero(state.over)
        part = make_view(state, EAAI).select(over)
        reports = protocol.deal_reports(part, range(len(over)), [0] * len(over))
        for row, line in enumerate(reports):
            report = json.loads(line)
            knocked = part.knocker[row] != NOBODY
            seen.add(bool(knocked))
            assert ("opponent_hand" in report) == knocked
            if knocked:
                other = state.hands[over[row], 1 - part.player[row]]
                assert report["opponent_hand"].split() == format_hand(other).split()
                defender = report["opponent_hand" if report["knocker"] == "you" else "hand"]
                cards = [card for laid, _ in report["layoffs"] for card in laid.split()]
                cards += " ".join(report["defender_melds"]).split()
                assert len(cards) == len(set(cards))
                assert set(cards) <= set(defender.split())
        state = state.select(np.arange(40))
        restart(state, over, 3, over + 100 + int(state.step_count.sum()), EAAI)
    assert seen == {True, False}


def test_events_name_players_and_the_cards_they_took():
    state = new_games(seed=1, games=1, rules=EAAI)
    upcard = format_card(state.first_upcard[0])
    for action in (PASS, TAKE_UPCARD):
        step(state, [action], EAAI)
    thrown = int(np.flatnonzero(action_masks(state, EAAI)[0])[0])
    step(state, [thrown], EAAI)
    seen = json.loads(f"[{protocol.events(make_view(state, EAAI), [0])[0]}]")
    assert seen == [
        "you pass",
        f"opponent take {upcard}",
        f"opponent discard {format_card(thrown)}",
    ]


def test_hidden_cards_change_nothing_that_is_sent():
    rng = np.random.default_rng(5)
    for number, (_, view) in enumerate(positions(count=20)):
        if number % 6:
            continue
        world = sample_states(view, EAAI, rng, 1)
        assert requests(make_view(world, EAAI, view.player)) == requests(view)


def test_a_program_plays_whole_games_and_is_told_of_their_ends():
    policy = bot()
    assert isinstance(policy, SeatPolicy)
    with policy:
        table = played([policy, "simple"], games=4, batch=4)
        assert table["done"].all()
        assert not table["forfeit_a"].any()
        assert policy.name == "none"
        assert not policy._session.games
        again = played([policy, "simple"], games=4, batch=2)
    assert (again["points_a"] == table["points_a"]).all()


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("crashes", Forfeit.ENDED),
        ("exits", Forfeit.ENDED),
        ("stalls", Forfeit.TIMEOUT),
        ("garbage", Forfeit.UNREADABLE),
        ("long line", Forfeit.UNREADABLE),
        ("wrong game", Forfeit.UNREADABLE),
        ("illegal", Forfeit.ILLEGAL),
        ("no action", Forfeit.UNREADABLE),
        ("true", Forfeit.UNREADABLE),
        ("words", Forfeit.UNREADABLE),
        ("memory", Forfeit.ENDED),
    ],
)
def test_a_fault_costs_the_game_and_the_match_goes_on(fault, kind, caplog):
    limits = {"move_seconds": 2} if fault == "stalls" else {}
    limits |= {"memory_mb": 600} if fault == "memory" else {}
    with bot(fault, 12, **limits) as policy:
        table = played([policy, "simple"], games=4, batch=1)
    assert table["done"].all()
    lost = table["forfeit_a"] != 0
    assert table["forfeit_a"][lost][0] == kind
    assert (table["winner"][lost] == 1).all()
    assert "forfeits game" in caplog.text


def test_a_program_that_always_ends_is_not_started_for_ever(caplog):
    with bot("exits", 1) as policy:
        table = played([policy, "gold"], games=12, batch=1)
    assert (table["forfeit_a"] == Forfeit.ENDED).all()
    assert "without finishing a game" in caplog.text


def test_time_for_a_game_is_limited_too():
    with bot(game_seconds=1e-9) as policy:
        table = played([policy, "gold"], games=2, batch=1)
    assert (table["forfeit_a"] == Forfeit.TIMEOUT).all()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["no-such-program"], "cannot be started"),
        ([sys.executable, "-c", "print('hello')"], "answered 'hello' to hello"),
        ([sys.executable, "-c", "raise SystemExit('no licence')"], "no licence"),
        ([sys.executable, "-I", str(BOT), "another protocol"], "speaks protocol 99"),
        ([sys.executable, "-I", str(BOT), "asks for nonsense"], "send="),
    ],
)
def test_a_program_that_cannot_be_used_is_an_error(command, says):
    with ExternalPolicy(command) as policy, pytest.raises(ProgramError, match=says):
        played([policy, "simple"], games=2)


def test_silence_at_the_start_is_an_error():
    with bot("silent at hello", start_seconds=0.5) as policy, pytest.raises(ProgramError):
        played([policy, "simple"], games=2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a command is needed"),
        ("./bot;speed=3", "unknown limit 'speed'; the limits are move_seconds"),
        ("./bot;move_seconds=fast", "a number is needed"),
        ("./bot;move_seconds=nan", "above 0"),
        ("./bot;game_seconds=0", "above 0"),
        ("./bot;memory_mb=-1", "from 0"),
    ],
)
def test_wrong_commands_and_limits_are_refused(text, says):
    with pytest.raises(ValueError, match=says):
        ExternalPolicy.parse(text)


def test_a_pickled_policy_starts_a_program_of_its_own():
    policy = pickle.loads(pickle.dumps(ExternalPolicy.parse("./bot --fast;move_seconds=2")))
    assert policy.command == ["./bot", "--fast"]
    assert policy.limits.move_seconds == 2


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")  # a zombie has ended
    return not (stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z")


def gone(pids, seconds=20):
    deadline = time.monotonic() + seconds
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(alive, pids))


def test_nothing_is_left_behind_when_the_policy_is_closed(tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_PIDS", str(tmp_path / "pids"))
    with bot("leaves a child") as policy:
        played([policy, "simple"], games=1)
    assert gone(map(int, (tmp_path / "pids").read_text().split()))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_when_the_host_is_killed(tmp_path, how):
    code = (
        "import sys, time; sys.path[:0] = sys.argv[2:]\n"
        "import numpy as np\n"
        "from ginrummy_agents.external import ExternalPolicy\n"
        "from ginrummy_env.core.game import new_games\n"
        "from ginrummy_env.core.rules import EAAI\n"
        "from ginrummy_env.core.view import make_view\n"
        f"policy = ExternalPolicy([sys.executable, '-I', {str(BOT)!r}, 'leaves a child'])\n"
        "view = make_view(new_games(seed=1, games=1, rules=EAAI), EAAI)\n"
        "policy.act(view, np.random.default_rng(0))\n"
        "print('ready', flush=True); time.sleep(60)"
    )
    environment = {**os.environ, "ARENA_PIDS": str(tmp_path / "pids")}
    host = subprocess.Popen(
        [sys.executable, "-c", code, "", str(ROOT), str(ROOT / "agents")],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with host:
        assert host.stdout.readline() == b"ready\n"
        host.send_signal(how)
    assert gone(map(int, (tmp_path / "pids").read_text().split()))


def test_workers_keep_a_program_from_range_to_range(tmp_path, monkeypatch):
    """And play the games of one process; their programs end with them."""
    monkeypatch.setattr(ranges, "FIRST_GAMES", 4)
    monkeypatch.setattr(ranges, "RANGE_SECONDS", 1e-9)  # every range is a short one
    monkeypatch.setenv("ARENA_STARTS", str(tmp_path / "starts"))
    agent = f"exec:{sys.executable} -I {BOT} none"
    alone = play_match(agent, "simple", games=16, seed=6, rules=SHORT)
    (tmp_path / "starts").unlink()
    shared = play_match(agent, "simple", games=16, seed=6, rules=SHORT, workers=2)
    assert (shared.table == alone.table).all()
    pids = (tmp_path / "starts").read_text().split()
    assert len(pids) <= 2
    assert gone(map(int, pids))


def test_a_node_of_a_cluster_plays_a_programs_games(tmp_path):
    """It is sent the job, whose programs it starts itself."""
    agent = f"exec:{sys.executable} -I {BOT} none"
    alone = play_match(agent, "simple", games=4, seed=6, rules=SHORT)
    numbers = np.arange(4)
    games = Games(np.zeros(4, dtype=np.intp), numbers, np.tile(np.int8([0, 1]), (4, 1)))
    job = ranges.Job((agent, "simple"), games, SHORT, 6, 1000, 4)
    _, (_, table, _) = play_games(pickle.loads(pickle.dumps(job)))
    assert (table[np.argsort(table["game"])] == alone.table).all()


def test_the_example_player_plays():
    policy = ExternalPolicy([sys.executable, str(ROOT / "examples" / "arena" / "player.py")])
    with policy:
        table = played([policy, "simple"], games=2, batch=2)
    assert table["done"].all()
    assert not table["forfeit_a"].any()


def test_policies_are_found_by_module_and_attribute(tmp_path, monkeypatch):
    (tmp_path / "arena_module.py").write_text(
        "class Waits:\n"
        "    def act(self, view, rng):\n"
        "        return view.action_masks().argmax(axis=1)\n"
        "object_of_it = Waits()\n"
        "number = 3\n"
    )
    monkeypatch.chdir(tmp_path)
    for name in ("Waits", "object_of_it"):
        assert type(make_policy(f"arena_module:{name}")).__name__ == "Waits"
    for name, says in (("number", "is not a policy"), ("nobody", "has no nobody")):
        with pytest.raises(ValueError, match=says):
            make_policy(f"arena_module:{name}")
    with pytest.raises(ValueError, match="unknown policy 'no_such_module'"):
        make_policy("no_such_module:Waits")


def test_a_command_may_hold_commas_colons_and_equals_signs():
    policy = make_policy("exec:./bot --at=host:80,other 'two words';move_seconds=3")
    assert policy.command == ["./bot", "--at=host:80,other", "two words"]


def test_the_results_of_a_match_give_the_reasons_of_forfeits(tmp_path):
    agent = f"exec:{sys.executable} -I {BOT} illegal 3"
    out = tmp_path / "games.npz"
    for _ in range(2):  # played, then read from the file
        result = play_match(agent, "gold", games=4, seed=3, rules=SHORT, out=out)
        assert summarise(result)["forfeits"] == {"a": {"illegal": 1}, "b": {}}


def test_the_fingerprint_covers_the_files_of_the_command(tmp_path):
    script = tmp_path / "bot.py"
    script.write_text("first")
    policy = ExternalPolicy([sys.executable, str(script)])
    before = policy.fingerprint()
    assert policy.fingerprint() == before
    script.write_text("second")
    assert policy.fingerprint() != before


@pytest.mark.parametrize("after", [1, 6])
def test_a_forfeited_game_is_recorded_as_far_as_it_went(tmp_path, after):
    with bot("illegal", after) as policy:
        result = play_match(policy, "simple", games=4, seed=2, rules=SHORT, records=4)
    records = match_records(result, 4)
    lost = np.flatnonzero(result.table["forfeit_a"])
    assert lost.size
    for number in lost.tolist():
        assert records[number].deals[-1].end is None
        assert len(records[number].deals) == result.table["deals"][number] + 1
    save(tmp_path / "records.txt", records)
    assert load(tmp_path / "records.txt") == records


PLAYER = """
package tiny;
import ginrummy.Card;
import ginrummy.GinRummyPlayer;
import java.util.ArrayList;

/** Draws from the stock, throws what it drew, never knocks; an exception in deal FAULT. */
public class TinyPlayer implements GinRummyPlayer {
    static int instances = 0;
    int deals = 0, me, wrong = 0;
    ArrayList<Card> hand = new ArrayList<>();
    Card drawn;
    boolean defends;
    public TinyPlayer() { instances++; System.out.println("a player that prints"); }
    public void startGame(int playerNum, int startingPlayerNum, Card[] cards) {
        if (cards.length != 10 || ++deals == FAULT) { throw new IllegalStateException("dealt"); }
        me = playerNum;
        defends = false;
        hand.clear();
        for (Card card : cards) { hand.add(card); }
    }
    public boolean willDrawFaceUpCard(Card card) { return false; }
    public void reportDraw(int playerNum, Card card) {
        if (playerNum == me) { drawn = card; hand.add(card); }
    }
    public Card getDiscard() { return drawn; }
    public void reportDiscard(int playerNum, Card card) {
        if (playerNum == me && !hand.remove(card)) { throw new IllegalStateException("not held"); }
    }
    public ArrayList<ArrayList<Card>> getFinalMelds() {
        return defends ? new ArrayList<>() : null;
    }
    public void reportFinalMelds(int playerNum, ArrayList<ArrayList<Card>> melds) {
        defends = playerNum != me;
    }
    public void reportScores(int[] scores) { }
    public void reportLayoff(int playerNum, Card card, ArrayList<Card> meld) { }
    public void reportFinalHand(int playerNum, ArrayList<Card> cards) { }
}
"""

CHALLENGE = {
    "Card": "package ginrummy; public class Card { public static Card[] allCards = new Card[52];"
    "  int rank, suit; Card(int r, int s) { rank = r; suit = s; }"
    "  static { for (int i = 0; i < 52; i++) allCards[i] = new Card(i % 13, i / 13); }"
    '  public String toString() { return "" + "A23456789TJQK".charAt(rank) + '
    '"CHSD".charAt(suit); }}',
    "GinRummyPlayer": "package ginrummy; import java.util.ArrayList;"
    "public interface GinRummyPlayer { void startGame(int a, int b, Card[] c);"
    "  boolean willDrawFaceUpCard(Card c); void reportDraw(int a, Card c); Card getDiscard();"
    "  void reportDiscard(int a, Card c); ArrayList<ArrayList<Card>> getFinalMelds();"
    "  void reportFinalMelds(int a, ArrayList<ArrayList<Card>> m); void reportScores(int[] s);"
    "  void reportLayoff(int a, Card c, ArrayList<Card> m);"
    "  void reportFinalHand(int a, ArrayList<Card> h); }",
}
"""The challenge's interface as its documentation describes it, in our words."""

PUBLIC = {
    "Card": CHALLENGE["Card"].replace(
        "int rank, suit; Card(", "private int rank, suit; private Card("
    ),
    "GinRummyPlayer": CHALLENGE["GinRummyPlayer"],
    "GinRummyUtil": "package ginrummy; public class GinRummyUtil {"
    '  public static final int MAX_DEADWOOD = Integer.parseInt("10"); static { try {'
    '  java.nio.file.Files.createTempFile(java.nio.file.Path.of("FOLDER"), "loaded", "");'
    "  } catch (java.io.IOException error) { throw new RuntimeException(error); } }}",
}
"""The same with the challenge's tables, of which each class loader that has them leaves a file."""


@pytest.fixture(scope="module")
def java(tmp_path_factory):
    """Compile the bridge, the interface and tiny players; return the folder."""
    if shutil.which("javac") is None:
        pytest.skip("no JDK: the bridge is for those who have one")
    folder = tmp_path_factory.mktemp("java")
    sources = {f"ginrummy/{name}.java": text for name, text in CHALLENGE.items()}
    sources["tiny/TinyPlayer.java"] = PLAYER.replace("FAULT", "-1")
    sources["tiny/Faulty.java"] = PLAYER.replace("FAULT", "1").replace("TinyPlayer", "Faulty")
    compile_classes(folder, sources)
    compile_bridge(folder / "bridge")
    return folder


def compile_classes(folder, sources):
    for name, text in sources.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    files = [str(folder / name) for name in sources]
    subprocess.run(["javac", "-d", str(folder / "classes"), *files], check=True)


def java_player(java, player, **options):
    return make_policy(bridge_agent(java / "bridge", str(java / "classes"), player, **options))


@pytest.mark.parametrize("shared", [True, False])
def test_players_of_the_challenge_play_by_the_bridge(java, shared):
    with java_player(java, "tiny.TinyPlayer", shared=shared) as policy:
        table = played([policy, "simple"], games=4, batch=2)
    assert table["done"].all()
    assert not table["forfeit_a"].any()
    assert not table["knocks"].sum() - table["knock_b"].sum() - table["gin_b"].sum()


@pytest.mark.parametrize(
    ("added", "shared", "loaded", "right"),
    [
        pytest.param("", False, 1, True, id="the challenge's classes are shared"),
        pytest.param(" public static int more;", False, 4, True, id="changed: nothing is shared"),
        pytest.param(" void more() { }", False, 4, True, id="used within the package: neither"),
        pytest.param("", True, 1, False, id="--shared shares the player's state too"),
    ],
)
def test_static_state_of_a_player_is_its_game_s_own(java, tmp_path, added, shared, loaded, right):
    # A player that wants to be the only one of its class.
    remembers = PLAYER.replace("++deals == FAULT", "10 * instances > GinRummyUtil.MAX_DEADWOOD")
    remembers = remembers.replace("import ginrummy.Card;", "import ginrummy.*;")
    sources = {f"ginrummy/{name}.java": text for name, text in PUBLIC.items()}
    util = PUBLIC["GinRummyUtil"].replace("FOLDER", str(tmp_path / "loads"))
    sources["ginrummy/GinRummyUtil.java"] = util.replace("GinRummyUtil {", "GinRummyUtil {" + added)
    compile_classes(tmp_path, {**sources, "tiny/TinyPlayer.java": remembers})
    (tmp_path / "loads").mkdir()
    text = bridge_agent(
        java / "bridge", str(tmp_path / "classes"), "tiny.TinyPlayer", shared=shared
    )
    with make_policy(text) as policy:
        table = played([policy, "simple"], games=4, batch=4)
    assert (not table["forfeit_a"].any()) == right
    assert len(list((tmp_path / "loads").iterdir())) == loaded


def test_players_of_the_challenge_refuse_small_decks(java):
    with (
        java_player(java, "tiny.TinyPlayer") as policy,
        pytest.raises(ProgramError, match="hands of ten from 52 cards only"),
    ):
        played([policy, "simple"], games=2, rules=MINI)


def test_a_program_plays_small_decks():
    with bot() as policy:
        table = played([policy, "simple"], games=4, rules=MINI)
    assert table["done"].all()
    assert not table["forfeit_a"].any()


def test_melds_of_a_player_of_the_challenge_count_with_own_melds(java):
    with java_player(java, "tiny.TinyPlayer", own_melds=True) as policy:
        table = played([policy, "simple"], games=4, batch=2)
    assert not table["forfeit_a"].any()
    with java_player(java, "tiny.TinyPlayer") as policy:
        exact = played([policy, "simple"], games=4, batch=2)
    # The tiny player melds nothing of its own: it is left with more than by the rules.
    assert table["points_b"].sum() / table["knocks"].sum() > 1.2 * (
        exact["points_b"].sum() / exact["knocks"].sum()
    )


def test_an_exception_in_a_player_of_the_challenge_is_a_forfeit(java, caplog):
    with java_player(java, "tiny.Faulty") as policy:
        table = played([policy, "simple"], games=2, batch=1)
    assert (table["forfeit_a"] == Forfeit.UNREADABLE).all()
    assert "startGame threw" in caplog.text


def test_a_class_that_is_not_there_is_an_error(java):
    with java_player(java, "tiny.Nobody") as policy, pytest.raises(ProgramError, match="Nobody"):
        played([policy, "simple"], games=2)
