import { expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { podStory } from '../support/podStory.ts';

const notFound = 'configmap "late" not found';
const lacking = aPod({
  volumes: [{ name: 'data', configMap: { name: 'late' } }],
  containers: [aContainer({ envFrom: [{ configMapRef: { name: 'late' } }] })],
});

test('C37: a pod continues by itself as soon as the missing objects of its volumes and containers exist', () => {
  const story = podStory({ pod: lacking, held: ['mountVolume', 'readObjects'] });
  story.ports.fail('mountVolume', 'FailedMount', notFound);
  expect(story.state()).toBe('preparing.mountingVolumes');
  story.ports.advance(400);
  story.send({ type: 'pod.objectsChanged' });
  story.ports.advance(600);
  story.ports.answer('mountVolume');
  story.ports.fail('readObjects', 'CreateContainerConfigError', notFound);
  expect(story.state()).toBe('active.running.steady');
  story.ports.advance(2_000);
  expect(story.ports.pending()).toEqual([]);
  story.send({ type: 'pod.objectsChanged' });
  story.ports.advance(0);
  story.ports.answer('readObjects');
  expect(story.ports.asked('startContainer')).toHaveLength(1);
});

test.each(['preparing', 'terminating', 'terminated'])(
  'a change of its objects does not affect a pod that is %s',
  (state) => {
    const story = podStory({ pod: lacking, held: state === 'preparing' ? ['preparePod'] : ['readObjects'] });
    if (state !== 'preparing') story.ports.hold('stopSandboxes');
    if (state !== 'preparing') story.terminate();
    if (state === 'terminated') story.ports.answer('stopSandboxes');
    expect(story.state()).toContain(state);
    const before = story.state();
    story.send({ type: 'pod.objectsChanged' });
    expect(story.state()).toBe(before);
  },
);
