"""Between the command line and a command: compose its config, run it, end errors in a line."""

from __future__ import annotations

import importlib
import logging
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hydra
import yaml
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from seqtag.commands.arguments import Arguments, quote, sort_arguments
from seqtag.commands.messages import explain, unexpected
from seqtag.commands.types import check_types
from seqtag.commands.usage import describe
from seqtag.configuration import compose_node, config_directory, plain, register_resolvers

Command = Callable[[dict[str, Any], list[str]], float | None]

HYDRA = (
    "hydra.output_subdir=null",
    "hydra.run.dir=.",
    "hydra.sweep.dir=${runs}/sweeps/${now:%Y-%m-%d_%H-%M-%S}",
    "hydra.job.chdir=false",
    "hydra/job_logging=none",
    "hydra/hydra_logging=none",
)
"""A run keeps its own folder and record, so Hydra's are off, and the working directory stays."""

SAMPLE = "experiment=pos"
DATA_KEYS = frozenset({"experiment", "data", "data.train", "data.dev", "data.test"})
"""Keys that say what to train on; without any of them it is the sample."""

PIPE_CLOSED = -1

RUN_KEYS = ("resume", "from")
"""Keys of ``train`` that take the config of a run as the base."""

RUN_CONFIG = "run_with_command"
TASK = "task"
DATA = "data"
"""The group whose option changes how files are read, and not what the model is."""


UNEXPECTED = (
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    RuntimeError,
    ArithmeticError,
    AssertionError,
    yaml.YAMLError,
)
"""What a setting that nobody foresaw may raise; and what a fault of the program raises."""


class UnreadableError(ValueError):
    """A command line that cannot be read."""


class UserError(SystemExit):
    """Ends the process with a message already shown; passes through Hydra, which stops others."""


def run_command(name: str, words: list[str]) -> int:
    """Run a command and give its exit status: 0, 1 (an error), 2 (an unreadable command line)."""
    logging.captureWarnings(True)
    _log_to_stderr()
    # Makes Hydra raise what it would print in many lines.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    register_resolvers()
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
    except (ValueError, OSError) as error:
        return fail(str(error), error)
    except UNEXPECTED as error:
        return fail(unexpected(error), error)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def fail(message: str, error: BaseException, status: int = 1) -> int:
    """Say what went wrong and give the exit status."""
    if os.environ.get("SEQTAG_DEBUG"):
        traceback.print_exception(error)
    print(f"error: {message}", file=sys.stderr)
    return status


def _run(name: str, arguments: Arguments) -> int:
    module = importlib.import_module(f"seqtag.commands.{name}")
    command: Command = getattr(module, name)
    takes_run: bool = module.TAKES_RUN
    overrides = list(arguments.overrides)
    if takes_run:
        if len(arguments.runs) != 1:
            given = " ".join(arguments.runs) or "none"
            raise UnreadableError(
                f"{name} takes one run directory or checkpoint (given: {given}): "
                f"python -m seqtag {name} RUN [key=value ...]"
            )
        overrides = _store_run_config(name, arguments.runs[0], overrides)
        config_name = RUN_CONFIG
    else:
        if arguments.runs:
            raise UnreadableError(
                f"'{arguments.runs[0]}' is no key=value, and {name} takes no run directory"
            )
        config_name = name
        bases = [
            key for key in RUN_KEYS if module.TRAINS and arguments.value(key) not in (None, "null")
        ]
        if len(bases) > 1:
            raise UnreadableError(f"give one of {' and '.join(bases)}, not both")
        if bases:
            overrides = _store_base(bases[0], overrides, command=name)
            config_name = RUN_CONFIG
        elif module.TRAINS and not _names_data(arguments):
            if "task" in arguments.given():
                raise ValueError(
                    "a task needs its data: data=FORMAT data.train=FILE, or experiment=NAME alone"
                )
            overrides.insert(0, SAMPLE)

    def task(config: DictConfig) -> float | None:
        try:
            settings = plain(config)
            check_types(settings, name)
            return command(settings, arguments.overrides)
        except BrokenPipeError:
            raise UserError(PIPE_CLOSED) from None
        except (ValueError, OSError) as error:
            # Hydra holds ordinary exceptions back to wrap them; an exit passes.
            raise UserError(fail(explain(error), error)) from error
        except UNEXPECTED as error:
            raise UserError(fail(unexpected(error), error)) from error

    main = hydra.main(
        version_base="1.3", config_path=str(config_directory()), config_name=config_name
    )(task)
    typed = sys.argv
    sys.argv = [typed[0], *arguments.flags, *HYDRA, *overrides]
    try:
        main()
    finally:
        sys.argv = typed
    return 0


def _names_data(arguments: Arguments) -> bool:
    """Whether the command line says what to train on."""
    return not DATA_KEYS.isdisjoint(arguments.given())


def _store_run_config(name: str, run: str, overrides: list[str]) -> list[str]:
    """Make the checkpoint's own config, with the command's keys, the base that Hydra composes on.

    ``group=option`` replaces the checkpoint's node from the installed conf/.

    Returns:
        The overrides that are left for Hydra.
    """
    from seqtag.checkpoint import load_checkpoint

    own = OmegaConf.load(config_directory() / f"{name}.yaml")
    path = {"run": str(Path(run).expanduser().absolute())}
    config = OmegaConf.merge(_as_data(load_checkpoint(run).config, run), own, path)
    return _store(config, overrides, of_run=True)


def _store_base(key: str, overrides: list[str], *, command: str) -> list[str]:
    """Make a run's config the base of a training: of the run that ``resume`` or ``from`` names.

    Args:
        key: that names the run.
        overrides: what the command line says.
        command: whose own keys the config gets besides.

    Returns:
        The overrides that are left for Hydra.
    """
    parsed = {
        o.key_or_group: o.value() for o in OverridesParser.create().parse_overrides(overrides)
    }
    folder = Path(str(parsed[key])).expanduser().absolute()
    file = folder / "config.yaml"
    if not file.is_file():
        raise ValueError(f"{key}={folder} is not a run directory: it holds no config.yaml")
    stored = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    # What that run itself began with is past, and its machine's folders are not this one's.
    own: Any = OmegaConf.load(config_directory() / "train.yaml")
    config = OmegaConf.merge(
        _as_data(stored, folder),
        {name: own.get(name) for name in (*RUN_KEYS, "cache")},
        _own_keys(command),
    )
    left = _store(config, overrides, of_run=key == "resume")
    return [*left, f"{key}={quote(str(folder))}"]


def _own_keys(command: str) -> dict[str, Any]:
    """What a command's yaml holds beside the config of a training."""
    keys = OmegaConf.load(config_directory() / f"{command}.yaml")
    return {} if command == "train" else {str(k): v for k, v in keys.items() if k != "defaults"}


def _as_data(config: Any, run: str | Path) -> Any:
    """A run's config with nothing in it that Hydra would act on: no settings of Hydra's own, no
    defaults list, no interpolation. It may come from anybody.

    Raises:
        ValueError: it holds a key that no run writes.
    """
    for key in config:
        if key in ("hydra", "defaults") or key.startswith("_"):
            raise ValueError(f"the config in {run} holds the key '{key}', which no run writes")
    return _literal(config)


def _literal(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _literal(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_literal(value) for value in node]
    return node.replace("${", "\\${") if isinstance(node, str) else node


def _store(config: Any, overrides: list[str], *, of_run: bool) -> list[str]:
    """Give Hydra a config under the name ``RUN_CONFIG``, with the options of groups put in.

    Args:
        config: the base.
        overrides: of the command line.
        of_run: whether the model is there already, so that its columns and its task stay.

    Returns:
        The overrides that are left for Hydra.
    """
    from seqtag.data.source import USER_COLUMNS, change_format

    left = []
    for override in overrides:
        key, _, value = override.partition("=")
        group, _, package = key.partition("@")
        if not (config_directory() / group).is_dir():
            left.append(override)
        elif key == DATA:
            both = {config.data["format"], value}
            config.data = change_format(
                config.data, value, keep_columns=of_run and both <= USER_COLUMNS
            )
        else:
            node = package or group.replace("/", ".")
            if package and OmegaConf.select(config, package) is None:
                raise UnreadableError(f"no config key '{package}'; look at the keys with --cfg job")
            made = compose_node(group, value)
            if of_run and node == TASK and made["_target_"] != config.task["_target_"]:
                raise ValueError(f"task={value}: this run's model was trained for another task")
            OmegaConf.update(config, node, made, merge=False)
    ConfigStore.instance().store(name=RUN_CONFIG, node=config)
    return left


class _Stderr(logging.Handler):
    """Writes to whatever ``sys.stderr`` is at the moment, which a progress bar may replace."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr)
        except BrokenPipeError:
            # Whoever read the messages has gone; the work itself goes on.
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 until the end


def _log_to_stderr() -> None:
    handler = _Stderr()
    handler.setFormatter(logging.Formatter("%(message)s"))
    for name, level in (("seqtag", logging.INFO), ("py.warnings", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.handlers = [handler]
        logger.propagate = False
