import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { supportsTmpfsNoswap } from '../../../node/host/tmpfsNoswap.ts';
import type { MountRequest } from '../../../volume/mount/mount.ts';
import { withRoot } from '../../volume/onDisk.ts';

const directory = await mkdtemp(join(tmpdir(), 'statelet-noswap-'));
afterAll(() => rm(directory, { recursive: true }));

const uidMap = '         0          0 4294967295\n';

/** A mounter that records its calls, and that mounts nothing if `problem` is set. */
function fakeMounter(problem?: string) {
  const calls: string[] = [];
  return {
    calls,
    mount: async ({ type, options }: MountRequest) => {
      calls.push(`mount ${type} ${options.join()}`);
      if (problem !== undefined) throw new Error(problem);
    },
    unmount: async () => void calls.push('unmount'),
  };
}

describe('a tmpfs that is never swapped', () => {
  test.each(['6.4.0', '6.18.44-fc', '7.0.1'])(
    'is supported by the kernel %s without a trial',
    async (kernelRelease) => {
      const mounter = fakeMounter('no');
      expect(await supportsTmpfsNoswap({ directory, uidMap, kernelRelease, mounter })).toBe(true);
      expect(mounter.calls).toEqual([]);
    },
  );

  test.each(['6.3.9', '5.14.0-503.el9'])(
    'is tried on the kernel %s, and nothing is left of it',
    async (kernelRelease) => {
      const accepting = fakeMounter();
      expect(await supportsTmpfsNoswap({ directory, uidMap, kernelRelease, mounter: accepting })).toBe(true);
      expect(accepting.calls).toEqual(['mount tmpfs noswap', 'unmount']);
      const refusing = fakeMounter('wrong fs type, bad option');
      expect(await supportsTmpfsNoswap({ directory, uidMap, kernelRelease, mounter: refusing })).toBe(false);
      expect(await readdir(directory)).toEqual([]);
    },
  );

  test('is not supported in a user namespace', async () => {
    const mounter = fakeMounter();
    const inNamespace = { directory, uidMap: '0 100000 65536', kernelRelease: '6.18.0', mounter };
    expect(await supportsTmpfsNoswap(inNamespace)).toBe(false);
    expect(mounter.calls).toEqual([]);
  });

  withRoot('is really mounted for the trial', async () => {
    // The result of a real mount agrees with the one derived from the kernel version.
    const verdict = await supportsTmpfsNoswap({ directory });
    expect(await supportsTmpfsNoswap({ directory, kernelRelease: '5.0.0' })).toBe(verdict);
    expect(await readdir(directory)).toEqual([]);
  });
});
