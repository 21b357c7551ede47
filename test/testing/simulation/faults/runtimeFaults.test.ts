import { expect, test } from '@jest/globals';
import { EventStreams, type RuntimeEvent } from '../../../../cri/simulated/objects/events.ts';
import type { SimulatedRuntime } from '../../../../cri/simulated/runtime.ts';
import { type EventFault, RuntimeFaults } from '../../../../testing/simulation/faults/runtimeFaults.ts';
import { TemporaryFaults } from '../../../../testing/simulation/faults/temporaryFaults.ts';
import { Random } from '../../../../testing/simulation/random.ts';
import { Schedule } from '../../../../testing/simulation/run/schedule.ts';
import { simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../../testing/simulation/stories/manifests.ts';

test('the end of an outage that a power cut ended early does not end the next outage', async () => {
  const node = await simulateNode({ seed: 1 });
  const { host } = node;
  node.apply(manifest('web'));
  await node.advance(10_000);
  host.stopRuntime({ downMs: 20_000, keepContainers: true, forgets: 1 });
  node.cutPower();
  expect(host.runtime.isUp).toBe(true);
  const sandboxes = host.sandboxes().length;
  host.stopRuntime({ downMs: 40_000, keepContainers: true });
  await node.advance(30_000);
  expect(host.runtime.isUp).toBe(false);
  await node.advance(10_000);
  expect(host.runtime.isUp).toBe(true);
  expect(host.sandboxes()).toHaveLength(sandboxes);
});

/**
 * Emits an event every second, ten times, while the event streams have this fault for `forMs`. Returns the ID and the
 * time of each event that is delivered.
 */
async function deliveredEvents(fault: EventFault, forMs: number) {
  const clock = new Schedule(0);
  const events = new EventStreams(clock);
  // The faults concern only the events of the runtime, so nothing else of it is needed.
  const runtime = { events } as unknown as SimulatedRuntime;
  const faults = new RuntimeFaults(runtime, {
    clock,
    temporaryFaults: new TemporaryFaults(clock),
    random: new Random(1),
  });
  const delivered: [id: number, at: number][] = [];
  events.subscribe({ onEvent: ({ id }) => void delivered.push([Number(id), clock.elapsed]), onBreak: () => {} });
  faults.deliverEvents(fault, forMs);
  for (let second = 0; second < 10; second += 1) {
    clock.setTimeout(() => events.emit({ id: `${second}` } as RuntimeEvent), second * 1_000);
  }
  await clock.advance(60_000, async () => {});
  return delivered;
}

const all = Array.from({ length: 10 }, (_, id) => [id, id * 1_000] as const);

test('runtime events can be dropped, duplicated, delayed, or paused until the fault ends', async () => {
  expect(await deliveredEvents('dropped', 4_500)).toEqual(all.slice(5));
  expect(await deliveredEvents('doubled', 60_000)).toEqual(all.flatMap((each) => [each, each]));
  expect(await deliveredEvents('late', 60_000)).toEqual(all.map(([id, at]) => [id, at + 5_000]));
  expect(await deliveredEvents('paused', 4_500)).toEqual([
    ...all.slice(0, 5).map(([id]) => [id, 4_500]),
    ...all.slice(5),
  ]);
});

test('runtime events can be reordered or partially dropped', async () => {
  const ids = (delivered: readonly (readonly [number, number])[]) => delivered.map(([id]) => id);
  const reordered = ids(await deliveredEvents('reordered', 60_000));
  expect(reordered).not.toEqual(ids(all));
  expect(new Set(reordered)).toEqual(new Set(ids(all)));
  const some = ids(await deliveredEvents('some', 60_000));
  expect(new Set(some).size).toBeLessThan(10);
  expect(some.length).toBeGreaterThan(new Set(some).size);
});
