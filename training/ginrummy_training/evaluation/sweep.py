"""Settings of an agent compared on the same decks."""

from ginrummy_training.evaluation.match import play_match
from ginrummy_training.evaluation.match_summary import summarise

HEAD = ("agent", "against", "rules", "games", "seed", "games_won", "low", "high", "deals_won")


def sweep(
    agents: list[str], against: str, rules: str, games: int, seed: int, workers: int = 1
) -> list[tuple[str | int | float, ...]]:
    """Return a row for each agent: its share of games won, with the interval, and of deals.

    All play the same decks, so their differences are less noisy than their intervals say.

    Args:
        agents: specifications such as "champion:weight=14".
        against: the one opponent.
        rules: a preset's name.
        games: games of each, an even number.
        seed: of decks and agents; confirm the best of a sweep on another.
        workers: processes; they change the speed, never a game.
    """
    rows: list[tuple[str | int | float, ...]] = []
    for agent in agents:
        result = play_match(agent, against, games=games, seed=seed, rules=rules, workers=workers)
        summary = summarise(result)
        won = summary["games_won"]["a"]
        low, high, deals = won["low"], won["high"], summary["deals_won"]["a"]["value"]
        shares = (round(share, 5) for share in (won["value"], low, high, deals))
        rows.append((agent, against, rules, games, seed, *shares))
        print(f"{agent:40s} {won['value']:7.2%} ({low:.2%} to {high:.2%})", flush=True)
    return rows
