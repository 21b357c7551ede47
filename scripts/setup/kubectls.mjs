import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { printProgress, root } from './places.mjs';
import { unpackPrograms } from './unpackPrograms.mjs';

const execFileAsync = promisify(execFile);
const cacheDirectory = join(root, '.cache/kubectl');

/** The packages that contain kubectl in the oldest and the newest supported release of Debian. */
const packagesByRelease = { bookworm: 'kubernetes-client', sid: 'kubectl' };

/**
 * Downloads the kubectl versions for the tests from the host's Debian mirror, and unpacks them in .cache/kubectl
 * without installing them. Skips versions that have already been downloaded. Reports a failure instead of throwing,
 * because the tests fail without kubectl anyway.
 */
export async function fetchKubectls() {
  const all = await Promise.all(Object.keys(packagesByRelease).map(fetchKubectl));
  printProgress(`kubectl ${all.map(({ release, version }) => `${version ?? 'is missing'} (${release})`).join(', ')}`);
}

async function fetchKubectl(release) {
  const version = await readKubectlVersion(release);
  if (version !== undefined) return { release, version };
  try {
    printProgress(`fetching kubectl of ${release}`);
    await unpackPrograms({ release, name: packagesByRelease[release], directory: join(cacheDirectory, release) });
  } catch (error) {
    printProgress(`kubectl of ${release} could not be fetched: ${error.message}`);
  }
  return { release, version: await readKubectlVersion(release) };
}

/** Returns kubectl's version, or undefined if the program does not exist or does not run. */
async function readKubectlVersion(release) {
  try {
    const { stdout } = await execFileAsync(join(cacheDirectory, release, 'kubectl'), ['version', '--client'], {
      timeout: 10_000,
    });
    return /v\d+\.\d+\.\d+/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}
