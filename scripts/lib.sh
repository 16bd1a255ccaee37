# shellcheck shell=bash
# Functions shared by the scripts. Sourced, after `set -euo pipefail`.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT

# The name of the script that runs, for messages.
SCRIPT="scripts/$(basename "$0")"
readonly SCRIPT

die() {
  printf '%s: %s\n' "$SCRIPT" "$*" >&2
  exit 1
}

usage_error() {
  printf '%s: %s (see %s --help)\n' "$SCRIPT" "$*" "$SCRIPT" >&2
  exit 2
}

# Prints the comment at the head of the script as its help.
print_help() {
  sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"
}

# Installs what is missing, once per call of a script.
need_bootstrap() {
  "$ROOT/scripts/bootstrap"
}

# As many jobs as there are cores, fewer when memory is short: a translation unit of Boost.Asio
# takes up to 1 GB. NTCPMSG_JOBS overrides.
job_count() {
  local jobs memory_gb
  jobs=${NTCPMSG_JOBS:-}
  if [[ -z $jobs ]]; then
    jobs=$(nproc)
    memory_gb=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
    if ((memory_gb >= 1 && memory_gb < jobs)); then
      jobs=$memory_gb
    fi
  fi
  printf '%s\n' "$jobs"
}

configure_preset() {
  (cd "$ROOT" && cmake --preset "$1" >"$ROOT/build/configure-$1.log" 2>&1) || {
    cat "$ROOT/build/configure-$1.log" >&2
    return 1
  }
  # Warnings of CMake must not be lost in the log.
  sed -n '/^CMake .*Warning/,/^$/p' "$ROOT/build/configure-$1.log" >&2
}

# Prints the words to put before a command that runs programs of a preset, one per line. The
# ThreadSanitizer of g++ 12 cannot start where the kernel randomizes more bits of an address than it
# knows of; without randomization it always can.
command_prefix() {
  local machine
  machine=$(uname -m)
  if [[ $1 == tsan ]] && setarch "$machine" -R true 2>/dev/null; then
    printf '%s\n' setarch "$machine" -R
  fi
}

# build_preset PRESET [TARGET...]: everything unless targets are given.
build_preset() {
  local preset=$1
  shift
  mkdir -p "$ROOT/build"
  configure_preset "$preset" || return 1
  local prefix
  mapfile -t prefix < <(command_prefix "$preset")
  local arguments=(--build --preset "$preset" --parallel "$(job_count)")
  if (($# > 0)); then
    arguments+=(--target "$@")
  fi
  (cd "$ROOT" && "${prefix[@]}" cmake "${arguments[@]}")
}

# Sources of the tree that match the given patterns, NUL-separated. Works without git.
find_sources() {
  local expression=() pattern
  for pattern in "$@"; do
    expression+=(-o -name "$pattern")
  done
  find "$ROOT" -mindepth 1 \( -path "$ROOT/build" -o -path "$ROOT/build-*" -o -name '.?*' \) -prune -o -type f \
    \( "${expression[@]:1}" \) -print0 | sort -z
}
