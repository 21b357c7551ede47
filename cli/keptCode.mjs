/**
 * Runs a bundle in CommonJS and keeps what V8 has compiled of it, for the next start. Node's own compile cache keeps
 * what is compiled at loading, which is little: most functions are compiled at their first call.
 */
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';

/** By then a daemon has taken over what runs, or started its first pods. */
const KEEP_AFTER_MS = 10_000;
/** It is written anew when so much more has been compiled. */
const GROWTH = 1.02;

/**
 * Runs the bundle of a file: a comment with the digest of what follows, then a function as CommonJS wraps modules.
 * `directory` is where compiled code is kept; it may be read-only or absent. V8's flags must stay as they are until
 * `onKept` is called: it keeps code by them.
 */
export function runKept(file, directory, onKept) {
  // It has nothing beyond ASCII: this way its text takes a byte a character.
  const text = readFileSync(file, 'latin1');
  const kept = join(directory, `${digestOf(text)}-${process.version}-${process.arch}`);
  const cachedData = read(kept);
  const script = new Script(text, {
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

/** V8 trusts what it is given: a byte that has changed on disk would end the process, at every start. */
const checksumOf = (code) => hash('sha256', code, 'buffer');
const CHECKSUM_LENGTH = 32;

/** The compiled code in a file; undefined when there is none, or not what was written. */
function read(file) {
  try {
    const content = readFileSync(file);
    const code = content.subarray(CHECKSUM_LENGTH);
    return checksumOf(code).equals(content.subarray(0, CHECKSUM_LENGTH)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Whole or not at all; where it cannot be written, the next start compiles again. */
function write(file, code) {
  const unfinished = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(unfinished, Buffer.concat([checksumOf(code), code]), { mode: 0o600, flush: true });
    renameSync(unfinished, file);
  } catch {
    try {
      rmSync(unfinished, { force: true });
    } catch {
      // Nor could it be begun.
    }
  }
}
