"""The command line: a table of commands, each imported only when it is called."""

from __future__ import annotations

import os
import sys

COMMANDS = {
    "train": "train a model and write a run directory; with no argument, on the embedded sample",
    "check": "read data as training would, and print what it holds and what is wrong with it",
    "evaluate": "RUN: score a trained model on a split, with an analysis of its errors",
    "predict": "RUN: read sequences from a file or stdin, write one prediction each",
    "attention": "RUN: draw what attends to what in each sequence, and write the weights as JSON",
    "compare": "RUN ...: compare trained models; without runs, train variants and compare them",
    "claims": "measure the claims about self-attention, each as an experiment, and write a page",
}

USAGE = """\
usage: python -m seqtag COMMAND [RUN ...] [key=value ...]

{commands}

RUN is a run directory or a checkpoint, for compare also a folder of runs.
Keys and options: python -m seqtag COMMAND --help
SEQTAG_DEBUG=1 shows the traceback behind an error message."""


def main() -> None:
    """Run the command that ``sys.argv`` names, and exit with its status."""
    try:
        status = _run(sys.argv[1:])
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has enough; nothing more can be said on it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in {"--help", "-h", "help"}:
        width = max(map(len, COMMANDS))
        table = "\n".join(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items())
        print(USAGE.format(commands=table))
        return 0
    if arguments[0] == "--version":
        from seqtag import __version__

        print(f"seqtag {__version__}")
        return 0
    command = arguments[0]
    if command not in COMMANDS:
        print(f"seqtag: no command '{command}'; there are: {', '.join(COMMANDS)}", file=sys.stderr)
        return 2
    from seqtag.commands.front import run_command

    return run_command(command, arguments[1:])


if __name__ == "__main__":
    main()
