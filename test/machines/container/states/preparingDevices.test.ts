import { describe, expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { containerStory } from '../../support/containerStory.ts';
import { queueOf } from '../../support/stand.ts';

const amounts = { 'example.com/gpu': '1' };
const resources = { requests: amounts, limits: amounts };
const main = aContainer({ resources });
const failed = 'device plugin PreStartContainer rpc failed with err: rpc error: code = Unknown desc = out of order';

/** Creates a container whose devices are being prepared. */
function preparingStory(container = main) {
  const story = containerStory({ pod: aPod({ containers: [container] }), hold: ['prepareDevices'] });
  story.begin();
  expect(story.state()).toBe('launching.preparingDevices');
  return story;
}

describe('a container with devices', () => {
  test('has its devices prepared before it requests a start slot, while its pod launches no other container', () => {
    const story = preparingStory();
    expect(queueOf(story.startLimiter)).toEqual({ held: [], queue: [] });
    expect(story.lifecycles().at(-1)).toBe('launching');
    story.ports.answer('prepareDevices');
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('prepareDevices')).toMatchObject([{ container: 'main' }]);
  });

  test('reads the objects of its variables afterwards', () => {
    const story = preparingStory(aContainer({ resources, envFrom: [{ configMapRef: { name: 'settings' } }] }));
    story.ports.hold('readObjects');
    story.ports.answer('prepareDevices');
    expect(story.state()).toBe('launching.configuring.current');
  });

  test('is retried if a plugin fails, and has its devices prepared again in the next attempt', () => {
    const story = preparingStory();
    story.ports.fail('prepareDevices', 'CreateContainerConfigError', failed);
    expect(story.state()).toBe('launching.awaitingRetry');
    expect(story.view().now).toEqual({ kind: 'waiting', reason: 'CreateContainerConfigError', message: failed });
    expect(story.told().at(-1)).toBe(`Warning Failed: Error: ${failed}`);
    story.ports.advance(10_000);
    story.ports.answer('prepareDevices');
    expect(story.state()).toBe('running.steady');
    expect(story.ports.asked('prepareDevices')).toHaveLength(2);
  });

  test('that is stopped meanwhile is not created', () => {
    const story = preparingStory();
    story.send({ type: 'container.stop' });
    expect(story.state()).toBe('stopped');
    expect(story.ports.asked('createContainer')).toEqual([]);
  });
});

describe('a container that has lost its devices', () => {
  function awaitingDevices(container = main) {
    const story = preparingStory(container);
    story.ports.answer('prepareDevices', { areDevicesMissing: true, at: story.ports.now });
    expect(story.state()).toBe('launching.awaitingDevices');
    return story;
  }

  test('requests devices from admission, and is created once it has them', () => {
    const story = awaitingDevices();
    expect(story.admissionRequests()).toMatchObject([
      { type: 'admission.reallocateDevices', container: 'main', holder: ['container/main'] },
    ]);
    expect(story.ports.asked('createContainer')).toEqual([]);
    story.send({ type: 'container.devicesAllocated' });
    expect(story.state()).toBe('running.steady');
  });

  test('reads the objects of its variables after it has got devices', () => {
    const story = awaitingDevices(aContainer({ resources, envFrom: [{ configMapRef: { name: 'settings' } }] }));
    story.ports.hold('readObjects');
    story.send({ type: 'container.devicesAllocated' });
    expect(story.state()).toBe('launching.configuring.current');
  });

  test('waits for another attempt if there are no devices for it', () => {
    const story = awaitingDevices();
    const error = { reason: 'CreateContainerConfigError', message: 'none left', at: story.ports.now } as const;
    story.send({ type: 'container.devicesRefused', error });
    expect(story.state()).toBe('launching.awaitingRetry');
    expect(story.view().now).toEqual({ kind: 'waiting', reason: error.reason, message: 'none left' });
    expect(story.told().at(-1)).toBe('Warning Failed: Error: none left');
    story.ports.advance(10_000);
    expect(story.ports.asked('prepareDevices')).toHaveLength(2);
  });
});

test('a container without devices is created at once', () => {
  const story = containerStory({ hold: ['prepareDevices'] });
  story.begin();
  expect(story.state()).toBe('running.steady');
});
