"""Self-play: what is recorded is what was seen and what came of it, whoever plays the shards."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pandas as pd
import pytest

from ginrummy_agents.explain import explain
from ginrummy_agents.learned.policy import NetworkPolicy, load_network, shipped
from ginrummy_env.core.chance import FirstGame, Purpose, RowRandom, keys, policy_keys
from ginrummy_env.core.game import new_games, next_deals
from ginrummy_env.core.observation import observe
from ginrummy_env.core.rules import EAAI
from ginrummy_env.core.sampling import sample_states
from ginrummy_env.core.state import Phase
from ginrummy_env.core.step import step
from ginrummy_env.core.view import ARRAY_NAMES, make_view
from ginrummy_env.policy import make_policy
from ginrummy_training.dataset.generate import make_shard, plan_of, selfplay
from ginrummy_training.dataset.reader import Data, load
from ginrummy_training.dataset.schema import (
    COLUMNS,
    LATER,
    NAMES,
    SEEN,
    VIEW_COLUMNS,
    columns_of,
    legal_masks,
    view_of,
)
from ginrummy_training.dataset.shards import GAME_COLUMNS
from ginrummy_training.evaluation.lockstep import deck_numbers
from ginrummy_training.storage import ResultError

ROOT = Path(__file__).parents[2]
SHORT = replace(EAAI, target=50)
PLAN = plan_of(["simple", "champion"], rules=SHORT, seed=3, shard_games=8)
GAMES = 20


def contents(folder):
    """The shards of a folder, byte by byte."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.parquet"))
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("selfplay") / "data"
    selfplay(path, PLAN, GAMES)
    return path


def replayed(folder):
    """Play the games again from their actions: yields (state before, row numbers, table)."""
    data = Data(folder)
    names = [name for name in NAMES if name not in ("value_actions", "values")]
    for entry in data.entries:
        table = data.read(entry, names)
        games, starts = np.unique(table["game"], return_index=True)
        ends = np.append(starts[1:], len(table["game"]))
        decks = deck_numbers(games) + np.uint64(FirstGame.LEARNING)
        state = new_games(np.uint64(PLAN.seed), decks, PLAN.rules)
        at = starts.copy()
        while (at < ends).any():
            live = np.flatnonzero(at < ends)
            yield state.select(live), at[live], table
            actions = np.zeros(len(games), dtype=np.int16)
            actions[live] = table["action"][at[live]]
            step(state, actions, PLAN.rules)
            at[live] += 1
            over = np.flatnonzero((state.phase == Phase.DEAL_OVER) & (at < ends))
            next_deals(state, PLAN.rules, over)
        assert (state.phase == Phase.GAME_OVER).all()


class TestARowIsADecision:
    def test_it_gives_back_the_view_with_every_field(self, folder):
        rows = 0
        for state, at, table in replayed(folder):
            there = view_of({name: table[name][at] for name in VIEW_COLUMNS}, PLAN.rules)
            here = make_view(state, PLAN.rules)
            for name in ARRAY_NAMES:
                expected, found = getattr(here, name), getattr(there, name)
                np.testing.assert_array_equal(found, expected, err_msg=name)
                assert found.dtype == expected.dtype, name
            np.testing.assert_array_equal(observe(there), observe(here))
            rows += len(at)
        assert rows == json.loads((folder / "card.json").read_text())["positions"]

    def test_the_legal_actions_are_those_of_the_view(self, folder):
        for state, at, table in replayed(folder):
            masks = legal_masks({name: column[at] for name, column in table.items()})
            np.testing.assert_array_equal(masks, make_view(state, PLAN.rules).action_masks())

    def test_nothing_in_it_hangs_on_what_the_mover_could_not_know(self, folder):
        """Other cards in the stock and in the opponent's hand leave every column as it is."""
        rng, changed = np.random.default_rng(5), 0
        for state, at, table in list(replayed(folder))[:25]:
            view = make_view(state, PLAN.rules)
            worlds = sample_states(view, PLAN.rules, rng, 3)
            changed += (worlds.hands != np.repeat(state.hands, 3, axis=0)).sum()
            columns = columns_of(make_view(worlds, PLAN.rules))
            assert set(columns) == {column.name for column in COLUMNS if column.who == SEEN}
            for name, column in columns.items():
                kept = np.repeat(table[name][at], 3, axis=0)
                if name == "history":
                    kept = kept[:, : column.shape[1]]
                np.testing.assert_array_equal(column, kept, err_msg=name)
        assert changed > 100

    def test_what_came_of_it(self, folder):
        states = list(replayed(folder))
        scores = {}  # of each game after each deal, by seat
        for state, at, table in states:
            for row, game in enumerate(table["game"][at].tolist()):
                scores[game, int(state.deal_number[row])] = state.scores[row]
        last = {}
        for game, deal in scores:
            last[game] = max(deal, last.get(game, 0))
        decisive = 0
        for state, at, table in states:
            for row, place in enumerate(at.tolist()):
                game, deal = int(table["game"][place]), int(state.deal_number[row])
                player, points = int(state.player[row]), int(table["result_points"][place])
                winner = int(table["result_winner"][place])
                assert (winner == 0) == (points > 0)
                assert (winner == 1) == (points < 0)
                assert (table["result_outcome"][place] == 7) == (
                    table["result_knocker"][place] == -1
                )
                if deal < last[game]:
                    change = scores[game, deal + 1] - scores[game, deal]
                    assert change[player] - change[1 - player] == points
                else:
                    won = scores[game, deal][player] + points >= PLAN.rules.target
                    assert table["result_game_won"][place] == won
                    decisive += 1
        assert decisive > 100

    def test_knockers_are_who_laid_down(self, folder):
        data = Data(folder)
        for entry in data.entries:
            table = data.read(entry, ("game", "deal", "action", "result_knocker"))
            ends = np.flatnonzero(
                np.append(np.diff(table["game"]) + np.diff(table["deal"]) != 0, True)
            )
            laid = (table["action"][ends] >= 52) & (table["action"][ends] < 104)
            np.testing.assert_array_equal(table["result_knocker"][ends] == 0, laid)


class TestFolder:
    def test_pandas_reads_it(self, folder):
        card = json.loads((folder / "card.json").read_text())
        positions = pd.read_parquet(folder / "positions")
        assert list(positions) == [each["name"] for each in card["schema"]["positions"]]
        assert len(positions) == card["positions"]
        assert set(positions["agent"].unique()) == {"simple", "champion"}
        assert positions["hand"].dtype == np.uint64
        games = pd.read_parquet(folder / "games")
        assert list(games) == [name for name, _ in GAME_COLUMNS]
        assert games["game"].tolist() == list(range(GAMES))
        counted = positions.groupby("game").size()
        assert counted.tolist() == games["steps"].tolist()
        of_simple = positions[positions["agent"] == "simple"].groupby("game")["player"].first()
        assert of_simple.tolist() == games["seat_a"].tolist()
        won = positions[positions["agent"] == "simple"].groupby("game")["result_game_won"].first()
        assert won.tolist() == (games["winner"] == 0).astype(int).tolist()

    def test_its_types_are_those_of_the_card(self, folder):
        import pyarrow.parquet as pq

        schema = pq.read_schema(folder / "positions" / "00000.parquet")
        found = [str(field.type) for field in schema]
        expected = [column.dtype for column in COLUMNS]
        names = {"dictionary": "dictionary<values=string, indices=int8, ordered=0>"}
        aliases = {"list<uint8>": "list<element: uint8>", "list<float>": "list<element: float>"}
        assert found == [names.get(kind, aliases.get(kind, kind)) for kind in expected]

    def test_the_card_says_what_made_it(self, folder):
        card = json.loads((folder / "card.json").read_text())
        assert card["settings"] == json.loads(json.dumps(PLAN.settings()))
        assert card["versions"]["ginrummy_env"]
        assert card["units"] == {"simple": None, "champion": "points of the deal"}
        assert card["games"] == GAMES
        assert card["bytes"] == sum(map(len, contents(folder).values()))

    def test_batches_come_back(self, folder):
        everything = list(load(folder, batch=500))
        card = json.loads((folder / "card.json").read_text())
        assert sum(map(len, everything)) == card["positions"]
        assert max(map(len, everything)) <= 500
        mine = list(load(folder, agent="champion", rng=np.random.default_rng(1)))
        assert 0 < sum(map(len, mine)) < card["positions"]
        for batch in mine:
            masks = batch.view.action_masks()
            assert masks[np.arange(len(batch)), batch.actions].all()

    def test_games_are_on_decks_that_matches_do_not_have(self):
        numbers = np.arange(50)
        taught = deck_numbers(numbers) + np.uint64(FirstGame.LEARNING)
        assert not np.isin(taught, deck_numbers(np.arange(10_000))).any()
        assert (taught >> np.uint64(62) == 3).all()

    def test_several_agents_meet_equally_often(self):
        plan = plan_of(["simple", "gold", "random"], shard_games=12)
        assert plan.pairs == ((0, 1), (0, 2), (1, 2))
        assert plan_of(["simple"]).pairs == ((0, 0),)
        assert plan_of(["simple", "simple", "gold"]).pairs == ((0, 0), (0, 1), (0, 1))


@pytest.fixture(scope="module")
def weighed(tmp_path_factory):
    path = tmp_path_factory.mktemp("values") / "data"
    network = NetworkPolicy(load_network(shipped(EAAI)), name="mine")
    plan = plan_of(["search:8", "champion", network, "simple"], rules=SHORT, shard_games=12)
    card = selfplay(path, plan, 12)
    return pd.read_parquet(path / "positions"), plan, card


class TestValues:
    def test_search_champion_and_networks_tell_them_and_others_do_not(self, weighed):
        positions, _, card = weighed
        told = positions["values"].notna().groupby(positions["agent"], observed=True).mean()
        assert told["simple"] == 0
        assert told["mine"] == 1
        assert told["search:8"] > 0.3
        assert told["champion"] > 0.3
        assert card["units"]["search:8"] == "chance of winning the game"

    def test_they_are_of_legal_actions_and_in_range(self, weighed):
        positions, _, _ = weighed
        some = positions[positions["values"].notna()]
        for row in some.iloc[::17].itertuples():
            masks = legal_masks({
                name: np.array([getattr(row, name)], dtype=np.uint64)
                for name in ("legal_discards", "legal_knocks", "legal_others")
            })  # fmt: skip
            assert len(row.values) == len(row.value_actions)
            assert masks[0, row.value_actions].all()
            if row.agent == "mine":
                assert sum(row.values) == pytest.approx(1, abs=1e-5)
                assert row.value_actions[np.argmax(row.values)] == row.action

    def test_they_are_those_of_explain(self, weighed):
        positions, plan, _ = weighed
        rows = positions[(positions["agent"] == "search:8") & positions["values"].notna()].iloc[:20]
        columns = {name: rows[name].to_numpy() for name in VIEW_COLUMNS if name != "history"}
        width = int(columns["step"].max())
        columns["history"] = np.array(
            [list(each) + [255] * (width - len(each)) for each in rows["history"]], dtype=np.uint8
        )
        moments = (columns["deal"].astype(np.int64) << 32) | columns["step"]
        game_keys = policy_keys(Purpose.MATCH, np.uint64(plan.seed), rows["game"].to_numpy())
        row_keys = keys(game_keys, moments)
        view = view_of(columns, SHORT)
        told = explain(make_policy("search:8"), view, RowRandom(row_keys))
        for place, (actions, values) in enumerate(
            zip(rows["value_actions"], rows["values"], strict=True)
        ):
            np.testing.assert_allclose(told.values[place, actions], values, rtol=1e-6)
            assert (~np.isnan(told.values[place])).sum() == len(actions)

    def test_they_change_no_game(self, folder, tmp_path):
        plan = replace(PLAN, values=False)
        without = selfplay(tmp_path / "without", plan, 8)
        assert without["units"] == {"simple": None, "champion": None}
        a = pd.read_parquet(folder / "positions" / "00000.parquet")
        b = pd.read_parquet(tmp_path / "without" / "positions" / "00000.parquet")
        assert a["values"].notna().any()
        assert b["values"].isna().all()
        pd.testing.assert_series_equal(a["action"], b["action"])


class TestTheSameWhoeverMakesIt:
    def test_two_processes(self, folder, tmp_path):
        selfplay(tmp_path / "two", PLAN, GAMES, workers=2)
        assert contents(tmp_path / "two") == contents(folder)

    def test_a_shard_is_made_from_its_numbers_alone(self, folder):
        shard = make_shard(PLAN, 1, GAMES)
        assert shard.positions == (folder / "positions" / "00001.parquet").read_bytes()
        assert shard.games == (folder / "games" / "00001.parquet").read_bytes()

    def test_only_missing_and_damaged_shards_are_made(self, folder, tmp_path):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        (copy / "games" / "00000.parquet").unlink()
        damaged = copy / "positions" / "00002.parquet"
        damaged.write_bytes(damaged.read_bytes()[:-100])
        untouched = copy / "positions" / "00001.parquet"
        before = untouched.stat().st_mtime_ns
        told = []
        selfplay(copy, PLAN, GAMES, report=lambda done, games: told.append((done, games)))
        assert told[0] == (8, GAMES)
        assert told[-1] == (GAMES, GAMES)
        assert untouched.stat().st_mtime_ns == before
        assert contents(copy) == contents(folder)

    def test_games_can_be_added(self, folder, tmp_path):
        selfplay(tmp_path / "grown", PLAN, 10)
        assert selfplay(tmp_path / "grown", PLAN, GAMES)["games"] == GAMES
        assert contents(tmp_path / "grown") == contents(folder)
        assert selfplay(tmp_path / "grown", PLAN, 4)["games"] == GAMES  # all are there

    def test_a_killed_run_leaves_whole_shards_and_goes_on(self, tmp_path):
        out = tmp_path / "killed"
        command = [
            sys.executable, "-m", "ginrummy_training",
            "selfplay", "simple", "--games", "4000",
            "--shard-games", "20", "--workers", "1", "--out", str(out),
        ]  # fmt: skip
        code = (
            "import sys; from ginrummy_training.cli.main import main; sys.exit(main(sys.argv[1:]))"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code, *command[3:]],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        try:
            end = monotonic() + 600
            while monotonic() < end and not (out / "manifest" / "00001.json").exists():
                assert process.poll() is None, "it has ended by itself"
                sleep(0.02)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        kept = contents(out)
        assert len(kept) >= 4
        plan = plan_of(["simple"], shard_games=20)
        number = len(list((out / "manifest").glob("*.json"))) - 1
        selfplay(out, plan, 20 * (number + 2))
        after = contents(out)
        assert {name: after[name] for name in kept} == kept
        assert (
            after[f"games/{number + 1:05d}.parquet"]
            == make_shard(plan, number + 1, 20 * (number + 2)).games
        )


class TestRefused:
    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"seed": 4}, "another data set: seed is 3 there and 4 here"),
            ({"rules": EAAI}, "another data set: target is 50 there"),
            ({"shard_games": 10}, "another data set: shard_games is 8 there and 10 here"),
            ({"values": False}, "another data set: values is True there"),
            ({"agents": ("simple", "gold")}, "another data set: agents is"),
        ],
    )
    def test_other_settings(self, folder, change, says):
        before = {path: path.read_bytes() for path in folder.rglob("*.*")}
        with pytest.raises(ResultError, match=f"holds {says}"):
            selfplay(folder, replace(PLAN, **change), GAMES)
        assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before

    def test_a_policy_file_that_has_changed(self, tmp_path):
        path = tmp_path / "mine.npz"
        path.write_bytes(shipped(EAAI).read_bytes())
        plan = plan_of([f"ppo:{path}"], rules=SHORT, shard_games=2)
        selfplay(tmp_path / "data", plan, 2)
        path.write_bytes(load_network(path).to_bytes("float16"))
        with pytest.raises(ResultError, match=r"mine\.npz of ppo:.* has changed"):
            selfplay(tmp_path / "data", plan, 2)

    def test_another_version(self, folder, tmp_path, monkeypatch):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        monkeypatch.setattr("ginrummy_env.__version__", "999")
        with pytest.raises(ResultError, match=r"ginrummy_env is .* there and '999' here"):
            selfplay(copy, PLAN, GAMES)

    def test_a_folder_without_a_card(self, folder, tmp_path):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        (copy / "card.json").unlink()
        with pytest.raises(ResultError, match=r"shards without a card\.json"):
            selfplay(copy, PLAN, GAMES)
        with pytest.raises(ResultError, match=r"card\.json is missing"):
            load(copy)

    @pytest.mark.parametrize("games", [0, 3])
    def test_odd_numbers(self, tmp_path, games):
        with pytest.raises(ValueError, match=f"games={games}: "):
            selfplay(tmp_path, PLAN, games)

    def test_an_agent_that_is_not_there(self, folder):
        with pytest.raises(ValueError, match="'gold' did not play there; 'simple', 'champion' did"):
            load(folder, agent="gold")

    @pytest.mark.parametrize(
        ("name", "damage", "says"),
        [
            ("positions/00001.parquet", b"nothing", "corrupt or replaced"),
            ("positions/00001.parquet", "flip", "corrupt or replaced"),
            ("positions/00001.parquet", "games/00001.parquet", "corrupt or replaced"),
            ("positions/00001.parquet", "positions/00000.parquet", "corrupt or replaced"),
            ("positions/00001.parquet", None, "No such file"),
            ("manifest/00001.json", "manifest/00000.json", "misnamed"),
            ("manifest/00001.json", b'{"shard": 1}', "corrupt"),
            ("manifest/00001.json", b"[" * 100_000, "corrupt"),
        ],
    )
    def test_a_damaged_or_swapped_file_is_named(self, folder, tmp_path, name, damage, says):
        copy = tmp_path / "copy"
        shutil.copytree(folder, copy)
        if damage is None:
            (copy / name).unlink()
        elif damage == "flip":
            content = bytearray((copy / name).read_bytes())
            content[len(content) // 2] ^= 1
            (copy / name).write_bytes(content)
        else:
            other = damage if isinstance(damage, bytes) else (copy / damage).read_bytes()
            (copy / name).write_bytes(other)
        with pytest.raises(ResultError, match=f"{re.escape(name)}: .*{says}"):
            list(load(copy))
        selfplay(copy, PLAN, GAMES)  # makes that shard again
        assert contents(copy) == contents(folder)

    def test_shards_of_another_data_set_are_not_taken(self, folder, tmp_path):
        other = tmp_path / "other"
        selfplay(other, replace(PLAN, seed=4), 8)
        for part in ("positions/00000.parquet", "games/00000.parquet", "manifest/00000.json"):
            shutil.copy(folder / part, other / part)
        with pytest.raises(ResultError, match=r"00000\.json: belongs to other data"):
            load(other)

    def test_pages_have_checksums(self, folder):
        """For readers that do not look at the manifest: pyarrow, pandas."""
        import pyarrow.parquet as pq

        path = folder / "positions" / "00000.parquet"
        column = pq.read_metadata(path).row_group(0).column(NAMES.index("hand"))
        content = bytearray(path.read_bytes())
        content[column.data_page_offset + column.total_compressed_size - 3] ^= 1
        with pytest.raises(OSError, match=r"(?i)crc"):
            pq.read_table(io.BytesIO(content), page_checksum_verification=True)

    def test_two_agents_of_one_name(self):
        agents = [NetworkPolicy(load_network(shipped(EAAI)), name="mine") for _ in range(2)]
        with pytest.raises(ValueError, match="two agents are called 'mine'"):
            plan_of(agents)

    def test_without_pyarrow_the_extra_is_named(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(RuntimeError, match=re.escape("pip install -e '.[data]'")):
            selfplay(tmp_path / "x", PLAN, GAMES)


class TestPage:
    def test_it_has_every_column_as_it_is(self):
        page = (ROOT / "docs" / "DATA.md").read_text(encoding="utf-8")
        for column in COLUMNS:
            assert f"| `{column.name}` | {column.dtype} | {column.who} | {column.text} |" in page

    def test_columns_of_the_view_are_the_views_fields(self):
        assert len({column.name for column in COLUMNS}) == len(COLUMNS)
        assert all(column.who == LATER for column in COLUMNS if column.name.startswith("result_"))
