"""Compiles the bridge for players written for the AAAI-21 challenge's interface."""

import shlex
import shutil
import subprocess
from pathlib import Path

from ginrummy_agents.external.process import ProgramError

SOURCE = Path(__file__).parent / "java" / "GinRummyBridge.java"


def compile_bridge(out: Path) -> None:
    """Compile the bridge into a folder.

    Args:
        out: of the classes; it is made if it is not there.

    Raises:
        ProgramError: there is no JDK, or it refuses the source.
    """
    compiler = shutil.which("javac")
    if compiler is None:
        raise ProgramError("javac was not found: the bridge needs a JDK (11 or newer)")
    out.mkdir(parents=True, exist_ok=True)
    command = [compiler, "-encoding", "UTF-8", "-d", str(out), str(SOURCE)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        raise ProgramError(f"javac failed: {made.stderr.strip()[:500]}")


def bridge_agent(
    out: Path, class_path: str, player: str, *, shared: bool = False, own_melds: bool = False
) -> str:
    """Return the text form of the agent that a player of the challenge is.

    Args:
        out: where `compile_bridge` has put the classes.
        class_path: of the challenge's classes and the player's, as java takes it.
        player: full name of its class.
        shared: one class loader for all games.
        own_melds: settle its deals as the challenge does; see `own_melds`.
    """
    # Serial garbage collection: the bridge shares the machine with the match.
    words = ["java", "-XX:+UseSerialGC", "-cp", str(out), "GinRummyBridge"]
    command = shlex.join([*words, *["--shared"] * shared, class_path, player])
    return f"exec:{command}" + "; melds=own" * own_melds
