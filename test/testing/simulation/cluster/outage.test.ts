/** A node whose API server is down, and what happens once the server is back. */
import { describe, expect, test } from '@jest/globals';
import { container, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { clusterNode, HOUR, MINUTE, SECOND } from './clusterNode.ts';

const shell = (script: string) => ['sh', '-c', script];
const web = manifest('web');
const crashing = manifest('crashing', { containers: [container('main', { command: shell('sleep 3; exit 1') })] });
const probed = manifest('probed', {
  containers: [container('main', { livenessProbe: { exec: { command: ['false'] }, periodSeconds: 10 } })],
});

const OUTAGES = [
  ['refused', HOUR],
  ['hanging', 5 * MINUTE],
] as const;

describe.each(OUTAGES)('while the API server is away (%s) for %i ms', (how, forMs) => {
  test('pods, restarts, probes and static pods continue', async () => {
    const { node, host, runs, pod } = await clusterNode();
    for (const each of [web, crashing, probed]) node.perform({ kind: 'createPod', pod: each });
    await node.advance(20 * SECOND);
    const [first] = runs('web');
    node.perform({ kind: 'apiAway', how, forMs });
    const startedBefore = host.clock.elapsed;
    await node.advance(MINUTE);
    node.apply(manifest('static'));
    await node.advance(forMs - 2 * MINUTE);
    expect(runs('web')).toEqual([first]);
    expect(runs('static-node-1')).toMatchObject([{ state: 'running' }]);
    for (const name of ['crashing', 'probed']) {
      const last = runs(name).at(-1);
      expect(last?.attempt).toBeGreaterThan(1);
      expect(last?.createdAt).toBeGreaterThan(host.clock.now() - host.clock.elapsed + startedBefore);
    }
    await node.advance(4 * MINUTE);
    expect(pod('static-node-1')).toMatchObject({ phase: 'Running' });
    expect(await node.settle(10 * MINUTE)).toBe(true);
    node.kill();
  });

  test('an agent that restarts meanwhile leaves running pods alone and starts none', async () => {
    const { node, runs, pod } = await clusterNode();
    node.perform({ kind: 'createPod', pod: web });
    node.perform({ kind: 'createPod', pod: manifest('other') });
    await node.advance(20 * SECOND);
    const before = [...runs('web'), ...runs('other')];
    node.perform({ kind: 'apiAway', how, forMs });
    node.perform({ kind: 'deletePod', pod: 'default/other' });
    node.perform({ kind: 'createPod', pod: manifest('new') });
    node.kill();
    await node.startAgent();
    await node.advance(forMs - MINUTE);
    expect([...runs('web'), ...runs('other')]).toEqual(before);
    expect(before.map(({ state }) => state)).toEqual(['running', 'running']);
    expect(runs('new')).toEqual([]);
    expect(pod('other')).toMatchObject({ isDeleted: true, phase: 'Running' });
    await node.advance(4 * MINUTE);
    expect(pod('other')).toBeUndefined();
    expect(runs('web')).toEqual(before.slice(0, 1));
    expect(pod('new')).toMatchObject({ phase: 'Running' });
    expect(await node.settle(10 * MINUTE)).toBe(true);
    node.kill();
  });

  test('statuses and events catch up without a storm when it returns', async () => {
    const { node, asked, pod, cluster } = await clusterNode();
    const names = Array.from({ length: 8 }, (_, index) => `crashing-${index}`);
    for (const name of names) node.perform({ kind: 'createPod', pod: { ...crashing, metadata: { name } } });
    await node.advance(20 * SECOND);
    const awayMs = Math.min(forMs, 15 * MINUTE);
    node.perform({ kind: 'apiAway', how, forMs: awayMs });
    await node.advance(awayMs - 1);
    asked();
    await node.advance(30 * SECOND);
    const all = asked();
    const count = (what: RegExp) => all.filter((each) => what.test(each)).length;
    // The status of each pod is sent once, plus what has changed since then.
    expect(count(/^patch pods\/status/)).toBeLessThanOrEqual(3 * names.length);
    expect(count(/^(get|list) pods/)).toBeLessThanOrEqual(3 * names.length);
    expect(count(/^watch pods/)).toBeLessThanOrEqual(3);
    // Only recent events are sent: each pod has few distinct events.
    expect(count(/events/)).toBeLessThanOrEqual(10 * names.length);
    for (const name of names) expect(pod(name)?.status).toMatchObject({ phase: 'Running' });
    const events = cluster.api.registry.store.list('/events').map(([, { lastTimestamp }]) => String(lastTimestamp));
    const since = new Date(node.host.clock.now() - 10 * MINUTE).toISOString();
    expect(events.some((at) => at > since)).toBe(true);
    node.kill();
  });
});
