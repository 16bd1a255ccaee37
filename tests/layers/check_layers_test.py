#!/usr/bin/env python3
"""Shows that check_layers.py finds each broken rule, and nothing in a tree that keeps them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parent / "check_layers.py"

GOOD_TREE = {
    "ntcpmsg/include/ntcpmsg/error.hpp": "#include <boost/system/error_code.hpp>\n#include <string>\n",
    "ntcpmsg/include/ntcpmsg/listener.hpp": (
        '#include "ntcpmsg/error.hpp"\n#include <boost/asio/any_io_executor.hpp>\n'
    ),
    "ntcpmsg/src/base/clock.hpp": "#include <chrono>\n",
    "ntcpmsg/src/base/executor.hpp": "#include <boost/asio/any_io_executor.hpp>\n",
    "ntcpmsg/src/wire/frame.hpp": '#include "base/clock.hpp"\n#include "ntcpmsg/error.hpp"\n',
    "ntcpmsg/src/wire/frame.cpp": '#include "wire/frame.hpp"\n',
    "ntcpmsg/src/batch/buffer.hpp": '#include "base/clock.hpp"\n',
    "ntcpmsg/src/batch/policy.hpp": '#include "wire/frame.hpp"\n',
    "ntcpmsg/src/transport/stream.hpp": (
        '#include "wire/frame.hpp"\n#include <boost/asio/ip/tcp.hpp>\n#include <sys/socket.h>\n'
    ),
    "ntcpmsg/src/session/read_machine.hpp": '#include "wire/frame.hpp"\n#include <vector>\n',
    "ntcpmsg/src/session/read_machine.cpp": '#include "session/read_machine.hpp"\n',
    "ntcpmsg/src/session/session.cpp": (
        '#include "session/read_machine.hpp"\n#include "transport/stream.hpp"\n#include <thread>\n'
    ),
    "ntcpmsg/src/policy/registry.hpp": '#include "session/read_machine.hpp"\n',
    "ntcpmsg/src/face/listener.cpp": (
        '#include <ntcpmsg/listener.hpp>\n#include "policy/registry.hpp"\n'
    ),
    "server_test/main.cpp": '#include <ntcpmsg/listener.hpp>\n#include "options.hpp"\n',
    "server_test/options.hpp": "#include <string>\n",
    "tests/unit/frame_test.cpp": '#include "wire/frame.hpp"\n',
    "bench/micro/frame_bench.cpp": '#include "wire/frame.hpp"\n#include <vector>\n',
    "bench/peers/peer.cpp": '#include <ntcpmsg/listener.hpp>\n',
    "build/release/generated.cpp": "#include <boost/asio.hpp>\n",
}

# One file put into the good tree, and the one complaint it must cause.
BROKEN_FILES = [
    ("lower_includes_higher", "ntcpmsg/src/wire/a.hpp", '"session/session.hpp"', "of layer 3"),
    ("base_includes_wire", "ntcpmsg/src/base/a.hpp", '"wire/frame.hpp"', "of layer 1"),
    ("policy_includes_face", "ntcpmsg/src/policy/a.cpp", '"face/cable.hpp"', "of layer 5"),
    ("without_folder", "ntcpmsg/src/wire/a.hpp", '"frame.hpp"', "is not written"),
    ("upwards", "ntcpmsg/src/wire/a.hpp", '"../base/clock.hpp"', "is not written"),
    ("unknown_folder", "ntcpmsg/src/misc/a.hpp", "<vector>", "outside of the folders"),
    ("angle_for_private", "ntcpmsg/src/session/a.hpp", "<wire/frame.hpp>", "with quotes"),
    ("asio_in_wire", "ntcpmsg/src/wire/a.cpp", "<boost/asio/buffer.hpp>", "Boost.Asio into wire"),
    ("asio_in_batch", "ntcpmsg/src/batch/a.cpp", "<boost/asio/buffer.hpp>", "Asio into batch"),
    ("asio_by_way", "ntcpmsg/src/wire/a.cpp", '"base/executor.hpp"', "by way of base/"),
    ("socket_in_wire", "ntcpmsg/src/wire/a.cpp", "<sys/socket.h>", "neither sockets"),
    ("thread_in_batch", "ntcpmsg/src/batch/a.cpp", "<thread>", "neither sockets nor threads"),
    (
        "asio_in_machine",
        "ntcpmsg/src/session/a_machine.hpp",
        "<boost/asio/steady_timer.hpp>",
        "Asio into a machine",
    ),
    (
        "driver_in_machine",
        "ntcpmsg/src/session/a_machine.hpp",
        '"session/session.hpp"',
        "in a machine",
    ),
    (
        "machine_of_another_folder",
        "ntcpmsg/src/policy/a_machine.cpp",
        '"session/read_machine.hpp"',
        "in a machine",
    ),
    ("private_in_public", "ntcpmsg/include/ntcpmsg/a.hpp", '"wire/frame.hpp"', "public header"),
    ("library_in_public", "ntcpmsg/include/ntcpmsg/a.hpp", "<fmt/format.h>", "public header"),
    ("system_in_public", "ntcpmsg/include/ntcpmsg/a.hpp", "<sys/socket.h>", "public header"),
    ("big_asio_in_src", "ntcpmsg/src/session/a.cpp", "<boost/asio.hpp>", "is forbidden"),
    ("big_asio_in_public", "ntcpmsg/include/ntcpmsg/a.hpp", "<boost/asio.hpp>", "is forbidden"),
    ("big_asio_in_tests", "tests/unit/a.cpp", "<boost/asio.hpp>", "is forbidden"),
    ("big_asio_in_program", "client_test/a.cpp", "# include <boost/asio.hpp>", "is forbidden"),
    ("private_in_program", "client_test/a.cpp", '"wire/frame.hpp"', "is private"),
    ("private_in_example", "examples/1/a.cpp", '"../../ntcpmsg/src/wire/frame.hpp"', "leaves"),
    ("private_in_bench", "bench/a.cpp", "<session/session.hpp>", "is private"),
    ("private_in_peer", "bench/peers/a.cpp", '"wire/frame.hpp"', "is private"),
    ("private_in_micro_of_another", "examples/micro/a.cpp", '"wire/frame.hpp"', "is private"),
    ("by_way_of_micro", "bench/peers/a.cpp", '"../micro/a.hpp"', "is private"),
    ("big_asio_in_micro", "bench/micro/a.cpp", "<boost/asio.hpp>", "is forbidden"),
    ("private_in_serializer", "serializers/x/src/a.cpp", '"ntcpmsg/src/a.hpp"', "is private"),
]


def write(root, path, text):
    file = Path(root) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def check(root):
    result = subprocess.run(
        [sys.executable, "-B", str(CHECK), str(root)], capture_output=True, text=True, check=False
    )
    return result.returncode, result.stdout.splitlines()


class CheckLayers(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = temporary.name
        for path, text in GOOD_TREE.items():
            write(self.root, path, text)

    def test_good_tree(self):
        code, lines = check(self.root)
        self.assertEqual(lines, [f"{len(GOOD_TREE) - 1} files, 0 broken rules"])
        self.assertEqual(code, 0)

    def test_each_broken_rule(self):
        for name, path, include, complaint in BROKEN_FILES:
            with self.subTest(name):
                directive = include if include.startswith("#") else f"#include {include}"
                write(self.root, path, f"// comment\n{directive}\n")
                code, lines = check(self.root)
                (Path(self.root) / path).unlink()
                self.assertEqual(code, 1)
                self.assertEqual(len(lines), 2, lines)
                self.assertTrue(lines[0].startswith(f"{path}:2: "), lines[0])
                self.assertIn(complaint, lines[0])

    def test_folders_of_one_layer_include_each_other(self):
        write(self.root, "ntcpmsg/src/wire/a.hpp", '#include "batch/buffer.hpp"\n')
        code, lines = check(self.root)
        self.assertEqual(code, 1)
        self.assertEqual(len(lines), 3, lines)
        self.assertIn("in batch, while wire includes batch", lines[0])
        self.assertIn("in wire, while batch includes wire", lines[1])

    def test_not_a_tree(self):
        code, _ = check(Path(self.root) / "server_test")
        self.assertEqual(code, 2)


if __name__ == "__main__":
    unittest.main()
