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

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import linear

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

NOT_LEGAL = -1e9
"""The logit of an action that is not legal."""


def by_suit(planes: Flat | NDArray[np.bool_], out: Flat | None = None) -> Flat:
    """Return card planes [N, C × 52] suit by suit, [N, 4, C × 13], in ``out`` or a new array."""
    count = len(planes)
    apart = planes.reshape(count, -1, NUM_SUITS, NUM_RANKS).transpose(0, 2, 1, 3)
    if out is None:
        out = np.empty((count, NUM_SUITS, planes.shape[1] // NUM_SUITS), dtype=np.float32)
    out.reshape(apart.shape)[:] = apart
    return out


def hidden_planes(
    state: BatchState, limits: NDArray[np.int16], deck: np.uint64 = FULL_DECK
) -> tuple[NDArray[np.bool_], Flat, NDArray[np.int16]]:
    """Return what the critic sees of those who wait.

    Args:
        state: of N games.
        limits: [N] the knock limit that each of them holds to.
        deck: the cards there are, a mask (`Rules.full_deck`).

    Returns:
        (planes [N, 3 × 52] bool, scalars [N, 2] float32, their deadwood [N] int16).
    """
    hands = state.hands[np.arange(len(state)), 1 - state.player]
    melded, deadwood = melded_cards(hands)
    planes = card_planes(np.stack([hands, melded, melding_cards(hands, deck)], axis=1))
    scalars = np.stack([np.minimum(deadwood / 10, 6), limits / 10], axis=1).astype(np.float32)
    return planes.reshape(len(state), -1), scalars, deadwood


def of_all_suits(cards: torch.Tensor, scalars: torch.Tensor) -> torch.Tensor:
    """Return what the first layers see of all suits together, [N, C × 13 + S]."""
    return torch.cat([cards.sum(1), scalars], dim=1)


class _Rectified(torch.autograd.Function):
    """What `rectified` does, in fewer passes over memory than its steps take one by one."""

    @staticmethod
    def forward(
        ctx: Any, own: torch.Tensor, common: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ctx.mark_dirty(own)
        ctx.set_materialize_grads(False)
        own.add_(common[:, None]).relu_()
        ctx.save_for_backward(own)
        return own, own.sum(1).mul_(1 / NUM_SUITS)

    @staticmethod
    def backward(
        ctx: Any, of_own: torch.Tensor | None, of_mean: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        (found,) = ctx.saved_tensors
        coming = torch.zeros(()) if of_own is None else of_own
        if of_mean is not None:
            coming = coming + of_mean[:, None] * (1 / NUM_SUITS)
        gradient = torch.ops.aten.threshold_backward(coming.expand_as(found), found, 0)
        return gradient, gradient.sum(1)


def rectified(own: torch.Tensor, common: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return relu(own + common), [N, 4, W], and its mean over the suits, [N, W].

    Args:
        own: [N, 4, W], of each suit; the result is written over it.
        common: [N, W], of all suits.
    """
    found: tuple[torch.Tensor, torch.Tensor] = _Rectified.apply(own, common)  # type: ignore[no-untyped-call]
    return found


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

    def forward(self, own: torch.Tensor, common: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the last layer's numbers, of each suit [N, 4, width] and their mean [N, width].

        Args:
            own: [N, 4, width], what the first layer makes of each suit; written over.
            common: [N, width], what it makes of all suits together.
        """
        suits, mean = rectified(own, common)
        for number in range(1, len(self.layers)):
            layer = self.layer(number)
            suits, mean = rectified(layer.own(suits), layer.common(mean))
        return suits, mean

    def layer(self, number: int) -> SuitLayer:
        """Return a layer, counted from 0."""
        layer = self.layers[number]
        assert isinstance(layer, SuitLayer)
        return layer


class Neighbours(nn.Module):
    """Logits of a card from what is around it; see above."""

    inside: torch.Tensor
    place: torch.Tensor
    same: torch.Tensor
    seen: torch.Tensor

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
        columns = torch.tensor(self.planes)[:, None] * NUM_RANKS + torch.arange(NUM_RANKS)
        self.register_buffer("seen", columns.flatten(), persistent=False)

    def forward(
        self, cards: torch.Tensor, common: torch.Tensor, suits: torch.Tensor
    ) -> torch.Tensor:
        """Return [N, 4, 2 × 13] logits.

        The layer is written out as matrices from a suit's planes to all of its cards: that is more
        to multiply, and much less to move about.

        Args:
            cards: planes [N, 4, C × 13].
            common: of `of_all_suits`.
            suits: the last layer's numbers, [N, 4, width].
        """
        filters = self.out.in_features
        by_plane = cards.view(len(cards), NUM_SUITS, -1, NUM_RANKS)
        around = by_plane.index_select(2, self.seen[::NUM_RANKS] // NUM_RANKS)
        along = (self.near[:, self.place] * self.inside[:, :, None]).flatten(2).flatten(0, 1)
        across = (self.rank[:, None, None] * self.same[:, :, None]).flatten(2).flatten(0, 1)
        context = self.context.weight.repeat(NUM_RANKS, 1)
        both = linear(around.flatten(2), along.T) + linear(suits, context)
        all_suits = common.index_select(1, self.seen) @ across
        all_suits = all_suits + self.context.bias.repeat(NUM_RANKS)
        hidden = rectified(both, all_suits)[0]
        out = torch.einsum("kf,rs->ksrf", self.out.weight, self.same)
        return linear(hidden, out.reshape(2 * NUM_RANKS, NUM_RANKS * filters))


class Actor(nn.Module):
    """The policy: logits of all actions."""

    def __init__(self, settings: SelfPlaySettings) -> None:
        """Make it with initial weights under which all legal actions are about equally likely."""
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

    def forward(self, cards: torch.Tensor, common: torch.Tensor) -> torch.Tensor:
        """Return [N, 108] logits from planes [N, 4, C × 13] and what is `of_all_suits`."""
        first = self.trunk.layer(0)
        suits, mean = self.trunk(first.own(cards), first.common(common))
        by_card = self.card(suits)
        if self.direct is not None:
            by_card = by_card + linear(cards, torch.kron(self.direct, torch.eye(NUM_RANKS)).T)
        if self.near is not None:
            by_card = by_card + self.near(cards, common, suits)
        others = self.other(torch.relu(self.pool(mean)))
        ordered = by_card.view(len(cards), NUM_SUITS, 2, NUM_RANKS).transpose(1, 2).flatten(1)
        return torch.cat([ordered, others], dim=1)


class Critic(nn.Module):
    """The value of a position to the player to move, in units of the reward."""

    def __init__(self, settings: SelfPlaySettings) -> None:
        """Make it with initial weights whose values are nearly 0."""
        super().__init__()
        planes, scalars = feature_sizes(
            settings.derived, settings.ahead, settings.units, settings.advice
        )
        self.planes = planes
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
        common: torch.Tensor,
        hidden_cards: torch.Tensor,
        hidden_common: torch.Tensor,
    ) -> torch.Tensor:
        """Return [N] values from what the policy sees, and the same of `hidden_planes`."""
        first = self.trunk.layer(0)
        own, shared = first.own.weight, first.common.weight
        if self.oracle:  # its planes come before all scalars
            seen, hidden = self.planes * NUM_RANKS, HIDDEN_PLANES * NUM_RANKS
            sizes = [seen, hidden, common.shape[1] - seen, HIDDEN_SCALARS]
            parts = torch.split(shared, sizes, dim=1)
            shared, of_hidden = torch.cat(parts[::2], dim=1), torch.cat(parts[1::2], dim=1)
            of_suit = linear(cards, own[:, :seen]) + linear(hidden_cards, own[:, seen:])
            of_all = linear(common, shared, first.common.bias)
            of_all = of_all + linear(hidden_common, of_hidden)
        else:
            of_suit, of_all = linear(cards, own), linear(common, shared, first.common.bias)
        _, mean = self.trunk(of_suit, of_all)
        return self.value(torch.relu(self.pool(mean)))[:, 0]


class _Chosen(torch.autograd.Function):
    """What `chosen` does, and its gradient in closed form: few passes over all actions."""

    @staticmethod
    def forward(
        ctx: Any, logits: torch.Tensor, legal: torch.Tensor, actions: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        masked = torch.where(legal, logits, NOT_LEGAL)
        logs, chances = masked.log_softmax(1), masked.softmax(1)
        entropy = -torch.linalg.vecdot(chances, logs)
        ctx.save_for_backward(logs, chances, actions, entropy)
        return logs.gather(1, actions[:, None])[:, 0], entropy

    @staticmethod
    def backward(
        ctx: Any, of_log: torch.Tensor, of_entropy: torch.Tensor
    ) -> tuple[torch.Tensor, None, None]:
        logs, chances, actions, entropy = ctx.saved_tensors
        gradient = logs + entropy[:, None]
        gradient.mul_(-of_entropy[:, None]).sub_(of_log[:, None]).mul_(chances)
        return gradient.scatter_add_(1, actions[:, None], of_log[:, None]), None, None


def chosen(
    logits: torch.Tensor, legal: torch.Tensor, actions: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the logarithms of the chances that actions have, [N], and the entropy of each choice.

    Args:
        logits: [N, 108].
        legal: [N, 108] bool; what is not legal has no chance.
        actions: [N] of them.
    """
    found: tuple[torch.Tensor, torch.Tensor] = _Chosen.apply(logits, legal, actions)  # type: ignore[no-untyped-call]
    return found


def actor_arrays(actor: Actor) -> dict[str, Flat]:
    """Return the policy's weights as `ginrummy_agents.learned.policy` reads them: inputs first."""

    def plain(tensor: torch.Tensor) -> Flat:
        return np.ascontiguousarray(tensor.detach().numpy().astype(np.float32))

    arrays: dict[str, Flat] = {}
    for number in range(len(actor.trunk.layers)):
        layer = actor.trunk.layer(number)
        arrays[f"own{number}"] = plain(layer.own.weight.T)
        arrays[f"common{number}"] = plain(layer.common.weight.T)
        arrays[f"bias{number}"] = plain(layer.common.bias)
    for name in ("card", "pool", "other"):
        head = getattr(actor, name)
        arrays[name], arrays[f"{name}_bias"] = plain(head.weight.T), plain(head.bias)
    if actor.direct is not None:
        arrays["direct"] = plain(actor.direct)
    if actor.near is not None:
        near_layer = actor.near
        planes = actor.trunk.layer(0).own.in_features // NUM_RANKS
        filters = near_layer.out.in_features
        near = np.zeros((planes, WINDOW, filters), dtype=np.float32)
        rank = np.zeros((planes, filters), dtype=np.float32)
        near[near_layer.planes], rank[near_layer.planes] = (
            plain(near_layer.near),
            plain(near_layer.rank),
        )
        arrays["near"], arrays["near_rank"] = near.reshape(-1, filters), rank
        arrays["near_bias"] = plain(near_layer.context.bias)
        arrays["near_context"] = plain(near_layer.context.weight.T)
        arrays["near_out"] = plain(near_layer.out.weight.T)
    return arrays


def load_arrays(actor: Actor, arrays: dict[str, Flat]) -> None:
    """Give a policy the weights of a file: the inverse of `actor_arrays`."""

    def take(parameter: torch.Tensor, name: str) -> None:
        found = arrays[name] if parameter.dim() == 1 or name == "direct" else arrays[name].T
        parameter.copy_(torch.from_numpy(np.array(found)))

    with torch.no_grad():
        for number in range(len(actor.trunk.layers)):
            layer = actor.trunk.layer(number)
            take(layer.own.weight, f"own{number}")
            take(layer.common.weight, f"common{number}")
            take(layer.common.bias, f"bias{number}")
        for name in ("card", "pool", "other"):
            take(getattr(actor, name).weight, name)
            take(getattr(actor, name).bias, f"{name}_bias")
        if actor.direct is not None:
            take(actor.direct, "direct")
        if actor.near is not None:
            near_layer, planes = actor.near, actor.near.planes
            near = arrays["near"].reshape(-1, WINDOW, len(arrays["near_bias"]))
            near_layer.near.copy_(torch.from_numpy(near[planes]))
            near_layer.rank.copy_(torch.from_numpy(arrays["near_rank"][planes]))
            take(near_layer.context.weight, "near_context")
            take(near_layer.context.bias, "near_bias")
            take(near_layer.out.weight, "near_out")
