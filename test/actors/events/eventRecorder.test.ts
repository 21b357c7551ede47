import { describe, expect, test } from '@jest/globals';
import { createEventRecorder } from '../../../actors/events/eventRecorder.ts';
import type { EventSink } from '../../../actors/events/eventSink.ts';
import { createReplay } from '../../../actors/replay/replay.ts';
import { type SimulatedNodeOptions, simulatedNode } from '../../fakes/node.ts';
import { containerWith, IMAGE, podRunning, podWith } from '../../fakes/pods.ts';

type EmittedEvent = Parameters<EventSink>[0];

describe('events emitted by the actors', () => {
  test('carry a timestamp, and a replay emits the same ones', async () => {
    const emitted: EmittedEvent[] = [];
    const node = await simulatedNode({
      pods: [podWith('web')],
      parts: { events: (event) => void emitted.push(event) },
    });
    await node.advance('3s');
    expect(emitted.find(({ reason }) => reason === 'Started')).toEqual({
      type: 'event.recorded',
      eventType: 'Normal',
      reason: 'Started',
      message: 'Container started',
      involved: {
        kind: 'Pod',
        apiVersion: 'v1',
        namespace: 'default',
        name: 'web',
        uid: 'web-uid',
        fieldPath: 'spec.containers{main}',
      },
      at: expect.any(Number),
    });
    const again: EmittedEvent[] = [];
    const { agent, playEntries } = createReplay(node.agent.input, node.entries, {
      events: (event) => void again.push(event),
    });
    await playEntries();
    expect(again).toEqual(emitted);
    agent.stop();
  });
});

/**
 * Starts a node, and returns the events that its recorder has for the pod `web`, e.g. `3 Started: Container started`.
 */
async function recordedNode(options: SimulatedNodeOptions) {
  const recorder = createEventRecorder('node-1', () => node.clock.now());
  const node = await simulatedNode({ ...options, parts: { events: recorder.record } });
  const events = () =>
    recorder
      .events()
      .filter(({ involvedObject, reason }) => involvedObject.name === 'web' && reason !== 'MissingClusterDNS')
      .map(({ count, reason, message }) => `${count} ${reason}: ${message}`);
  return { node, events };
}

const PULLED = `Pulled: Container image "${IMAGE}" already present on machine and can be accessed by the pod`;

describe('the events of a pod on a node', () => {
  test('that starts and is removed', async () => {
    const { node, events } = await recordedNode({ pods: [podWith('web')] });
    await node.advance('3s');
    expect(events()).toEqual([`1 ${PULLED}`, '1 Created: Container created', '1 Started: Container started']);
    node.remove('web');
    await node.advance('5s');
    expect(events().slice(3)).toEqual(['1 Killing: Stopping container main']);
  });

  test('whose image is in no registry', async () => {
    const image = 'registry.local/none:1';
    const { node, events } = await recordedNode({
      pods: [podWith('web', { containers: [containerWith('main', { image })] })],
    });
    await node.advance('20s');
    expect(events().map((event) => event.replace(/": rpc.*/, '": …'))).toEqual([
      `2 Pulling: Pulling image "${image}"`,
      `2 Failed: Failed to pull image "${image}": …`,
      '2 Failed: Error: ErrImagePull',
      `2 BackOff: Back-off pulling image "${image}"`,
      '2 Failed: Error: ImagePullBackOff',
    ]);
  });

  test('whose container crashes again and again', async () => {
    const { node, events } = await recordedNode({ pods: [podRunning('web', 'exit 1')] });
    await node.advance('25s');
    expect(events()).toEqual([
      `3 ${PULLED}`,
      '3 Created: Container created',
      '3 Started: Container started',
      '2 BackOff: Back-off restarting failed container main in pod web_default(web-uid)',
    ]);
  });

  test('whose volume cannot be mounted', async () => {
    const hostPath = { path: '/nowhere/at/all', type: 'Directory' as const };
    const { node, events } = await recordedNode({ pods: [podWith('web', { volumes: [{ name: 'data', hostPath }] })] });
    await node.advance('2s');
    expect(events()).toEqual([
      expect.stringMatching(/^\d FailedMount: MountVolume\.SetUp failed for volume "data" : hostPath .*nowhere/),
    ]);
  });
});
