"""A ``python`` that starts at once: forked from a process that has imported everything already.

``python -m seqtag`` imports torch, Lightning and more, for several seconds every time. Here a
server imports them once; ``python`` hands it arguments, folder, environment and standard streams,
and the server forks a child that goes on as a fresh process would.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import shlex
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from typing import Any

# What the package imports only where it is used.
LATE = ("matplotlib.figure", "scipy.stats", "seqeval.metrics", "sklearn.linear_model")


@contextlib.contextmanager
def forked_python(environment: Mapping[str, str]) -> Iterator[Path]:
    """A folder with ``python`` for the front of PATH; what it started ends with the context."""
    with tempfile.TemporaryDirectory(prefix="seqtag") as name:
        command = [sys.executable, __file__, f"{name}/socket"]
        asking = [sys.executable, "-I", "-S", *command[1:]]
        python = Path(name, "python")
        python.write_text(f'#!/bin/sh\nexec {shlex.join(asking)} "$@"\n')
        python.chmod(0o755)
        streams: dict[str, Any] = {"stdin": DEVNULL, "stdout": PIPE, "stderr": PIPE}
        with Popen(command, env=environment, start_new_session=True, **streams) as server:
            try:
                assert server.stdout.readline() == b"ready\n", server.stderr.read()
                yield python.parent
            finally:
                os.killpg(server.pid, 9)
            assert server.stderr.read() == b"", "each command would say what the imports say"


def ask(address: str, arguments: list[str]) -> int:
    """What ``python`` does: have the server run the arguments, and give the exit status."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [b"\0"], [0, 1, 2])
        server.sendall(json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode())
        server.shutdown(socket.SHUT_WR)
        return int(server.makefile().read())


def serve(address: str) -> list[Any]:
    """Import all, then fork for each who asks; returns in the child, with what it is to run."""
    path = importlib.import_module("seqtag").__path__
    for name in (*(module.name for module in pkgutil.walk_packages(path, "seqtag.")), *LATE):
        if name != "seqtag.__main__":
            importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    gc.freeze()  # what is there by now stays shared, and no child's collections go through it
    assert threading.active_count() == 1, "a thread does not live on in a child; its locks do"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        # A fork for each, since those who ask may be the two ends of a pipe.
        connection, _ = listener.accept()
        while os.fork():
            connection.close()
            connection, _ = listener.accept()
    streams = socket.recv_fds(connection, 1, 3)[1]
    request: list[Any] = json.loads(connection.makefile().read())
    if child := os.fork():
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(str(status if status >= 0 else 128 - status).encode())
        os._exit(0)
    connection.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    return request


def become(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Turn this process into the one that was asked for."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    option, what, *words = arguments
    sys.argv, sys.path[0] = [option, *words], {"-m": folder, "-c": ""}[option]
    if option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


def main() -> None:
    """Serve, and in a child: run, exit as Python does, and only leave the memory to the system."""
    status = 1
    # Before all others, and so called after them.
    atexit.register(lambda: (sys.stdout.flush(), os._exit(status)))
    try:
        become(*serve(sys.argv[1]))
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise


if __name__ == "__main__":
    sys.exit(ask(sys.argv[1], sys.argv[2:])) if sys.flags.isolated else main()
