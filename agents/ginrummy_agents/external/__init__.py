"""Players outside this process: any program that speaks JSON lines; see docs/ARENA.md."""

from ginrummy_agents.external.policy import ExternalPolicy
from ginrummy_agents.external.process import Limits, ProgramError

__all__ = ["ExternalPolicy", "Limits", "ProgramError"]
