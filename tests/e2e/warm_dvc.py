"""The quick DVC of a course, its stages forked from a process that has loaded PyTorch and SciPy once: a third of what each costs.

A stage gets what DVC would start it with: its words, folder and environment, and none of the project's modules. `python warm_dvc.py repro ...`
is `dvc repro ...`. The course itself goes without it.
"""

from __future__ import annotations

import os
import runpy
import shlex
import sys
import traceback
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

PYTHON = ["python", "-m"]


def start_server() -> tuple[int, Connection]:
    """Fork the process that forks the stages, before anything of DVC is loaded; it ends with the other end of the pipe."""
    ours, theirs = Pipe()
    if not (process := os.fork()):
        ours.close()
        serve(theirs)
        os._exit(0)
    theirs.close()
    return process, ours


def serve(asked: Connection) -> None:
    """Run each command that is asked for in a process of its own, and answer with its exit code."""
    import safetensors.torch  # noqa: F401
    import scipy.stats  # noqa: F401

    while True:
        try:
            words, folder, environment = asked.recv()
        except EOFError:
            return
        if not (process := os.fork()):
            os._exit(run_module(words, folder, environment))
        asked.send(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))


def run_module(words: list[str], folder: str, environment: dict[str, str]) -> int:
    """`python -m WORDS` in this process; its exit code."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[0], sys.argv = folder, words
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def main(words: list[str]) -> int:
    """The command `dvc`."""
    process, server = start_server()
    from dvc.stage import run
    from dvc.stage.exceptions import StageCmdFailedError
    from quick_dvc import main as dvc

    start = run._run

    def start_warm(executable: str, command: str, *, cwd: str, env: dict[str, str], **more: Any) -> None:
        words = shlex.split(command)
        if words[:2] != PYTHON:
            return start(executable, command, cwd=cwd, env=env, **more)
        server.send((words[2:], str(cwd), dict(env)))
        if code := server.recv():
            raise StageCmdFailedError(command, code)

    run._run = start_warm
    try:
        return dvc(words)
    finally:
        server.close()
        os.waitpid(process, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
