"""A long-distance link on this machine: two network namespaces with bench_link between them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

INTERFACE = "link0"
SERVER_ADDRESS = "10.77.0.1"
CLIENT_ADDRESS = "10.77.0.2"
PREFIX_LENGTH = 30
NAME = "ntcpmsg-bench"
TIMEOUT = 10.0
# Old values of a namespace that would let one measurement influence the next one.
SETTINGS = {"net/ipv4/tcp_no_metrics_save": "1"}
ECHO = """
import socket, sys
listener = socket.create_server((sys.argv[1], 0))
listener.settimeout(float(sys.argv[2]))
print(listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
connection.settimeout(float(sys.argv[2]))
connection.sendall(connection.recv(16))
"""
ASK = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), float(sys.argv[3])) as connection:
    connection.sendall(b"hello")
    sys.exit(connection.recv(16) != b"hello")
"""


class LongLinkError(Exception):
    """The link could not be made or does not work."""


def _ip(*words: str) -> str:
    result = subprocess.run(
        ["ip", *words], capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if result.returncode != 0:
        raise LongLinkError(f"ip {' '.join(words)}: {result.stderr.strip()}")
    return result.stdout


def _inside(namespace: str) -> list[str]:
    return ["ip", "netns", "exec", namespace]


def _python(namespace: str, code: str, *arguments: str) -> subprocess.Popen[str]:
    command = [*_inside(namespace), sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def _program(build_dir: Path) -> Path:
    return build_dir / "bench" / "bench_link"


def _end(process: subprocess.Popen[str]) -> str:
    """Ends a process and returns what it still printed."""
    process.terminate()
    try:
        return process.communicate(timeout=TIMEOUT)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


@contextlib.contextmanager
def _ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        _end(process)


def _remove_orphans() -> None:
    """Removes the namespaces of processes that were killed before they could do it."""
    for entry in json.loads(_ip("-json", "netns", "list") or "[]"):
        name = entry["name"]
        if not name.startswith(NAME + "-"):
            continue
        owner = name.removeprefix(NAME + "-").split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            with contextlib.suppress(LongLinkError):
                _ip("netns", "delete", name)


def _exit_on_signal(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)


class LongLink:
    """While it is entered, processes in the two namespaces reach each other over the link.

    `delay_ms` is that of a round trip; loss and rate are those of each direction. The server binds
    to `server_address`, and clients connect to it.
    """

    server_address = SERVER_ADDRESS
    _made = 0

    def __init__(
        self,
        build_dir: Path,
        delay_ms: float = 20,
        loss: float = 0.001,
        rate_mbit: int = 1000,
        seed: int = 1,
    ) -> None:
        LongLink._made += 1
        name = f"{NAME}-{os.getpid()}-{LongLink._made}"
        self._server, self._client = f"{name}-server", f"{name}-client"
        self.server_prefix = _inside(self._server)
        self.client_prefix = _inside(self._client)
        self._command = [str(_program(build_dir)), "--interface", INTERFACE]
        # What goes from a to b is what the client sends.
        self._command += ["--namespace-a", self._client, "--namespace-b", self._server]
        self._command += ["--delay", f"{delay_ms / 2:g}", "--loss", f"{loss:g}"]
        self._command += ["--rate-mbit", str(rate_mbit), "--seed", str(seed)]
        self._statistics: dict[str, Any] = {}
        self._cleanup = contextlib.ExitStack()

    @staticmethod
    def available(build_dir: Path) -> tuple[bool, str]:
        """Whether a link can be made here, and if not, why."""
        if os.geteuid() != 0:
            return False, "needs root"
        if shutil.which("ip") is None:
            return False, "needs the command 'ip' (package iproute2)"
        if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
            return False, "needs /dev/net/tun"
        if not _program(build_dir).exists():
            return False, f"{_program(build_dir)} is not built"
        probe = f"{NAME}-{os.getpid()}-probe"
        try:
            _ip("netns", "add", probe)
            _ip("netns", "delete", probe)
        except (LongLinkError, subprocess.TimeoutExpired) as error:
            return False, f"no network namespaces ({error})"
        return True, ""

    def statistics(self) -> dict[str, Any]:
        """After exit: the relay's counters of `client_to_server` and `server_to_client`.

        With packets `kernel_dropped` (before the relay) or `overrun` (in it) the relay was too
        slow, and what was measured is not the link described.
        """
        return self._statistics

    def __enter__(self) -> LongLink:
        with contextlib.ExitStack() as cleanup:
            self._end_in_order_on_sigterm(cleanup)
            _remove_orphans()
            for namespace in (self._server, self._client):
                cleanup.callback(self._delete_namespace, namespace)
                _ip("netns", "add", namespace)
            relay = self._start_relay(cleanup)
            self._configure(self._server, SERVER_ADDRESS)
            self._configure(self._client, CLIENT_ADDRESS)
            self._check(relay)
            self._cleanup = cleanup.pop_all()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._cleanup.close()

    @staticmethod
    def _end_in_order_on_sigterm(cleanup: contextlib.ExitStack) -> None:
        """Turns SIGTERM, unless somebody else handles it, into an exception that cleans up."""
        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _exit_on_signal)
            cleanup.callback(signal.signal, signal.SIGTERM, signal.SIG_DFL)

    @staticmethod
    def _delete_namespace(namespace: str) -> None:
        if Path("/run/netns", namespace).exists():
            _ip("netns", "delete", namespace)

    def _start_relay(self, cleanup: contextlib.ExitStack) -> subprocess.Popen[str]:
        relay = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        cleanup.callback(self._end_relay, relay)
        assert relay.stdout is not None and relay.stderr is not None
        # A relay that cannot begin ends, which ends the line, too.
        if relay.stdout.readline().strip() != "ready":
            raise LongLinkError(relay.stderr.read().strip() or "the relay does not start")
        return relay

    def _end_relay(self, relay: subprocess.Popen[str]) -> None:
        kernel_dropped = {}
        for direction, sender in (
            ("client_to_server", self._client),
            ("server_to_client", self._server),
        ):
            # The interface is missing when the relay has failed.
            with contextlib.suppress(LongLinkError):
                kernel_dropped[direction] = self._kernel_dropped(sender)
        output = _end(relay)
        if not output.strip():
            return
        counters = json.loads(output)
        self._statistics = {
            "client_to_server": counters["a_to_b"],
            "server_to_client": counters["b_to_a"],
            "relay_cpu_seconds": counters["cpu_seconds"],
        }
        for direction, count in kernel_dropped.items():
            self._statistics[direction]["kernel_dropped"] = count

    @staticmethod
    def _kernel_dropped(namespace: str) -> int:
        shown = _ip("-n", namespace, "-json", "-stats", "link", "show", "dev", INTERFACE)
        return int(json.loads(shown)[0]["stats64"]["tx"]["dropped"])

    @staticmethod
    def _configure(namespace: str, address: str) -> None:
        _ip("-n", namespace, "link", "set", "lo", "up")
        _ip("-n", namespace, "address", "add", f"{address}/{PREFIX_LENGTH}", "dev", INTERFACE)
        # No packets but those of the measurement: IPv6 would look for routers.
        _ip("-n", namespace, "link", "set", INTERFACE, "addrgenmode", "none")
        _ip("-n", namespace, "link", "set", INTERFACE, "up")
        for name, value in SETTINGS.items():
            command = [*_inside(namespace), "tee", f"/proc/sys/{name}"]
            subprocess.run(
                command,
                input=value,
                text=True,
                stdout=subprocess.DEVNULL,
                timeout=TIMEOUT,
                check=True,
            )

    def _check(self, relay: subprocess.Popen[str]) -> None:
        """Sends a few bytes there and back."""
        with _ended(_python(self._server, ECHO, SERVER_ADDRESS, str(TIMEOUT))) as server:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            with _ended(_python(self._client, ASK, SERVER_ADDRESS, port, str(TIMEOUT))) as client:
                try:
                    code = client.wait(3 * TIMEOUT)
                except subprocess.TimeoutExpired:
                    code = -1
        if code != 0 or relay.poll() is not None:
            raise LongLinkError("nothing gets through the link")
