import { expect, test } from '@jest/globals';
import { fromCallback, fromPromise } from 'xstate';
import { createRootActor } from '../../../actors/node/rootActor.ts';
import type { FeedLogic, Port, PortName, Provider } from '../../../machines/shared/ports.ts';

const capacity = { cpuMillis: 4_000, memoryBytes: 2 ** 33, pods: 110 };
const input = {
  nodeName: 'node',
  hostIps: ['192.0.2.1'],
  owner: 'us',
  sources: [],
  startSlots: 2,
  pullSlots: 1,
  left: [],
  capacity,
  allocatable: capacity,
  allocations: {},
  statuses: {},
  crashLoop: { baseMs: 10_000, maxMs: 300_000 },
};

/** Returns a provider whose ports never respond, and which records the names of its ports and feeds. */
function silent() {
  const startedNames: string[] = [];
  const provider: Provider = {
    port: <K extends PortName>(name: K) => {
      const logic = fromPromise(() => {
        startedNames.push(name);
        return new Promise<never>(() => {});
      });
      // The port has no output, so its type does not matter.
      return logic as unknown as Port<K>;
    },
    feed: (name): FeedLogic => fromCallback(() => void startedNames.push(name)),
    timer: fromCallback(() => {}),
  };
  return { startedNames, provider };
}

test('two agents in one process each use only their own actor implementations', () => {
  const [one, other] = [silent(), silent()];
  const [first, second] = [createRootActor(one.provider, { input }), createRootActor(other.provider, { input })];
  first.start();
  expect(one.startedNames).toContain('setUpCgroups');
  expect(one.startedNames).toContain('ticker');
  expect(other.startedNames).toEqual([]);
  second.start();
  expect(other.startedNames).toEqual(one.startedNames);
  for (const each of [first, second]) each.stop();
});
