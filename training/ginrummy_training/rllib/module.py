"""The learned agent's network as RLlib's module, legal actions only."""

from typing import Any

import torch
from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.utils.torch_utils import FLOAT_MIN

import ginrummy_env
from ginrummy_agents.learned.policy import Network
from ginrummy_training.learning.network import SuitActions, SuitFeatures, SuitValue, arrays_of
from ginrummy_training.learning.warm_start import parameters_of, shape_of
from ginrummy_training.rllib.env import MASK, OBSERVATIONS

SHAPE: dict[str, Any] = {
    "derived": True,
    "ahead": True,
    "width": 64,
    "layers": 2,
    "convolutions": 0,
    "filters": 32,
}
"""Settings of ``model_config``: those of `learning.network.SuitFeatures`."""


class SuitModule(TorchRLModule, ValueFunctionAPI):  # type: ignore[misc]
    """The layers of `ginrummy_training.learning.network`, for PPO.

    An illegal action gets the lowest possible logit: it is never sampled, and does not affect the
    gradient of the legal ones.
    """

    def setup(self) -> None:
        """Make the layers; RLlib calls it."""
        # RLlib adds settings of its own, for modules that it builds itself.
        self.shape = {name: self.model_config.get(name, usual) for name, usual in SHAPE.items()}
        space = self.observation_space
        if not isinstance(space, spaces.Dict) or set(space.spaces) != {OBSERVATIONS, MASK}:
            raise ValueError(f"observations {space}: a Dict of {OBSERVATIONS} and {MASK} is needed")
        box = space[OBSERVATIONS]
        assert isinstance(box, spaces.Box)
        self.features_extractor = SuitFeatures(box, **self.shape)
        self.action_net = SuitActions(self.shape["width"])
        self.value_net = SuitValue(self.shape["width"])

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, torch.Tensor]:
        """Return logits, for play with or without exploration."""
        features = self.features_extractor(batch[Columns.OBS][OBSERVATIONS])
        return {Columns.ACTION_DIST_INPUTS: self._masked(batch, features)}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, torch.Tensor]:
        """Return logits and the last layer, which the value reads too."""
        features = self.features_extractor(batch[Columns.OBS][OBSERVATIONS])
        return {
            Columns.ACTION_DIST_INPUTS: self._masked(batch, features),
            Columns.EMBEDDINGS: features,
        }

    def compute_values(
        self, batch: dict[str, Any], embeddings: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Return the value of each position, [N]."""
        if embeddings is None:
            embeddings = self.features_extractor(batch[Columns.OBS][OBSERVATIONS])
        values: torch.Tensor = self.value_net(embeddings).squeeze(-1)
        return values

    def _masked(self, batch: dict[str, Any], features: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.action_net(features)
        return logits.masked_fill(batch[Columns.OBS][MASK] < 0.5, FLOAT_MIN)

    def network(self, about: dict[str, Any] | None = None) -> Network:
        """Return the policy as `ginrummy_agents.learned.policy` plays it.

        Args:
            about: further entries of its file's description.
        """
        described = {
            "derived": self.shape["derived"],
            "ahead": self.shape["ahead"],
            "ginrummy_env": ginrummy_env.__version__,
            **(about or {}),
        }
        return Network(arrays_of(self), described)

    def take(self, network: Network) -> None:
        """Load a policy's weights; the value head is left unchanged.

        Raises:
            ValueError: layers of another shape, or other planes.
        """
        if shape_of(network) != self.shape:
            raise ValueError(f"a policy of shape {shape_of(network)}, expected {self.shape}")
        own = self.state_dict()
        self.load_state_dict({**own, **parameters_of(network, own)})
