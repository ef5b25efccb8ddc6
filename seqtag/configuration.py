"""Finds conf/, composes configs, turns them into plain containers, and builds parts from them."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

PREFIXES = ("seqtag.", "torch.nn.")
"""A config may name classes of these packages; ``SEQTAG_TRUSTED`` adds the user's own."""

WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    type(None): "null",
}
"""What messages call the types of plain values."""

INSTRUCTIONS = frozenset({"_target_", "_partial_"})


def _installed(name: str, folder_in_package: str) -> Path:
    package = Path(__file__).resolve().parent
    for folder in (package / folder_in_package, package.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the installation is incomplete: no folder {name} beside {package}")


def config_directory() -> Path:
    """The folder of the yaml files: inside the installed package, or beside it in a checkout."""
    return _installed("conf", "conf")


def sample_directory() -> Path:
    """The folder of the embedded data sets."""
    return _installed("data", "samples")


def register_resolvers() -> None:
    """Make ``${sample:pos/train.conllu}`` mean the path of an embedded file."""
    OmegaConf.register_new_resolver(
        "sample", lambda name: str(sample_directory() / name), replace=True
    )


def compose(name: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The config ``conf/NAME.yaml`` with overrides in Hydra's syntax, as plain containers."""
    return plain(compose_open(name, overrides))


def compose_open(
    name: str, overrides: Sequence[str] = (), *, folders: Sequence[str] = ()
) -> DictConfig:
    """The config ``conf/NAME.yaml`` with its interpolations unresolved: a key may still be set.

    Args:
        name: of the yaml.
        overrides: in Hydra's syntax.
        folders: further ones with options of the groups, such as ``file:///home/me/conf``.
    """
    from hydra import compose as hydra_compose
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    register_resolvers()
    searched = [f"hydra.searchpath={json.dumps(list(folders), ensure_ascii=False)}"]
    # Inside a command Hydra is in use already, and it refuses to be initialised twice.
    in_use = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with initialize_config_dir(str(config_directory()), version_base="1.3"):
            return hydra_compose(name, overrides=[*(searched if folders else ()), *overrides])
    finally:
        GlobalHydra.instance().hydra = in_use


def compose_node(group: str, option: str) -> Any:
    """What an option of a config group gives, as it would stand in a training run.

    Raises:
        ValueError: there is no such option.
    """
    if option not in options(group):
        raise ValueError(
            f"no option '{option}' in {group}; there are: {', '.join(options(group)) or 'none'}"
        )
    from hydra.errors import ConfigCompositionException

    node: Any
    try:
        node = compose("train", [f"{group}={option}"])
    except ConfigCompositionException:  # a group that the default task does not have
        node = compose("train", [f"+{group}={option}"])
    for name in group.split("/"):
        node = node[name]
    return node


def plain(config: DictConfig) -> dict[str, Any]:
    """Dicts, lists and values with every interpolation resolved.

    Raises:
        ValueError: a value that must be given (``???``) is not.
    """
    missing = OmegaConf.missing_keys(config)
    if missing:
        raise ValueError(f"please give {', '.join(sorted(missing))}")
    container = OmegaConf.to_container(config, resolve=True)
    assert isinstance(container, dict)
    return {str(key): value for key, value in container.items()}


def options(group: str) -> list[str]:
    """Names of the yaml files in a config group; files that begin with ``_`` are shared parts."""
    folder = config_directory() / group
    return sorted(p.stem for p in folder.glob("*.yaml") if not p.stem.startswith("_"))


def build(
    node: Mapping[str, Any],
    *arguments: Any,
    kinds: tuple[type, ...],
    name: str,
    prefixes: tuple[str, ...] = PREFIXES,
    **named: Any,
) -> Any:
    """Build the object that a config node describes.

    Args:
        node: mapping with ``_target_`` and constructor arguments; nested nodes are built first.
            With ``_partial_: true`` and no further arguments, a ``functools.partial``.
        arguments: positional arguments that no yaml can state, such as the input width.
        kinds: every class named anywhere in the node must be a subclass of one of these.
        name: where the node stands in the config, for messages.
        prefixes: packages whose classes may be named.
        named: keyword arguments that no yaml can state.

    Raises:
        ValueError: a target is not an allowed class, or does not take an argument; all such
            faults of the node in one message, a line each. Or an argument is not given.
    """
    check(node, kinds=kinds, name=name, prefixes=prefixes)
    for key in node.keys() & named.keys():
        raise ValueError(f"{name}.{key} is not yours to set: the program gives it")
    made = _part(node, kinds, name, prefixes)
    if node.get("_partial_") and not arguments and not named:
        return made
    return _call(made, name, *arguments, **named)


def check(
    node: Any,
    *,
    kinds: tuple[type, ...],
    name: str,
    prefixes: tuple[str, ...] = PREFIXES,
) -> None:
    """Refuse a node that ``build`` would refuse, without building anything."""
    if not isinstance(node, Mapping):
        group = name.replace(".", "/")
        raise ValueError(f"{name} is {node!r}; an option of it is chosen by {group}=OPTION")
    faults = _faults(node, kinds, name, prefixes)
    if faults:
        raise ValueError("\n".join(faults))


def _faults(node: Any, kinds: tuple[type, ...], name: str, prefixes: tuple[str, ...]) -> list[str]:
    """What is wrong with a node and the nodes in it, as messages."""
    if isinstance(node, list):
        return [
            fault
            for i, item in enumerate(node)
            for fault in _faults(item, kinds, f"{name}[{i}]", prefixes)
        ]
    if not isinstance(node, Mapping):
        return []
    faults: list[str] = []
    if "_target_" in node:
        try:
            target = _locate(str(node["_target_"]), kinds, prefixes)
        except ValueError as error:
            return [f"{name}: {error}"]
        accepted = [
            argument.name
            for argument in inspect.signature(target).parameters.values()
            if argument.kind not in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD)
        ]
        scalars, items, parts = _scalars(target), _items(target), _parts(target)
        for key, value in node.items():
            if key not in accepted and key not in INSTRUCTIONS:
                faults.append(
                    f"{name}.{key}: {target.__name__} takes no '{key}'; it takes "
                    f"{', '.join(accepted)}"
                )
            elif (
                key in scalars
                and (type(value) in WORDS or isinstance(value, list | Mapping))
                and not _fits(value, scalars[key])
            ):
                wanted = " or ".join(WORDS[kind] for kind in scalars[key])
                faults.append(f"{name}.{key} is {value!r}; it must be {wanted}")
            elif key in items and not _fits_list(value, items[key]):
                faults.append(
                    f"{name}.{key} is {value!r}; it must be a list, and each in it "
                    f"{WORDS[items[key]]}"
                )
            elif key in parts and isinstance(value, str):
                group = key.rpartition("_")[2]  # a decoder's cross_position is a position
                faults.append(
                    f"{name}.{key} is {value!r}; an option is chosen with a slash, such as "
                    f"encoder/{group}={value} (in a decoder: encoder/{group}@decoder.{key}={value})"
                )
    for key, value in node.items():
        faults += _faults(value, kinds, f"{name}.{key}", prefixes)
    return faults


def _scalars(target: type) -> dict[str, tuple[type, ...]]:
    """The constructor's arguments that take plain values, with the types that they take."""
    found = {}
    for name, hint in _hints(target).items():
        united = typing.get_origin(hint) in (typing.Union, types.UnionType)
        kinds = typing.get_args(hint) if united else (hint,)
        plain_kinds = tuple(kind for kind in kinds if kind in WORDS)
        # A hint with more than classes in it (Any, Literal) takes what cannot be told here.
        if plain_kinds and all(inspect.isclass(kind) for kind in kinds):
            found[name] = plain_kinds
    return found


def _items(target: type) -> dict[str, type]:
    """The constructor's arguments that take lists of plain values, with the type of each value."""
    found = {}
    for name, hint in _hints(target).items():
        if typing.get_origin(hint) in (list, Sequence) and typing.get_args(hint)[0] in WORDS:
            found[name] = typing.get_args(hint)[0]
    return found


def _fits_list(value: Any, kind: type) -> bool:
    return isinstance(value, list) and all(_fits(item, (kind,)) for item in value)


def _parts(target: type) -> frozenset[str]:
    """The constructor's arguments that build parts, and so are given as nodes."""
    hints = _hints(target)
    return frozenset(name for name, hint in hints.items() if typing.get_origin(hint) is Callable)


def _hints(target: type) -> dict[str, Any]:
    """The type of each of the constructor's arguments."""
    try:
        arguments = inspect.signature(target, eval_str=True).parameters
    except NameError:  # a class that imports its types for the type checker only
        return {}
    return {name: argument.annotation for name, argument in arguments.items()}


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value is of one of the types; a whole number is also a number, but no bool is."""
    if isinstance(value, bool):
        return bool in kinds
    if isinstance(value, float) and value != value:
        return False
    return isinstance(value, kinds) or (float in kinds and isinstance(value, int))


def _make(node: Any, kinds: tuple[type, ...], name: str, prefixes: tuple[str, ...]) -> Any:
    """What a checked node stands for.

    Hydra's ``instantiate`` would read it anew, resolve interpolations and make lists of tuples:
    a checkpoint could have it build what was never looked at here.
    """
    if isinstance(node, list):
        return [_make(item, kinds, f"{name}[{i}]", prefixes) for i, item in enumerate(node)]
    if not isinstance(node, Mapping):
        return node
    if "_target_" not in node:
        return {key: _make(value, kinds, f"{name}.{key}", prefixes) for key, value in node.items()}
    made = _part(node, kinds, name, prefixes)
    return made if node.get("_partial_") else _call(made, name)


def _part(
    node: Mapping[str, Any], kinds: tuple[type, ...], name: str, prefixes: tuple[str, ...]
) -> functools.partial[Any]:
    """The class that a node names, with the arguments that the node states."""
    stated = {
        key: _make(value, kinds, f"{name}.{key}", prefixes)
        for key, value in node.items()
        if key not in INSTRUCTIONS
    }
    return functools.partial(_locate(str(node["_target_"]), kinds, prefixes), **stated)


def _call(made: functools.partial[Any], name: str, *arguments: Any, **named: Any) -> Any:
    try:
        inspect.signature(made).bind(*arguments, **named)
    except TypeError as error:
        raise ValueError(f"{name}: {made.func.__name__}: {error}") from None
    try:
        return made(*arguments, **named)
    except ValueError as error:
        # Of a class of torch's own the message names no key.
        raise ValueError(str(error) if name in str(error) else f"{name}: {error}") from error
    except ModuleNotFoundError as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{name} needs a package that is not installed: {reason}") from error


def _locate(target: str, kinds: tuple[type, ...], prefixes: tuple[str, ...]) -> type:
    """The class a dotted path names, if it may be built.

    The class's own ``__module__`` decides: a path that walks through an imported module
    (``seqtag.model.torch.hub.load``) leads nowhere.
    """
    trusted = os.environ.get("SEQTAG_TRUSTED", "").split(",")
    prefixes = (*prefixes, *(f"{word.strip().rstrip('.')}." for word in trusted if word.strip()))
    module_name, _, class_name = target.rpartition(".")
    refusal = (
        f"'{target}' may not be built: a config names classes of "
        f"{', '.join(prefix + '*' for prefix in prefixes)} only "
        "(SEQTAG_TRUSTED=PACKAGE adds one that you trust)"
    )
    if not f"{module_name}.".startswith(prefixes):
        raise ValueError(refusal)
    try:
        found = getattr(importlib.import_module(module_name), class_name, None)
    except ImportError as error:
        raise ValueError(f"'{target}' cannot be imported: {error}") from error
    if not inspect.isclass(found):
        raise ValueError(f"'{target}' is not a class")
    if not f"{found.__module__}.".startswith(prefixes):
        raise ValueError(refusal)
    if not issubclass(found, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"'{target}' is not a {wanted}, which is wanted here")
    return found


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield every key in which two configs differ, dotted, with both values (None for none)."""
    old, new = _flat(before), _flat(now)
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            yield key, old.get(key), new.get(key)


def _flat(node: Any, name: str = "") -> dict[str, Any]:
    """Leaves of nested mappings by dotted name."""
    if not isinstance(node, Mapping):
        return {name: node}
    return {
        leaf: value
        for key, child in node.items()
        for leaf, value in _flat(child, f"{name}.{key}" if name else str(key)).items()
    }
