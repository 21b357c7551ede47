import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { createRedaction } from '../../../actors/replay/redaction.ts';
import { NotInspected } from '../../../inspect/inspected.ts';
import { createAudience } from '../../../inspect/live/audience.ts';
import type { EvictionFigures } from '../../../kubernetes/eviction/outlook.ts';
import type { Threshold } from '../../../kubernetes/eviction/thresholds.ts';
import { compileConfig } from '../../../node/config/nodeConfig.ts';
import { createInspectedNode } from '../../../node/serve/inspectedNode.ts';
import { explainNode } from '../../../show/explain/explainNode.ts';
import type { AgentPort } from '../../../socket/agent.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { NOW, nodeActor, nodeActors, nodeView } from '../../kubernetes/views.ts';
import { pod } from '../../socket/served.ts';

const gate = { capacity: 1, held: [], queue: [] };

async function inspected(rootDirectory: string, flush?: () => Promise<void>, overrides: Partial<AgentPort> = {}) {
  const redaction = createRedaction();
  const audience = createAudience(redaction.redact);
  const gates = { limiters: { start: gate, pull: gate } };
  const agent = Object.assign(fakeAgent({ now: NOW, views: [pod('web-host')], node: gates }), overrides);
  const config = compileConfig({
    flags: {},
    defaults: { hostname: 'host', addresses: [], rootDirectory, podLogsDirectory: rootDirectory },
  });
  // The page uses only the flush of a recorder.
  const flightRecorder =
    flush && ({ waitUntilWritten: flush } as Parameters<typeof createInspectedNode>[0]['flightRecorder']);
  return {
    agent,
    node: createInspectedNode({ agent, audience, flightRecorder, config, redaction, logger: { error: () => {} } }),
  };
}

test('a node without a recording shows its current state, and reports that the past was not recorded', async () => {
  const { agent, node } = await inspected('/nothing/here');
  expect(node.live?.snapshot()).toMatchObject({ mode: 'live', pods: [{ name: 'web-host', phase: 'Running' }] });
  expect(node.live?.snapshot()).not.toHaveProperty('recorded');
  expect((await node.detail('')).answer).toContain('node host');
  expect(await node.object('uid-web-host')).toMatchObject({ manifest: { kind: 'Pod' } });
  for (const asked of [node.rail(), node.story('', 0, 1), node.moment(0), node.detail('', 0), node.object('', 0)]) {
    await expect(asked).rejects.toThrow(NotInspected);
    await expect(asked).rejects.toThrow('nothing is recorded: --record-size is 0');
  }
  const leave = node.live?.follow(() => {});
  expect(agent.subscribers()).toBeGreaterThan(0);
  leave?.();
  await node.detail('pod/constructor').catch(() => {});
  node.live?.follow(() => {})();
  expect(agent.subscribers()).toBe(0);
  await node.close();
});

test('the details of the eviction name the pod that would be evicted first, or why that cannot be predicted', async () => {
  const tree = { children: [nodeActor('eviction', { state: 'waiting' }), nodeActors.garbage] };
  const usages = { 'uid-web-host': { memoryBytes: 2 ** 20, containers: [], volumes: [] } };
  const thresholds: Threshold[] = [{ signal: 'memory.available', value: '100Mi', graceMs: 0 }];
  let figures: EvictionFigures | undefined = { thresholds, layout: 'single', observations: {}, usages };
  const { node } = await inspected('/nothing/here', undefined, {
    explainNode: () => explainNode(nodeView('host', tree), NOW),
    evictionFigures: async () => {
      if (figures === undefined) throw new Error('no figures');
      return figures;
    },
  });
  expect((await node.detail('eviction')).nextEvictions).toEqual([
    'memory.available: the first pod to be evicted would be web-host, because it uses 1Mi of memory, 1Mi more than it requests, and has priority 0',
  ]);
  expect(await node.detail('garbage')).not.toHaveProperty('nextEvictions');
  figures = undefined;
  expect((await node.detail('eviction')).nextEvictions).toEqual(['evictions cannot be predicted: no figures']);
  await node.close();
});

test('the details of the eviction are shown after a second if the runtime does not respond', async () => {
  jest.useFakeTimers();
  try {
    const tree = { children: [nodeActor('eviction', { state: 'waiting' }), nodeActors.garbage] };
    const { node } = await inspected('/nothing/here', undefined, {
      explainNode: () => explainNode(nodeView('host', tree), NOW),
      evictionFigures: async (signal) => {
        await once(signal, 'abort');
        throw new Error('the runtime does not respond');
      },
    });
    const shown = Promise.race([node.detail('eviction'), new Promise((resolve) => setTimeout(resolve, 2_000))]);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(await shown).toMatchObject({
      nextEvictions: ['evictions cannot be predicted: the runtime does not respond'],
      events: [],
    });
    await node.close();
  } finally {
    jest.useRealTimers();
  }
});

test('pending entries are written before a request for the recording is answered', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-inspected-'));
  let written = 0;
  const { node } = await inspected(directory, async () => {
    written += 1;
  });
  // The page reads the recorded span when it starts.
  expect(written).toBe(1);
  await expect(node.rail()).rejects.toThrow(/^no recording can be read: .*there is no such recording/);
  expect(written).toBe(2);
  await node.close();
  await expect(node.rail()).rejects.toThrow('the page has been closed');
  await rm(directory, { recursive: true });
});

test('the present state is shown without waiting for the recording, and the node can be closed at once', async () => {
  const { node, agent } = await inspected('/nothing/here', () => new Promise(() => {}));
  const { recorded } = node.live?.snapshot() ?? {};
  expect(recorded?.from).toBeLessThanOrEqual(recorded?.to ?? 0);
  const leave = node.live?.follow(() => {});
  leave?.();
  await node.close();
  expect(agent.subscribers()).toBe(0);
});
