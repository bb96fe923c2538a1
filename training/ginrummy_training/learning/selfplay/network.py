"""The networks of the self-play learner: a policy that sees what a player sees, and its critic.

The policy is the suit network of `network`, with two ways to look at a card that are the same for
all 52 and so learned from all of them at once::

    direct      logit of a card = D · (the planes at the card)
    near        n = relu(A · (planes at the ranks around it) + B · (planes of its rank in all
                suits) + C h_s + b);  logit of a card = O n

The critic may see the opponent's hand too: it only says how good a position was, so nothing hidden
gets into the policy, and what luck has done is separated from what the player has.

Observations lie here suit by suit, [N, 4, C × 13] and scalars [N, S]: no layer has to turn them.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ginrummy_agents.learned.inputs import feature_sizes
from ginrummy_agents.learned.neighbours import WINDOW
from ginrummy_agents.learned.scaling import NEAR, plane_numbers
from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.cards import FULL_DECK, NUM_RANKS, NUM_SUITS, card_planes
from ginrummy_env.core.deadwood import melded_cards
from ginrummy_env.core.melds import melding_cards
from ginrummy_env.core.state import BatchState
from ginrummy_env.core.types import Flat
from ginrummy_training.learning.network import SuitLayer
from ginrummy_training.learning.selfplay.settings import SelfPlaySettings

OTHER_ACTIONS = NUM_ACTIONS - 2 * NUM_SUITS * NUM_RANKS
HIDDEN_PLANES, HIDDEN_SCALARS = 3, 2
"""What the critic sees of the opponent: hand, melded cards, cards that meld; deadwood / 10, the
knock limit that they hold to / 10."""


def by_suit(planes: Flat) -> Flat:
    """Return card planes [N, C × 52] suit by suit, [N, 4, C × 13], a new array."""
    count = len(planes)
    apart = planes.reshape(count, -1, NUM_SUITS, NUM_RANKS).transpose(0, 2, 1, 3)
    return apart.reshape(count, NUM_SUITS, -1)


def hidden_planes(
    state: BatchState, limits: NDArray[np.int16], deck: np.uint64 = FULL_DECK
) -> tuple[Flat, Flat, NDArray[np.int16]]:
    """Return what the critic sees of those who wait.

    Args:
        state: of N games.
        limits: [N] the knock limit that each of them holds to.
        deck: the cards there are, a mask (`Rules.full_deck`).

    Returns:
        (planes [N, 4, 3 × 13] float32, scalars [N, 2] float32, their deadwood [N] int16).
    """
    hands = state.hands[np.arange(len(state)), 1 - state.player]
    melded, deadwood = melded_cards(hands)
    planes = card_planes(np.stack([hands, melded, melding_cards(hands, deck)], axis=1))
    scalars = np.stack([np.minimum(deadwood / 10, 6), limits / 10], axis=1).astype(np.float32)
    return by_suit(planes.reshape(len(state), -1).astype(np.float32)), scalars, deadwood


class Trunk(nn.Module):
    """The layers that all suits share, as in `network.SuitFeatures`."""

    def __init__(self, planes: int, scalars: int, width: int, layers: int) -> None:
        """Make the layers."""
        super().__init__()
        own = planes * NUM_RANKS
        first = SuitLayer(own, own + scalars, width)
        self.layers = nn.ModuleList(
            [first, *(SuitLayer(width, width, width) for _ in range(layers - 1))]
        )

    def forward(
        self, cards: torch.Tensor, scalars: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the last layer's numbers, of each suit [N, 4, width] and their mean [N, width]."""
        common = torch.cat([cards.sum(1), scalars], dim=1)
        for layer in self.layers:
            cards = layer(cards, common)
            common = cards.mean(1)
        return cards, common


class Neighbours(nn.Module):
    """Logits of a card from what is around it; see above."""

    inside: torch.Tensor
    place: torch.Tensor
    same: torch.Tensor

    def __init__(self, width: int, filters: int) -> None:
        """Make the layer."""
        super().__init__()
        self.planes = plane_numbers(NEAR)
        count = len(self.planes)
        self.near = nn.Parameter(torch.randn(count, WINDOW, filters) / (count * WINDOW) ** 0.5)
        self.rank = nn.Parameter(torch.randn(count, filters) / count**0.5)
        self.context = nn.Linear(width, filters)
        self.out = nn.Linear(filters, 2, bias=False)
        nn.init.orthogonal_(self.out.weight, 0.01)
        # Where a suit's 13 ranks lie in the window around each of its cards.
        place = torch.arange(NUM_RANKS)[:, None] - torch.arange(NUM_RANKS) + WINDOW // 2
        self.register_buffer("inside", ((place >= 0) & (place < WINDOW)).float())
        self.register_buffer("place", place.clamp(0, WINDOW - 1))
        self.register_buffer("same", torch.eye(NUM_RANKS))

    def forward(self, cards: torch.Tensor, suits: torch.Tensor) -> torch.Tensor:
        """Return [N, 4, 13, 2] from planes [N, 4, C × 13] and the last layer's [N, 4, width]."""
        count, inputs = len(cards), len(self.planes) * NUM_RANKS
        seen = cards.view(count, NUM_SUITS, -1, NUM_RANKS)[:, :, self.planes]
        seen = seen.reshape(count, NUM_SUITS, inputs)
        along = (self.near[:, self.place] * self.inside[:, :, None]).reshape(inputs, -1)
        across = (self.rank[:, None, None] * self.same[:, :, None]).reshape(inputs, -1)
        hidden = (seen @ along).view(count, NUM_SUITS, NUM_RANKS, -1)
        hidden = hidden + (seen.sum(1) @ across).view(count, 1, NUM_RANKS, -1)
        return self.out(torch.relu(hidden + self.context(suits)[:, :, None]))


class Actor(nn.Module):
    """The policy: logits of all actions."""

    def __init__(self, settings: SelfPlaySettings) -> None:
        """Make it with first weights: close to any legal action alike."""
        super().__init__()
        width = settings.width
        planes, scalars = feature_sizes(
            settings.derived, settings.ahead, settings.units, settings.advice
        )
        self.trunk = Trunk(planes, scalars, width, settings.layers)
        self.card = nn.Linear(width, 2 * NUM_RANKS)
        self.pool = nn.Linear(width, width)
        self.other = nn.Linear(width, OTHER_ACTIONS)
        for head in (self.card, self.other):
            nn.init.orthogonal_(head.weight, 0.01)
            nn.init.zeros_(head.bias)
        self.direct = nn.Parameter(torch.zeros(planes, 2)) if settings.direct else None
        self.near = Neighbours(width, settings.near) if settings.near else None

    def forward(self, cards: torch.Tensor, scalars: torch.Tensor) -> torch.Tensor:
        """Return [N, 108] logits from planes [N, 4, C × 13] and scalars [N, S]."""
        count = len(cards)
        suits, common = self.trunk(cards, scalars)
        by_card = self.card(suits).view(count, NUM_SUITS, 2, NUM_RANKS)
        if self.direct is not None:
            spread = torch.kron(self.direct, torch.eye(NUM_RANKS))
            by_card = by_card + (cards @ spread).view(by_card.shape)
        if self.near is not None:
            by_card = by_card + self.near(cards, suits).transpose(2, 3)
        others = self.other(torch.relu(self.pool(common)))
        return torch.cat([by_card.transpose(1, 2).reshape(count, -1), others], dim=1)


class Critic(nn.Module):
    """The value of a position to the player to move, in units of the reward."""

    def __init__(self, settings: SelfPlaySettings) -> None:
        """Make it with first weights that say nearly 0."""
        super().__init__()
        planes, scalars = feature_sizes(
            settings.derived, settings.ahead, settings.units, settings.advice
        )
        if settings.oracle:
            planes, scalars = planes + HIDDEN_PLANES, scalars + HIDDEN_SCALARS
        self.oracle = settings.oracle
        self.trunk = Trunk(planes, scalars, settings.critic_width, settings.layers)
        self.pool = nn.Linear(settings.critic_width, settings.critic_width)
        self.value = nn.Linear(settings.critic_width, 1)
        nn.init.orthogonal_(self.value.weight, 0.1)
        nn.init.zeros_(self.value.bias)

    def forward(
        self,
        cards: torch.Tensor,
        scalars: torch.Tensor,
        hidden_cards: torch.Tensor,
        hidden_scalars: torch.Tensor,
    ) -> torch.Tensor:
        """Return [N] values; the last two are of `hidden_planes`."""
        if self.oracle:
            cards = torch.cat([cards, hidden_cards], dim=2)
            scalars = torch.cat([scalars, hidden_scalars], dim=1)
        _, common = self.trunk(cards, scalars)
        return self.value(torch.relu(self.pool(common)))[:, 0]


def actor_arrays(actor: Actor) -> dict[str, Flat]:
    """Return the policy's weights as `ginrummy_agents.learned.policy` reads them: inputs first."""

    def plain(tensor: torch.Tensor) -> Flat:
        return np.ascontiguousarray(tensor.detach().numpy().astype(np.float32))

    arrays: dict[str, Flat] = {}
    for number, layer in enumerate(actor.trunk.layers):
        assert isinstance(layer, SuitLayer)
        arrays[f"own{number}"] = plain(layer.own.weight.T)
        arrays[f"common{number}"] = plain(layer.common.weight.T)
        arrays[f"bias{number}"] = plain(layer.common.bias)
    for name in ("card", "pool", "other"):
        head = getattr(actor, name)
        arrays[name], arrays[f"{name}_bias"] = plain(head.weight.T), plain(head.bias)
    if actor.direct is not None:
        arrays["direct"] = plain(actor.direct)
    if actor.near is not None:
        layer = actor.near
        planes = actor.trunk.layers[0].own.in_features // NUM_RANKS  # type: ignore[union-attr,operator]
        filters = layer.out.in_features
        near = np.zeros((planes, WINDOW, filters), dtype=np.float32)
        rank = np.zeros((planes, filters), dtype=np.float32)
        near[layer.planes], rank[layer.planes] = plain(layer.near), plain(layer.rank)
        arrays["near"], arrays["near_rank"] = near.reshape(-1, filters), rank
        arrays["near_bias"] = plain(layer.context.bias)
        arrays["near_context"] = plain(layer.context.weight.T)
        arrays["near_out"] = plain(layer.out.weight.T)
    return arrays


def load_arrays(actor: Actor, arrays: dict[str, Flat]) -> None:
    """Give a policy the weights of a file: the inverse of `actor_arrays`."""

    def take(parameter: torch.Tensor, name: str) -> None:
        found = arrays[name] if parameter.dim() == 1 or name == "direct" else arrays[name].T
        parameter.copy_(torch.from_numpy(np.array(found)))

    with torch.no_grad():
        for number, layer in enumerate(actor.trunk.layers):
            assert isinstance(layer, SuitLayer)
            take(layer.own.weight, f"own{number}")
            take(layer.common.weight, f"common{number}")
            take(layer.common.bias, f"bias{number}")
        for name in ("card", "pool", "other"):
            take(getattr(actor, name).weight, name)
            take(getattr(actor, name).bias, f"{name}_bias")
        if actor.direct is not None:
            take(actor.direct, "direct")
        if actor.near is not None:
            layer, planes = actor.near, actor.near.planes
            near = arrays["near"].reshape(-1, WINDOW, len(arrays["near_bias"]))
            layer.near.copy_(torch.from_numpy(near[planes]))
            layer.rank.copy_(torch.from_numpy(arrays["near_rank"][planes]))
            take(layer.context.weight, "near_context")
            take(layer.context.bias, "near_bias")
            take(layer.out.weight, "near_out")
