import { describe, expect, test } from '@jest/globals';
import type { EventSink } from '../../actors/eventSink.ts';
import { createReplay } from '../../actors/replay.ts';
import { simulatedNode } from '../fakes/node.ts';
import { podWith } from '../fakes/pods.ts';

type Told = Parameters<EventSink>[0];

describe('events leave the actors', () => {
  test('with the time, and a replay tells the same ones', async () => {
    const told: Told[] = [];
    const node = await simulatedNode({
      pods: [podWith('web')],
      onlookers: { events: (event) => void told.push(event) },
    });
    await node.advance('3s');
    expect(told.find(({ reason }) => reason === 'Started')).toEqual({
      type: 'occurred',
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
    const again: Told[] = [];
    const { agent, play } = createReplay(node.config, node.entries, { events: (event) => void again.push(event) });
    await play();
    expect(again).toEqual(told);
    agent.stop();
  });
});
