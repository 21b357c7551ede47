import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root, say } from './places.mjs';
import { unpackPrograms } from './unpackPrograms.mjs';

const execute = promisify(execFile);
const cache = join(root, '.cache/kubectl');

/** The oldest and the newest that users of Debian have: by its release, the package that has it. */
const packages = { bookworm: 'kubernetes-client', sid: 'kubectl' };

/**
 * Fetches the kubectls that the tests use nodes with, each out of a release of Debian, wherever the host has its own
 * packages from: they are unpacked below .cache/kubectl and not installed. Those that are there are not fetched again.
 * What cannot be fetched is told; the tests fail then.
 */
export async function fetchKubectls() {
  const all = await Promise.all(Object.keys(packages).map(fetched));
  say(`kubectl ${all.map(({ release, version }) => `${version ?? 'is missing'} (${release})`).join(', ')}`);
}

async function fetched(release) {
  const there = await versionOf(release);
  if (there !== undefined) return { release, version: there };
  try {
    say(`fetching kubectl of ${release}`);
    await unpackPrograms({ release, name: packages[release], directory: join(cache, release) });
  } catch (error) {
    say(`kubectl of ${release} could not be fetched: ${error.message}`);
  }
  return { release, version: await versionOf(release) };
}

/** Undefined where it is not there, or does not run. */
async function versionOf(release) {
  try {
    const { stdout } = await execute(join(cache, release, 'kubectl'), ['version', '--client'], { timeout: 10_000 });
    return /v\d+\.\d+\.\d+/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}
