"""The network: the same weights for every suit, as gin rummy is symmetric in the suits.

An observation is split into its four suits, each with its card planes, [4, C × 13]. Every layer
sees a suit and what all four have in common::

    convolved x_s = relu(A * x_s + B (x_1 + .. + x_4) + b)      optional
    first     h_s = relu(A x_s + B (x_1 + .. + x_4, scalars) + b)
    further   h_s = relu(A h_s + B mean(h_1 .. h_4) + b)
    cards     logits of discarding and knocking with each card of suit s = C h_s + c
    others    logits of draw, take, pass, big gin = from mean(h_1 .. h_4); the value likewise

So renaming suits in the observation renames the actions and changes nothing else: what is learned
for one order of the suits holds for all 24, and the layers are small. Runs lie within a suit; sets
are seen in the sum over the suits. A convolution does the same at each of the 13 ranks: A looks at
`WINDOW` ranks of the suit, B at the one rank of all suits, and the weights are those of every rank.

Torch stays on this side: `arrays_of` gives the weights as plain arrays, which `learned.policy`
plays.
"""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

from ginrummy_agents.learned.inputs import feature_sizes
from ginrummy_agents.learned.neighbours import WINDOW
from ginrummy_env.core.actions import NUM_ACTIONS
from ginrummy_env.core.cards import NUM_RANKS, NUM_SUITS

OTHER_ACTIONS = NUM_ACTIONS - 2 * NUM_SUITS * NUM_RANKS
"""Draw, take, pass, big gin."""


class SuitLayer(nn.Module):
    """One layer: from a suit's own numbers and from what the suits have in common."""

    def __init__(self, own: int, common: int, width: int) -> None:
        """Make a layer from ``own`` numbers per suit and ``common`` ones to ``width`` per suit."""
        super().__init__()
        self.own = nn.Linear(own, width, bias=False)
        self.common = nn.Linear(common, width)

    def forward(self, suits: torch.Tensor, common: torch.Tensor) -> torch.Tensor:
        """Return [N, 4, width] from [N, 4, own] and [N, common]."""
        return torch.relu(self.own(suits) + self.common(common)[:, None])


class SuitConvolution(nn.Module):
    """Filters over the planes: along the ranks of a suit, and across the suits at each rank."""

    def __init__(self, planes: int, filters: int) -> None:
        """Make a convolution from ``planes`` to ``filters`` planes."""
        super().__init__()
        reach = WINDOW // 2
        self.along = nn.Conv2d(planes, filters, (1, WINDOW), padding=(0, reach), bias=False)
        self.across = nn.Conv1d(planes, filters, 1)

    def forward(self, cards: torch.Tensor) -> torch.Tensor:
        """Return [N, filters, 4, 13] from [N, planes, 4, 13]."""
        return torch.relu(self.along(cards) + self.across(cards.sum(2))[:, :, None])


class SuitFeatures(BaseFeaturesExtractor):
    """The layers up to the last but one, [N, size] to [N, 4 × width]."""

    def __init__(
        self,
        observation_space: spaces.Box,
        derived: bool = True,
        ahead: bool = True,
        width: int = 64,
        layers: int = 2,
        convolutions: int = 0,
        filters: int = 32,
    ) -> None:
        """Make the layers.

        Args:
            observation_space: of `ginrummy_agents.learned.inputs.features`.
            derived, ahead: with which planes.
            width: numbers per suit in each layer.
            layers: how many, at least one.
            convolutions: how many come before these.
            filters: planes that each of them makes.
        """
        super().__init__(observation_space, NUM_SUITS * width)
        self.planes, scalars = feature_sizes(derived, ahead)
        self.cards = self.planes * NUM_SUITS * NUM_RANKS
        if observation_space.shape != (self.cards + scalars,):
            raise ValueError(
                f"observations of shape {observation_space.shape}, expected "
                f"({self.cards + scalars},) with derived={derived}, ahead={ahead}"
            )
        sizes = [self.planes, *[filters] * convolutions]
        self.convolutions = nn.ModuleList(
            [SuitConvolution(planes, filters) for planes in sizes[:-1]]
        )
        own = sizes[-1] * NUM_RANKS
        first = SuitLayer(own, own + scalars, width)
        self.layers = nn.ModuleList(
            [first, *(SuitLayer(width, width, width) for _ in range(layers - 1))]
        )

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the last layer's numbers, suit after suit."""
        count = len(observations)
        cards = observations[:, : self.cards].view(count, self.planes, NUM_SUITS, NUM_RANKS)
        for convolution in self.convolutions:
            cards = convolution(cards)
        suits = cards.transpose(1, 2).reshape(count, NUM_SUITS, -1)
        common = torch.cat([suits.sum(1), observations[:, self.cards :]], dim=1)
        for layer in self.layers:
            suits = layer(suits, common)
            common = suits.mean(1)
        return suits.flatten(1)


class SuitActions(nn.Module):
    """Logits of all actions from the last layer."""

    def __init__(self, width: int) -> None:
        """Make the heads."""
        super().__init__()
        self.card = nn.Linear(width, 2 * NUM_RANKS)
        self.pool = nn.Linear(width, width)
        self.other = nn.Linear(width, OTHER_ACTIONS)
        for head in (self.card, self.other):  # start with nearly equal logits
            nn.init.orthogonal_(head.weight, 0.01)
            nn.init.zeros_(head.bias)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return [N, 108] logits."""
        suits = features.view(len(features), NUM_SUITS, -1)
        cards = self.card(suits).view(-1, NUM_SUITS, 2, NUM_RANKS)
        others = self.other(torch.relu(self.pool(suits.mean(1))))
        return torch.cat([cards.transpose(1, 2).flatten(1), others], dim=1)


class SuitValue(nn.Module):
    """The value of a position from the last layer."""

    def __init__(self, width: int) -> None:
        """Make the head."""
        super().__init__()
        self.pool = nn.Linear(width, width)
        self.value = nn.Linear(width, 1)

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Return [N, 1]."""
        suits = features.view(len(features), NUM_SUITS, -1)
        return self.value(torch.relu(self.pool(suits.mean(1))))


class SuitPolicy(MaskableActorCriticPolicy):
    """MaskablePPO's policy with these layers."""

    def __init__(
        self,
        observation_space: spaces.Box,
        action_space: spaces.Discrete,
        lr_schedule: Schedule,
        derived: bool = True,
        ahead: bool = True,
        width: int = 64,
        layers: int = 2,
        convolutions: int = 0,
        filters: int = 32,
        **kwargs: Any,
    ) -> None:
        """Make the policy; the settings are those of `SuitFeatures`."""
        self.width = width
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch=[],
            ortho_init=False,
            features_extractor_class=SuitFeatures,
            features_extractor_kwargs={
                "derived": derived,
                "ahead": ahead,
                "width": width,
                "layers": layers,
                "convolutions": convolutions,
                "filters": filters,
            },
            **kwargs,
        )

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        self.action_net = SuitActions(self.width)
        self.value_net = SuitValue(self.width)  # type: ignore[assignment]
        self.new_optimizer(lr_schedule(1))

    def new_optimizer(self, learning_rate: float) -> None:
        """Replace the optimizer by one without gradient statistics."""
        self.optimizer = self.optimizer_class(
            self.parameters(),
            lr=learning_rate,  # type: ignore[call-arg]
            **self.optimizer_kwargs,
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        given = super()._get_constructor_parameters()
        for name in ("net_arch", "ortho_init", "features_extractor_class"):
            given.pop(name)
        given.update(given.pop("features_extractor_kwargs"))
        return given


def arrays_of(policy: SuitPolicy) -> dict[str, NDArray[np.float32]]:
    """Return the weights that choose actions, as `learned.policy` reads them: inputs first."""

    def plain(tensor: torch.Tensor) -> NDArray[np.float32]:
        return np.ascontiguousarray(tensor.detach().cpu().numpy().T.astype(np.float32))

    arrays: dict[str, NDArray[np.float32]] = {}
    extractor = policy.features_extractor
    assert isinstance(extractor, SuitFeatures)
    for number, convolution in enumerate(extractor.convolutions):
        assert isinstance(convolution, SuitConvolution)
        arrays[f"along{number}"] = plain(convolution.along.weight.flatten(1))
        arrays[f"across{number}"] = plain(convolution.across.weight.flatten(1))
        assert convolution.across.bias is not None
        arrays[f"across_bias{number}"] = plain(convolution.across.bias)
    for number, layer in enumerate(extractor.layers):
        assert isinstance(layer, SuitLayer)
        arrays[f"own{number}"] = plain(layer.own.weight)
        arrays[f"common{number}"] = plain(layer.common.weight)
        arrays[f"bias{number}"] = plain(layer.common.bias)
    for name in ("card", "pool", "other"):
        head = getattr(policy.action_net, name)
        arrays[name], arrays[f"{name}_bias"] = plain(head.weight), plain(head.bias)
    return arrays
