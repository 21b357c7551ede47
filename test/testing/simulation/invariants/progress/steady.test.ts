import { expect, test } from '@jest/globals';
import type { Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { invariants } from '../../../../../testing/simulation/invariants/invariants.ts';
import { steady } from '../../../../../testing/simulation/invariants/progress/steady.ts';
import { container, manifest } from '../../../../../testing/simulation/stories/manifests.ts';
import { play } from '../../../../../testing/simulation/stories/play.ts';
import { longLivedPods } from '../../../../../testing/simulation/stories/pointed/longLivedPods.ts';
import { ActionLog } from '../../../../../testing/simulation/users/actionLog.ts';

const MINUTE = 60_000;
const POD = 'default/web-node-1';
const web = manifest('web');

/** Returns the violations for an agent that is checked four times a minute and has this keyframe in each minute. */
function violationsOf(
  frameAfter: (minute: number) => object,
  before: (minute: number, log: ActionLog) => void = () => {},
) {
  const [actionLog, violations, clock] = [new ActionLog(), [] as string[], { elapsed: 0 }];
  actionLog.want(POD, { uid: 'of-the-user', manifest: web });
  const state = { agentNumber: 1, minute: 0 };
  const watched = {
    host: { clock },
    actionLog,
    timers: 0,
    root: { getSnapshot: () => ({}) },
    agent: { keyframe: () => frameAfter(state.minute), pods: () => [web] },
    get agentNumber() {
      return state.agentNumber;
    },
  };
  // The invariant reads nothing else of the simulation.
  const { whole } = steady.follow(watched as unknown as Watched, (message) => void violations.push(message));
  for (; state.minute < 40; state.minute += 1) {
    before(state.minute, actionLog);
    for (let look = 0; look < 4; look += 1) {
      clock.elapsed = state.minute * MINUTE + look * 15_000;
      whole?.();
    }
  }
  return violations;
}

const entries = (count: number) => ({ kept: Array.from({ length: count }, () => 0) });

test('a list that grows with each restart of a pod is reported once the growth cannot be chance', () => {
  const [first] = violationsOf((minute) => entries(minute));
  expect(first).toMatch(/^\d+ entries in keyframe\.kept: an increase in each of 8 spans of two minutes$/);
  expect(violationsOf((minute) => entries(Math.floor(minute / 2)))).not.toEqual([]);
});

test.each<[string, (minute: number) => number]>([
  ['stays', () => 5],
  ['goes up and down', (minute) => minute % 7],
  ['grows up to a limit', (minute) => Math.min(minute, 12)],
  ['grows now and then', (minute) => Math.floor(minute / 10)],
])('a count that %s is not a leak', (_, count) => {
  expect(violationsOf((minute) => entries(count(minute)))).toEqual([]);
});

test('an edited manifest of the same pod is no reason to grow', () => {
  const change = (minute: number, log: ActionLog) => {
    const resources = { limits: { cpu: minute % 2 === 0 ? '100m' : '200m' } };
    log.want(POD, {
      uid: 'of-the-user',
      manifest: manifest('web', { containers: [container('main', { resources })] }),
    });
  };
  expect(violationsOf(entries, change)).not.toEqual([]);
});

test('an agent may grow with the number of pods and containers', () => {
  const another = (minute: number, log: ActionLog) => log.want(`default/web-${minute}`, { manifest: web });
  expect(violationsOf(entries, another)).toEqual([]);
  const containers = (minute: number) => Array.from({ length: minute + 1 }, (_, at) => container(`main-${at}`));
  const longer = (minute: number, log: ActionLog) =>
    log.want(POD, { uid: 'of-the-user', manifest: manifest('web', { containers: containers(minute) }) });
  expect(violationsOf(entries, longer)).toEqual([]);
});

test.each(Object.keys(longLivedPods))('every invariant holds: %s', async (title) => {
  const { targetedFaults: _, ...story } = longLivedPods[title] ?? { targetedFaults: [], actions: [], lastsMs: 0 };
  expect((await play({ seed: 1, faults: [], ...story }, { invariants })).violation).toBeUndefined();
});
