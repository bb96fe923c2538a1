"""Where agents change from one manner of play to another."""

from ginrummy_env.core.rules import CLASSIC, EAAI, Rules

_BETWEEN = (CLASSIC.undercut_bonus + EAAI.undercut_bonus) / 2


def plays_like_eaai(rules: Rules) -> bool:
    """Return whether an agent with one way of play for EAAI and one for CLASSIC plays as in EAAI.

    The undercut bonus decides, as it makes an early knock dangerous and waiting for gin pay: EAAI
    from halfway between the two presets on.

    >>> [plays_like_eaai(Rules(undercut_bonus=bonus)) for bonus in (10, 17, 18, 25)]
    [False, False, True, True]
    """
    return rules.undercut_bonus > _BETWEEN
