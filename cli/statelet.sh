#!/bin/sh
# The command `statelet`. It becomes the Node.js that the package brings along, so that no other process stays with it.

fail() {
  printf 'statelet: %s\n' "$1" >&2
  exit 1
}

# Node.js itself crashes with fewer than 22 files, and an agent with a few pods needs some dozens. It takes what it may have.
files=$(ulimit -H -n)
if [ "$files" != unlimited ] && [ "$files" -lt 64 ]; then
  fail "the limit of open files is $files (ulimit -n), at least 64 are required"
fi

# What pods, their volumes and whoever collects their logs may read is read under the usual mask; what is private says so.
umask 022

# npm links to this file from node_modules/.bin, and from a directory in PATH when it installs globally.
self=$0
case $self in
  */*) ;;
  *) self=./$self ;;
esac
while [ -L "$self" ]; do
  target=$(readlink "$self")
  case $target in
    /*) self=$target ;;
    *) self=${self%/*}/$target ;;
  esac
done
root=$(CDPATH='' cd -P -- "${self%/*}/.." && pwd -P) || fail "cannot enter the package directory"

for part in cli cli/bin.mjs package.json dist dist/daemon.js dist/statelet.mjs node_modules; do
  [ ! -e "$root/$part" ] || { [ -r "$root/$part" ] && { [ ! -d "$root/$part" ] || [ -x "$root/$part" ]; }; } ||
    fail "$(id -un) cannot read $root/$part, a part of the package: permission denied"
done

# As a dependency, Node.js may lie beside the package, in any node_modules above it.
above=$root
while [ -n "$above" ] && [ ! -x "$above/node_modules/node/bin/node" ]; do
  above=${above%/*}
done
node=$above/node_modules/node/bin/node
if [ ! -x "$node" ]; then
  node=$(command -v node) && "$node" -e 'process.exit(Number.parseInt(process.versions.node) < 24 ? 1 : 0)' ||
    fail "Node.js 24 not found: reinstall the package without --ignore-scripts (its dependency \"node\" provides it)"
fi

# One arena, and pieces of 16 KiB and more of their own, that go back as soon as they are freed: glibc would keep a tenth of
# what the agent needs. Little is kept free at the arena's end: a large piece that is put there keeps all that is below it.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-16384}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-12288}"
export MALLOC_TOP_PAD_="${MALLOC_TOP_PAD_:-8192}"
# Nothing takes its thread from a file system call that hangs: with twice as many as usual, more of them may.
export UV_THREADPOOL_SIZE="${UV_THREADPOOL_SIZE:-8}"
# A burst of pods would let V8's room for young objects grow to three times 32 MiB; a quarter of it serves nearly as well.
exec "$node" --v8-pool-size=1 --max-semi-space-size=8 "$root/cli/bin.mjs" "$@"
