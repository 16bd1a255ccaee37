"""What the numbers were measured on, without anything that tells whose machine it is."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

CONGESTION = "cubic"
LIBRARIES = {
    "Boost": "libboost1.81-dev",
    "ZeroMQ": "libzmq5",
    "nng": "libnng1",
    "nanomsg": "libnanomsg5",
    "NATS client": "libnats3.4",
    "NATS server": "nats-server",
    "gRPC": "libgrpc++1.51",
    "Google Benchmark": "libbenchmark1",
}


def _output(*command: str) -> str:
    """What a command prints, nothing if it fails: the report is not worth failing for."""
    try:
        result = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def _field(file: str, name: str) -> str:
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError:
        return ""
    match = re.search(rf"^{name}\s*:\s*(.+)$", text, re.MULTILINE)
    return match.group(1).strip() if match else ""


def _compiler(build: Path) -> str:
    try:
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    except OSError:
        return "unknown"
    entries = dict(re.findall(r"^(\w+):\w+=(.*)$", cache, re.MULTILINE))
    program = entries.get("CMAKE_CXX_COMPILER", "")
    lines = _output(program, "--version").splitlines() if program else []
    # The first word is the name the program was called by, perhaps with its path.
    version = " ".join([Path(program).name, *lines[0].split()[1:]]) if lines else "unknown"
    return f"{version}, {entries.get('CMAKE_CXX_FLAGS_RELEASE', '')}".rstrip(", ")


def _libraries() -> dict[str, str]:
    listing = _output_of_dpkg(list(LIBRARIES.values()))
    return {name: listing[package] for name, package in LIBRARIES.items() if package in listing}


def _output_of_dpkg(packages: list[str]) -> dict[str, str]:
    # dpkg-query fails for unknown packages, and tells about the others all the same.
    if shutil.which("dpkg-query") is None:
        return {}
    result = subprocess.run(
        ["dpkg-query", "-W", "-f=${Package} ${Version}\n", *packages],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    pairs = (line.split(" ", 1) for line in result.stdout.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[1]}


def _commit(root: Path) -> str:
    git = ("git", "--no-optional-locks", "-C", str(root))
    commit = _output(*git, "rev-parse", "--short=12", "HEAD")
    if not commit:
        return "unknown"
    # Documents do not change what is measured, and the last report is one.
    changed = _output(*git, "status", "--porcelain", "--", ".", ":!docs", ":!*.md")
    return f"{commit} with local changes" if changed else commit


def _memory_gib() -> str:
    kilobytes = _field("/proc/meminfo", "MemTotal").split()
    return f"{int(kilobytes[0]) / 1048576:.1f} GiB" if kilobytes else "unknown"


def describe(root: Path, build: Path) -> dict[str, Any]:
    """Facts in the order they are printed; all values are texts but the libraries' versions."""
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        system = ""
    default = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.machine(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": _memory_gib(),
        "kernel": f"{platform.system()} {platform.release()}",
        "system": system or "unknown",
        "compiler": _compiler(build),
        "congestion control": (
            f"{CONGESTION} for every peer that lets us set it; the system's default is "
            + (default.read_text(encoding="ascii").strip() if default.exists() else "unknown")
        ),
        "load before": f"{os.getloadavg()[0]:.2f} (processes that ran, last minute)",
        "commit": _commit(root),
        "libraries": _libraries(),
    }


def private_texts(root: Path) -> list[tuple[str, str]]:
    """Texts that must not get into a report, with what replaces them."""
    texts = [(str(root), "."), (str(Path.home()), "~"), (platform.node(), "HOST")]
    # A very short one would hit other words, and gives nothing away.
    return [(text, other) for text, other in texts if len(text) > 3]


def scrub(text: str, private: list[tuple[str, str]]) -> str:
    for word, replacement in private:
        text = re.sub(rf"{re.escape(word)}(?![\w-])", replacement, text)
    return text
