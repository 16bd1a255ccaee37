#!/usr/bin/env python3
"""Checks that every source file includes only what its layer may include.

    check_layers.py ROOT

Prints one line per broken rule, "file:line: what is wrong", and fails if there is any. The layers
are those of the folders in ntcpmsg/src (see LAYERS); a folder may include itself, the folders of lower
layers, and another folder of its own layer as long as that does not include it. Special rules:

- Includes inside ntcpmsg/src are written "folder/file.hpp".
- Public headers ("ntcpmsg/file.hpp" or <ntcpmsg/file.hpp>) may be included from everywhere, and
  include only other public headers, the standard library and Boost.
- Files named *_machine.* decide without I/O: they include only base, wire, batch and the machines
  of their own folder.
- wire, batch and the machines stay clear of Boost.Asio, also by way of other private headers. wire
  and batch stay clear of sockets and threads, too.
- Programs, examples, benchmarks and serializers use public headers only. The exception is
  bench/micro, which measures private parts.
- <boost/asio.hpp> is forbidden everywhere: it costs two seconds per file.
"""

import os
import re
import sys
from pathlib import Path

LAYERS = {
    "base": 0,
    "wire": 1,
    "batch": 1,
    "transport": 2,
    "session": 3,
    "policy": 4,
    "face": 5,
}
PURE_FOLDERS = ("wire", "batch")
MACHINE_MAY_INCLUDE = ("base", "wire", "batch")
OUTER_DIRECTORIES = ("serializers", "server_test", "client_test", "examples", "bench")
# Like the tests, it may include private headers.
PRIVATE_BENCHMARKS = ("bench", "micro")

SUFFIXES = (".hpp", ".h", ".ipp", ".cpp", ".cc", ".cxx")
SKIPPED_DIRECTORIES = ("build", "__pycache__")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STANDARD_HEADER = re.compile(r"^[a-z_0-9]+$")
SOCKET_OR_THREAD = re.compile(r"^(sys/(socket|un|epoll|eventfd)\.h|net/.*|netinet/.*|arpa/.*|thread)$")


class Include:
    def __init__(self, line, quoted, path):
        self.line = line
        self.quoted = quoted
        self.path = path

    def __str__(self):
        return f'"{self.path}"' if self.quoted else f"<{self.path}>"


def read_includes(path):
    includes = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            match = INCLUDE.match(line)
            if match:
                includes.append(Include(number, match.group(1) == '"', match.group(2)))
    return includes


def is_asio(path):
    return path == "boost/asio.hpp" or path.startswith("boost/asio/")


def is_public(path):
    return path.startswith("ntcpmsg/") and not path.startswith(("ntcpmsg/src/", "ntcpmsg/include/"))


def is_machine(path):
    return path.name.split(".")[0].endswith("_machine")


class Checker:
    def __init__(self, root):
        self.root = Path(root)
        self.src = self.root / "ntcpmsg" / "src"
        self.violations = []
        self.include_cache = {}
        self.file_count = 0
        # (folder, included folder of the same layer) -> the places
        self.sideways = {}

    def run(self):
        for directory, subdirectories, names in os.walk(self.root):
            subdirectories[:] = sorted(
                name
                for name in subdirectories
                if not name.startswith((".", "build-")) and name not in SKIPPED_DIRECTORIES
            )
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    self.file_count += 1
                    self.check_file(Path(directory) / name)
        for (folder, target), places in self.sideways.items():
            if (target, folder) in self.sideways:
                for path, include in places:
                    self.report(path, include, f"in {folder}, while {target} includes {folder}")
        return self.violations

    def includes_of(self, path):
        if path not in self.include_cache:
            self.include_cache[path] = read_includes(path)
        return self.include_cache[path]

    def report(self, path, include, message):
        relative = path.relative_to(self.root)
        self.violations.append(f"{relative}:{include.line}: {include} {message}")

    def check_file(self, path):
        parts = path.relative_to(self.root).parts
        for include in self.includes_of(path):
            if include.path == "boost/asio.hpp":
                self.report(path, include, "is forbidden, include the narrow headers")
            elif parts[:2] == ("ntcpmsg", "include"):
                self.check_public_header(path, include)
            elif parts[:2] == ("ntcpmsg", "src"):
                self.check_private(path, parts[2:], include)
            elif parts[0] in OUTER_DIRECTORIES and parts[:2] != PRIVATE_BENCHMARKS:
                self.check_outer(path, parts[0], include)

    def check_public_header(self, path, include):
        allowed = is_public(include.path) or (
            not include.quoted
            and (include.path.startswith("boost/") or STANDARD_HEADER.match(include.path))
        )
        if not allowed:
            self.report(
                path,
                include,
                "in a public header, which may include only public headers, Boost and the standard"
                " library",
            )

    def check_private(self, path, parts, include):
        folder = parts[0]
        if len(parts) < 2 or folder not in LAYERS:
            self.report(path, include, "in a file outside of the folders of the layers")
            return

        target = include.path.split("/")[0]
        if include.quoted and not is_public(include.path):
            if "/" not in include.path or target not in LAYERS:
                self.report(path, include, 'is not written "folder/file.hpp" with a known folder')
                return
            self.check_layer(path, folder, include, target)
        elif target in LAYERS and "/" in include.path:
            self.report(path, include, "is ours and must be written with quotes")

        pure = folder in PURE_FOLDERS
        if pure and not include.quoted and SOCKET_OR_THREAD.match(include.path):
            self.report(path, include, f"in {folder}, which knows neither sockets nor threads")
        if pure or is_machine(path):
            chain = self.way_to_asio(include, set())
            if chain:
                who = "a machine" if is_machine(path) else folder
                way = f" (by way of {', '.join(chain)})" if len(chain) > 1 else ""
                self.report(path, include, f"brings Boost.Asio into {who}{way}")

    def check_layer(self, path, folder, include, target):
        if is_machine(path):
            own_machine = target == folder and is_machine(Path(include.path))
            if target not in MACHINE_MAY_INCLUDE and not own_machine:
                self.report(
                    path,
                    include,
                    "in a machine, which may include only base, wire, batch and machines of its"
                    " own folder",
                )
        if target != folder and LAYERS[target] == LAYERS[folder]:
            self.sideways.setdefault((folder, target), []).append((path, include))
        if LAYERS[target] > LAYERS[folder]:
            self.report(
                path,
                include,
                f"of layer {LAYERS[target]} ({target}) in layer {LAYERS[folder]} ({folder})",
            )

    def way_to_asio(self, include, seen):
        """The includes that lead to Boost.Asio through private headers, or nothing."""
        if is_asio(include.path):
            return [include.path]
        target = self.src / include.path
        if not include.quoted or target in seen or not target.is_file():
            return []
        seen.add(target)
        for inner in self.includes_of(target):
            rest = self.way_to_asio(inner, seen)
            if rest:
                return [include.path] + rest
        return []

    def check_outer(self, path, directory, include):
        parts = include.path.split("/")
        local = (path.parent / include.path).is_file()
        if include.quoted and local:
            target = Path(os.path.normpath(path.parent / include.path))
            if (self.root / directory) not in target.parents:
                self.report(path, include, f"leaves {directory}, which uses public headers only")
        elif "src" in parts[:-1] or ".." in parts or (parts[0] in LAYERS and len(parts) > 1):
            self.report(path, include, f"is private, {directory} uses public headers only")


def main(arguments):
    if len(arguments) != 2 or not Path(arguments[1], "ntcpmsg").is_dir():
        print("usage: check_layers.py ROOT (the directory that contains ntcpmsg/)", file=sys.stderr)
        return 2
    checker = Checker(Path(arguments[1]).resolve())
    violations = checker.run()
    for violation in violations:
        print(violation)
    print(f"{checker.file_count} files, {len(violations)} broken rules")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
