"""The 110 actions of PettingZoo's and RLCard's gin rummy, and what to say of an illegal one."""

from ginrummy_env.core.cards import NUM_CARDS, format_card

SCORE_0 = 0
"""Count player 0's hand: a step without a choice after a deal has ended, as the next."""
SCORE_1 = 1
DRAW_CARD = 2
PICK_UP_DISCARD = 3
DECLARE_DEAD = 4
GIN = 5
DISCARD = 6
"""Actions 6..57 discard card ``action - DISCARD``."""
KNOCK = DISCARD + NUM_CARDS
"""Actions 58..109 knock, discarding card ``action - KNOCK``."""
NUM_OLD_ACTIONS = KNOCK + NUM_CARDS

_WORDS = ("score 0", "score 1", "draw", "pick up", "declare dead", "gin")


class IllegalOldActionError(ValueError):
    """An action that is not legal. Nothing has been changed.

    Attributes:
        action: the action's number.
        legal: the numbers of the actions that were legal.
    """

    def __init__(self, action: object, legal: list[int]) -> None:
        """Say which action it was and which were legal."""
        self.action, self.legal = action, legal
        words = ", ".join(f"{each} ({format_old_action(each)})" for each in legal)
        super().__init__(f"action {action} is not legal; legal: {words}")

    def __reduce__(self) -> tuple[type, tuple[object, list[int]]]:
        """Pickle by the arguments, as worker processes need."""
        return type(self), (self.action, self.legal)


def format_old_action(action: int) -> str:
    """Return one of the 110 actions in words.

    >>> [format_old_action(action) for action in (2, 5, 6, 109)]
    ['draw', 'gin', 'discard As', 'knock Kc']
    """
    if not 0 <= action < NUM_OLD_ACTIONS:
        raise ValueError(f"{action} is not an action: actions are 0..{NUM_OLD_ACTIONS - 1}")
    if action < DISCARD:
        return _WORDS[action]
    if action < KNOCK:
        return f"discard {format_card(action - DISCARD)}"
    return f"knock {format_card(action - KNOCK)}"
