"""Records of games as text, for people to read and for the engine to check.

::

    ginrummy record 1
    rules classic
    game 750 of seed 5
    player 0: heuristic
    player 1: search:128

    deal 0: dealer 1
    hand 0: 8s Ah 8h Ad 3d 7d Td 2c 5c 8c
    hand 1: As 3h 4d 5d 6d 8d 9d Tc Jc Qc
    upcard Qd
    stock by seed
    0 pass / 1 pass
    0 draw 6s discard Td / 1 take Td knock 3h
      values 4: draw 0.5, take -0.25
      intervals 4: draw 0.0, take 0.125
      note 5: nothing safe to throw
      estimate 5: 9s 0.5, Kd 0.25
    end knock: knocker 1, winner 1
    melds 1: 4d 5d 6d, 8d 9d Td, Tc Jc Qc; deadwood 1: As
    melds 0: 8s 8h 8c; layoffs 3d 7d on 4d 5d 6d; deadwood 15: 6s Ah Ad 2c 5c
    points 0 14; scores 0 14; won 0 1

    unfinished
    check 9b5e4018

- ``rules``: a preset's name, or ``setting=value, ...`` for what differs from CLASSIC.
- ``game`` and ``player`` lines may be missing, and so may ``start scores 20 35; won 1 2``, which a
  record that begins in the middle of a game has.
- ``stock``: by the seed, or its cards (31), the next one first; the hands then hold their cards in
  the order in which they were dealt.
- Turns: the card after ``draw`` or ``take`` is the one that came.
- ``values``, ``intervals``, ``note`` and ``estimate``: remarks on an action of the deal, counted
  from 0. Intervals are of the differences from the first action there: half their width, 95 %. The
  estimate says how likely cards are in the hand of the opponent of the player who acts.
- What follows ``end`` is what the engine makes of the actions; reading compares the words.
- A game ends with ``final scores 284 70; winner 0``; one that is not over with ``unfinished``.
- ``check``: CRC-32 of the lines above it. It finds what replaying cannot, such as a changed bonus
  that nobody earned. A record written by hand may leave it out.

Lines that begin with # and blank lines count for nothing, and white space is as good as one space.
"""

import zlib
from collections.abc import Iterable, Iterator

import numpy as np

from ginrummy_env.core.actions import DRAW_STOCK, TAKE_UPCARD, format_action
from ginrummy_env.core.cards import NUM_CARDS, format_card
from ginrummy_env.core.deal import decks
from ginrummy_env.core.rules import Rules, rules_name
from ginrummy_env.core.settlement import DealEnd
from ginrummy_env.core.state import NOBODY
from ginrummy_env.records.data import (
    Annotation,
    Cards,
    DealRecord,
    GameRecord,
    RecordError,
)

HEADER = "ginrummy record 1"


def write_game(record: GameRecord) -> str:
    """Return a record as text, which `parse_games` turns into the same record.

    Args:
        record: one that the rules allow: whether they do is not looked at here.

    Raises:
        RecordError: more cards are drawn than there are.
    """
    lines = [HEADER, f"rules {rules_name(record.rules)}"]
    if record.seed is not None:
        lines.append(f"game {record.game_number} of seed {record.seed}")
    lines += [f"player {player}: {name}" for player, name in enumerate(record.players or ())]
    if any(record.start_scores + record.start_deals_won):
        lines.append(
            f"start scores {_pair(record.start_scores)}; won {_pair(record.start_deals_won)}"
        )
    for deal in record.deals:
        lines += ["", *_deal_lines(deal, record)]
    lines += ["", ending_line(record)]
    lines.append(f"check {checksum(lines):08x}")
    return "\n".join(lines) + "\n"


def _deal_lines(deal: DealRecord, record: GameRecord) -> Iterator[str]:
    in_hands = 2 * record.rules.hand_size
    hands = [deal.deck[0:in_hands:2], deal.deck[1:in_hands:2]]
    if deal.dealer == 0:
        hands.reverse()
    by_seed = deal.deck == seed_deck(record.rules, record.seed, record.game_number, deal.number)
    if by_seed:
        hands = [tuple(sorted(hand)) for hand in hands]
    yield f"deal {deal.number}: dealer {deal.dealer}"
    yield from (f"hand {player}: {_cards(hand)}" for player, hand in enumerate(hands))
    yield f"upcard {format_card(deal.deck[in_hands])}"
    yield f"stock {'by seed' if by_seed else _cards(deal.deck[in_hands + 1 :])}"
    yield from _action_lines(deal, in_hands)
    if deal.end is not None:
        yield from end_lines(deal.end)


def _action_lines(deal: DealRecord, in_hands: int) -> Iterator[str]:
    """Yield two turns a line, and behind them what is remarked on their actions."""
    turns = list(_turns(deal, in_hands))
    remarks = list(deal.annotations)
    for place in range(0, len(turns), 2):
        pair = turns[place : place + 2]
        yield " / ".join(text for _, text in pair)
        while remarks and remarks[0].step < pair[-1][0]:
            yield from _annotation_lines(remarks.pop(0))


def _turns(deal: DealRecord, in_hands: int) -> Iterator[tuple[int, str]]:
    """Yield the turns as text, each with the number of actions up to its end.

    Args:
        deal: a deal.
        in_hands: how many cards of its deck are dealt to the players.
    """
    player = 1 - deal.dealer
    pile, stock = [deal.deck[in_hands]], list(reversed(deal.deck[in_hands + 1 :]))
    words = [str(player)]
    for step, action in enumerate(deal.actions):
        words.append(format_action(action))
        if action in (DRAW_STOCK, TAKE_UPCARD):
            source = stock if action == DRAW_STOCK else pile
            if not source:
                raise RecordError(
                    f"deal {deal.number}, action {step}: no card is left to {words[-1]}"
                )
            words.append(format_card(source.pop()))
            continue
        if action < DRAW_STOCK:
            pile.append(action % NUM_CARDS)
        yield step + 1, " ".join(words)
        player = 1 - player
        words = [str(player)]
    if len(words) > 1:
        yield len(deal.actions), " ".join(words)


def _annotation_lines(annotation: Annotation) -> Iterator[str]:
    if annotation.values:
        pairs = (f"{format_action(action)} {value!r}" for action, value in annotation.values)
        yield f"  values {annotation.step}: {', '.join(pairs)}"
    if annotation.intervals:
        halves = (f"{format_action(action)} {half!r}" for action, half in annotation.intervals)
        yield f"  intervals {annotation.step}: {', '.join(halves)}"
    if annotation.note:
        yield f"  note {annotation.step}: {annotation.note}"
    if annotation.estimate:
        shares = (f"{format_card(card)} {share!r}" for card, share in annotation.estimate)
        yield f"  estimate {annotation.step}: {', '.join(shares)}"


def end_lines(end: DealEnd) -> list[str]:
    """Return how a deal ended, as the lines of its record."""
    outcome = end.outcome.name.lower().replace("_", " ")
    winner = "none" if end.winner == NOBODY else end.winner
    if end.knocker == NOBODY:
        lines = [f"end {outcome}: {end.void_reason}"]
    else:
        lines = [f"end {outcome}: knocker {end.knocker}, winner {winner}"]
        lines += [_laid_line(end, player) for player in (end.knocker, 1 - end.knocker)]
    points = [end.points if player == end.winner else 0 for player in (0, 1)]
    lines.append(f"points {_pair(points)}; scores {_pair(end.scores)}; won {_pair(end.deals_won)}")
    return lines


def _laid_line(end: DealEnd, player: int) -> str:
    parts = [f"melds {player}: {', '.join(map(_cards, end.melds[player])) or 'none'}"]
    if player != end.knocker and any(end.layoffs):
        laid = zip(end.layoffs, end.melds[end.knocker], strict=True)
        pairs = (f"{_cards(cards)} on {_cards(meld)}" for cards, meld in laid if cards)
        parts.append(f"layoffs {', '.join(pairs)}")
    left = end.deadwood_cards[player]
    parts.append(f"deadwood {end.deadwood[player]}" + (f": {_cards(left)}" if left else ""))
    return "; ".join(parts)


def ending_line(record: GameRecord) -> str:
    """Return the line that ends a game."""
    final = record.final_scores
    if final is None:
        return "unfinished"
    return f"final scores {_pair(final)}; winner {record.winner}"


def _cards(cards: Iterable[int]) -> str:
    return " ".join(map(format_card, cards))


def _pair(pair: Iterable[int]) -> str:
    return " ".join(map(str, pair))


def checksum(lines: Iterable[str]) -> int:
    """Return the CRC-32 of the lines that count."""
    words = (" ".join(line.split()) + "\n" for line in lines if line.strip())
    return zlib.crc32("".join(words).encode())


def seed_deck(
    rules: Rules, seed: int | None, game_number: int | None, deal_number: int
) -> Cards | None:
    """Return the deck that chance deals, or None if there is no seed."""
    if seed is None or game_number is None:
        return None
    # uint64 arrays: NumPy reads plain numbers from 2**63 on as another type.
    return tuple(decks(np.uint64(seed), np.uint64(game_number), deal_number, rules)[0].tolist())
