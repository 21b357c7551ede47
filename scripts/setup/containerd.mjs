import { execFile } from 'node:child_process';
import { readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { printProgress, root } from './places.mjs';
import { unpackPrograms, withUnpacked } from './unpackPrograms.mjs';

const execFileAsync = promisify(execFile);
const directory = join(root, '.cache/containerd');
const patchelfDirectory = join(root, '.cache/patchelf');

/**
 * Downloads containerd and runc from Debian sid and unpacks them in .cache/containerd without installing them. The
 * tests run on these versions in addition to the host's. Skips the download if both programs exist and run. Reports a
 * failure instead of throwing, because the tests that need these versions then fail anyway.
 */
export async function fetchContainerd() {
  if ((await readVersions()) === undefined) {
    printProgress('fetching containerd and runc of sid');
    try {
      await fetchPrograms();
    } catch (error) {
      printProgress(`containerd and runc of sid could not be fetched: ${error.message}`);
    }
  }
  printProgress(`${(await readVersions()) ?? 'containerd and runc are missing or do not run'} (sid)`);
}

async function fetchPrograms() {
  await unpackPrograms({ release: 'bookworm', name: 'patchelf', directory: patchelfDirectory });
  const names = ['containerd', 'runc', 'libc6', 'libseccomp2'];
  await withUnpacked({ release: 'sid', names, parent: dirname(directory) }, async (unpacked) => {
    await useOwnLibraries(join(unpacked, 'usr'));
    rmSync(directory, { recursive: true, force: true });
    renameSync(join(unpacked, 'usr'), directory);
  });
}

/**
 * Links runc to the libraries beside it, because runc needs a newer libc than the host's. The dynamic loader must have
 * the same version as libc, and its path is absolute.
 */
async function useOwnLibraries(unpacked) {
  const triplet = readdirSync(join(unpacked, 'lib')).find((name) => name.endsWith('-linux-gnu'));
  const loader = readdirSync(join(unpacked, 'lib', triplet)).find((name) => name.startsWith('ld-linux'));
  const libraries = join(directory, 'lib', triplet);
  const options = ['--set-interpreter', join(libraries, loader), '--set-rpath', libraries];
  await execFileAsync(join(patchelfDirectory, 'patchelf'), [...options, join(unpacked, 'bin/runc')]);
}

/** Returns the versions of both programs, or undefined if one of them does not exist or does not run. */
async function readVersions() {
  try {
    const versions = ['containerd', 'runc'].map(async (name) => {
      const { stdout } = await execFileAsync(join(directory, 'bin', name), ['--version'], { timeout: 10_000 });
      return `${name} ${/\b\d+\.\d+\.\d+/.exec(stdout)[0]}`;
    });
    return (await Promise.all(versions)).join(', ');
  } catch {
    return undefined;
  }
}
