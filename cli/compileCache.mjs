/**
 * Runs a bundle in CommonJS and keeps what V8 has compiled of it, for the next start. Node's own compile cache keeps
 * what is compiled at loading, which is little: most functions are compiled at their first call.
 */
import { hash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/** By then a daemon has taken over what runs, or started its first pods. */
const KEEP_AFTER_MS = 10_000;
/** It is rewritten when so much more has been compiled: a first start leaves out what only a restart needs. */
const GROWTH = 1.005;

/**
 * Runs the bundle in a file: a function as CommonJS wraps modules, in ASCII. `directory` is where compiled code is kept;
 * it may be read-only or absent. V8's flags must stay as they are until `onKept` is called: it keeps code by them.
 */
export function runCompiled(file, { directory, onKept, afterMs = KEEP_AFTER_MS }) {
  const text = readFileSync(file);
  const build = hash('sha256', text);
  const kept = join(directory, `${build}.${cachedDataVersionTag()}`);
  const cachedData = read(kept);
  // This way the text takes a byte a character.
  const script = new Script(text.latin1Slice(), { filename: file, ...(cachedData ? { cachedData } : {}) });
  const before = script.cachedDataRejected === false ? cachedData.length : 0;
  const keep = async () => {
    const code = script.createCachedData();
    onKept();
    if (code.length > before * GROWTH) await write(kept, code);
  };
  // Nobody waits for it, and it does not hold up an end.
  setTimeout(keep, afterMs).unref();
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
}

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

/** Where it cannot be written, the next start compiles again. */
async function write(file, code) {
  const unfinished = `${file}.${randomUUID()}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    await writeFile(unfinished, [checksumOf(code), code], { flag: 'wx', mode: 0o644 });
    await rename(unfinished, file);
  } catch {
    await rm(unfinished, { force: true }).catch(() => {});
  }
}
