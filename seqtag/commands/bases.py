"""What the config of a command is composed on: its yaml, a run's config, or the sample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf

from seqtag.commands.arguments import Arguments, quote
from seqtag.commands.messages import UnreadableError
from seqtag.commands.runs import Runs
from seqtag.commands.sweep_record import SWEEP
from seqtag.configuration import compose_node, config_directory

SAMPLE = "experiment=pos"
DATA_KEYS = frozenset({"experiment", "data", "data.train", "data.dev", "data.test"})
"""Keys that say what to train on; without any of them it is the sample."""

RUN_KEYS = ("resume", "from")
"""Keys of ``train`` that take the config of a run as the base."""

GLOBAL = frozenset({"experiment", "sweep"})
"""Groups whose options are no part of the config, but set keys all over it."""

PLACES = ("runs", "cache", "device")
"""Keys of ``train`` that change nothing of what is learned."""

TRAIN = "train"
RUN_CONFIG = "run_with_command"
TASK = "task"
DATA = "data"
"""The group whose option changes how files are read, and not what the model is."""


@dataclass(frozen=True, kw_only=True)
class Base:
    """What Hydra composes a command's config on.

    Attributes:
        config_name: under which Hydra finds it.
        overrides: that are left for Hydra.
        said: what the command line said, with the sample where it is taken.
        yamls: the commands whose plain keys it has.
    """

    config_name: str
    overrides: list[str]
    said: list[str]
    yamls: tuple[str, ...]


def choose_base(name: str, module: ModuleType, arguments: Arguments) -> Base:
    """The base of a command's config.

    Args:
        name: of the command.
        module: of the command, which says in ``RUNS`` what runs it takes and, where it takes none,
            in ``TRAINS`` whether it takes the keys of ``train``.
        arguments: the command line.

    Raises:
        UnreadableError: words that do not go together.
        ValueError: a run that cannot be read, or a task without data.
    """
    said = list(arguments.overrides)
    runs: Runs = module.RUNS
    if SWEEP in arguments.given() and name != TRAIN:
        raise UnreadableError(f"{SWEEP}= searches for settings by training; {name} cannot do that")
    if runs is Runs.ONE:
        if len(arguments.runs) != 1:
            given = " ".join(arguments.runs) or "none"
            raise UnreadableError(
                f"{name} takes one run directory or checkpoint (given: {given}): "
                f"python -m seqtag {name} RUN [key=value ...]"
            )
        left = _store_run_config(name, arguments.runs[0], said)
        return Base(config_name=RUN_CONFIG, overrides=left, said=said, yamls=(name,))
    if runs is Runs.NONE and arguments.runs:
        raise UnreadableError(
            f"'{arguments.runs[0]}' is no key=value, and {name} takes no run directory"
        )
    if arguments.runs:
        _store_own_config(name, module, arguments)
        return Base(config_name=RUN_CONFIG, overrides=said, said=said, yamls=(name,))
    if runs is Runs.NONE and not module.TRAINS:
        return Base(config_name=name, overrides=said, said=said, yamls=(name,))
    yamls = (name,) if name == TRAIN else (name, TRAIN)
    bases = [key for key in RUN_KEYS if arguments.value(key) not in (None, "null")]
    if bases and runs is Runs.ANY:
        raise UnreadableError(f"{name} trains anew: leave {bases[0]}= out")
    if len(bases) > 1:
        raise UnreadableError(f"give one of {' and '.join(bases)}, not both")
    if bases:
        left = _store_base(bases[0], said, command=name)
        return Base(config_name=RUN_CONFIG, overrides=left, said=said, yamls=yamls)
    if DATA_KEYS.isdisjoint(arguments.given()):
        if TASK in arguments.given():
            raise ValueError(
                "a task needs its data: data=FORMAT data.train=FILE, or experiment=NAME alone"
            )
        said = [SAMPLE, *said]
    return Base(config_name=name, overrides=said, said=said, yamls=yamls)


def _store_own_config(name: str, module: ModuleType, arguments: Arguments) -> None:
    """Make a command's own keys the base, for it has runs and trains nothing.

    Raises:
        UnreadableError: a key that only a training could use.
    """
    train = _own_keys(TRAIN)
    config = _own_keys(name) | {key: train[key] for key in PLACES}
    taken = [key for key in config if key not in module.TRAINING_KEYS]
    for key in arguments.given():
        if key not in taken and not key.startswith("hydra"):
            raise UnreadableError(
                f"{name} RUN ... {name}s what was trained, and takes {', '.join(taken)}; "
                f"to train, as {key} would, leave the runs out"
            )
    ConfigStore.instance().store(name=RUN_CONFIG, node=config)


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
    own: Any = OmegaConf.load(config_directory() / f"{TRAIN}.yaml")
    config = OmegaConf.merge(
        _as_data(stored, folder),
        {name: own.get(name) for name in (*RUN_KEYS, "cache")},
        {} if command == TRAIN else _own_keys(command),
    )
    left = _store(config, overrides, of_run=key == "resume")
    return [*left, f"{key}={quote(str(folder))}"]


def _own_keys(command: str) -> dict[str, Any]:
    """What a command's yaml holds beside the config of a training."""
    keys = OmegaConf.load(config_directory() / f"{command}.yaml")
    return {str(k): v for k, v in keys.items() if k != "defaults"}


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
        elif group in GLOBAL:
            raise UnreadableError(
                f"{group}={value} sets keys all over a config, and here that of a run is the base: "
                "give the keys themselves"
            )
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
