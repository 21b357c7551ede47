import { describe, expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { containerStory } from '../../support/containerStory.ts';
import { queueOf } from '../../support/stand.ts';

const pod = aPod({ containers: [aContainer({ envFrom: [{ configMapRef: { name: 'late' } }] })] });
const optional = { configMapKeyRef: { name: 'late', key: 'k', optional: true } };
const empty = { held: [], queue: [] };
const notFound = { reason: 'CreateContainerConfigError', message: 'configmap "late" not found' } as const;

/** Creates a container whose objects are being read. */
function configuringStory() {
  const story = containerStory({ pod, hold: ['readObjects'] });
  story.begin();
  expect(story.state()).toBe('launching.configuring.current');
  return story;
}

/** Creates a container that waits for a missing object. */
function missingObjectStory() {
  const story = configuringStory();
  story.ports.fail('readObjects', notFound.reason, notFound.message);
  expect(story.state()).toBe('launching.awaitingRetry');
  return story;
}

describe('C37: a container whose variables refer to objects', () => {
  test('reads them before it requests a start slot, while its pod launches no other container', () => {
    const story = configuringStory();
    expect(queueOf(story.startLimiter)).toEqual(empty);
    expect(story.lifecycles().at(-1)).toBe('launching');
    story.ports.answer('readObjects');
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('readObjects')).toMatchObject([{ container: 'main' }]);
  });

  test('waits as CreateContainerConfigError if they are missing, without a slot, with the event of a kubelet', () => {
    const story = missingObjectStory();
    expect(queueOf(story.startLimiter)).toEqual(empty);
    expect(story.view().now).toEqual({ kind: 'waiting', ...notFound });
    expect(story.told().at(-1)).toBe('Warning Failed: Error: configmap "late" not found');
    expect(story.ports.untilNext).toBe(10_000);
    expect(story.lifecycles().at(-1)).toBe('live');
    story.ports.advance(10_000);
    story.ports.answer('readObjects');
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 0 }]);
  });

  test('is retried at once when they change, at most once a second', () => {
    const story = missingObjectStory();
    story.ports.advance(3_000);
    story.send({ type: 'container.objectsChanged' });
    story.ports.advance(0);
    expect(story.state()).toBe('launching.configuring.current');
    story.ports.fail('readObjects', notFound.reason, notFound.message);
    for (let update = 0; update < 9; update += 1) {
      story.send({ type: 'container.objectsChanged' });
      story.ports.advance(100);
    }
    expect(story.ports.asked('readObjects')).toHaveLength(2);
    story.ports.advance(100);
    story.ports.answer('readObjects');
    expect(story.state()).toBe('running.steady');
  });

  test('is retried soon if they change during a failed read', () => {
    const story = configuringStory();
    story.send({ type: 'container.objectsChanged' });
    expect(story.state()).toBe('launching.configuring.outdated');
    story.ports.fail('readObjects', notFound.reason, notFound.message);
    expect(story.ports.untilNext).toBe(1_000);
  });

  test('can be stopped, or lose its sandbox, during the read', () => {
    const stopped = configuringStory();
    stopped.send({ type: 'container.stop' });
    expect(stopped.state()).toBe('stopped');
    const lost = configuringStory();
    lost.send({ type: 'sandbox.lost' });
    expect([lost.state(), lost.ports.pending()]).toEqual(['launching.readyToCreate', []]);
  });

  test('is not retried earlier after a different failure', () => {
    const story = containerStory({ pod, hold: ['createContainer'] });
    story.begin();
    story.ports.fail('createContainer', 'CreateContainerError');
    story.send({ type: 'container.objectsChanged' });
    expect(story.ports.untilNext).toBe(10_000);
  });
});

const tooLarge = ['CreateContainerConfigError', 'env[24].value: too long', { isPermanent: true }] as const;

describe('C21: a container whose variables are too large for any runtime', () => {
  /** Creates a container whose creation has failed permanently. */
  function failedStory(over: Parameters<typeof containerStory>[0] = {}) {
    const story = containerStory({ hold: ['createContainer'], ...over });
    story.begin();
    story.ports.fail('createContainer', ...tooLarge);
    return story;
  }

  test('is not created again until its pod changes, and reports the reason', () => {
    const story = failedStory();
    expect(story.state()).toBe('launching.awaitingChange');
    expect(story.view().now).toEqual({ kind: 'waiting', reason: tooLarge[0], message: tooLarge[1] });
    expect(story.told().at(-1)).toBe('Warning Failed: Error: env[24].value: too long');
    expect(story.lifecycles().at(-1)).toBe('live');
    story.ports.advance(3_600_000);
    expect(story.ports.asked('createContainer')).toHaveLength(1);
    story.send({ type: 'container.update', pod: aPod({}, { labels: { a: 'b' } }), volumes: {} });
    story.ports.advance(0);
    story.ports.answer('createContainer');
    expect(story.state()).toBe('running.steady');
  });

  test('is not created again until an object of its variables changes, which is retried at most once a second', () => {
    const story = configuringStory();
    story.ports.fail('readObjects', ...tooLarge);
    expect(story.state()).toBe('launching.awaitingChange');
    story.ports.advance(500);
    story.send({ type: 'container.objectsChanged' });
    expect([story.state(), story.ports.untilNext]).toEqual(['launching.awaitingRetry', 500]);
    story.ports.advance(500);
    story.ports.answer('readObjects');
    expect(story.state()).toBe('running.steady');
  });

  test('is retried if its pod changed during the attempt', () => {
    const story = containerStory({ hold: ['createContainer'] });
    story.begin();
    story.send({ type: 'container.update', pod: aPod({}, { labels: { a: 'b' } }), volumes: {} });
    story.ports.fail('createContainer', ...tooLarge);
    expect(story.state()).toBe('launching.awaitingRetry');
  });

  test('is retried if only the creation failed and its objects may have changed since they were read', () => {
    expect(failedStory({ pod }).state()).toBe('launching.awaitingRetry');
  });

  test('is retried soon if its objects change during a failed read', () => {
    const story = configuringStory();
    story.send({ type: 'container.objectsChanged' });
    story.ports.fail('readObjects', ...tooLarge);
    expect([story.state(), story.ports.untilNext]).toEqual(['launching.awaitingRetry', 1_000]);
  });

  test('pulls a changed image, can be stopped, and starts over in a new sandbox', () => {
    const changed = failedStory();
    changed.ports.hold('findImage');
    const other = aPod({ containers: [aContainer({ image: 'other' })] });
    changed.send({ type: 'container.update', pod: other, volumes: {} });
    expect(changed.state()).toMatch(/^pending.gettingImage/);
    const stopped = failedStory();
    stopped.send({ type: 'container.stop' });
    expect(stopped.state()).toBe('stopped');
    const lost = failedStory();
    lost.send({ type: 'sandbox.lost' });
    expect(lost.state()).toBe('launching.readyToCreate');
  });
});

test('C37: objects are also read if all are optional, but not if there are none', () => {
  const env = [{ name: 'K', valueFrom: optional }];
  const reads = (container: Parameters<typeof aContainer>[0]) => {
    const story = containerStory({ pod: aPod({ containers: [aContainer(container)] }) });
    story.begin();
    expect(story.state()).toBe('running.steady');
    return story.ports.asked('readObjects').length;
  };
  expect([reads({ env }), reads({ env: [{ name: 'K', value: 'v' }] })]).toEqual([1, 0]);
});
