import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { playScenario } from '../cri/scenario.ts';
import { expectedOf } from '../cri/scenarioExpected.ts';
import { noAbort, withContainerd } from './support/containerd.ts';

const image = 'statelet.local/busybox:1';

test('the scenario on a real containerd has the results of the simulated runtime', async () => {
  const wait = (ms: number) => pause(ms);
  const seen = await withContainerd(({ cri }) => playScenario({ cri, image, uid: 'u1', signal: noAbort, wait }));
  expect(seen).toEqual(expectedOf(image));
}, 60_000);
