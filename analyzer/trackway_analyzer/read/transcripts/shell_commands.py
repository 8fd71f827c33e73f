"""Which commands does a line of shell run?

1. A line is cut at `&&`, `||`, `|`, `;`, `&`, parentheses, backticks and line ends outside quotes.
2. A command begins behind words of the shell's own (`do`, `then`, `!`) and assignments; a piece of
   such words alone (`done`, `for x in *`) is no command.
3. The editing commands of SWE-agent take lines up to `end_of_edit` and the like, and are not cut.
   A here-document is text to its command, unless that is a shell; what stands behind it is cut.
4. What a command runs itself (`shell_wrappers`) is a command too, behind it, and so is what stands
   in a substitution in quotes. The name of a command is the last part of its path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from trackway_analyzer.read.transcripts.shell_wrappers import command_name, run_by

_PIECE: Final = re.compile(
    r"""'[^']*'|"(?:[^"\\]|\\.)*"|\$\(\([^()]*\)\)|\\.|\d*>&[\d-]*|&>>?|(?P<cut>&&|\|\||[;|&()`\n])|.""",
    re.DOTALL,
)
_BLOCK: Final = re.compile(r"\A\s*(?:edit|insert|create|append|str_replace_editor)\b|\bend_of_\w+")
_PREFIX: Final = re.compile(
    r"""\s*(?:(?:do|then|else|elif|if|while|until|time|!|\{)(?=\s)|\$(?=\s|\Z)|"""
    r"""\w+=(?:'[^']*'|"[^"]*"|[^\s'"])*(?=\s|\Z))"""
)
_HERE_DOCUMENT: Final = re.compile(
    r"""(?<!<)<<(?!<)-?\s*(?P<quote>['"]?)(?P<end>[A-Za-z_]\w*)(?P=quote)"""
)
_QUOTED: Final = re.compile(r"""'[^']*'|("(?:[^"\\]|\\.)*")""", re.DOTALL)
_SUBSTITUTION: Final = re.compile(r"\$\(([^()]*(?:\([^()]*\)[^()]*)*)\)|`([^`]*)`")
_SHELLS: Final = frozenset(["bash", "sh", "zsh", "dash", "ksh", "ash", "fish"])
_MAX_DEPTH: Final = 50
_NO_COMMANDS: Final = frozenset(
    ["for", "case", "select", "in", "done", "fi", "esac", "}", "then", "do"]
)


class Command(NamedTuple):
    """One command of a line."""

    name: str
    line: str


def commands_of(line: str) -> list[Command]:
    """Return the commands of a line, in their order; of a block, that which takes it."""
    whole = line.strip()
    found = list(_commands(whole, 0))
    if found or not whole:
        return found
    return [Command(whole.split(maxsplit=1)[0], whole)]


def _commands(line: str, depth: int) -> Iterator[Command]:
    """Return the commands of a line, and those that they run themselves."""
    whole = line.strip()
    if _BLOCK.search(whole):
        pieces = [whole]
    elif (document := _HERE_DOCUMENT.search(whole)) is not None:
        yield from _with_here_document(whole, document, depth)
        return
    else:
        pieces = _pieces(whole)
    for piece in pieces:
        command = _command(piece)
        if command is not None:
            yield command
        if depth < _MAX_DEPTH:
            yield from _run_inside(piece if command is None else command.line, depth)


def _run_inside(piece: str, depth: int) -> Iterator[Command]:
    """Return the commands that a command runs itself, and those of substitutions in quotes."""
    inner = list(run_by(piece))
    for line in inner:
        yield from _commands(line, depth + 1)
    before = piece.partition(inner[0])[0] if inner else piece
    for quoted in _QUOTED.findall(before):
        for opened, ticked in _SUBSTITUTION.findall(quoted):
            yield from _commands(opened or ticked, depth + 1)


def _with_here_document(whole: str, document: re.Match[str], depth: int) -> Iterator[Command]:
    """Return the commands of a line that holds a here-document, and those behind it."""
    head, line_end, after = whole[: document.end()], whole.find("\n", document.end()), ""
    body = ""
    if line_end >= 0:
        head = whole[:line_end]
        end = re.compile(rf"^\s*{re.escape(document['end'])}\s*$", re.MULTILINE)
        closing = end.search(whole, line_end + 1)
        body = whole[line_end + 1 : None if closing is None else closing.start()]
        after = "" if closing is None else whole[closing.end() :]
    pieces = _pieces(head)
    for place, piece in enumerate(pieces):
        command = _command(piece)
        if command is None:
            continue
        if place == len(pieces) - 1:
            # The last command of the line takes the document along, as it stands.
            block = whole[: len(whole) - len(after)].rstrip()
            command = command._replace(line=block[block.rindex(command.line, 0, len(head)) :])
        yield command
        if depth < _MAX_DEPTH:
            yield from _run_inside(piece.strip(), depth)
            if command.name in _SHELLS:
                yield from _commands(body, depth + 1)
    if after.strip() and depth < _MAX_DEPTH:
        yield from _commands(after, depth + 1)


def _pieces(line: str) -> list[str]:
    pieces, start = [], 0
    for match in _PIECE.finditer(line):
        if match["cut"] is not None:
            pieces.append(line[start : match.start()])
            start = match.end()
    return [*pieces, line[start:]]


def _command(piece: str) -> Command | None:
    start = 0
    while (prefix := _PREFIX.match(piece, start)) is not None:
        start = prefix.end()
    piece = piece[start:].strip()
    name = command_name(piece.split(maxsplit=1)[0]) if piece else ""
    return None if not name or name in _NO_COMMANDS or name[0] in "#<>$" else Command(name, piece)
