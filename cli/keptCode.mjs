/**
 * Runs a bundle in CommonJS and keeps what V8 has compiled of it, for the next start. Node's own compile cache keeps
 * what is compiled at loading, which is little: most functions are compiled at their first call.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';

/** By then a daemon has taken over what runs, or started its first pods. */
const KEEP_AFTER_MS = 10_000;
/** It is written anew when so much more has been compiled. */
const GROWTH = 1.02;

/**
 * Runs the bundle of a file, whose first line is a comment with the digest of the others. `directory` is where
 * compiled code is kept; it may be read-only or absent. V8's flags must stay as they are until `onKept` is called.
 */
export function runKept(file, directory, onKept) {
  // It has nothing beyond ASCII: this way its text takes a byte a character.
  const text = readFileSync(file, 'latin1');
  const kept = join(directory, `${digestOf(text)}-${process.version}-${process.arch}`);
  const cachedData = read(kept);
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
    filename: file,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData ? { cachedData } : {}),
  });
  const before = script.cachedDataRejected === false ? cachedData.length : 0;
  const keep = () => {
    clearTimeout(due);
    process.off('exit', keep);
    const code = script.createCachedData();
    if (code.length > before * GROWTH) write(kept, code);
    onKept();
  };
  const due = setTimeout(keep, KEEP_AFTER_MS).unref();
  process.once('exit', keep);
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
}

const digestOf = (text) => /^\/\/ (\w+)\n/.exec(text)?.[1] ?? 'unknown';

function read(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Whole or not at all; where it cannot be written, the next start compiles again. */
function write(file, code) {
  const unfinished = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    const descriptor = openSync(unfinished, 'wx', 0o600);
    try {
      writeSync(descriptor, code);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(unfinished, file);
  } catch {
    rmSync(unfinished, { force: true });
  }
}
