import { expect, test } from '@jest/globals';
import type { RecordedInput } from '../../../../actors/boundary.ts';
import { MANIFEST_URL } from '../../../../testing/simulation/host/manifestSources.ts';
import { Simulation, simulateNode } from '../../../../testing/simulation/simulateNode.ts';
import { container, type Manifest, manifest } from '../../../../testing/simulation/stories/manifests.ts';
import { podOfManifest } from '../../../../testing/simulation/users/validManifest.ts';

const POD = 'default/web-node-1';
const CONFIG = { manifestUrl: { url: MANIFEST_URL, headers: [], everyMs: 20_000 } };

const factEntry = (value: object): RecordedInput => ({
  at: 0,
  actor: 'sources',
  kind: 'fact',
  source: 'sources',
  value,
});
const updated = (pod: object) => factEntry({ type: 'config.podChanged', change: 'updated', pod });
const removed = (uid: string) => factEntry({ type: 'config.podChanged', change: 'removed', uid });
const named = { metadata: { namespace: 'default', name: 'web-node-1', uid: 'of-the-user' }, spec: {} };

/** A manifest of the pod, with its version as a label. */
const web = (version: string, metadata: object = {}): Manifest => ({
  ...manifest('web', { containers: [container('main', { lifecycle: { preStop: { exec: { command: ['true'] } } } })] }),
  metadata: { name: 'web', namespace: 'default', labels: { version }, ...metadata },
});

/** Whether a report to the agent in the next second counts as a cause of what happens to the pod then. */
async function touches({ users, host, actionLog }: Simulation, entry: RecordedInput): Promise<boolean> {
  host.clock.setTimeout(() => users.noteEntry(entry), 1_000);
  await host.clock.advance(1_000, async () => {});
  const { elapsed } = host.clock;
  return actionLog.hasCauseSince(POD, elapsed, elapsed);
}

test.each([
  ['the change', updated(named), true],
  ['the removal', removed('of-the-user'), true],
  ['a full list', factEntry({ type: 'config.podsListed', pods: [] }), true],
  ['a change of a different pod', removed('another'), false],
  ['a change of the source', factEntry({ type: 'config.sourceChanged' }), false],
])(
  'a change may take effect when its source reports the pod, and on no other report: %s',
  async (_, entry, isTouched) => {
    const node = new Simulation({ seed: 1, config: CONFIG });
    node.users.apply(web('1', { uid: 'of-the-user' }), 'url');
    expect(await touches(node, entry)).toBe(isTouched);
  },
);

test.each([
  ['of its manifest', {}],
  ['of the user', { uid: 'of-the-user' }],
])(
  'the reports of the previous and of the new version each let a change take effect once: with a UID %s',
  async (_, metadata) => {
    const node = new Simulation({ seed: 1 });
    for (const version of ['1', '2']) node.apply(web(version, metadata));
    const [before, changed] = ['1', '2'].map((version) => updated(podOfManifest(web(version, metadata))));
    for (const entry of [before, changed]) expect(await touches(node, entry as RecordedInput)).toBe(true);
    expect(await touches(node, changed as RecordedInput)).toBe(false);
  },
);

test('a change may take effect after the removal of the pod was reported', async () => {
  const node = new Simulation({ seed: 1 });
  node.apply(web('1'));
  expect(await touches(node, removed('0'.repeat(32)))).toBe(true);
  expect(await touches(node, updated(podOfManifest(web('1'))))).toBe(true);
});

test('after a manifest was renamed, its source may report the pod twice, first for the old file', async () => {
  const node = await simulateNode({ seed: 1 });
  node.apply(web('1'));
  await node.advance(30_000);
  node.users.rename(POD, 'other.json');
  const entry = updated(podOfManifest(web('1')));
  for (let times = 0; times < 2; times += 1) expect(await touches(node, entry)).toBe(true);
  node.kill();
});

test.each([undefined, 'url'] as const)('a node reports a pod as its manifest describes it (source: %s)', async (by) => {
  const node = await simulateNode({ seed: 1, config: CONFIG });
  // A full list does not count as a report about a single pod.
  await node.advance(1_000);
  node.users.apply(web('1'), by);
  await node.advance(30_000);
  const [pod = {}] = node.pods();
  expect(pod).toMatchObject({ metadata: { labels: { version: '1' } } });
  expect(await touches(node, updated(pod))).toBe(false);
  node.kill();
});

test('a change that no source reports is a reason for a limited time only', async () => {
  const node = new Simulation({ seed: 1 });
  node.apply(web('2'));
  const entry = updated(podOfManifest(web('1')));
  await node.host.clock.advance(10 * 60_000, async () => {});
  for (const isTouched of [true, false]) expect(await touches(node, entry)).toBe(isTouched);
});
