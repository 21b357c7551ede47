import { describe, expect, test } from '@jest/globals';
import type { Entry } from '../../actors/boundary.ts';
import type { Keyframe } from '../../actors/nodeAgent.ts';
import { createReplay } from '../../actors/replay.ts';
import { type SimulatedNode, simulatedNode } from '../fakes/node.ts';
import { containerWith, IMAGE, podRunning, podWith } from '../fakes/pods.ts';

const REMOTE = 'registry.local/app:2';
const cpu = (amount: string) => ({ resources: { requests: { cpu: amount }, limits: { cpu: amount } } });
const probed = containerWith('main', { livenessProbe: { exec: { command: ['check'] }, periodSeconds: 7 } });

interface Cut {
  readonly keyframe: Keyframe;
  /** How many entries had been recorded. */
  readonly entries: number;
}

/** A node with pods that start, wait for slots, back off, probe, are resized and stop; written down every so often. */
async function busyNode(): Promise<{ node: SimulatedNode; cuts: readonly Cut[] }> {
  const cuts: Cut[] = [];
  const node = await simulatedNode({
    pods: [
      podWith('web', { volumes: [{ name: 'scratch', emptyDir: {} }], containers: [probed] }),
      podRunning('bad', 'exit 1'),
      podWith('sized', { containers: [containerWith('main', cpu('500m'))] }),
      podWith('constructor'),
    ],
    runtime: { images: { registry: { [REMOTE]: {} } }, behaviours: { [IMAGE]: { termAfterMs: 4_000 } } },
    config: { startSlots: 1, pullSlots: 1 },
  });
  const step = async (duration: string) => {
    await node.advance(duration);
    cuts.push({ keyframe: node.agent.keyframe(), entries: node.entries.length });
  };
  for (const pause of ['0s', '10ms', '100ms', '500ms', '5s']) await step(pause);
  node.apply(podWith('sized', { containers: [containerWith('main', cpu('700m'))] }));
  for (const pause of ['0s', '50ms', '1s']) await step(pause);
  node.apply(podWith('web', { containers: [containerWith('main', { image: REMOTE })] }));
  node.remove('constructor');
  for (const pause of ['1s', '2s', '10s']) await step(pause);
  node.runtime.down();
  await step('10s');
  node.runtime.restart();
  for (const pause of ['5s', '40s']) await step(pause);
  return { node, cuts };
}

const shown = ({ agent }: Pick<SimulatedNode, 'agent'>) => ({
  pods: agent.pods(),
  views: agent.views(),
  overview: agent.overview(),
  node: agent.explainNode().node,
});

/** Everything in a value that JSON does not give back as it was; the paths. */
function lossy(value: unknown, path: string): string[] {
  if (value === undefined || value === null || ['string', 'boolean'].includes(typeof value)) return [];
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [path];
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain) return [path];
  return Object.entries(value).flatMap(([key, each]) => lossy(each, `${path}.${key}`));
}

describe('a node that is written down', () => {
  test('has nothing but plain data in any context: no reference to an actor, and nothing that JSON loses', async () => {
    const { cuts, node } = await busyNode();
    expect(cuts.length).toBeGreaterThan(10);
    const found: string[] = [];
    const contexts = new Set<string>();
    node.killAgent();
    const again = await simulatedNode({
      pods: [podWith('web', { containers: [probed] }), podRunning('bad', 'exit 1')],
      parts: {
        inspect: ({ type, actorRef }) => {
          if (type !== '@xstate.snapshot') return;
          const snapshot: { context?: unknown; value?: unknown } = actorRef.getSnapshot();
          if (snapshot.value === undefined) return;
          const { id } = actorRef as unknown as { id: string };
          contexts.add(id.split('/')[0] ?? '');
          found.push(...lossy(snapshot.context, id));
        },
      },
    });
    await again.advance('30s');
    expect(found).toEqual([]);
    expect(contexts).toEqual(
      new Set([
        'nodeAgent',
        'admission',
        'startLimiter',
        'pullLimiter',
        'cgroups',
        'logRotation',
        'garbage',
        'pod',
        'container',
        'image',
        'probe',
      ]),
    );
  });

  test('goes on from any moment as the original did, fed with what entered after that', async () => {
    const { node, cuts } = await busyNode();
    const entries: Entry[] = JSON.parse(JSON.stringify(node.entries));
    for (const { keyframe, entries: before } of cuts) {
      const { agent, play } = createReplay(node.agent.input, entries.slice(before), { from: keyframe });
      expect(await play()).toEqual([]);
      expect(shown({ agent })).toEqual(shown(node));
      expect(agent.keyframe()).toEqual(node.agent.keyframe());
      agent.stop();
    }
  });
});
