import { expect, test } from '@jest/globals';
import type { Invariant, Watched } from '../../../../../testing/simulation/invariants/invariant.ts';
import { steady } from '../../../../../testing/simulation/invariants/progress/steady.ts';
import { type MemoryUse, memoryUseOf } from '../../../../../testing/simulation/invariants/resources/memoryUse.ts';
import { simulateNode } from '../../../../../testing/simulation/simulateNode.ts';
import { container, type Manifest, manifest } from '../../../../../testing/simulation/stories/manifests.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * Tolerated number of entries in one place that exist only because an operation is in progress, e.g. a slot in use. A
 * leak has more.
 */
const UNDER_WAY = 8;

const probe = (command: string) => ({ exec: { command: [command] }, periodSeconds: 60 });

/**
 * Returns a pod with a container that crashes, one that fails its liveness probe, and one that continues to run when
 * the pod is changed.
 */
function restless(cpu: string): Manifest {
  const { metadata, ...pod } = manifest('web', {
    containers: [
      container('crashing', { command: ['sh', '-c', 'sleep 3; exit 1'] }),
      container('ill', { livenessProbe: { ...probe('false'), failureThreshold: 2 } }),
      container('well', {
        readinessProbe: probe('true'),
        livenessProbe: probe('true'),
        resources: { requests: { cpu }, limits: { cpu } },
      }),
    ],
  });
  return { ...pod, metadata: { ...metadata, uid: 'of-the-user', labels: { cpu } } };
}

/** Returns the maximum depth of nesting. A chain that grows gets deeper without more entries in any one place. */
const levelsOf = (taken: MemoryUse) => Math.max(...Array.from(taken.keys(), (what) => what.split('.').length));

/** Creates a node with that pod. The pod is changed twice per quarter of an hour. */
async function nodeOf() {
  const all: Watched[] = [];
  const follow: Invariant['follow'] = (watched) => {
    all.push(watched);
    return {};
  };
  const node = await simulateNode({ seed: 1, invariants: [{ ...steady, follow }] });
  const edit = async (times: number, then: () => Promise<unknown>) => {
    for (let time = 0; time < times; time += 1) {
      node.apply(restless(time % 2 === 0 ? '100m' : '200m'));
      await then();
    }
  };
  const liveUntil = (hours: number) =>
    edit(Math.round((hours * HOUR - node.elapsed) / (30 * MINUTE)), () => node.advance(30 * MINUTE));
  /** Returns the peak entry counts of the agent during this number of quarters of an hour. */
  const peaksOf = async (quarters: number): Promise<MemoryUse> => {
    const most = new Map<string, number>();
    const look = async () => {
      for (let looks = 0; looks < 75; looks += 1) {
        await node.advance(6_000);
        for (const watched of all)
          for (const [what, count] of memoryUseOf(watched) ?? []) most.set(what, Math.max(count, most.get(what) ?? 0));
      }
    };
    await edit(2 * quarters, look);
    return most;
  };
  return { node, liveUntil, peaksOf };
}

test('a pod that crashed, was probed and was changed for four hours uses no more memory than in its second hour', async () => {
  const { node, liveUntil, peaksOf } = await nodeOf();
  await liveUntil(1);
  // An hour, so that both dead containers are present at once at least once before the collection removes them.
  const early = await peaksOf(4);
  const restarts = () => node.pods()[0]?.status?.containerStatuses?.map(({ restartCount }) => restartCount) ?? [];
  const [crashed = 0, ended = 0] = restarts();
  await liveUntil(4);
  const late = await peaksOf(1);
  expect([...late].filter(([what, count]) => count > (early.get(what) ?? 0) + UNDER_WAY)).toEqual([]);
  expect(levelsOf(late)).toBeLessThanOrEqual(levelsOf(early));
  // Ensures that enough has happened, and that enough was measured, for a leak to show.
  const [crashedLater = 0, endedLater = 0] = restarts();
  expect(Math.min(crashedLater - crashed, endedLater - ended)).toBeGreaterThan(25);
  for (const actor of ['container/crashing', 'container/ill', 'container/well', 'probe/liveness', 'probe/readiness'])
    expect([...early.keys()].some((what) => what.includes(`${actor}.snapshot.context`))).toBe(true);
  node.kill();
}, 300_000);
