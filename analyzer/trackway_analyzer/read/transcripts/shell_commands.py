"""Which commands does a line of shell run?

1. A line is cut at `&&`, `||`, `|`, `;`, `&`, parentheses, backticks and line ends outside quotes.
2. A command begins behind words of the shell's own (`do`, `then`, `!`) and assignments; a piece of
   such words alone (`done`, `for x in *`) is no command.
3. A block that is text to its command is not cut: one with a here-document, and the editing
   commands of SWE-agent, which take lines up to `end_of_edit` and the like.
4. What a command runs itself is not seen: `sudo`, `xargs`, `bash -c`, a substitution in quotes.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_PIECE: Final = re.compile(
    r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.|\d*>&[\d-]*|&>>?|(?P<cut>&&|\|\||[;|&()`\n])|.""", re.DOTALL
)
_BLOCK: Final = re.compile(
    r"<<|\A\s*(?:edit|insert|create|append|str_replace_editor)\b|\bend_of_\w+"
)
_PREFIX: Final = re.compile(
    r"""\s*(?:(?:do|then|else|elif|if|while|until|time|!|\{)(?=\s)|\$(?=\s|\Z)|"""
    r"""\w+=(?:'[^']*'|"[^"]*"|[^\s'"])*(?=\s|\Z))"""
)
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
    pieces = [whole] if _BLOCK.search(whole) else _pieces(whole)
    found = [command for piece in pieces if (command := _command(piece)) is not None]
    return found or ([Command(whole.split(maxsplit=1)[0], whole)] if whole else [])


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
    name = piece.split(maxsplit=1)[0] if piece else ""
    return None if not name or name in _NO_COMMANDS or name[0] in "#<>$" else Command(name, piece)
