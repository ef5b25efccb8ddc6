"""The files that a path of the user's names, and their bytes."""

from __future__ import annotations

import glob
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

GZIP = b"\x1f\x8b"
"""The first bytes of a compressed file, whatever it is called."""

GZIP_ENDING = ".gz"

WILD = frozenset("*?[")


def find_files(given: str) -> list[Path]:
    """The files behind a path: the file itself, those of a folder, or those that a pattern fits.

    Hidden files are passed over, and the order is that of the names, the same everywhere.

    Raises:
        ValueError: there is no such file.
    """
    path = Path(given).expanduser()
    if path.is_dir():
        found = [file for file in path.iterdir() if file.is_file()]
        problem = "a folder without files; name a file, or a pattern such as FOLDER/*/*.conllu"
    elif WILD & set(given) and not path.exists():
        found = [Path(match) for match in glob.glob(str(path), recursive=True)]
        found = [file for file in found if file.is_file()]
        problem = f"no file fits this pattern (a relative one starts at {Path.cwd()})"
    else:
        return [path]
    files = sorted(file for file in found if not file.name.startswith("."))
    if not files:
        raise ValueError(f"{given}: {problem}")
    return files


def refuse_mixture(given: str, files: list[Path]) -> None:
    """Refuse a folder whose files have several endings (``.gz`` aside), as a README beside data.

    Raises:
        ValueError: naming them.
    """
    endings = sorted({Path(file.name.removesuffix(GZIP_ENDING)).suffix for file in files})
    if Path(given).expanduser().is_dir() and len(endings) > 1:
        raise ValueError(
            f"{given}: a folder with files of several kinds ({', '.join(endings)}); name those "
            f"that are meant by a pattern, such as {given}/*{endings[0]}"
        )


def open_stream(path: str) -> BinaryIO:
    """The bytes of the file at ``path``, decompressed where they are those of gzip.

    Raises:
        ValueError: there is no such file, or it cannot be opened.
    """
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 (whoever asked for it closes it)
        if stream.peek(len(GZIP))[: len(GZIP)] != GZIP:
            return stream
        packed = gzip.GzipFile(fileobj=stream)
        packed.myfileobj = stream  # type: ignore[assignment]  # closed with it
        return cast(BinaryIO, packed)
    except FileNotFoundError:
        problem = f"no such file (a relative path starts at {Path.cwd()})"
    except IsADirectoryError:
        problem = "this is a folder; name a file in it"
    except PermissionError:
        problem = "no permission to read this file"
    except OSError as error:
        problem = f"cannot be opened ({error.strerror})"
    raise ValueError(f"{path}: {problem}")


@contextmanager
def compressing(stream: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """The stream, or one that compresses what goes to it where the file's name says so."""
    if path.suffix != GZIP_ENDING:
        yield stream
        return
    with _Forward(fileobj=stream, mode="wb", filename="", mtime=0) as packed:
        yield cast(BinaryIO, packed)


class _Forward(gzip.GzipFile):
    """A compressed file that says that nothing can be written over, as writers of archives do."""

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Refused."""
        raise io.UnsupportedOperation("what is compressed cannot be written over")
