import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { podStory } from '../support/podStory.ts';
import { queueOf } from '../support/stand.ts';

const empty = { held: [], queue: [] };
const volumes = [
  { name: 'data', emptyDir: {} },
  { name: 'logs', emptyDir: {} },
];
const portsOf = (story: ReturnType<typeof podStory>) => story.ports.calls.map(({ port }) => port);

/** Creates a running pod. */
function runningPod(pod: Pod = aPod()) {
  const story = podStory({ pod });
  expect(story.state()).toBe('active.running.steady');
  return story;
}

describe('starting a pod', () => {
  test('prepares its directory, volumes, sandbox and containers in this order', () => {
    const story = podStory({ pod: aPod({ volumes }), held: ['preparePod', 'mountVolume', 'runSandbox'] });
    expect(story.state()).toBe('preparing.creatingDirectory');
    story.ports.answer('preparePod');
    expect(story.state()).toBe('preparing.mountingVolumes');
    expect(story.ports.pending()).toEqual(['mountVolume', 'mountVolume']);
    story.ports.answer('mountVolume');
    expect(story.state()).toBe('preparing.mountingVolumes');
    story.ports.answer('mountVolume');
    expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
    expect(story.ports.asked('createContainer')).toEqual([]);
    story.ports.answer('runSandbox');
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.asked('createContainer')).toMatchObject([
      {
        sandbox: { attempt: 0 },
        volumes: {
          data: { kind: 'path', hostPath: '/volumes/data' },
          logs: { kind: 'path', hostPath: '/volumes/logs' },
        },
      },
    ]);
    expect(queueOf(story.startLimiter)).toEqual(empty);
  });

  test('checks its image while its sandbox is created', () => {
    const story = podStory({ held: ['runSandbox'] });
    expect(portsOf(story)).toEqual(['preparePod', 'prepareCgroup', 'findImage', 'countRestarts', 'runSandbox']);
    expect(story.containers()).toEqual({ main: 'launching.readyToCreate' });
  });

  test('starts nothing if the node rejects it', () => {
    const greedy = aPod({ containers: [aContainer({ resources: { requests: { cpu: '5' } } })] });
    const story = podStory({ pod: greedy });
    expect(story.state()).toBe('refused');
    expect(story.view().refusal).toMatchObject({ reason: 'OutOfcpu' });
    expect(story.ports.calls).toEqual([]);
    story.terminate();
    expect(story.state()).toBe('terminated');
  });

  test('retries a failed creation of its sandbox, at once on the return of the runtime', () => {
    const story = podStory({ failing: ['runSandbox'] });
    expect(story.state()).toBe('sandboxing.awaitingCreateRetry');
    expect(queueOf(story.startLimiter)).toEqual(empty);
    story.ports.failNext('runSandbox', 'FailedCreatePodSandBox');
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('sandboxing.awaitingCreateRetry');
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('sandboxing.awaitingCreateRetry');
    story.ports.advance(10_000);
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.asked('runSandbox').map(({ attempt }) => attempt)).toEqual([0, 0, 0]);
  });
});

describe('init containers', () => {
  const init = (...names: string[]) => aPod({ initContainers: names.map((name) => aContainer({ name })) });

  test('C3: run one after the other, each to success, before the others', () => {
    const story = podStory({ pod: init('first', 'second') });
    expect(story.state()).toBe('active.initializing.steady');
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'pending.waiting', main: 'pending.waiting' });
    story.die('first-0-0', 0);
    expect(story.containers()).toEqual({ first: 'ended.succeeded', second: 'running.steady', main: 'pending.waiting' });
    expect(story.view().isInitialized).toBe(false);
    story.die('second-0-0', 0);
    expect(story.state()).toBe('active.running.steady');
    expect(story.containers()).toMatchObject({ main: 'running.steady' });
    expect(story.view().isInitialized).toBe(true);
  });

  test('C3: a failed one runs again with a back-off; with policy Never it fails the pod', () => {
    const story = podStory({ pod: init('first') });
    story.die('first-0-0', 1);
    expect(story.containers()).toEqual({ first: 'running.steady', main: 'pending.waiting' });
    story.die('first-0-1', 1);
    expect(story.containers()).toEqual({ first: 'ended.backingOff', main: 'pending.waiting' });
    const never = podStory({ pod: aPod({ ...init('first').spec, restartPolicy: 'Never' }) });
    never.die('first-0-0', 1);
    expect(never.state()).toBe('finished');
    expect(never.containers()).toEqual({ first: 'stopped', main: 'stopped' });
  });

  test('C3: one that an update removes does not block the next one', () => {
    const story = podStory({ pod: init('first', 'second') });
    expect(story.containers()).toMatchObject({ first: 'running.steady', second: 'pending.waiting' });
    story.send({ type: 'pod.update', pod: init('second') });
    expect(story.containers()).toMatchObject({ second: 'running.steady', main: 'pending.waiting' });
    story.die('second-0-0', 0);
    expect(story.state()).toBe('active.running.steady');
  });

  test('C3: one that an update adds waits for the volume that it mounts, even if its turn is due', () => {
    const story = podStory({ pod: init('first') });
    story.ports.hold('mountVolume');
    const second = aContainer({ name: 'second', volumeMounts: [{ name: 'data', mountPath: '/data' }] });
    const initContainers = [aContainer({ name: 'first' }), second];
    story.send({ type: 'pod.update', pod: aPod({ volumes: [{ name: 'data', emptyDir: {} }], initContainers }) });
    story.die('first-0-0', 0);
    expect(story.state()).toBe('active.initializing.steady');
    expect(story.containers()).toEqual({ first: 'ended.succeeded', main: 'pending.waiting' });
    story.ports.answer('mountVolume');
    expect(story.containers()).toMatchObject({ second: 'running.steady', main: 'pending.waiting' });
  });

  test('C4: a running sidecar is passed, and continues beside the others', () => {
    const pod = aPod({
      initContainers: [aContainer({ name: 'proxy', restartPolicy: 'Always' }), aContainer({ name: 'setup' })],
    });
    const story = podStory({ pod, held: ['startContainer'] });
    expect(story.containers()).toEqual({
      proxy: 'launching.creatingContainer.starting',
      setup: 'pending.waiting',
      main: 'pending.waiting',
    });
    story.ports.answer('startContainer');
    expect(story.containers()).toMatchObject({
      proxy: 'running.steady',
      setup: 'launching.creatingContainer.starting',
    });
    story.ports.answer('startContainer');
    story.die('setup-0-0', 0);
    story.ports.answer('startContainer');
    expect(story.containers()).toEqual({
      proxy: 'running.steady',
      setup: 'ended.succeeded',
      main: 'running.steady',
    });
  });

  test('C4: a sidecar that exits restarts, during the initialization and after it', () => {
    const pod = aPod({
      restartPolicy: 'Never',
      initContainers: [aContainer({ name: 'proxy', restartPolicy: 'Always' }), aContainer({ name: 'setup' })],
    });
    const story = podStory({ pod });
    story.die('proxy-0-0', 1);
    expect(story.containers()).toMatchObject({ proxy: 'running.steady', setup: 'running.steady' });
    story.die('setup-0-0', 0);
    story.die('proxy-0-1', 0);
    story.ports.advance(10_000);
    expect(story.containers()).toMatchObject({ proxy: 'running.steady', main: 'running.steady' });
    expect(story.state()).toBe('active.running.steady');
  });

  test('C1: a running sidecar does not prevent its pod from completing', () => {
    const pod = aPod({
      restartPolicy: 'Never',
      initContainers: [aContainer({ name: 'proxy', restartPolicy: 'Always' })],
    });
    const story = podStory({ pod });
    story.die('main-0-0', 0);
    expect(story.state()).toBe('finished');
    expect(story.containers()).toEqual({ proxy: 'stopped', main: 'stopped' });
  });
});

describe('updates in place', () => {
  const two = (first: string, second?: string): Pod =>
    aPod({
      containers: [
        aContainer({ name: 'first', image: first }),
        ...(second ? [aContainer({ name: 'second', image: second })] : []),
      ],
    });

  test('C6: only the container whose image changed is recreated', () => {
    const story = runningPod(two('a:1', 'b:1'));
    story.send({ type: 'pod.update', pod: two('a:1', 'b:2') });
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'running.steady' });
    expect(story.ports.asked('stopContainer').map(({ id }) => id)).toEqual(['second-0-0']);
    expect(story.ports.asked('createContainer').map(({ container }) => container)).toEqual([
      'first',
      'second',
      'second',
    ]);
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
  });

  test('C6: stop a container that is not in the spec any more, and start a new one', () => {
    const story = runningPod(two('a:1', 'b:1'));
    story.send({ type: 'pod.update', pod: two('a:1') });
    expect(story.containers()).toEqual({ first: 'running.steady' });
    expect(story.ports.asked('stopContainer').map(({ id }) => id)).toEqual(['second-0-0']);
    story.send({ type: 'pod.update', pod: two('a:1', 'b:1') });
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'running.steady' });
    expect(story.state()).toBe('active.running.steady');
  });

  test('restart a container after its stop that is wanted again meanwhile', () => {
    const story = runningPod(two('a:1', 'b:1'));
    story.ports.hold('stopContainer');
    story.send({ type: 'pod.update', pod: two('a:1') });
    story.send({ type: 'pod.update', pod: two('a:1', 'b:1') });
    story.ports.answer('stopContainer');
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'running.steady' });
  });

  test('mount a new volume before the new container that needs it starts', () => {
    const story = runningPod(two('a:1'));
    story.ports.hold('mountVolume');
    story.send({ type: 'pod.update', pod: aPod({ ...two('a:1', 'b:1').spec, volumes }) });
    expect(story.containers()).toEqual({ first: 'running.steady' });
    story.ports.answer('mountVolume');
    story.ports.answer('mountVolume');
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'running.steady' });
    expect(story.ports.asked('createContainer').at(-1)?.volumes).toEqual({
      data: { kind: 'path', hostPath: '/volumes/data' },
      logs: { kind: 'path', hostPath: '/volumes/logs' },
    });
  });

  test('mount a new volume of an update during the creation of the sandbox', () => {
    const story = podStory({ pod: two('a:1'), held: ['runSandbox'] });
    story.send({ type: 'pod.update', pod: aPod({ ...two('a:1', 'b:1').spec, volumes }) });
    story.ports.answer('runSandbox');
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'running.steady' });
    expect(story.ports.asked('createContainer').find(({ container }) => container === 'second')?.volumes).toEqual({
      data: { kind: 'path', hostPath: '/volumes/data' },
      logs: { kind: 'path', hostPath: '/volumes/logs' },
    });
  });

  test('send no spec to a leaving container, which is not in it', () => {
    const story = runningPod(two('a:1', 'b:1'));
    story.ports.hold('stopContainer', 'mountVolume');
    story.send({ type: 'pod.update', pod: aPod({ ...two('a:1').spec, volumes }) });
    story.ports.answer('mountVolume');
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'stopping.killing.graceful' });
    story.ports.answer('stopContainer');
    expect(story.containers()).toEqual({ first: 'running.steady' });
  });

  test('change nothing that runs if they are not admitted', () => {
    const story = runningPod();
    const greedy = aPod({ containers: [aContainer({ resources: { requests: { cpu: '5' } } })] });
    story.send({ type: 'pod.update', pod: greedy });
    expect(story.context()).toMatchObject({ desired: greedy });
    expect(story.context().allocated).not.toBe(greedy);
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });
});

describe('completion', () => {
  const once = (restartPolicy: 'Never' | 'OnFailure') =>
    aPod({ restartPolicy, containers: [aContainer({ name: 'a' }), aContainer({ name: 'b' })] });

  test('C9: stops the sandbox when all containers have completed, and leaves dead containers for their logs', () => {
    const story = runningPod(once('Never'));
    story.die('a-0-0', 0);
    expect(story.state()).toBe('active.running.steady');
    story.die('b-0-0', 1);
    expect(story.state()).toBe('finished');
    expect(story.ports.asked('stopSandboxes')).toHaveLength(1);
    expect(story.ports.asked('removeSandboxes')).toEqual([]);
    expect(story.view()).toMatchObject({ hasEnded: true });
    expect(story.allocated()).toBeNull();
    story.terminate();
    expect(story.state()).toBe('terminated');
    expect(story.ports.asked('removeSandboxes')).toHaveLength(1);
  });

  test('does not happen with a failed container and policy OnFailure', () => {
    const story = runningPod(once('OnFailure'));
    story.die('a-0-0', 0);
    story.die('b-0-0', 1);
    expect(story.containers()).toEqual({ a: 'ended.succeeded', b: 'running.steady' });
    story.die('b-0-1', 0);
    expect(story.state()).toBe('finished');
  });

  test('is not repeated after a restart of the agent', () => {
    const story = podStory({
      pod: once('Never'),
      before: (world, pod) => {
        world.sandbox(pod);
        world.run(pod, 'a', { id: 'a' });
        world.run(pod, 'b', { id: 'b' });
        world.end('a', 0);
        world.end('b', 0);
        world.loseSandbox('sandbox-uid-1-0');
      },
    });
    expect(story.state()).toBe('finished');
    expect(story.ports.asked('runSandbox')).toEqual([]);
  });
});

test("an internal error in a child stops the pod's actor, so that the node rebuilds it", () => {
  const story = podStory({ held: ['findImage'] });
  story.send({ type: 'xstate.error.actor.container/main', error: new Error('a mistake'), actorId: 'container/main' });
  expect(story.state()).toBe('broken');
  expect(story.status()).toBe('done');
  expect(queueOf(story.startLimiter)).toEqual(empty);
});

test('C17: the return of the runtime is forwarded to a volume that waits for its image', () => {
  const volumes = [{ name: 'site', image: { reference: 'site:1' } }];
  const story = podStory({ pod: aPod({ volumes }), failing: ['findImage'] });
  expect(story.view().volumes).toMatchObject([{ state: 'gettingImage.awaitingRetry' }]);
  story.send({ type: 'runtime.returned' });
  expect(story.view().volumes).toMatchObject([{ state: 'mounted.steady', mounted: true }]);
});
