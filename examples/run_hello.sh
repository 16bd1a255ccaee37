#!/bin/sh
# Runs 01_hello_client against 01_hello_server on a free port.
#
# usage: run_hello.sh SERVER CLIENT
set -eu

server=$1
client=$2
directory=$(mktemp -d)
pid=""

clean_up() {
  if [ -n "$pid" ]; then kill "$pid" 2>/dev/null || true; fi
  rm -rf "$directory"
}
trap clean_up EXIT

# The server ends when its input does.
mkfifo "$directory/input"
"$server" 127.0.0.1:0 <"$directory/input" >"$directory/output" &
pid=$!
exec 3>"$directory/input"

address=""
tries=0
while [ -z "$address" ]; do
  tries=$((tries + 1))
  if [ "$tries" -gt 200 ]; then
    echo "the server does not listen" >&2
    exit 1
  fi
  sleep 0.05
  address=$(sed -n 's/^listening on //p' "$directory/output")
done

"$client" "$address"

exec 3>&-
wait "$pid"
pid=""
cat "$directory/output"
grep -q 'Hello from the client' "$directory/output"
grep -q 'How are you?' "$directory/output"
