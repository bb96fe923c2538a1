"""Programs in data sets: they play whole games, or are refused with a reason."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ginrummy_agents.external import ExternalPolicy
from ginrummy_env.core.rules import EAAI
from ginrummy_training.dataset.generate import make_shard, plan_of

BOT = Path(__file__).parents[1] / "helpers" / "arena_bot.py"
SHORT = replace(EAAI, target=20)


def bot(*arguments, **options):
    policy = ExternalPolicy([sys.executable, "-I", str(BOT), *arguments], **options)
    policy.name = "bot"
    return policy


@pytest.mark.parametrize("values", [True, False])
def test_a_program_follows_whole_games_also_where_values_are_asked_for(values):
    with bot("none") as policy:
        plan = plan_of([policy, "simple"], rules=SHORT, shard_games=4, values=values)
        shard = make_shard(plan, 0, 4)
        assert policy._games == 4
        assert not policy._session.games
    assert shard.num_games == 4


def test_a_forfeit_is_an_error_since_data_need_whole_games():
    with bot("illegal", "5") as policy:
        plan = plan_of([policy, "simple"], rules=SHORT, shard_games=4)
        with pytest.raises(ValueError, match=r"whole games: answered .* not legal"):
            make_shard(plan, 0, 4)


def test_own_melds_are_refused():
    with pytest.raises(ValueError, match="leave out melds=own"):
        plan_of([bot("none", own_melds=True), "simple"], rules=SHORT)
