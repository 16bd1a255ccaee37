#!/usr/bin/env python3
"""Runs client_test against server_test in several modes and prints a table; see scripts/demo."""

import argparse
import json
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

START_TIMEOUT = 10
STOP_TIMEOUT = 10
# What a run may take beyond its measured time: connecting, draining, closing.
RUN_MARGIN = 20
SIZES = (4, 64, 1024, 65536)
CABLE = 6
PUSH_INTERVAL_MS = 1
LISTENING = re.compile(r"listening on (\S+:\d+)")


class DemoError(Exception):
    pass


class Server:
    """A server_test that listens on a port of the system's choice, stopped at the end."""

    def __init__(self, program, *arguments):
        command = [str(program), "--listen", "127.0.0.1:0", "--echo", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.lines = queue.Queue()
        self.output = []
        # Reads to the end, so that the server never waits for room in the pipe.
        self.reader = threading.Thread(target=self.read_output, daemon=True)
        self.reader.start()

    def read_output(self):
        for line in self.process.stdout:
            self.output.append(line)
            self.lines.put(line)
        self.lines.put(None)

    def __enter__(self):
        try:
            self.address = self.wait_for_address()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        return self

    def wait_for_address(self):
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise DemoError(f"the server does not listen after {START_TIMEOUT} s") from None
            if line is None:
                raise DemoError("the server ended before it listened:\n" + "".join(self.output))
            match = LISTENING.search(line)
            if match:
                return match.group(1)

    def __exit__(self, kind, value, traceback):
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            code = f"none, killed {STOP_TIMEOUT} s after SIGTERM"
        self.reader.join(STOP_TIMEOUT)
        # An error inside the block tells more than the exit code.
        if code != 0 and kind is None:
            raise DemoError(f"the server's exit code is {code}; its output:\n{''.join(self.output)}")
        return False


def run_client(program, address, arguments, seconds):
    command = [str(program), "--connect", address, *arguments]
    command += ["--seconds", f"{seconds:g}", "--json", "-"]
    try:
        result = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=seconds + RUN_MARGIN,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise DemoError(f"not done after {seconds + RUN_MARGIN:g} s") from None
    output = result.stdout.strip().splitlines()
    if result.returncode != 0:
        raise DemoError(f"exit code {result.returncode}\n{result.stdout}{result.stderr}".rstrip())
    try:
        report = json.loads(output[-1])
        report["messages_per_second"] + report["messages"]  # what no row can do without
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise DemoError(f"no result in its last line ({error!r})\n{result.stdout}") from None
    if report["messages"] == 0:
        raise DemoError("no message got through")
    return report


def number(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def row_of(label, connections, size, report):
    # In a push run the client writes next to nothing; the batches are the server's.
    writes = report.get("writes") if report["mode"] != "push" else None
    latency = report.get("latency_us") or {}
    rate = report.get("bytes_per_second")
    return [
        label,
        str(connections),
        number(size),
        number(report["messages"]),
        number(report["messages_per_second"]),
        number(None if rate is None else rate / 1e6, 1),
        number(report["messages"] / writes if writes else None, 1),
        number(report.get("cpu_seconds"), 2),
        *(number(latency.get(key)) for key in ("p50", "p99", "p999")),
    ]


def print_table(rows):
    header = [
        "mode",
        "conns",
        "bytes",
        "messages",
        "messages/s",
        "MB/s",
        "msgs/write",
        "cpu s",
        "p50 us",
        "p99 us",
        "p99.9 us",
    ]
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=Path, required=True, help="the build directory")
    parser.add_argument("--seconds", type=float, default=2)
    arguments = parser.parse_args()
    server_program = arguments.programs / "server_test/server_test"
    client_program = arguments.programs / "client_test/client_test"

    echo_runs = [("async", 1, size) for size in SIZES]
    echo_runs += [("sync", 1, size) for size in SIZES]
    echo_runs += [("async", CABLE, size) for size in SIZES]
    # The pushing server is a process of its own, so that pushes do not disturb the other runs.
    groups = [
        ("echo server", [], echo_runs),
        ("push server", ["--push-interval", str(PUSH_INTERVAL_MS)], [("push", 1, 64)]),
    ]
    total = sum(len(runs) for _, _, runs in groups)
    print(f"{total} runs of {arguments.seconds:g} s each", flush=True)

    # Ends in the usual way, so that the server is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))

    rows = []
    failed = []
    done = 0
    for name, server_arguments, runs in groups:
        try:
            with Server(server_program, *server_arguments) as server:
                for mode, connections, size in runs:
                    done += 1
                    kind = ["--single"] if connections == 1 else ["--cable", str(connections)]
                    label = f"{mode}, {size} bytes, " + (
                        "single connection" if connections == 1 else f"cable of {connections}"
                    )
                    print(f"[{done:2}/{total}] {label}: ", end="", flush=True)
                    try:
                        report = run_client(
                            client_program,
                            server.address,
                            [*kind, "--mode", mode, "--size", str(size)],
                            arguments.seconds,
                        )
                    except DemoError as error:
                        print(f"FAILED: {error}", flush=True)
                        failed.append(label)
                        continue
                    print(f"{report['messages_per_second']:,.0f} messages/s", flush=True)
                    rows.append(row_of(mode, connections, report.get("size", size), report))
        except (DemoError, OSError) as error:
            print(f"{name} FAILED: {error}", flush=True)
            failed.append(name)

    if rows:
        print(flush=True)
        print_table(rows)
    if failed:
        print(f"\nFAILED: {'; '.join(failed)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
