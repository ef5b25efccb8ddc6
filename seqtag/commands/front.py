"""Between the command line and a command: compose its config, run it, end errors in a line."""

from __future__ import annotations

import importlib
import os
import sys

import hydra
from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from seqtag.commands.arguments import Arguments, sort_arguments
from seqtag.commands.bases import choose_base
from seqtag.commands.job import Job, prepare
from seqtag.commands.messages import (
    ERRORS,
    PIPE_CLOSED,
    UnreadableError,
    UserError,
    explain,
    explain_any,
    fail,
)
from seqtag.commands.runs import Runs
from seqtag.commands.usage import describe
from seqtag.configuration import config_directory

HYDRA = (
    "hydra.output_subdir=null",
    "hydra.run.dir=.",
    "hydra.sweep.dir=${runs}/sweeps/${now:%Y-%m-%d_%H-%M-%S-%f}",
    "hydra.job.chdir=false",
    "hydra/job_logging=none",
    "hydra/hydra_logging=none",
    "+hydra.callbacks.sweep_end._target_=seqtag.commands.sweep_record.SweepEnd",
)
"""A run keeps its own folder and record, so Hydra's are off, and the working directory stays."""


def run_command(name: str, words: list[str]) -> int:
    """Run a command and give its exit status: 0, 1 (an error), 2 (an unreadable command line)."""
    prepare()
    try:
        arguments = sort_arguments(words)
        if arguments.help:
            print(describe(name))
            return 0
        return _run(name, arguments)
    except UserError as error:
        if error.code == PIPE_CLOSED:
            raise BrokenPipeError from None
        return int(str(error.code))
    except BrokenPipeError:
        raise
    except (HydraException, OmegaConfBaseException, UnreadableError) as error:
        return fail(explain(error), error, status=2)
    except ERRORS as error:
        return fail(explain_any(error), error)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _run(name: str, arguments: Arguments) -> int:
    module = importlib.import_module(f"seqtag.commands.{name}")
    base = choose_base(name, module, arguments)
    job = Job(
        command=name,
        yamls=base.yamls,
        said=base.said,
        runs=arguments.runs if module.RUNS is Runs.ANY else None,
        process=os.getpid(),
        typed=sys.orig_argv,
    )
    main = hydra.main(
        version_base="1.3", config_path=str(config_directory()), config_name=base.config_name
    )(job)
    typed = sys.argv
    sys.argv = [typed[0], *arguments.flags, *HYDRA, *base.overrides]
    try:
        main()
    finally:
        sys.argv = typed
    return 0
