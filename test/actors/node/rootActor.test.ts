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

/** Answers nothing, and keeps what it was asked for. */
function silent() {
  const asked: string[] = [];
  const provider: Provider = {
    port: <K extends PortName>(name: K) => {
      const logic = fromPromise(() => {
        asked.push(name);
        return new Promise<never>(() => {});
      });
      // It has no answer that could be of another type.
      return logic as unknown as Port<K>;
    },
    feed: (name): FeedLogic => fromCallback(() => void asked.push(name)),
    timer: fromCallback(() => {}),
  };
  return { asked, provider };
}

test('two agents in one process each use only their own actor implementations', () => {
  const [one, other] = [silent(), silent()];
  const [first, second] = [createRootActor(one.provider, { input }), createRootActor(other.provider, { input })];
  first.start();
  expect(one.asked).toContain('setUpCgroups');
  expect(one.asked).toContain('ticker');
  expect(other.asked).toEqual([]);
  second.start();
  expect(other.asked).toEqual(one.asked);
  for (const each of [first, second]) each.stop();
});
