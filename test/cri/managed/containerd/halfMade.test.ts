import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { releaseLeases } from '../../../../cri/managed/containerd/halfMade.ts';
import { layoutOf } from '../../../../cri/managed/layout.ts';

const { signal } = new AbortController();
let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-leases-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function leaseOf(sandboxId: string) {
  const file = join(directory, `10.0.0.${sandboxId.length}`);
  await writeFile(file, sandboxId);
  return { file, sandboxId };
}

test('a lease whose host ports cannot be released does not block the others, and the failure is reported', async () => {
  await writeFile(
    join(directory, 'portmap'),
    '#!/bin/sh\ncat >/dev/null\necho "$CNI_CONTAINERID is stuck" >&2\nexit 1\n',
  );
  await chmod(join(directory, 'portmap'), 0o755);
  const held = [await leaseOf('one'), await leaseOf('three'), await leaseOf('living')];
  const place = { sandboxes: ['living'], layout: layoutOf(directory), signal };
  const failures = await releaseLeases(held, { ...place, cniPlugins: directory });
  expect(failures).toEqual([expect.stringContaining('one is stuck'), expect.stringContaining('three is stuck')]);
  expect(held.map(({ file }) => existsSync(file))).toEqual([false, false, true]);
  const again = [await leaseOf('one')];
  expect(await releaseLeases(again, place)).toEqual(['no CNI plugins found to release the host ports of one']);
  expect(again.map(({ file }) => existsSync(file))).toEqual([false]);
});
