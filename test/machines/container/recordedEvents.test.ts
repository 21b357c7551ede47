import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { containerStory } from '../support/containerStory.ts';

const withContainer = (over: Partial<Container>) => aPod({ containers: [aContainer({ image: 'app:1', ...over })] });
const failure = { reason: 'FailedPreStopHook', message: 'password=1234', at: 0 } as const;

/** A container that runs, and has told of its start. */
function runningContainer(...options: Parameters<typeof containerStory>) {
  const story = containerStory(...options);
  story.begin();
  expect(story.state()).toBe('running.steady');
  story.told();
  return story;
}

describe('the events of a container: its image', () => {
  test('that is there', () => {
    const story = containerStory({ pod: withContainer({}) });
    story.begin();
    expect(story.told()).toEqual([
      'Normal Pulled: Container image "app:1" already present on machine and can be accessed by the pod',
      'Normal Created: Container created',
      'Normal Started: Container started',
    ]);
  });

  test('that is pulled, with the time that it took, the wait for a slot, and its size', () => {
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

  test('that cannot be pulled', () => {
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

  test('that is absent and must not be pulled', () => {
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
  ] as const)('that cannot be looked for: %s', (reason, [first, error]) => {
    const story = containerStory({ pod: withContainer({}), hold: ['findImage'] });
    story.begin();
    story.ports.fail('findImage', reason);
    expect(story.told()).toEqual([first, `Warning Failed: Error: ${error}`]);
  });

  test('while the runtime is away nothing is wrong with it', () => {
    const story = containerStory({ pod: withContainer({}), failing: ['findImage'] });
    story.begin();
    expect(story.told()).toEqual([]);
  });
});

describe('the events of a container: its start and its end', () => {
  test.each(['createContainer', 'startContainer'] as const)(
    '%s is refused, and its id is no part of the words',
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

  test('a crash loop: the first restart is immediate, then it backs off', () => {
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

  test('it is stopped by its pod', () => {
    const story = runningContainer();
    story.stop(30);
    expect(story.told()).toEqual(['Normal Killing: Stopping container main']);
  });

  test('one that was never made is not killed', () => {
    const story = containerStory();
    story.stop(30);
    expect(story.told()).toEqual([]);
  });

  test('it cannot be stopped', () => {
    const story = runningContainer();
    story.ports.hold('stopContainer');
    story.stop(30);
    story.ports.fail('stopContainer', 'RuntimeError', 'device busy');
    expect(story.told()).toEqual([
      'Normal Killing: Stopping container main',
      'Warning FailedKillPod: error killing pod: device busy',
    ]);
  });

  test('its image is another now', () => {
    const story = runningContainer();
    story.ports.hold('stopContainer');
    story.send({ type: 'container.update', pod: withContainer({ image: 'app:2' }), volumes: {} });
    expect(story.told()).toEqual(['Normal Killing: Container main definition changed, will be restarted']);
  });

  test('it is an init container: a kubelet says so, and not that it runs again', () => {
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
  ] as const)('its state is unknown: a %s one', (role, what) => {
    const main = aContainer({ image: 'app:1' });
    const pod = role === 'sidecar' ? aPod({ initContainers: [{ ...main, restartPolicy: 'Always' }] }) : aPod();
    const story = runningContainer({ pod, role });
    story.world.change('main-0-0', { state: 'unknown' });
    story.observe();
    expect(story.told()[0]).toBe(`Normal Killing: ${what} is in "unknown" state, try killing it before restart`);
  });

  test('its sandbox is lost', () => {
    const story = runningContainer();
    story.ports.hold('stopContainer');
    story.send({ type: 'sandbox.lost' });
    expect(story.told()).toEqual(['Normal Killing: Stopping container main']);
  });

  test('C10: a failed postStart hook kills it, and what the hook said is not told', () => {
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

  test('C10: a hook that took a server without TLS is told of as of the pod, at the start and the end', () => {
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

  test('C10: a failed preStop hook is told of, without what it said', () => {
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

  test('one that runs already when the agent starts has nothing to tell', () => {
    const story = containerStory({ before: (world, pod) => world.run(pod, 'main') });
    story.begin();
    expect(story.state()).toBe('running.steady');
    expect(story.told()).toEqual([]);
  });
});
