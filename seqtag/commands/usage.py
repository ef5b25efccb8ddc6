"""The help of one command, from its yaml and the config groups."""

from __future__ import annotations

from seqtag.configuration import config_directory, options


def describe(command: str) -> str:
    """The usage line, the command's own keys with their comments, and the config groups."""
    text = (config_directory() / f"{command}.yaml").read_text(encoding="utf-8")
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")]
    keys = [line for line in text.splitlines() if line and line[0].isalpha() and ":" in line]
    shown = [f"  {line.replace(': ', '=', 1)}" for line in keys if not line.startswith("defaults")]
    groups = [
        f"  {group:<26}{' '.join(options(group))}"
        for group in sorted(
            str(folder.relative_to(config_directory()))
            for folder in config_directory().rglob("*")
            if folder.is_dir()
        )
    ]
    return "\n".join(
        [
            *lines,
            "",
            "keys (all of them with their values: --cfg job):",
            *shown,
            "",
            "groups (group=option chooses, group.key=value sets):",
            *groups,
        ]
    )
