import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { playScenario } from '../cri/scenario.ts';
import { expectedOf } from '../cri/scenarioExpected.ts';
import { noAbort, withContainerd } from './support/containerd.ts';
import { isContainerd2 } from './support/runtimes.ts';

const image = 'statelet.local/busybox:1';

/** The simulated runtime responds like containerd 1. */
function expectedOfContainerd2() {
  const { names, stopping, ...others } = expectedOf(image);
  const taken = `failed to reserve container name "web_names_scenario_<uid>_0"; check if another CreateContainer request is in progress: name "web_names_scenario_<uid>_0" is reserved for "<container names/web/0>"`;
  const missing = `failed to check if this is a checkpoint image: failed to resolve image "statelet.local/none:1": not found`;
  return {
    ...others,
    names: {
      ...Object(names),
      containerTwice: `NameReserved: CreateContainer: ${taken}`,
      withoutImage: `NotFound: CreateContainer: ${missing}`,
    },
    stopping: { ...Object(stopping), create: 'ok' },
  };
}

test('the scenario on a real containerd has the results of the simulated runtime', async () => {
  const wait = (ms: number) => pause(ms);
  const seen = await withContainerd(({ cri }) => playScenario({ cri, image, uid: 'u1', signal: noAbort, wait }));
  expect(seen).toEqual(isContainerd2 ? expectedOfContainerd2() : expectedOf(image));
}, 60_000);
