import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { startInlineReader } from '../../../actors/simulated/startInlineReader.ts';
import { createManifestReader } from '../../../actors/sources/manifest/manifestReader.ts';

const clock = new SimulatedClock();
const { signal } = new AbortController();
const origin = {
  source: 'http',
  origin: 'here',
  nodeName: 'node',
  firstSeenAt: 0,
  classes: new Map(),
  isLenient: false,
};

/** Reads a text with this number of pods, with or without a thread. */
async function read(pods: number, startThread?: typeof startInlineReader) {
  const ended = new AbortController();
  const items = Array.from({ length: pods }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `pod-${index}` },
    spec: { containers: [{ name: 'main', image: 'busybox' }] },
  }));
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items });
  const readManifests = createManifestReader({ clock, signal: AbortSignal.any([signal, ended.signal]), startThread });
  try {
    return await readManifests({
      text,
      kind: 'response',
      origin: { ...origin, source: 'http', admittedPods: new Map() },
    });
  } finally {
    ended.abort();
  }
}

test('a text too large for the event loop yields the same pods as in a thread', async () => {
  const found = await read(200, startInlineReader);
  expect(found).toHaveLength(200);
  expect(JSON.parse(JSON.stringify(found))).toEqual(await read(200));
});

test('a text larger than the maximum size is rejected', async () => {
  const [first, ...others] = await read(30_000, startInlineReader);
  expect(others).toEqual([]);
  expect(first?.manifest).toMatchObject({
    problems: [{ message: expect.stringContaining('more than this node accepts') }],
  });
});
