#!/usr/bin/env python3
"""Uses the library as a project outside of the source tree does.

    package_test.py ... find_package       installs it, moves the prefix, finds it by CMake
    package_test.py ... pkg_config         installs it, moves the prefix, finds it by pkg-config
    package_test.py ... add_subdirectory   builds it as a part of the other project

Then builds and runs tests/package/consumer. All happens in a temporary directory.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RUN_TIMEOUT = 60


def run(command, **options):
    print("+", shlex.join(str(part) for part in command), flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def output_of(command, environment):
    print("+", shlex.join(command), flush=True)
    return subprocess.run(
        command, check=True, env=environment, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def install(arguments, work):
    """Installs into one prefix and moves it to another, so that no absolute path can be in use."""
    first = work / "first"
    command = [arguments.cmake, "--install", arguments.build, "--prefix", first]
    if arguments.config:
        command += ["--config", arguments.config]
    run(command, stdout=subprocess.DEVNULL)
    moved = work / "moved"
    first.rename(moved)

    leaked = [
        str(file.relative_to(moved))
        for pattern in ("*.cmake", "*.pc")
        for file in moved.rglob(pattern)
        if any(str(path) in file.read_text() for path in (arguments.source, first))
    ]
    if leaked:
        sys.exit(f"paths of the build are in the installed {', '.join(leaked)}")
    return moved


def build_with_cmake(arguments, work, settings):
    source = work / "consumer"
    build = work / "build"
    shutil.copytree(arguments.source / "tests/package/consumer", source)
    command = [
        arguments.cmake,
        "-S",
        source,
        "-B",
        build,
        "-G",
        arguments.generator,
        f"-DCMAKE_CXX_COMPILER={arguments.compiler}",
        f"-DCMAKE_CXX_FLAGS={arguments.flags}",
        *settings,
    ]
    if arguments.launcher:
        command.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={arguments.launcher}")
    run(command)
    run([arguments.cmake, "--build", build])
    return build / "consumer"


def find_package(arguments, work):
    prefix = install(arguments, work)
    return build_with_cmake(arguments, work, [f"-DCMAKE_PREFIX_PATH={prefix}"])


def add_subdirectory(arguments, work):
    consumer = build_with_cmake(arguments, work, [f"-DNTCPMSG_SOURCE_DIR={arguments.source}"])
    # As a part of another project the library brings neither tests nor programs with it.
    for unwanted in ("tests", "server_test", "client_test", "examples", "bench"):
        if (work / "build/ntcpmsg" / unwanted).exists():
            sys.exit(f"add_subdirectory builds {unwanted}, too")
    return consumer


def pkg_config(arguments, work):
    prefix = install(arguments, work)
    environment = dict(os.environ, PKG_CONFIG_PATH=str(prefix / arguments.libdir / "pkgconfig"))
    flags = output_of(["pkg-config", "--cflags", "ntcpmsg"], environment)
    libraries = output_of(["pkg-config", "--static", "--libs", "ntcpmsg"], environment)
    consumer = work / "consumer"
    run(
        [
            arguments.compiler,
            "-std=c++20",
            *shlex.split(arguments.flags),
            *shlex.split(flags),
            arguments.source / "tests/package/consumer/main.cpp",
            "-o",
            consumer,
            *shlex.split(libraries),
            f"-Wl,-rpath,{prefix / arguments.libdir}",
        ]
    )
    return consumer


WAYS = {
    "find_package": find_package,
    "pkg_config": pkg_config,
    "add_subdirectory": add_subdirectory,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--libdir", required=True)
    parser.add_argument("--config", default="")
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--generator", default="Ninja")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--launcher", default="")
    parser.add_argument("--flags", default="")
    parser.add_argument("way", choices=sorted(WAYS))
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="ntcpmsg-package-") as directory:
        try:
            consumer = WAYS[arguments.way](arguments, Path(directory))
            run([consumer], timeout=RUN_TIMEOUT)
        except subprocess.CalledProcessError as error:
            sys.exit(f"failed with code {error.returncode}")
        except subprocess.TimeoutExpired:
            sys.exit(f"the consumer did not end within {RUN_TIMEOUT} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main())
