#!/usr/bin/env python3
"""Runs server_test and client_test against each other.

    programs_test.py SERVER_TEST CLIENT_TEST [unittest arguments, e.g. a class of test cases]
"""

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

SERVER = ""
CLIENT = ""

START_TIMEOUT = 20
RUN_TIMEOUT = 60
STOP_TIMEOUT = 20

CLIENT_KEYS = {
    "mode",
    "size",
    "connections",
    "threads",
    "window",
    "messages",
    "lost",
    "seconds",
    "messages_per_second",
    "bytes_per_second",
    "cpu_seconds",
    "writes",
    "reads",
    "latency_us",
    "server",
}
SERVER_KEYS = {
    "seconds",
    "cpu_seconds",
    "messages_received",
    "messages_sent",
    "bytes_received",
    "bytes_sent",
    "reads",
    "writes",
    "echo_dropped",
    "pushed",
}


class Server:
    """A server_test on a port of the system's choice; killed at the end if it still runs."""

    def __init__(self, *arguments, listen=("127.0.0.1:0",)):
        command = [SERVER]
        for address in listen:
            command += ["--listen", address]
        self.process = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.lines = queue.Queue()
        self.output = []
        self.errors = []
        self.readers = [
            threading.Thread(target=self.read_output, daemon=True),
            threading.Thread(target=self.read_errors, daemon=True),
        ]
        for reader in self.readers:
            reader.start()
        self.listen = listen
        self.addresses = []

    def read_output(self):
        for line in self.process.stdout:
            self.output.append(line.rstrip("\n"))
            self.lines.put(line)
        self.lines.put(None)

    def read_errors(self):
        for line in self.process.stderr:
            self.errors.append(line.rstrip("\n"))

    def __enter__(self):
        try:
            for _ in self.listen:
                self.addresses.append(self.wait_for(r"^listening on (\S+:\d+)$").group(1))
        except BaseException:
            self.__exit__()
            raise
        return self

    def wait_for(self, pattern):
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"the server does not print {pattern}") from None
            if line is None:
                raise AssertionError(f"the server ended early: {self.output} {self.errors}")
            match = re.search(pattern, line)
            if match:
                return match

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.wait()

    def wait(self):
        code = self.process.wait(STOP_TIMEOUT)
        for reader in self.readers:
            reader.join(STOP_TIMEOUT)
        return code

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for reader in self.readers:
            reader.join(STOP_TIMEOUT)
        self.process.stdout.close()
        self.process.stderr.close()


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT, check=False)


def run_client(address, *arguments):
    return run(CLIENT, "--connect", address, "--json", "-", *arguments)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class TestCase(unittest.TestCase):
    def assert_one_line(self, text, pattern):
        self.assertRegex(text, pattern)
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.endswith("\n"), text)

    def result_of(self, process):
        self.assertEqual(process.returncode, 0, process.stdout + process.stderr)
        self.assertEqual(process.stderr, "")
        report = json.loads(process.stdout.splitlines()[-1])
        self.assertLessEqual(CLIENT_KEYS, set(report))
        self.assertEqual(set(report["latency_us"]) & {"p50", "p99", "p999"}, {"p50", "p99", "p999"})
        self.assertEqual(report["lost"], 0)
        self.assertTrue(report["complete"])
        return report


class Modes(TestCase):
    """Every mode against one server."""

    count = 20000

    @classmethod
    def setUpClass(cls):
        server = Server("--threads", "2")
        cls.addClassCleanup(server.__exit__)
        cls.address = server.__enter__().addresses[0]

    def run_count(self, *arguments):
        report = self.result_of(run_client(self.address, "--count", str(self.count), *arguments))
        self.assertEqual(report["messages"], self.count)
        self.assertGreater(report["seconds"], 0)
        self.assertAlmostEqual(
            report["messages_per_second"], self.count / report["seconds"], delta=1
        )
        self.assertAlmostEqual(
            report["bytes_per_second"], report["messages_per_second"] * report["size"], delta=1000
        )
        return report

    def assert_latencies(self, report):
        latency = report["latency_us"]
        self.assertGreater(latency["p50"], 0)
        self.assertLessEqual(latency["p50"], latency["p99"])
        self.assertLessEqual(latency["p99"], latency["p999"])

    def assert_no_latencies(self, report):
        for key in ("p50", "p99", "p999"):
            self.assertIsNone(report["latency_us"][key])

    def test_async_single(self):
        report = self.run_count("--single", "--mode", "async")
        self.assertEqual(report["mode"], "async")
        self.assertEqual(report["connections"], 1)
        self.assertEqual(report["size"], 64)
        self.assertEqual(report["server"]["messages"], self.count)
        self.assertEqual(report["server"]["bytes"], self.count * 64)
        self.assert_no_latencies(report)
        # Batches: far fewer system calls than messages.
        self.assertLess(report["writes"], self.count / 2)

    def test_async_cable_is_the_default(self):
        report = self.result_of(run_client(self.address, "--count", str(self.count)))
        self.assertEqual(report["mode"], "async")
        self.assertEqual(report["connections"], 6)
        self.assertEqual(report["server"]["messages"], self.count)

    def test_async_threads(self):
        for kind in (["--single"], ["--cable", "3", "--io-threads", "2"]):
            with self.subTest(kind=kind):
                report = self.run_count(*kind, "--mode", "async", "--threads", "3", "--size", "5")
                self.assertEqual(report["threads"], 3)

    def test_empty_payloads(self):
        for mode in ("async", "sync", "echo", "push"):
            with self.subTest(mode=mode):
                report = self.result_of(
                    run_client(
                        self.address, "--single", "--mode", mode, "--size", "0", "--count", "500"
                    )
                )
                self.assertEqual(report["messages"], 500)
                self.assertEqual(report["bytes_per_second"], 0)

    def test_large_payloads(self):
        for mode in ("async", "sync", "echo", "push"):
            with self.subTest(mode=mode):
                report = self.result_of(
                    run_client(
                        self.address, "--single", "--mode", mode, "--size", "16777215",
                        "--count", "3", "--window", "2",
                    )
                )
                self.assertEqual(report["messages"], 3)

    def test_sync(self):
        for kind in (["--single"], ["--cable", "2"]):
            with self.subTest(kind=kind):
                report = self.run_count(*kind, "--mode", "sync", "--threads", "8")
                self.assertIsNone(report["window"])
                self.assert_latencies(report)

    def test_echo(self):
        for kind in (["--single"], ["--cable", "2", "--io-threads", "2"]):
            with self.subTest(kind=kind):
                report = self.run_count(*kind, "--mode", "echo", "--window", "32")
                self.assertEqual(report["window"], 32)
                self.assert_latencies(report)

    def test_echo_with_more_slots_than_requests(self):
        report = self.result_of(
            run_client(self.address, "--mode", "echo", "--window", "64", "--count", "10")
        )
        self.assertEqual(report["messages"], 10)

    def test_push(self):
        for kind in (["--single"], ["--cable", "2"]):
            with self.subTest(kind=kind):
                report = self.run_count(*kind, "--mode", "push", "--size", "100")
                self.assert_no_latencies(report)

    def test_seconds(self):
        for mode in ("async", "sync", "echo", "push"):
            with self.subTest(mode=mode):
                report = self.result_of(
                    run_client(self.address, "--mode", mode, "--seconds", "0.3")
                )
                self.assertGreater(report["messages"], 0)
                self.assertGreater(report["seconds"], 0.2)

    def test_json_file_and_quiet(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "result.json")
            process = run(
                CLIENT, "--connect", self.address, "--count", "100", "--quiet", "--json", str(path)
            )
            self.assertEqual(process.returncode, 0, process.stderr)
            self.assertEqual(process.stdout, "")
            self.assertEqual(json.loads(path.read_text())["messages"], 100)

    def test_table(self):
        process = run(CLIENT, "--connect", self.address, "--count", "100")
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertRegex(process.stdout, r"(?m)^mode +async$")
        self.assertRegex(process.stdout, r"(?m)^messages +100$")

    def test_interrupt_still_prints_the_result(self):
        process = subprocess.Popen(
            [CLIENT, "--connect", self.address, "--seconds", "50", "--json", "-"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=STOP_TIMEOUT)
        self.assertEqual(process.returncode, 1, output + errors)
        self.assert_one_line(errors, r"^client_test: interrupted")
        report = json.loads(output.splitlines()[-1])
        self.assertFalse(report["complete"])
        self.assertEqual(report["lost"], 0)


class Usage(TestCase):
    def assert_wrong_usage(self, program, *arguments):
        process = run(program, *arguments)
        self.assertEqual(process.returncode, 2, process.stdout + process.stderr)
        self.assertEqual(process.stdout, "")
        self.assert_one_line(process.stderr, f"^{Path(program).name}: ")

    def test_help_and_version(self):
        for program in (SERVER, CLIENT):
            process = run(program, "--help")
            self.assertEqual(process.returncode, 0)
            self.assertIn("--json", process.stdout)
            process = run(program, "--version")
            self.assertEqual(process.returncode, 0)
            self.assertRegex(process.stdout, rf"^{Path(program).name} \d+\.\d+\.\d+\n$")

    def test_client(self):
        for arguments in (
            ["--unknown"],
            ["surplus"],
            ["--connect", "nowhere"],
            ["--connect", "localhost:70000"],
            ["--connect"],
            ["--size", "16777216"],
            ["--size", "-1"],
            ["--size", "large"],
            ["--count", "0"],
            ["--count", "5", "--seconds", "5"],
            ["--seconds", "0"],
            ["--threads", "0"],
            ["--window", "0"],
            ["--window", "4096", "--cable", "64"],
            ["--cable", "0"],
            ["--single", "--cable", "2"],
            ["--mode", "fast"],
        ):
            with self.subTest(arguments=arguments):
                self.assert_wrong_usage(CLIENT, *arguments)

    def test_server(self):
        for arguments in (
            ["--unknown"],
            ["--listen", "nowhere"],
            ["--listen", "::1:2500"],
            ["--threads", "0"],
            ["--push-interval", "0"],
            ["--push-text", "alone"],
            ["--stats", "0"],
            ["--run-for", "-1"],
        ):
            with self.subTest(arguments=arguments):
                self.assert_wrong_usage(SERVER, *arguments)


class ServerEnd(TestCase):
    def test_signals_drain_and_print_totals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number=number), Server("--json", "-") as server:
                self.result_of(run_client(server.addresses[0], "--count", "1000"))
                self.assertEqual(server.stop(number), 0, server.errors)
                self.assertEqual(server.errors, [])
                self.assertRegex("\n".join(server.output), r"(?m)^messages received +\d+$")
                totals = json.loads(server.output[-1])
                self.assertLessEqual(SERVER_KEYS, set(totals))
                self.assertGreaterEqual(totals["messages_received"], 1000)

    def test_run_for_and_stats(self):
        with Server("--run-for", "1", "--stats", "0.2", "--push-interval", "20") as server:
            server.wait_for(r"^sessions 0  cables 0  in 0 msg/s")
            self.assertEqual(server.wait(), 0, server.errors)

    def test_several_addresses(self):
        with Server(listen=("127.0.0.1:0", "127.0.0.1:0")) as server:
            self.assertNotEqual(*server.addresses)
            for address in server.addresses:
                self.result_of(run_client(address, "--count", "100"))

    def test_names(self):
        with Server(listen=("localhost:0",)) as server:
            port = server.addresses[0].rsplit(":", 1)[1]
            self.result_of(run_client(f"localhost:{port}", "--single", "--count", "100"))

    def test_echo_sends_everything_back(self):
        with Server("--echo", "--json", "-") as server:
            report = self.result_of(run_client(server.addresses[0], "--count", "20000"))
            self.assertEqual(report["server"]["echo_dropped"], 0)
            server.stop()
            totals = json.loads(server.output[-1])
            self.assertGreaterEqual(totals["messages_sent"] + totals["echo_dropped"], 20000)

    def test_address_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            process = run(SERVER, "--listen", address)
            self.assertEqual(process.returncode, 1)
            self.assert_one_line(
                process.stderr,
                f"^server_test: cannot listen on {re.escape(address)}: Address already in use",
            )

    def test_unwritable_json(self):
        process = run(SERVER, "--listen", "127.0.0.1:0", "--json", "/nonexistent/totals.json")
        self.assertEqual(process.returncode, 1)
        self.assertEqual(process.stdout, "")
        self.assert_one_line(
            process.stderr,
            "^server_test: cannot write /nonexistent/totals.json: No such file or directory$",
        )

    def test_killed_server_fails_the_run(self):
        with Server() as server:
            client = subprocess.Popen(
                [CLIENT, "--connect", server.addresses[0], "--mode", "sync", "--seconds", "50"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(1)
            server.process.kill()
            output, errors = client.communicate(timeout=STOP_TIMEOUT)
            self.assertEqual(client.returncode, 1, output + errors)
            self.assert_one_line(errors, "^client_test: ")


class ClientFailure(TestCase):
    def test_no_server(self):
        address = f"127.0.0.1:{free_port()}"
        for kind in ("--single", "--cable=3"):
            with self.subTest(kind=kind):
                process = run(CLIENT, "--connect", address, kind)
                self.assertEqual(process.returncode, 1)
                self.assertEqual(process.stdout, "")
                self.assert_one_line(
                    process.stderr,
                    f"^client_test: cannot connect to {address}: Connection refused$",
                )

    def test_silent_server(self):
        # Accepts, but no one ever answers.
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            start = time.monotonic()
            process = run(CLIENT, "--connect", address, "--cable", "2", "--timeout", "1")
            self.assertEqual(process.returncode, 1)
            self.assert_one_line(process.stderr, "^client_test: ")
            self.assertLess(time.monotonic() - start, 20)

    def test_unwritable_json(self):
        with Server() as server:
            for path, reason in (
                ("/nonexistent/result.json", "No such file or directory"),
                ("/dev/full", "No space left on device"),
            ):
                with self.subTest(path=path):
                    process = run(
                        CLIENT, "--connect", server.addresses[0], "--count", "10", "--json", path
                    )
                    self.assertEqual(process.returncode, 1)
                    self.assert_one_line(
                        process.stderr, f"^client_test: cannot write {path}: {reason}$"
                    )


def main():
    global SERVER, CLIENT
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    SERVER, CLIENT = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
