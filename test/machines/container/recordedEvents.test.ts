import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { containerStory } from '../support/containerStory.ts';

const withContainer = (over: Partial<Container>) => aPod({ containers: [aContainer({ image: 'app:1', ...over })] });
const failure = { reason: 'FailedPreStopHook', message: 'password=1234', at: 0 } as const;

/** Creates a running container and discards the events of its start. */
function runningContainer(...options: Parameters<typeof containerStory>) {
  const story = containerStory(...options);
  story.begin();
  expect(story.state()).toBe('running.steady');
  story.told();
  return story;
}

describe('the events of a container: its image', () => {
  test('is present', () => {
    const story = containerStory({ pod: withContainer({}) });
    story.begin();
    expect(story.told()).toEqual([
      'Normal Pulled: Container image "app:1" already present on machine and can be accessed by the pod',
      'Normal Created: Container created',
      'Normal Started: Container started',
    ]);
  });

  test('is pulled, with the duration, the wait for a slot, and its size', () => {
    const story = containerStory({ pod: withContainer({ imagePullPolicy: 'Always' }), hold: ['pullImage'] });
    story.begin();
    expect(story.told()).toEqual(['Normal Pulling: Pulling image "app:1"']);
    const { now } = story.ports;
    story.ports.answer('pullImage', {
      imageRef: 'sha256:1',
      sizeBytes: 4_321,
      startedAt: now + 300,
      finishedAt: now + 1_500,
    });
    expect(story.told()[0]).toBe(
      'Normal Pulled: Successfully pulled image "app:1" in 1.2s (1.5s including waiting). Image size: 4321 bytes.',
    );
  });

  test('cannot be pulled', () => {
    const story = containerStory({ pod: withContainer({ imagePullPolicy: 'Always' }), hold: ['pullImage'] });
    story.begin();
    story.ports.fail('pullImage', 'ErrImagePull');
    expect(story.told()).toEqual([
      'Normal Pulling: Pulling image "app:1"',
      'Warning Failed: Failed to pull image "app:1": pullImage failed',
      'Warning Failed: Error: ErrImagePull',
    ]);
    story.ports.advance(3_000);
    expect(story.told()).toEqual([
      'Normal BackOff: Back-off pulling image "app:1"',
      'Warning Failed: Error: ImagePullBackOff',
    ]);
  });

  test('is absent and must not be pulled', () => {
    const story = containerStory({ pod: withContainer({ imagePullPolicy: 'Never' }), hold: ['findImage'] });
    story.begin();
    story.ports.answer('findImage', { imageRef: null, at: story.ports.now });
    expect(story.told()).toEqual([
      'Warning ErrImageNeverPull: Container image "app:1" is not present with pull policy of Never',
      'Warning Failed: Error: ErrImageNeverPull',
    ]);
  });

  test.each([
    ['RuntimeError', ['Warning InspectFailed: Failed to inspect image "app:1": findImage failed', 'ImageInspectError']],
    ['InvalidImageName', ['Warning InspectFailed: findImage failed', 'InvalidImageName']],
  ] as const)('cannot be checked: %s', (reason, [first, error]) => {
    const story = containerStory({ pod: withContainer({}), hold: ['findImage'] });
    story.begin();
    story.ports.fail('findImage', reason);
    expect(story.told()).toEqual([first, `Warning Failed: Error: ${error}`]);
  });

  test('has no events while the runtime is not available', () => {
    const story = containerStory({ pod: withContainer({}), failing: ['findImage'] });
    story.begin();
    expect(story.told()).toEqual([]);
  });
});

describe('the events of a container: its start and its exit', () => {
  test.each(['createContainer', 'startContainer'] as const)(
    '%s fails with a message that does not contain the container ID',
    (port) => {
      const story = containerStory({ hold: [port] });
      story.begin();
      story.told();
      const id = story.context().id;
      const reason = port === 'createContainer' ? 'CreateContainerError' : 'RunContainerError';
      story.ports.fail(port, reason, `task ${id}: no such file`);
      expect(story.told()[0]).toBe(`Warning Failed: Error: task ${id === undefined ? id : 'main'}: no such file`);
    },
  );

  test('a crash loop has no event for the first restart, and then a back-off', () => {
    const story = runningContainer();
    story.die(1);
    expect(story.told().map((told) => told.split(':')[0])).toEqual([
      'Normal Pulled',
      'Normal Created',
      'Normal Started',
    ]);
    story.die(1);
    const { uid } = aPod().metadata;
    expect(story.told()).toEqual([
      `Warning BackOff: Back-off restarting failed container main in pod web_default(${uid})`,
    ]);
  });

  test('a stop by its pod', () => {
    const story = runningContainer();
    story.stop(30);
    expect(story.told()).toEqual(['Normal Killing: Stopping container main']);
  });

  test('no kill of a container that was never created', () => {
    const story = containerStory();
    story.stop(30);
    expect(story.told()).toEqual([]);
  });

  test('a failed stop', () => {
    const story = runningContainer();
    story.ports.hold('stopContainer');
    story.stop(30);
    story.ports.fail('stopContainer', 'RuntimeError', 'device busy');
    expect(story.told()).toEqual([
      'Normal Killing: Stopping container main',
      'Warning FailedKillPod: error killing pod: device busy',
    ]);
  });

  test('a changed image', () => {
    const story = runningContainer();
    story.ports.hold('stopContainer');
    story.send({ type: 'container.update', pod: withContainer({ image: 'app:2' }), volumes: {} });
    expect(story.told()).toEqual(['Normal Killing: Container main definition changed, will be restarted']);
  });

  test('an init container, for which a kubelet does not announce the restart', () => {
    const pod = (image: string) =>
      aPod({
        initContainers: [aContainer({ name: 'side', image, restartPolicy: 'Always' })],
        containers: [aContainer()],
      });
    const story = runningContainer({ pod: pod('app:1'), name: 'side', role: 'sidecar' });
    story.ports.hold('stopContainer');
    story.send({ type: 'container.update', pod: pod('app:2'), volumes: {} });
    expect(story.told()).toEqual(['Normal Killing: Init container side definition changed']);
  });

  test.each([
    ['regular', 'Container'],
    ['sidecar', 'Init container'],
  ] as const)('an unknown state: %s', (role, what) => {
    const main = aContainer({ image: 'app:1' });
    const pod = role === 'sidecar' ? aPod({ initContainers: [{ ...main, restartPolicy: 'Always' }] }) : aPod();
    const story = runningContainer({ pod, role });
    story.world.change('main-0-0', { state: 'unknown' });
    story.observe();
    expect(story.told()[0]).toBe(`Normal Killing: ${what} is in "unknown" state, try killing it before restart`);
  });

  test('a lost sandbox', () => {
    const story = runningContainer();
    story.ports.hold('stopContainer');
    story.send({ type: 'sandbox.lost' });
    expect(story.told()).toEqual(['Normal Killing: Stopping container main']);
  });

  test('C10: a failed postStart hook kills it, without the output of the hook', () => {
    const pod = withContainer({ lifecycle: { postStart: { exec: { command: ['false'] } } } });
    const story = containerStory({ pod, hold: ['runHook', 'stopContainer'] });
    story.begin();
    story.told();
    story.ports.answer('runHook', { deadline: 0, failure });
    expect(story.told()).toEqual([
      'Warning FailedPostStartHook: PostStartHook failed',
      'Normal Killing: FailedPostStartHook',
    ]);
  });

  test('C10: a hook over plain HTTP to an HTTPS port is recorded for the pod, at the start and the stop', () => {
    const handler = { httpGet: { port: 80, scheme: 'HTTPS' as const } };
    const story = containerStory({
      pod: withContainer({ lifecycle: { postStart: handler, preStop: handler } }),
      hold: ['runHook', 'stopContainer'],
    });
    story.begin();
    story.told();
    const warnings = [{ eventType: 'Warning' as const, reason: 'LifecycleHTTPFallback', message: 'no TLS' }];
    story.ports.answer('runHook', { deadline: 0, failure: null, warnings });
    expect(story.told()).toEqual(['Warning LifecycleHTTPFallback: no TLS']);
    story.stop(30);
    story.ports.answer('runHook', { deadline: 0, failure: null, warnings });
    expect(story.told()).toEqual(['Normal Killing: Stopping container main', 'Warning LifecycleHTTPFallback: no TLS']);
  });

  test('C10: a failed preStop hook is recorded without its output', () => {
    const pod = withContainer({ lifecycle: { preStop: { exec: { command: ['false'] } } } });
    const story = runningContainer({ pod });
    story.ports.hold('runHook');
    story.stop(30);
    story.ports.answer('runHook', { deadline: story.ports.now + 30_000, failure });
    expect(story.told()).toEqual([
      'Normal Killing: Stopping container main',
      'Warning FailedPreStopHook: PreStopHook failed',
    ]);
  });

  test('none if it runs already when the agent starts', () => {
    const story = containerStory({ before: (world, pod) => world.run(pod, 'main') });
    story.begin();
    expect(story.state()).toBe('running.steady');
    expect(story.told()).toEqual([]);
  });
});
