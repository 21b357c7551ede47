/** Names that are valid in Kubernetes, but too long for a file: the pod cannot run, but it can be removed. */
import { expect, test } from '@jest/globals';
import type { EventSink } from '../../actors/events/eventSink.ts';
import { simulatedNode } from '../fakes/node.ts';
import { podWith } from '../fakes/pods.ts';

const name = 'long-'.repeat(50).slice(0, 248);
const REPORTED = /^Failed to create pod sandbox: mkdir \/\S*_long-\S*: file name too long$/;

test('a pod whose log directory name would be too long fails with FailedCreatePodSandBox, and can be removed', async () => {
  const events: Parameters<EventSink>[0][] = [];
  const pods = [podWith(name), podWith('beside')];
  const node = await simulatedNode({ pods, parts: { events: (event) => void events.push(event) } });
  await node.advance('2s');
  expect(node.container('beside', 'main').ready).toBe(true);
  const warnings = events.filter(({ involved, eventType }) => involved.name === name && eventType === 'Warning');
  expect(warnings).not.toEqual([]);
  for (const { reason, message } of warnings) {
    expect({ reason, message }).toEqual({
      reason: 'FailedCreatePodSandBox',
      message: expect.stringMatching(REPORTED),
    });
  }
  expect(node.container(name, 'main').state?.waiting).toMatchObject({ reason: 'ContainerCreating' });
  expect(node.calls('runPodSandbox')).toHaveLength(1);
  node.remove(name);
  await node.advance('2s');
  expect([node.has(name), node.has('beside')]).toEqual([false, true]);
  node.remove('beside');
  await node.advance('40s');
  expect(await node.leftovers()).toEqual([]);
});
