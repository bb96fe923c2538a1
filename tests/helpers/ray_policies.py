"""Agents that do things to the process that they play in."""

import os
import signal
import time
from functools import cache

from ginrummy_env.core.actions import PASS
from ginrummy_env.policy import make_policy

SIMPLE = make_policy("simple")


class AsSimple:
    """Plays as simple does."""

    name = "simple"

    def act(self, view, rng):
        return SIMPLE.act(view, rng)


@cache
def mark_node(folder):
    import ray

    (folder / ray.get_runtime_context().get_node_id()).touch()


class Marks(AsSimple):
    """Leaves a file with the name of its node."""

    def __init__(self, folder):
        self.folder = folder

    def act(self, view, rng):
        mark_node(self.folder)
        return super().act(view, rng)


class Dies(AsSimple):
    """Kills its process, the first times that it is asked."""

    def __init__(self, folder, times):
        self.folder, self.times = folder, times

    def act(self, view, rng):
        died = len(list(self.folder.iterdir()))
        if died < self.times:
            (self.folder / str(died)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
        return super().act(view, rng)


class Cheats(AsSimple):
    """Passes when that is over."""

    name = "cheats"

    def act(self, view, rng):
        actions = super().act(view, rng)
        actions[view.turn > 3] = PASS
        return actions


class Complains(AsSimple):
    """Says how many threads it may use."""

    def act(self, view, rng):
        raise RuntimeError(f"threads: {os.environ['OMP_NUM_THREADS']}")
