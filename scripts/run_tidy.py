#!/usr/bin/env python3
"""Runs clang-tidy in parallel over files of a compilation database; see scripts/tidy."""

import argparse
import concurrent.futures
import json
import subprocess
import sys
import time
from pathlib import Path

# The database is written for g++: clang must neither stumble over its warning names nor add its own
# stricter reading of -Wconversion.
EXTRA_ARGUMENTS = (
    "--extra-arg=-Wno-unknown-warning-option",
    "--extra-arg=-Wno-sign-conversion",
    "--extra-arg=-Wno-error",
)


def files_of_tree(root, commands):
    """The sources in the database that belong to the tree, not to a build directory."""
    files = set()
    for entry in json.loads(commands.read_text(encoding="utf-8")):
        file = Path(entry["directory"], entry["file"]).resolve()
        if file.is_relative_to(root) and not file.relative_to(root).parts[0].startswith("build"):
            files.add(file)
    return sorted(files)


def run(file, build_directory):
    start = time.monotonic()
    result = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(build_directory), *EXTRA_ARGUMENTS, str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    return result, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--commands", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()

    known = files_of_tree(arguments.root.resolve(), arguments.commands)
    files = [file.resolve() for file in arguments.files] or known
    unknown = [str(file) for file in files if file not in known]
    if unknown:
        print(f"not in {arguments.commands}: {' '.join(unknown)}", file=sys.stderr)
        return 2
    if not files:
        print("no sources to check", file=sys.stderr)
        return 2

    failed = []
    seen = set()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = {
            pool.submit(run, file, arguments.commands.parent): file.relative_to(arguments.root)
            for file in files
        }
        for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
            name = futures[future]
            result, seconds = future.result()
            verdict = "ok" if result.returncode == 0 else "FINDINGS"
            print(f"[{number}/{len(files)}] {name} {seconds:.1f} s {verdict}", flush=True)
            if result.returncode != 0:
                failed.append(str(name))
                # A finding in a header comes once for each source that includes it.
                output = result.stdout.strip() or result.stderr.strip()
                if output not in seen:
                    seen.add(output)
                    print(output, flush=True)

    if failed:
        print(f"clang-tidy: findings in {len(failed)} of {len(files)} files:")
        for name in sorted(failed):
            print(f"  {name}")
        return 1
    print(f"clang-tidy: no findings in {len(files)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
