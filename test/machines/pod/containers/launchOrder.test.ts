import { describe, expect, test } from '@jest/globals';
import { podStatus } from '../../../../kubernetes/status/status.ts';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { podStory } from '../../support/podStory.ts';

const hook = { lifecycle: { postStart: { exec: { command: ['true'] } } } };
const sidecar = (name: string, more = {}) => aContainer({ name, restartPolicy: 'Always', ...more });
const named = (name: string, more = {}) => aContainer({ name, ...more });
const three = (more = {}) =>
  aPod({ restartPolicy: 'Always', containers: [named('a', hook), named('b'), named('c')], ...more });

type Story = ReturnType<typeof podStory>;
const created = ({ ports }: Story) => ports.asked('createContainer').map(({ container }) => container);
const started = ({ ports }: Story) => ports.asked('startContainer').map(({ container }) => container);
const waitOf = ({ view }: Story, name: string) => view().containers.find((each) => each.name === name)?.waitingFor;

describe('the regular containers of a pod', () => {
  test('C9: start one after the other in the order of the spec', () => {
    const story = podStory({ pod: three(), held: ['startContainer', 'runHook'] });
    expect([created(story), started(story)]).toEqual([['a'], ['a']]);
    story.ports.answer('startContainer');
    expect(created(story)).toEqual(['a']);
    story.ports.answer('runHook');
    expect(created(story)).toEqual(['a', 'b']);
    story.ports.answer('startContainer');
    expect(created(story)).toEqual(['a', 'b', 'c']);
    story.ports.answer('startContainer');
    expect(story.containers()).toEqual({ a: 'running.steady', b: 'running.steady', c: 'running.steady' });
  });

  test('C9: check their images in parallel, and the first one remains the first if its image is late', () => {
    const containers = [named('a', { imagePullPolicy: 'Always' }), named('b'), named('c')];
    const story = podStory({ pod: three({ containers }), held: ['pullImage'] });
    expect(story.containers()).toEqual({
      a: 'pending.gettingImage.pulling',
      b: 'launching.readyToCreate',
      c: 'launching.readyToCreate',
    });
    expect(waitOf(story, 'b')).toBe('container a, which starts before it');
    story.ports.answer('pullImage');
    expect(created(story)).toEqual(['a', 'b', 'c']);
  });

  test('C9: are blocked by a postStart hook, and show whose', () => {
    const story = podStory({ pod: three(), held: ['runHook'] });
    expect(story.containers()).toEqual({
      a: 'launching.runningPostStart',
      b: 'launching.readyToCreate',
      c: 'launching.readyToCreate',
    });
    expect(waitOf(story, 'b')).toBe("container a's postStart hook");
    expect(waitOf(story, 'a')).toBe('its postStart hook (exec true)');
    story.ports.answer('runHook');
    expect(story.containers()).toMatchObject({ b: 'running.steady', c: 'running.steady' });
  });

  test('C9: start after a failed creation, which is retried after them', () => {
    const story = podStory({ pod: three(), held: ['createContainer'] });
    story.ports.fail('createContainer', 'CreateContainerError');
    expect(story.containers()).toMatchObject({
      a: 'launching.awaitingRetry',
      b: 'launching.creatingContainer.creating',
      c: 'launching.readyToCreate',
    });
    story.ports.advance(60_000);
    expect(story.containers()).toMatchObject({
      a: 'launching.readyToCreate',
      b: 'launching.creatingContainer.creating',
      c: 'launching.readyToCreate',
    });
    expect(waitOf(story, 'a')).toBe('container b, which starts before it');
    story.ports.answer('createContainer');
    expect(created(story)).toEqual(['a', 'b', 'c']);
    story.ports.answer('createContainer');
    expect(created(story)).toEqual(['a', 'b', 'c', 'a']);
  });

  test.each(['findImage', 'pullImage'] as const)('C9: start after a container whose image fails (%s)', (port) => {
    const pod = three({ containers: [named('a', { image: 'new:1', imagePullPolicy: 'Always' }), named('b')] });
    const story = podStory({ pod, held: [port] });
    expect(created(story)).toEqual([]);
    story.ports.fail(port, 'ErrImagePull');
    if (port === 'findImage') story.ports.answer('findImage', { imageRef: 'sha256:1', at: 0 });
    expect(created(story)).toEqual(['b']);
  });

  test('C9: start after the kill of a container whose hook failed', () => {
    const story = podStory({ pod: three(), held: ['runHook', 'stopContainer'] });
    story.ports.fail('runHook', 'PostStartHookError');
    expect(story.containers()).toMatchObject({ a: 'stopping.killing.graceful', b: 'launching.readyToCreate' });
    story.ports.answer('stopContainer');
    expect(created(story)).toEqual(['a', 'b', 'c', 'a']);
  });

  test('C9: are not blocked by a container that exits during its hook', () => {
    const story = podStory({ pod: three(), held: ['runHook'] });
    story.die('a-0-0', 1);
    expect(created(story)).toEqual(['a', 'b', 'c', 'a']);
  });

  test('C9: start before one that restarts meanwhile', () => {
    const containers = [named('a'), named('b', hook), named('c')];
    const story = podStory({ pod: three({ containers }), held: ['runHook'] });
    expect(story.containers()).toEqual({
      a: 'running.steady',
      b: 'launching.runningPostStart',
      c: 'launching.readyToCreate',
    });
    story.die('a-0-0', 1);
    expect(story.containers()).toEqual({
      a: 'launching.readyToCreate',
      b: 'launching.runningPostStart',
      c: 'launching.readyToCreate',
    });
    story.ports.answer('runHook');
    expect(created(story)).toEqual(['a', 'b', 'c', 'a']);
  });

  test('C9: that restart during the last hook of a round start in the order of the spec, not of their exits', () => {
    const story = podStory({
      pod: three({ containers: [named('a'), named('b'), named('c', hook)] }),
      held: ['runHook'],
    });
    story.die('b-0-0', 1);
    story.die('a-0-0', 1);
    expect(story.containers()).toEqual({
      a: 'launching.readyToCreate',
      b: 'launching.readyToCreate',
      c: 'launching.runningPostStart',
    });
    story.ports.answer('runHook');
    expect(created(story)).toEqual(['a', 'b', 'c', 'a', 'b']);
  });

  test('C9: can be stopped while a hook never ends', () => {
    const story = podStory({ pod: three(), held: ['runHook'] });
    story.ports.advance(86_400_000);
    expect(story.containers()).toEqual({
      a: 'launching.runningPostStart',
      b: 'launching.readyToCreate',
      c: 'launching.readyToCreate',
    });
    story.terminate();
    expect(story.status()).toBe('done');
    expect(created(story)).toEqual(['a']);
  });

  test('C9: that run already when the agent starts block none, even if their hook was interrupted', () => {
    const story = podStory({ pod: three(), before: (world, pod) => void world.run(pod, 'a'), held: ['runHook'] });
    expect(story.containers()).toEqual({ a: 'running.steady', b: 'running.steady', c: 'running.steady' });
    expect(story.ports.asked('runHook')).toEqual([]);
  });

  test('C9: start over after a lost sandbox', () => {
    const story = podStory({ pod: three(), held: ['runHook'] });
    story.world.loseSandbox('sandbox-uid-1-0');
    story.observe();
    expect(created(story)).toEqual(['a', 'a']);
    story.ports.answer('runHook');
    expect(created(story)).toEqual(['a', 'a', 'b', 'c']);
  });

  test('do not block an ephemeral container by a hook', () => {
    const pod = three();
    const story = podStory({ pod, held: ['runHook'] });
    const ephemeralContainers = [{ name: 'look', image: 'busybox' }];
    story.send({ type: 'pod.update', pod: { ...pod, spec: { ...pod.spec, ephemeralContainers } } });
    expect(story.containers()).toMatchObject({
      a: 'launching.runningPostStart',
      b: 'launching.readyToCreate',
      look: 'running.steady',
    });
  });
});

describe('init containers', () => {
  test.each([
    ['Always', 'running.steady'],
    ['OnFailure', 'running.steady'],
    ['Never', 'stopped'],
  ] as const)('C3: have failed if they were OOMKilled, even with exit code 0 (policy %s)', (restartPolicy, state) => {
    const pod = aPod({ restartPolicy, initContainers: [named('setup')] });
    const story = podStory({ pod });
    const ended = story.world.change('setup-0-0', { state: 'exited', exitCode: 0, reason: 'OOMKilled' });
    story.send({ type: 'runtime.containerSeen', container: ended });
    expect(story.containers()).toMatchObject({ setup: state });
    expect(created(story)).toEqual(restartPolicy === 'Never' ? ['setup'] : ['setup', 'setup']);
    const status = podStatus(story.view(), { now: story.ports.now, hostIps: [], runtimeName: 'cri' });
    expect(status.phase).toBe(restartPolicy === 'Never' ? 'Failed' : 'Pending');
  });
});

describe('sidecars', () => {
  const inits = [sidecar('proxy'), named('setup')];

  test('C4: one that had started and is in back-off blocks neither the next init container nor the regular ones', () => {
    const story = podStory({ pod: three({ initContainers: [...inits, named('migrate')] }), held: ['runHook'] });
    for (const run of ['proxy-0-0', 'proxy-0-1']) story.die(run, 1);
    expect(story.containers()).toMatchObject({ proxy: 'ended.backingOff', setup: 'running.steady' });
    story.die('setup-0-0', 0);
    expect(story.containers()).toMatchObject({ proxy: 'ended.backingOff', migrate: 'running.steady' });
    story.die('migrate-0-0', 0);
    expect(story.containers()).toMatchObject({ proxy: 'ended.backingOff', a: 'launching.runningPostStart' });
  });

  test('C4: one that had started under an earlier agent and has no image now does not block either', () => {
    const story = podStory({
      pod: three({
        initContainers: [sidecar('proxy', { image: 'gone:1', imagePullPolicy: 'Always' }), named('setup')],
      }),
      before: (world, pod) => {
        world.sandbox(pod);
        world.run(pod, 'proxy', { state: 'exited', exitCode: 1 });
        world.run(pod, 'setup', { state: 'exited', exitCode: 0 });
      },
      held: ['pullImage'],
    });
    expect(story.containers()).toMatchObject({
      proxy: 'pending.gettingImage.pulling',
      setup: 'ended.succeeded',
      a: 'launching.readyToCreate',
    });
    story.ports.fail('pullImage', 'ErrImagePull');
    expect(created(story)).toEqual(['a', 'b', 'c']);
  });

  test('C9: the hook of one that restarts blocks the next container', () => {
    const story = podStory({ pod: three({ initContainers: [sidecar('proxy', hook), named('setup')] }) });
    story.ports.hold('runHook');
    story.die('proxy-0-0', 1);
    story.die('setup-0-0', 0);
    expect(story.containers()).toMatchObject({
      proxy: 'launching.runningPostStart',
      setup: 'ended.succeeded',
      a: 'launching.readyToCreate',
    });
    expect(waitOf(story, 'a')).toBe("sidecar proxy's postStart hook");
    story.ports.answer('runHook');
    expect(story.containers()).toMatchObject({ a: 'launching.runningPostStart' });
  });
});
