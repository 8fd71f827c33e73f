"""Which command does a command of shell run itself? `timeout 5 rm x` runs `rm x`.

1. A wrapper is known by its name, with the options that take a word of their own and the words that
   stand before the command it runs (`WRAPPERS`). Assignments before that command are none of it.
2. A text that a command takes for a line of shell (`bash -c`, `eval`, `env -S`) is such a line.
3. `find` runs what stands behind `-exec` and the like; `poetry run`, `docker exec` and their kind
   what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

_WORD: Final = re.compile(r"""(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+|['"].*""", re.DOTALL)
_ASSIGNMENT: Final = re.compile(r"\w+=")


class Wrapper(NamedTuple):
    """How to find the command in the words behind a wrapper's name."""

    valued: frozenset[str] = frozenset()
    """Options whose value is a word of its own."""
    operands: int = 0
    """Words before the command that are no options."""
    line: frozenset[str] = frozenset()
    """Options whose value is a line of shell."""
    joined: bool = False
    """What is left is a line of shell, not a command and its words."""


def _wrapper(valued: str = "", operands: int = 0, line: str = "", joined: bool = False) -> Wrapper:
    return Wrapper(frozenset(valued.split()), operands, frozenset(line.split()), joined)


_PLAIN: Final = (
    *("nohup", "setsid", "builtin", "busybox", "unbuffer", "caffeinate", "ltrace"),
    *("npx", "bunx", "uvx", "rlwrap", "faketime", "catchsegv", "fakeroot", "dbus-run-session"),
)
_SHELLS: Final = ("bash", "sh", "zsh", "dash", "ksh", "ash", "fish")
WRAPPERS: Final[dict[str, Wrapper]] = {
    **dict.fromkeys(_PLAIN, _wrapper()),
    **dict.fromkeys(
        _SHELLS, _wrapper("-o -O --rcfile --init-file", line="-c -lc -ic -ec -xc -lic")
    ),
    "timeout": _wrapper("-k -s --kill-after --signal", 1),
    "gtimeout": _wrapper("-k -s --kill-after --signal", 1),
    "env": _wrapper("-u -C --unset --chdir", line="-S --split-string"),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n -p --class --classdata"),
    "chrt": _wrapper("-T -P -D", 1),
    "taskset": _wrapper("", 1),
    "stdbuf": _wrapper("-i -o -e --input --output --error"),
    "time": _wrapper("-f -o --format --output"),
    "exec": _wrapper("-a"),
    "command": _wrapper(),
    "xargs": _wrapper("-I -n -P -L -s -d -E -a --max-args --max-procs --delimiter --arg-file"),
    "sudo": _wrapper("-u -g -h -p -C -D -R -T -r -t -U --user --group --prompt --chdir"),
    "doas": _wrapper("-u -C"),
    "chroot": _wrapper("", 1),
    "watch": _wrapper("-n --interval", joined=True),
    "parallel": _wrapper("-j -n -N -a -I --jobs --colsep --arg-file --results", joined=True),
    "eval": _wrapper(joined=True),
    "ssh": _wrapper("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w", 1, joined=True),
    "su": _wrapper("-s -g -G --shell --group", 1, line="-c --command"),
    "runuser": _wrapper("-u -s -g -G --user --shell --group", line="-c --command"),
    "script": _wrapper("", 1, line="-c --command"),
    "flock": _wrapper("-w -E --timeout", 1, line="-c --command"),
    "strace": _wrapper("-e -o -p -s -u -a -E -O -S -P -I"),
    "unshare": _wrapper("-S -G -R -w"),
    "nsenter": _wrapper("-t -S -G --target"),
}
_RUNNERS: Final = (
    *("poetry", "pipenv", "uv", "pdm", "hatch", "rye", "conda", "mamba", "pipx", "coverage"),
)
_OF_A_RUNNER: Final = _wrapper("-n -p --name --prefix --with --python --extra --group")
_IN_A_CONTAINER: Final = _wrapper(
    "-e -u -w -v -p -n -c --env --user --workdir --volume --name --network --entrypoint "
    "--namespace --container --platform --mount",
    1,
)
_ORDERS: Final[dict[str, dict[str, Wrapper]]] = {
    **{name: {"run": _OF_A_RUNNER} for name in _RUNNERS},
    **{name: {"exec": _IN_A_CONTAINER, "run": _IN_A_CONTAINER} for name in ("docker", "podman")},
    **{name: {"exec": _IN_A_CONTAINER} for name in ("kubectl", "oc")},
}
"""Wrappers that run a command where their first words say so."""
_REDIRECTION: Final = re.compile(r"\d*(?:[<>]+[&|]?|&>>?)")
_ASKING: Final = frozenset(["-v", "-V"])
_EXECUTING: Final = frozenset(["-exec", "-execdir", "-ok", "-okdir"])


def run_by(piece: str) -> Iterator[str]:
    """Return the lines of shell that a command runs itself: what it wraps, a text that it takes."""
    words = list(_WORD.finditer(piece))
    if not words:
        return
    name = command_name(words[0].group())
    if name == "find":
        for word, following in pairwise(words):
            if word.group() in _EXECUTING:
                yield piece[following.start() :]
        return
    for order, how in _ORDERS.get(name, {}).items():
        place = next((n for n, word in enumerate(words) if word.group() == order), None)
        if place is not None:
            yield from _wrapped(piece, words[place + 1 :], how)
            return
    known = WRAPPERS.get(name)
    asks = name == "command" and any(word.group() in _ASKING for word in words[1:2])
    if known is not None and not asks:
        yield from _wrapped(piece, words[1:], known)


def command_name(word: str) -> str:
    """Return the name of a command without its folder and quotes."""
    bare = unquoted(word)
    return bare.rstrip("/").rpartition("/")[2] or bare or word


def unquoted(word: str) -> str:
    """Return a word as the shell passes it on."""
    if word[:1] == word[-1:] == "'" and len(word) > 1:
        return word[1:-1]
    if word[:1] == word[-1:] == '"' and len(word) > 1:
        return re.sub(r'\\(["\\$`])', r"\1", word[1:-1])
    return word.replace("\\", "").replace('"', "").replace("'", "")


def _wrapped(piece: str, words: Sequence[re.Match[str]], how: Wrapper) -> Iterator[str]:
    operands, place = how.operands, 0
    while place < len(words):
        word = words[place].group()
        name, given, value = word.partition("=")
        if name in how.line:
            if given:
                yield unquoted(value)
            elif place + 1 < len(words):
                yield unquoted(words[place + 1].group())
            return
        redirection = _REDIRECTION.match(word)
        if word == "--":
            place += 1 + operands
            break
        if redirection is not None:
            place += 2 if redirection.end() == len(word) else 1
        elif word.startswith("-"):
            place += 2 if word in how.valued else 1
        elif _ASSIGNMENT.match(word):
            place += 1
        elif operands:
            operands -= 1
            place += 1
        else:
            break
    if place < len(words):
        rest = piece[words[place].start() :]
        single = len(words) - place == 1
        yield unquoted(rest) if how.joined and single else rest
