import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { layoutOf } from '../../cri/managed/layout.ts';
import { networkStoryExpected, playNetworkStory } from '../cri/networkStory.ts';
import { rawCalls } from '../cri/rawCalls.ts';
import { withContainerd } from './support/containerd.ts';
import { eventually } from './support/eventually.ts';
import { isContainerd2 } from './support/runtimes.ts';

test('a real containerd without a ready network responds like the simulated runtime', async () => {
  const seen = await withContainerd(async ({ containerd, directory }) => {
    const folder = layoutOf(directory).cniConfig;
    const [name = 'none'] = await readdir(folder);
    const file = join(folder, name);
    const config = await readFile(file, 'utf8');
    const { call, close } = rawCalls(containerd.endpoint);
    const isReady = async () =>
      (await call('status', { verbose: false })).status?.conditions.every(({ status }) => status);
    const setNetwork = async (ready: boolean) => {
      await (ready ? writeFile(file, config) : rm(file));
      await eventually(`the network is ${ready ? '' : 'not '}ready`, async () => (await isReady()) === ready);
    };
    try {
      return await playNetworkStory({ call, setNetwork });
    } finally {
      close();
    }
  });
  // containerd 2 releases the name of a failed sandbox.
  const expected = isContainerd2 ? { ...networkStoryExpected, shown: '', runAfter: 'OK' } : networkStoryExpected;
  expect(seen).toEqual(expected);
}, 60_000);
