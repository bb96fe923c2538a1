"""What made a result: versions, the command, and fingerprints of the code and of the policies.

A result that is resumed or added to is checked against these, so that games of different agents are
never mixed under one name (`require_same`):

    made_by = fingerprints({"simple": "simple", "mine": policy})
    require_same(path, "match", {"seed": 5, "made_by": made_by}, read_json(path))

The fingerprint of a policy covers the code that it runs, its parameters, policies that it is built
on (``search:64,base=gold``), and the bytes of every file that its parameters name.
"""

import dataclasses
import functools
import hashlib
import platform
import shlex
import sys
import types
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

import ginrummy_env
from ginrummy_env.policy import ENTRY_POINTS, Policy, make_policy, policy_name
from ginrummy_training.source_code import code_digest, definition_digest, is_counted
from ginrummy_training.storage import ResultError

ENGINE = (
    "ginrummy_env.core.step",
    "ginrummy_env.core.game",
    "ginrummy_training.evaluation.lockstep",
    "ginrummy_training.evaluation.game_table",
)
"""The modules from which all code is found that decides a game besides the policies."""

DIGITS = 16

OTHER = "name another file or folder"
OVERWRITE = "name another file or folder, or use --force to overwrite it"


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    return {
        "ginrummy_env": ginrummy_env.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def typed_command() -> str:
    """Return the command that runs this process, paths of the program left out."""
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "python"
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is not None and spec.name.partition(".")[0] == "ginrummy_training":
        program = "ginrummy"  # run as a module
    return shlex.join([program, *sys.argv[1:]])


def agent_name(policy: str | Policy) -> str:
    """Return what a policy is called: its text form, or its ``name``, or its class."""
    if isinstance(policy, str):
        return policy.strip()
    return policy_name(policy)


def code_fingerprint(modules: Iterable[str] = ENGINE) -> str:
    """Return the fingerprint of modules and of all code of this project that they import.

    Comments, docstrings and layout do not change it; data files that the code names do.

    Args:
        modules: full names.
    """
    return code_digest(tuple(sorted(set(modules))))[:DIGITS]


def policy_fingerprint(policy: str | Policy) -> dict[str, str]:
    """Return what a policy is, as a flat table of digests.

    Call this before resuming anything that the policy has made (a match, a shard of a data set, a
    training run), and compare with what was stored then; `require_same` does.

    Returns:
        ``code``: of its class, the classes of its parameters and what they import.
        ``parameters``: all values that it holds.
        ``file PATH``: the bytes of each file that a parameter names.

    Raises:
        ValueError: there is no such policy, or it holds something that cannot be compared (a lock,
            an open file). Such a policy may have a method ``fingerprint()`` that returns text in
            place of its parameters.
    """
    return value_fingerprint(make_policy(policy), agent_name(policy))


def value_fingerprint(value: Any, name: str = "") -> dict[str, str]:
    """Return what any value is, such as a function with its arguments; see `policy_fingerprint`.

    Args:
        value: a function, a `functools.partial`, a policy, or anything that these hold.
        name: what errors call it.
    """
    parts = _Parts()
    try:
        parts.add(value)
    except (TypeError, AttributeError) as error:
        raise ValueError(
            f"{name or repr(value)} cannot be compared with what made a result before: {error}; "
            "give it a method fingerprint() that returns text"
        ) from error
    return {
        "code": parts.code(),
        "parameters": parts.values.hexdigest()[:DIGITS],
        **{f"file {name}": digest for name, digest in sorted(parts.files.items())},
    }


def fingerprints(
    policies: Iterable[str] | Mapping[str, str | Policy], also: Iterable[str] = ()
) -> dict[str, Any]:
    """Return what made the games of some policies, as JSON can hold it.

    Args:
        policies: text forms, or policies by the names that they go by.
        also: modules that decide the result besides those that play.
    """
    named = policies if isinstance(policies, Mapping) else {name: name for name in policies}
    return {
        "engine": code_fingerprint([*ENGINE, *also]),
        "policies": {name: policy_fingerprint(named[name]) for name in sorted(named)},
    }


def environment() -> dict[str, str]:
    """Return what must be the same on all machines that play together: versions and all code."""
    made = versions()
    agents = (point.value.partition(":")[0] for point in entry_points(group=ENTRY_POINTS))
    return {
        "ginrummy_env": made["ginrummy_env"],
        "numpy": made["numpy"],
        "code": code_fingerprint([*ENGINE, *filter(is_counted, agents)]),
    }


def require_same(
    path: Path, what: str, here: Mapping[str, Any], there: Mapping[str, Any], advice: str = OTHER
) -> None:
    """Raise ResultError if a stored result was made by something else.

    Args:
        path: of the result.
        what: it is, such as ``"match"``.
        here: all that decides the result now; the key ``made_by`` holds `fingerprints`.
        there: the same of the stored result; it may hold more.
        advice: what can be done.
    """
    for key, value in here.items():
        stored = there.get(key)
        if key != "made_by" and stored != value:
            raise ResultError(
                f"{path} holds another {what}: {_changed(key, stored, value)}; {advice}"
            )
    reason = difference(here.get("made_by"), there.get("made_by"))
    if reason:
        raise ResultError(f"{path} holds a {what} made by something else: {reason}; {advice}")


def difference(here: Any, there: Any) -> str:
    """Return in words in what two `fingerprints` differ; empty if they are equal.

    Policies that only one of them has are not compared: results may be added to.
    """
    if here == there:
        return ""
    if not isinstance(there, dict) or not isinstance(there.get("policies"), dict):
        return "it does not say which code and policies made it"
    for name, parts in here["policies"].items():
        stored = there["policies"].get(name)
        if stored is None or stored == parts:
            continue
        for part in sorted({*parts, *stored}, key=_files_first):
            if parts.get(part) != stored.get(part):
                return f"the {part} of {name} {'have' if part == 'parameters' else 'has'} changed"
    if here["engine"] != there.get("engine"):
        return "the code of the rules or of the match has changed"
    return ""


def _changed(key: str, there: Any, here: Any) -> str:
    """Return in words how a value differs; of dicts, the first entry that does."""
    if isinstance(there, dict) and isinstance(here, dict):
        names = sorted({*there, *here}, key=str)
        name = next(name for name in names if there.get(name) != here.get(name))
        return _changed(str(name), there.get(name, "the default"), here.get(name, "the default"))
    return f"{key} is {_short(there)} there and {_short(here)} here"


def _short(value: Any) -> str:
    return value if value == "the default" else repr(value)


def _files_first(part: str) -> tuple[bool, str]:
    return (not part.startswith("file "), part)


def digest(content: bytes) -> str:
    """Return a short digest of bytes, such as a file's."""
    return hashlib.sha256(content).hexdigest()[:DIGITS]


@cache
def _known_names() -> frozenset[str]:
    return frozenset(point.name for point in entry_points(group=ENTRY_POINTS))


class _Parts:
    """Collects the code and data of a policy."""

    def __init__(self) -> None:
        self.values = hashlib.sha256()
        self.files: dict[str, str] = {}
        self._modules: set[str] = set()
        self._definitions: set[str] = set()
        self._open: list[int] = []  # objects that are being looked at: one may hold itself

    def code(self) -> str:
        """Return the digest of all code found."""
        parts = [code_digest(tuple(sorted(self._modules))), *sorted(self._definitions)]
        return digest("\n".join(parts).encode())

    def add(self, value: Any) -> None:
        """Take in a value and all that it holds."""
        if id(value) in self._open:
            self._note("itself", self._open.index(id(value)))
            return
        self._open.append(id(value))
        try:
            self._add(value)
        finally:
            self._open.pop()

    def _note(self, *words: Any) -> None:
        self.values.update(repr(words).encode() + b"\n")

    def _add(self, value: Any) -> None:
        if isinstance(value, str):
            self._note("str", value)
            self._named(value)
        elif isinstance(value, Path):
            self._note("path", str(value))
            self._file(value)
        elif value is None or isinstance(value, bool | int | float | complex | bytes | np.generic):
            self._note(type(value).__name__, value)
        elif isinstance(value, np.ndarray) and value.dtype != object:
            self._note("array", value.dtype.str, value.shape)
            self.values.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, Mapping):
            self._note("mapping", len(value))
            for key in value:
                self.add(key)
                self.add(value[key])
        elif isinstance(value, list | tuple):
            self._note(type(value).__name__, len(value))
            for each in value:
                self.add(each)
        elif isinstance(value, set | frozenset):
            self._note("set", *sorted(map(repr, value)))
        elif isinstance(value, Enum):
            self._note("enum", type(value).__qualname__, value.name)
        elif isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
            self._note("code", value.__module__, value.__qualname__)
            self._code(value)
        elif isinstance(value, types.ModuleType):
            self._note("module", value.__name__)
        elif isinstance(value, types.MethodType):
            self.add(value.__func__)
            self.add(value.__self__)
        else:
            self._object(value)

    def _object(self, value: Any) -> None:
        """Take in an object: its class, and its fields or what pickle would store."""
        kind = type(value)
        self._note("object", kind.__module__, kind.__qualname__)
        self._code(kind)
        own = getattr(value, "fingerprint", None)
        if callable(own):
            self._note("own", str(own()))
        elif dataclasses.is_dataclass(value):
            for each in dataclasses.fields(value):
                self._note(each.name)
                self.add(getattr(value, each.name))
        else:  # as pickle does it; raises TypeError for locks, open files and the like
            reduced = value.__reduce_ex__(2)
            if isinstance(reduced, str):
                self.add(reduced)
                return
            _, arguments, state, items, entries = (*reduced, None, None, None)[:5]
            self.add(arguments)
            self.add(_without_caches(kind, state))
            self.add([*(items or ())])
            self.add(dict(entries or ()))

    def _code(self, value: Any) -> None:
        """Take in the code of a class, its bases, or a function."""
        for each in value.__mro__ if isinstance(value, type) else (value,):
            module = each.__module__
            if is_counted(module) or _is_file(module):
                self._modules.add(module)
            elif module == "__main__":  # a script or notebook: only what the policy uses counts
                self._definitions.add(definition_digest(each))

    def _named(self, text: str) -> None:
        """Take in the policy or the files that a text names, if it does."""
        if text.partition(":")[0].strip().lower() in _known_names():
            self.add(make_policy(text.replace(";", ",")))
            return
        try:
            words = {text, *shlex.split(text)}
        except ValueError:  # a quotation mark that is not closed: no command
            words = {text}
        for word in sorted(words):
            self._file(Path(word))

    def _file(self, path: Path) -> None:
        try:
            if path.name and path.is_file():
                self.files[str(path)] = digest(path.read_bytes())
        except (OSError, ValueError):  # no path: too long, or with a zero byte
            return


def _is_file(module: str) -> bool:
    """Return whether a module is neither Python's own nor this script."""
    top = module.partition(".")[0]
    found = sys.modules.get(module)
    return (
        top not in sys.stdlib_module_names
        and top != "__main__"
        and str(getattr(found, "__file__", None) or "").endswith(".py")
    )


def _without_caches(kind: type, state: Any) -> Any:
    """Return an object's attributes without those that only spare it work."""
    if not isinstance(state, dict):
        return state
    return {
        name: value
        for name, value in state.items()
        if not isinstance(getattr(kind, name, None), functools.cached_property)
    }
