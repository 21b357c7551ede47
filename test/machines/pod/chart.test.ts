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

/** A pod that runs. */
function runningPod(pod: Pod = aPod()) {
  const story = podStory({ pod });
  expect(story.state()).toBe('active.running.steady');
  return story;
}

describe('the way up', () => {
  test('its directory, its volumes, its sandbox, its containers, in this order', () => {
    const story = podStory({ pod: aPod({ volumes }), held: ['preparePod', 'mountVolume', 'runSandbox'] });
    expect(story.state()).toBe('preparing.directory');
    story.ports.answer('preparePod');
    expect(story.state()).toBe('preparing.volumes');
    expect(story.ports.pending()).toEqual(['mountVolume', 'mountVolume']);
    story.ports.answer('mountVolume');
    expect(story.state()).toBe('preparing.volumes');
    story.ports.answer('mountVolume');
    expect(story.state()).toBe('sandboxing.creatingSandbox.running');
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

  test('while its sandbox is made, its image is already looked for', () => {
    const story = podStory({ held: ['runSandbox'] });
    expect(portsOf(story)).toEqual(['preparePod', 'prepareCgroup', 'findImage', 'countRestarts', 'runSandbox']);
    expect(story.containers()).toEqual({ main: 'launching.readyToCreate' });
  });

  test('one that the node does not take is refused, and starts nothing', () => {
    const greedy = aPod({ containers: [aContainer({ resources: { requests: { cpu: '5' } } })] });
    const story = podStory({ pod: greedy });
    expect(story.state()).toBe('refused');
    expect(story.view().refused).toMatchObject({ reason: 'OutOfcpu' });
    expect(story.ports.calls).toEqual([]);
    story.terminate();
    expect(story.state()).toBe('terminated');
  });

  test('a sandbox that could not be made is tried again, on the return of the runtime at once', () => {
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

  test('C3: they run one after the other, each to success, before the others', () => {
    const story = podStory({ pod: init('first', 'second') });
    expect(story.state()).toBe('active.initializing.steady');
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'pending.waiting', main: 'pending.waiting' });
    story.die('first-0-0', 0);
    expect(story.containers()).toEqual({ first: 'ended.succeeded', second: 'running.steady', main: 'pending.waiting' });
    expect(story.view().initialized).toBe(false);
    story.die('second-0-0', 0);
    expect(story.state()).toBe('active.running.steady');
    expect(story.containers()).toMatchObject({ main: 'running.steady' });
    expect(story.view().initialized).toBe(true);
  });

  test('C3: a failed one runs again with a back-off; with policy Never it ends the pod', () => {
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

  test('C3: one that an update takes out does not keep the next from its turn', () => {
    const story = podStory({ pod: init('first', 'second') });
    expect(story.containers()).toMatchObject({ first: 'running.steady', second: 'pending.waiting' });
    story.send({ type: 'pod.update', pod: init('second') });
    expect(story.containers()).toMatchObject({ second: 'running.steady', main: 'pending.waiting' });
    story.die('second-0-0', 0);
    expect(story.state()).toBe('active.running.steady');
  });

  test('C3: one that comes with an update waits for the volume that it mounts, be its turn due', () => {
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

  test('C4: a sidecar is passed once it runs, and goes on beside the others', () => {
    const pod = aPod({
      initContainers: [aContainer({ name: 'proxy', restartPolicy: 'Always' }), aContainer({ name: 'setup' })],
    });
    const story = podStory({ pod, held: ['startContainer'] });
    expect(story.containers()).toEqual({
      proxy: 'launching.making.starting',
      setup: 'pending.waiting',
      main: 'pending.waiting',
    });
    story.ports.answer('startContainer');
    expect(story.containers()).toMatchObject({ proxy: 'running.steady', setup: 'launching.making.starting' });
    story.ports.answer('startContainer');
    story.die('setup-0-0', 0);
    story.ports.answer('startContainer');
    expect(story.containers()).toEqual({
      proxy: 'running.steady',
      setup: 'ended.succeeded',
      main: 'running.steady',
    });
  });

  test('C4: a sidecar that dies restarts, during the initialization and after it', () => {
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

  test('C1: a sidecar that runs does not keep a pod whose other containers are done', () => {
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

  test('C6: a container that is not in the spec any more stops, one that is new starts', () => {
    const story = runningPod(two('a:1', 'b:1'));
    story.send({ type: 'pod.update', pod: two('a:1') });
    expect(story.containers()).toEqual({ first: 'running.steady' });
    expect(story.ports.asked('stopContainer').map(({ id }) => id)).toEqual(['second-0-0']);
    story.send({ type: 'pod.update', pod: two('a:1', 'b:1') });
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'running.steady' });
    expect(story.state()).toBe('active.running.steady');
  });

  test('a container that is wanted again while it still stops starts again after that', () => {
    const story = runningPod(two('a:1', 'b:1'));
    story.ports.hold('stopContainer');
    story.send({ type: 'pod.update', pod: two('a:1') });
    story.send({ type: 'pod.update', pod: two('a:1', 'b:1') });
    story.ports.answer('stopContainer');
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'running.steady' });
  });

  test('a new volume is mounted before the new container that wants it starts', () => {
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

  test('a new volume of an update that comes while the sandbox is made is mounted too', () => {
    const story = podStory({ pod: two('a:1'), held: ['runSandbox'] });
    story.send({ type: 'pod.update', pod: aPod({ ...two('a:1', 'b:1').spec, volumes }) });
    story.ports.answer('runSandbox');
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'running.steady' });
    expect(story.ports.asked('createContainer').find(({ container }) => container === 'second')?.volumes).toEqual({
      data: { kind: 'path', hostPath: '/volumes/data' },
      logs: { kind: 'path', hostPath: '/volumes/logs' },
    });
  });

  test('a container that leaves hears no more of the spec, which does not have it', () => {
    const story = runningPod(two('a:1', 'b:1'));
    story.ports.hold('stopContainer', 'mountVolume');
    story.send({ type: 'pod.update', pod: aPod({ ...two('a:1').spec, volumes }) });
    story.ports.answer('mountVolume');
    expect(story.containers()).toEqual({ first: 'running.steady', second: 'stopping.killing.graceful' });
    story.ports.answer('stopContainer');
    expect(story.containers()).toEqual({ first: 'running.steady' });
  });

  test('an update that the node does not admit changes nothing that runs', () => {
    const story = runningPod();
    const greedy = aPod({ containers: [aContainer({ resources: { requests: { cpu: '5' } } })] });
    story.send({ type: 'pod.update', pod: greedy });
    expect(story.context()).toMatchObject({ desired: greedy });
    expect(story.context().allocated).not.toBe(greedy);
    expect(story.ports.asked('stopContainer')).toEqual([]);
  });
});

describe('the end by itself', () => {
  const once = (restartPolicy: 'Never' | 'OnFailure') =>
    aPod({ restartPolicy, containers: [aContainer({ name: 'a' }), aContainer({ name: 'b' })] });

  test('C9: when all containers are done its sandbox stops, and its dead containers stay for their logs', () => {
    const story = runningPod(once('Never'));
    story.die('a-0-0', 0);
    expect(story.state()).toBe('active.running.steady');
    story.die('b-0-0', 1);
    expect(story.state()).toBe('finished');
    expect(story.ports.asked('stopSandboxes')).toHaveLength(1);
    expect(story.ports.asked('removeSandboxes')).toEqual([]);
    expect(story.view()).toMatchObject({ ended: true });
    expect(story.allocated()).toBeNull();
    story.terminate();
    expect(story.state()).toBe('terminated');
    expect(story.ports.asked('removeSandboxes')).toHaveLength(1);
  });

  test('with a failed container and policy OnFailure it goes on', () => {
    const story = runningPod(once('OnFailure'));
    story.die('a-0-0', 0);
    story.die('b-0-0', 1);
    expect(story.containers()).toEqual({ a: 'ended.succeeded', b: 'running.steady' });
    story.die('b-0-1', 0);
    expect(story.state()).toBe('finished');
  });

  test('what had finished before a restart of the agent is not run again', () => {
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

test("a fault of ours in a child ends the pod's actor, so that the node rebuilds it", () => {
  const story = podStory({ held: ['findImage'] });
  story.send({ type: 'xstate.error.actor.container/main', error: new Error('a mistake'), actorId: 'container/main' });
  expect(story.state()).toBe('broken');
  expect(story.status()).toBe('done');
  expect(queueOf(story.startLimiter)).toEqual(empty);
});

test('C17: the return of the runtime is passed on to a volume that waits for its image', () => {
  const volumes = [{ name: 'site', image: { reference: 'site:1' } }];
  const story = podStory({ pod: aPod({ volumes }), failing: ['findImage'] });
  expect(story.view().volumes).toMatchObject([{ state: 'gettingImage.awaitingRetry' }]);
  story.send({ type: 'runtime.returned' });
  expect(story.view().volumes).toMatchObject([{ state: 'mounted.steady', mounted: true }]);
});
