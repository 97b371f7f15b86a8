"""JupyterLab and Voila as processes on loopback, with a token and folders of their own; they end with their kernels."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path
from typing import Self

import psutil

from tests.browser import forked_kernel
from tests.processes import fork_server

NOWHERE = "127.0.0.1:9"  # nobody listens there: a proxy that lets nothing out
FOLDERS = {
    "JUPYTER_CONFIG_DIR": "config",
    "JUPYTER_DATA_DIR": "data",
    "JUPYTER_RUNTIME_DIR": "runtime",
    "JUPYTERLAB_SETTINGS_DIR": "settings",
    "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    "IPYTHONDIR": "ipython",
}
SETTINGS = {
    # every cell is laid out and painted, also those that are scrolled away
    "notebook-extension/tracker": {"windowingMode": "none", "scrollPastEnd": False},
    "docmanager-extension/plugin": {"autosave": False, "confirmClosingDocument": False},
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
}
LAB_OPTIONS = [
    "--LabApp.expose_app_in_browser=True",  # window.jupyterapp, through which pages are driven
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",  # the other one asks PyPI
    "--ServerApp.terminals_enabled=False",
    "--ServerApp.port_retries=0",
    *(["--allow-root"] if os.geteuid() == 0 else []),
]
COMMAND = [sys.executable, "-IS", forked_kernel.__file__]
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "metadata": {"debugger": True}}


class Server:
    """A server of the notebooks below `folder`, from `with` to the end of its block."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder).resolve()
        self.token = secrets.token_urlsafe(16)
        self.own = Path(tempfile.mkdtemp(prefix="notebook-server-"))  # settings, logs: gone at the end
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def command(self) -> list[str]:
        raise NotImplementedError

    def prepare(self) -> None:
        """Write what the server reads from its own folders."""

    def path_of(self, notebook: Path) -> str:
        """Where a notebook lies below the served folder."""
        return notebook.resolve().relative_to(self.folder).as_posix()

    def address(self, route: str, notebook: Path) -> str:
        path = urllib.parse.quote(self.path_of(notebook))
        return f"http://127.0.0.1:{self.port}/{route}/{path}?token={self.token}"

    def environment(self) -> dict[str, str]:
        """The caller's, without its Jupyter; kernels, too, reach no host but loopback."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "IPYTHON"))}
        proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), f"http://{NOWHERE}")
        own = {name: str(self.own / folder) for name, folder in FOLDERS.items()}
        return kept | proxies | own | {"no_proxy": "127.0.0.1,localhost", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}

    def __enter__(self) -> Self:
        for folder in FOLDERS.values():
            (self.own / folder).mkdir()
        self.prepare()
        with (self.own / "log").open("wb") as log:
            self.process = subprocess.Popen(
                self.command(), cwd=self.folder, env=self.environment(), start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
        try:
            self._wait_until_it_listens()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wait_until_it_listens(self, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.1)
            else:
                return
        raise RuntimeError(f"the server did not start:\n{self.log()}")

    def log(self) -> str:
        return (self.own / "log").read_text(errors="replace")

    def __exit__(self, *_: object) -> None:
        """End the server and its kernels, each by its id; those that do not heed SIGTERM by SIGKILL."""
        mine: list[psutil.Process] = []
        try:
            server = psutil.Process(self.process.pid)
            mine = [server, *server.children(recursive=True)]
        except psutil.NoSuchProcess:
            pass
        self.process.terminate()
        for stubborn in psutil.wait_procs(mine, timeout=5)[1]:
            stubborn.kill()
        self.process.wait(10)
        shutil.rmtree(self.own, ignore_errors=True)


class Lab(Server):
    """JupyterLab: no news, no checks for updates, nothing saved by itself; its kernels are forks (forked_kernel.py)."""

    def prepare(self) -> None:
        for name, values in SETTINGS.items():
            file = self.own / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(values))
        kernel = self.own / "kernels" / "kernels" / "python3" / "kernel.json"
        kernel.parent.mkdir(parents=True)
        kernel.write_text(json.dumps(KERNEL | {"argv": [*COMMAND, fork_server("kernels"), "{connection_file}"]}))

    def environment(self) -> dict[str, str]:
        return super().environment() | {"JUPYTER_PATH": str(self.own / "kernels")}

    def command(self) -> list[str]:
        return [
            sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.port={self.port}", f"--ServerApp.root_dir={self.folder}",
            f"--IdentityProvider.token={self.token}", f"--FileCheckpoints.checkpoint_dir={self.own / 'checkpoints'}",
            *LAB_OPTIONS,
        ]  # fmt: skip

    def page_of(self, notebook: Path) -> str:
        return self.address("lab/tree", notebook) + "&reset"


class Voila(Server):
    """Voila under the template beside this file, which asks no other host for icons."""

    def prepare(self) -> None:
        template = self.own / "data" / "voila" / "templates" / "offline"
        shutil.copytree(Path(__file__).parent / "voila_offline", template)

    def command(self) -> list[str]:
        return [
            sys.executable, "-m", "voila", str(self.folder), "--no-browser", "--Voila.ip=127.0.0.1",
            f"--port={self.port}", f"--token={self.token}", "--template=offline", "--show_tracebacks=True",
        ]  # fmt: skip

    def page_of(self, notebook: Path) -> str:
        return self.address("voila/render", notebook)
