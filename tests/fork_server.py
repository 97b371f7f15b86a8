"""A process with one thread that has imported what programs need, and forks itself for each that it is asked to run.

To import it takes a process two seconds, and here it is done once. A request comes through a socket (`fork_client.py`);
the program has the standard files, folder and environment of the client.
"""

from __future__ import annotations

import gc
import json
import os
import select
import socket
import sys
import threading
import traceback
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

LIBRARIES = (
    "altair",
    "anthropic",
    "anyio._backends._asyncio",
    "pandas",
    "pyarrow.parquet",
    "pydantic",
    "scipy.stats",
    "typer",
    "vl_convert",
)
KERNELS = ("ipykernel.kernelapp", "ipywidgets", "verifyplan.widgets.explorer", "verifyplan.widgets.comparison")

SECRET = f"password = 'a1B2c3D4e5F6' and ghp_{'a1B2' * 9}"


def command(*words: str) -> None:
    """Run `verifyplan` with these words, as its script does."""
    warnings.simplefilter("default")
    sys.argv = ["verifyplan", *words]
    import_module("verifyplan.cli").main()


def python(code: str, *words: str) -> None:
    """Run a program, as `python -W error -c` does."""
    sys.argv = ["-c", *words]
    exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})


def kernel(*words: str) -> None:
    """Run a Jupyter kernel, as `python -m ipykernel_launcher` does."""
    os.setsid()  # it leads its processes, as the kernel of a server does
    # what ipywidgets does where it is imported by a kernel
    import_module("ipykernel.kernelapp").launch_new_instance([*words, "--IPKernelApp.extensions=ipywidgets"])


def imports(kind: str) -> list[str]:
    """Return what a server imports: other people's libraries, all that commands and killings need, or kernels, too."""
    if kind == "libraries":
        return list(LIBRARIES)
    listed = import_module("verifyplan.cli.app").COMMANDS.values()
    everything = [*LIBRARIES, *sorted({f"verifyplan.cli.{each.module}" for each in listed})]
    return [*everything, *KERNELS] if kind == "kernels" else everything


def warm_up() -> None:
    """Do once what nearly every fork would do first: compile the rules of secrets, and read the certificates."""
    import_module("verifyplan.redaction").redact(SECRET)
    trusted = import_module("verifyplan.agents.anthropic.client").trusted_certificates
    trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


def serve(kind: str, place: str) -> None:
    """Answer requests until standard input ends."""
    for name in imports(kind):
        import_module(name)
    if kind != "libraries":
        warm_up()
    gc.freeze()  # what was imported is looked through for garbage in no fork
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(place)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if not os.fork():
                listening.close()
                answer(connection)
            connection.close()
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    continue


def answer(connection: socket.socket) -> None:
    """Run the program of one request to its end, and send its exit code."""
    data, files, _, _ = socket.recv_fds(connection, 1 << 16, 3)
    while more := connection.recv(1 << 16):
        data += more
    request: dict[str, Any] = json.loads(data)
    for number, file in enumerate(files):
        os.dup2(file, number)
    connection.sendall(f"{os.getpid()}\n".encode())
    if request["signals"]:
        threading.Thread(target=end_with_client, args=[connection], daemon=True).start()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    code = 1
    try:
        getattr(import_module(request["module"]), request["function"])(*request["words"])
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        connection.sendall(str(code).encode())
        os._exit(code)


def end_with_client(connection: socket.socket) -> None:
    """End this process when its client has gone."""
    gone = select.poll()
    gone.register(connection, 0)  # of a connection that was hung up one is always told
    gone.poll()
    os._exit(1)


if __name__ == "__main__":
    serve(*sys.argv[1:])
