/**
 * Runs a CommonJS bundle, and saves the code that V8 has compiled, so that the next start can reuse it. Node's own
 * compile cache contains only the code that is compiled while modules load. That is a small part, because most
 * functions are compiled when they are first called.
 */
import { hash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';

/**
 * Time after the program's start at which the compiled code is saved, in milliseconds. By this time, a daemon has
 * adopted its pods or started the first ones.
 */
const SAVE_AFTER_MS = 10_000;
/**
 * Maximum number of program starts that save compiled code. One is not enough, because the first start does not run the
 * code that only a restart needs. Further saves would add little, and each one blocks the process for 100 ms or more.
 */
const MAX_SAVES = 3;

/**
 * Runs a bundle. The file must consist of a single function, like the wrapper of a CommonJS module, and must contain
 * only ASCII characters. Compiled code is saved in `directory`, which may be read-only or missing. V8's flags must not
 * change until `onSaved` is called, because V8 accepts only code that was compiled under the same flags.
 */
export function runCompiled(file, { directory, onSaved, afterMs = SAVE_AFTER_MS }) {
  const bundleBytes = readFileSync(file);
  const bundleHash = hash('sha256', bundleBytes);
  const path = join(directory, `${bundleHash}.${cachedDataVersionTag()}`);
  const savedCode = readSavedCode(path);
  // Decode the bundle as Latin-1, because such a string takes only one byte per character.
  const script = new Script(bundleBytes.latin1Slice(), {
    filename: file,
    ...(savedCode ? { cachedData: savedCode.code } : {}),
  });
  const acceptedCode = script.cachedDataRejected === false ? savedCode : undefined;
  const save = async () => {
    const isComplete = acceptedCode !== undefined && acceptedCode.saves >= MAX_SAVES;
    const file = isComplete ? undefined : await createTemporaryFile(path);
    const code = file && script.createCachedData();
    onSaved();
    if (file === undefined) return;
    const isLarger = acceptedCode === undefined || code.length > acceptedCode.code.length;
    await writeSavedCode(file, path, isLarger ? code : acceptedCode.code, (acceptedCode?.saves ?? 0) + 1);
  };
  // `unref` prevents the timer from delaying an exit.
  setTimeout(save, afterMs).unref();
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, dirname(file));
}

/**
 * Returns the checksum of saved code. V8 does not verify the code, so one changed byte would crash the process at every
 * start.
 */
const checksumOf = (content) => hash('sha256', content, 'buffer');
const CHECKSUM_LENGTH = 32;

/**
 * Returns the compiled code saved in a file and the number of program starts that have saved it, or undefined if the
 * file is missing or damaged.
 */
function readSavedCode(file) {
  try {
    const content = readFileSync(file);
    const checkedContent = content.subarray(CHECKSUM_LENGTH);
    if (!checksumOf(checkedContent).equals(content.subarray(0, CHECKSUM_LENGTH))) return undefined;
    return { saves: checkedContent[0], code: checkedContent.subarray(1) };
  } catch {
    return undefined;
  }
}

/**
 * Creates an empty file next to `path`. Returns its path, or undefined if the directory is read-only or cannot be
 * created.
 */
async function createTemporaryFile(path) {
  const temporaryPath = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    await writeFile(temporaryPath, '', { flag: 'wx', mode: 0o644 });
    return temporaryPath;
  } catch {
    return undefined;
  }
}

/**
 * Writes the compiled code and the number of program starts that have saved it. A write error is ignored, because the
 * next start can compile the code again.
 */
async function writeSavedCode(temporaryPath, path, code, saves) {
  const checkedContent = Buffer.concat([Buffer.of(saves), code]);
  try {
    await writeFile(temporaryPath, [checksumOf(checkedContent), checkedContent]);
    await rename(temporaryPath, path);
  } catch {
    await rm(temporaryPath, { force: true }).catch(() => {});
  }
}
