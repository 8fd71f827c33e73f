"""How does a call of `trackway` end?

1. A command returns its exit code; see `exit`. A command that returns nothing passed.
2. Wrong usage and unreadable input print one message on standard error and end with 4. So does an
   error of this program. click's own 2 and Python's own 1 never reach the caller: they would read
   as "insufficient evidence" and "violation".
3. A traceback is printed with `--debug` only.
4. A reader that closes the pipe early (`| head`) ends the command with 141 and Ctrl-C with 130, as
   for every program: neither is a verdict.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Final, NoReturn

import click

from trackway_analyzer.cli.exit import Exit
from trackway_analyzer.cli.own_process import lighten

COMMANDS: Final = {
    "steps": "The steps of each run, one run a line",
    "show": "One run on one screen",
    "check": "Check runs against a policy file",
    "policy": "Propose a policy from runs that passed",
    "diff": "What differs between two runs",
    "stats": "How many runs, steps, calls, tokens and failures",
    "gaps": "Holes in the evidence, named",
    "quarantine": "What could not be read, and why",
    "variants": "The distinct sequences of tools",
    "convert": "Any readable source to canonical Parquet",
    "compact": "Few Parquet files instead of many small ones",
}
"""Every command with its line in the help. Command `x` is `command` of the module `cli.x`."""

_CLOSED_PIPE: Final = 141
_INTERRUPTED: Final = 130


class _Commands(click.Group):
    """Imports a command's module only when it is called: `--help` stays quick."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"trackway_analyzer.cli.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f": there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command {args[0]!r}{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="trackway-analyzer", prog_name="trackway")
@click.option("--debug", is_flag=True, expose_value=False, help="Print the traceback of an error.")
@click.pass_obj
def trackway(own_process: bool) -> None:
    """Reconstruct and check what an LLM agent really did.

    SRC is a file, a folder or - (standard input) in any format that can be read. A run is named
    SRC#RUN_ID, SRC#task=T,trial=3 or SRC#task=T@latest; a command over runs takes that, too.

    Exit codes: 0 pass, 1 violation, 2 insufficient evidence, 3 incomparable, 4 error.
    """
    if own_process:
        lighten()


def main() -> NoReturn:
    """Run the command of `sys.argv` and exit."""
    sys.exit(run(sys.argv[1:], own_process=True))


def run(arguments: Sequence[str], *, own_process: bool = False) -> int:
    """Run a command and return its exit code; the process may be there for nothing else."""
    try:
        # Not `main`: that one turns a closed pipe into exit code 1, a violation.
        with trackway.make_context("trackway", list(arguments), obj=own_process) as context:
            code = trackway.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as asked:
        return asked.exit_code
    except BrokenPipeError:
        _forget_standard_output()
        return _CLOSED_PIPE
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    # Whatever went wrong, Python's exit code 1 would read as a violation.
    except Exception as error:  # noqa: BLE001 - told as a bug, not as a traceback
        if "--debug" in arguments:
            traceback.print_exc()
        else:
            print(_message(error), file=sys.stderr)
        return Exit.ERROR
    return Exit.PASS if code is None else int(code)


def _message(error: Exception) -> str:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return error.format_message()
    if isinstance(error, click.UsageError):
        context = f"{error.ctx.get_usage()}\n" if error.ctx else ""
        return f"{context}error: {error.format_message()}"
    if isinstance(error, click.ClickException):
        return f"error: {error.format_message()}"
    if isinstance(error, OSError | ValueError):
        return f"error: {error}"
    return (
        f"internal error: {type(error).__name__}: {error}\n"
        "This is a bug of trackway; the same command with --debug prints where."
    )


def _forget_standard_output() -> None:
    """Keep Python from complaining about the closed pipe once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
