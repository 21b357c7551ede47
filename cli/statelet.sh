#!/bin/sh
# The command `statelet`. It replaces itself with the package's Node.js, so that no shell process remains.

fail() {
  printf 'statelet: %s\n' "$1" >&2
  exit 1
}

# Node.js crashes with fewer than 22 open files, and an agent with a few pods needs several dozen.
files=$(ulimit -H -n)
if [ "$files" != unlimited ] && [ "$files" -lt 64 ]; then
  fail "the limit of open files is $files (ulimit -n), at least 64 are required"
fi

# Pods, volumes and log collectors must be able to read files of the agent. Private files set their own mode.
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

# npm may hoist the dependency Node.js to any node_modules above the package.
above=$root
while [ -n "$above" ] && [ ! -x "$above/node_modules/node/bin/node" ]; do
  above=${above%/*}
done
node=$above/node_modules/node/bin/node
if [ ! -x "$node" ]; then
  node=$(command -v node) && "$node" -e 'process.exit(Number.parseInt(process.versions.node) < 24 ? 1 : 0)' ||
    fail "Node.js 24 not found: reinstall the package without --ignore-scripts (its dependency \"node\" provides it)"
fi

# glibc would retain a tenth of the agent's memory. So use one arena, allocate blocks of 16 KiB and more with mmap, which
# returns them when they are freed, and trim the end of the arena early, where a large block would pin everything below it.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-16384}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-12288}"
export MALLOC_TOP_PAD_="${MALLOC_TOP_PAD_:-8192}"
# A hanging file system call blocks a thread, so use twice the default number of threads.
export UV_THREADPOOL_SIZE="${UV_THREADPOOL_SIZE:-8}"
# A burst of pods would grow V8's young generation to three times 32 MiB. A quarter of that is nearly as fast.
exec "$node" --v8-pool-size=1 --max-semi-space-size=8 "$root/cli/bin.mjs" "$@"
