import { describe, expect, test } from '@jest/globals';
import type { ObservedSandbox } from '../../../kubernetes/lifecycle/observed.ts';
import { podStatus } from '../../../kubernetes/status/status.ts';
import type { FakeWorld } from '../../fakes/world.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { podStory } from '../support/podStory.ts';
import { queueOf } from '../support/stand.ts';

const CHANGED = 'Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created.';

/** Creates a pod whose sandbox is being created. */
const podBeingCreated = () => podStory({ held: ['runSandbox'] });
/** Responds to `runSandbox` with the requested sandbox and these changes. */
function answerWith(story: ReturnType<typeof podStory>, over: Partial<ObservedSandbox>) {
  const { pod, attempt } = story.ports.asked('runSandbox').at(-1) ?? {};
  if (pod === undefined) throw new Error('no sandbox is asked for');
  story.ports.answer('runSandbox', { ...story.world.sandbox(pod, attempt), madeAt: story.ports.now, ...over });
}

describe('an unusable sandbox', () => {
  test('C8: without an address is replaced after a wait, and nothing starts in it', () => {
    const story = podBeingCreated();
    answerWith(story, { ips: [] });
    expect(story.view()).toMatchObject({ state: 'sandboxing.awaitingReplacement', until: story.ports.now + 10_000 });
    expect(story.context().failure?.message).toBe('the new sandbox is unusable: the sandbox has no address');
    story.ports.advance(9_999);
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
    story.told();
    story.ports.advance(1);
    expect(story.told()).toEqual([CHANGED]);
    expect(story.ports.asked('stopSandboxes')).toMatchObject([{ ids: ['sandbox-uid-1-0'] }]);
    expect(story.ports.asked('createContainer')).toEqual([]);
    answerWith(story, {});
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.asked('runSandbox').map(({ attempt }) => attempt)).toEqual([0, 1]);
    expect(story.context().failure).toBeUndefined();
  });

  test('C8: is replaced at intervals while none has an address', () => {
    const story = podBeingCreated();
    for (const attempt of [0, 1, 2, 3]) {
      expect(story.ports.asked('runSandbox').at(-1)).toMatchObject({ attempt });
      answerWith(story, { ips: [] });
      story.ports.advance(9_999);
      expect(story.ports.pending()).not.toContain('runSandbox');
      story.ports.advance(1);
    }
  });

  test.each([-60_000, 60_000, Number.NEGATIVE_INFINITY])(
    'C8: is replaced 10 s after the response, even if the runtime reports a creation time that differs by %s ms',
    (skew) => {
      const story = podBeingCreated();
      answerWith(story, { ips: [], createdAt: Math.max(0, story.ports.now + skew) });
      expect(story.context().failure?.at).toBe(story.ports.now);
      story.ports.advance(9_999);
      expect(story.state()).toBe('sandboxing.awaitingReplacement');
      story.ports.advance(1);
      expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
    },
  );

  test('C8: on the network of the host needs no address, and an unknown state is no flaw', () => {
    const onHost = podStory({ pod: aPod({ hostNetwork: true }) });
    expect(onHost.context().sandbox).toMatchObject({ ips: [] });
    expect(onHost.state()).toBe('active.running.steady');
    const story = podBeingCreated();
    const { ips: _silent, ...sandbox } = story.world.sandbox(aPod());
    story.ports.answer('runSandbox', { ...sandbox, madeAt: story.ports.now });
    expect(story.state()).toBe('active.running.steady');
  });

  test('C8: is replaced if the pod changes its network mode during the creation', () => {
    const story = podBeingCreated();
    story.send({ type: 'pod.update', pod: aPod({ hostNetwork: true }) });
    expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
    answerWith(story, {});
    expect(story.state()).toBe('sandboxing.awaitingReplacement');
    story.ports.advance(10_000);
    answerWith(story, {});
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().sandbox).toMatchObject({ attempt: 1, hostNetwork: true });
  });

  test('C8: is replaced if the pod changes its network mode during the adoption', () => {
    const story = podStory({ before: (world, pod) => world.sandbox(pod), held: ['inspectSandbox'] });
    expect(story.state()).toBe('sandboxing.adopting');
    story.send({ type: 'pod.update', pod: aPod({ hostNetwork: true }) });
    story.ports.answer('inspectSandbox');
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().sandbox).toMatchObject({ attempt: 1, hostNetwork: true });
  });

  test('C8: is replaced as soon as the runtime shows it without its address', () => {
    const story = podStory();
    const [sandbox] = story.world.sandboxes.values();
    if (sandbox === undefined) throw new Error('the pod has no sandbox');
    story.world.sandboxes.set(sandbox.id, { ...sandbox, ips: [] });
    story.observe();
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().sandbox).toMatchObject({ attempt: 1, ips: ['10.0.0.9'] });
  });

  test('is removed if its pod terminates during the wait', () => {
    const story = podBeingCreated();
    answerWith(story, { ips: [] });
    story.terminate();
    expect(story.state()).toBe('terminated');
    expect([...story.world.sandboxes.keys()]).toEqual([]);
  });
});

describe('a sandbox of an earlier agent that no list has shown', () => {
  const pod = aPod({
    initContainers: [aContainer({ name: 'setup' })],
    containers: [aContainer({ imagePullPolicy: 'Always' })],
  });

  /** Creates a pod that already runs, although the runtime has failed to create its sandbox. */
  function refusedPod() {
    const story = podStory({ pod, held: ['runSandbox', 'pullImage'] });
    story.world.sandbox(pod);
    story.world.run(pod, 'setup');
    story.world.end('setup-0-0', 0);
    story.world.run(pod, 'main');
    story.ports.fail('runSandbox', 'FailedCreatePodSandBox');
    return story;
  }

  test('C2: is adopted with its containers as soon as it is shown', () => {
    const story = refusedPod();
    expect(story.state()).toBe('sandboxing.awaitingCreateRetry');
    story.observe();
    story.ports.advance(10_000);
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().containerIds).toMatchObject({ main: 'main-0-0' });
    expect(story.ports.asked('createContainer')).toEqual([]);
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
  });

  test('is preceded by further attempts to create one', () => {
    const story = refusedPod();
    story.ports.advance(10_000);
    expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
    expect(story.ports.asked('runSandbox')).toHaveLength(2);
  });

  test('is not a sandbox that the pod has lost, although an outdated list still shows it', () => {
    const story = podStory();
    const before = story.world.observed(aPod());
    story.ports.hold('runSandbox');
    story.world.loseSandbox('sandbox-uid-1-0');
    story.observe();
    expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
    story.ports.fail('runSandbox', 'FailedCreatePodSandBox');
    story.send({ type: 'runtime.podObserved', pod: before });
    const looks = story.ports.asked('inspectSandbox').length;
    story.ports.advance(10_000);
    expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
    expect(story.ports.asked('runSandbox').map(({ attempt }) => attempt)).toEqual([0, 1, 1]);
    expect(story.ports.asked('inspectSandbox')).toHaveLength(looks);
  });

  test('frees the slots of containers that were preparing meanwhile', () => {
    const story = podStory({ pod: aPod({ containers: pod.spec.containers }), held: ['runSandbox', 'pullImage'] });
    story.world.sandbox(pod);
    story.world.run(pod, 'main');
    expect(queueOf(story.pullLimiter).held).toHaveLength(1);
    story.ports.fail('runSandbox', 'FailedCreatePodSandBox');
    story.observe();
    story.ports.advance(10_000);
    expect(story.containers()).toEqual({ main: 'running.steady' });
    expect(queueOf(story.pullLimiter)).toEqual({ held: [], queue: [] });
  });
});

describe('C8: if the runtime does not find the image or sandbox of a container', () => {
  test.each(['createContainer', 'startContainer'] as const)(
    'the sandbox is queried, and replaced immediately if it is gone: %s',
    (port) => {
      const story = podStory({ held: [port] });
      const [sandbox = ''] = story.world.sandboxes.keys();
      story.world.sandboxes.delete(sandbox);
      story.ports.fail(port, 'NotFound');
      expect(story.ports.asked('inspectSandbox')).toMatchObject([{ id: sandbox }]);
      expect(story.ports.asked('runSandbox')).toMatchObject([{ attempt: 0 }, { attempt: 1 }]);
      story.ports.answer(port);
      expect([story.state(), story.containers()]).toEqual(['active.running.steady', { main: 'running.steady' }]);
    },
  );

  test('the pod remains in an existing sandbox, and the container waits', () => {
    const story = podStory({ held: ['createContainer'] });
    story.ports.fail('createContainer', 'NotFound');
    expect(story.ports.asked('inspectSandbox')).toHaveLength(1);
    expect([story.state(), story.containers()]).toEqual(['active.running.steady', { main: 'launching.awaitingRetry' }]);
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
  });

  test('the sandbox is not queried after any other failure', () => {
    const story = podStory({ held: ['createContainer'] });
    story.ports.fail('createContainer', 'CreateContainerError');
    expect(story.ports.asked('inspectSandbox')).toEqual([]);
  });
});

describe('C8: a pod whose containers run once and that loses its sandbox before all have run', () => {
  const once = aPod({
    restartPolicy: 'Never',
    initContainers: [aContainer({ name: 'setup' })],
  });

  test('gets no other, and has failed', () => {
    const story = podStory({ pod: once });
    story.ports.hold('findImage');
    story.die('setup-0-0', 0);
    expect(story.containers()).toMatchObject({ main: 'pending.gettingImage.checking' });
    for (const [id, sandbox] of story.world.sandboxes) {
      story.world.sandboxes.set(id, { ...sandbox, state: 'notReady' });
    }
    story.observe();
    expect(story.state()).toBe('finished');
    expect(story.ports.asked('runSandbox')).toHaveLength(1);
  });

  const losing = (world: FakeWorld) => {
    for (const [id, sandbox] of world.sandboxes) world.sandboxes.set(id, { ...sandbox, state: 'notReady' });
  };

  test('gets no other if the agent finds a container that was created and never started', () => {
    const story = podStory({
      pod: aPod({ restartPolicy: 'Never' }),
      before: (world, pod) => {
        world.sandbox(pod);
        world.run(pod, 'main', { state: 'created' });
        losing(world);
      },
    });
    expect([story.state(), story.ports.asked('runSandbox')]).toEqual(['finished', []]);
    expect(podStatus(story.view(), { now: story.ports.now, hostIps: [], runtimeName: 'cri' }).phase).toBe('Failed');
  });

  test('gets no other if the runtime shows a container that is being started', () => {
    const story = podStory({ pod: aPod({ restartPolicy: 'Never' }), held: ['startContainer'] });
    losing(story.world);
    story.observe();
    expect([story.state(), story.ports.asked('runSandbox')]).toMatchObject(['finished', [{}]]);
  });
});

test.each([
  ['OnFailure', 0, 'terminating'],
  ['OnFailure', 1, 'sandboxing'],
  ['Always', 0, 'sandboxing'],
] as const)(
  'C8: with policy %s and exit code %s, init containers and sidecars alone do not require a new sandbox',
  (restartPolicy, exitCode, state) => {
    const initContainers = [aContainer({ name: 'setup' }), aContainer({ name: 'proxy', restartPolicy: 'Always' })];
    const pod = aPod({ restartPolicy, initContainers });
    const story = podStory({
      pod,
      held: ['preparePod', 'runSandbox', 'stopSandboxes'],
      before: (world) => {
        world.run(pod, 'proxy');
        const { id } = world.run(pod, 'main');
        world.end(id, exitCode);
        for (const [key, sandbox] of world.sandboxes) world.sandboxes.set(key, { ...sandbox, state: 'notReady' });
      },
    });
    if (state === 'sandboxing') story.ports.answer('preparePod');
    expect(story.state().split('.')[0]).toBe(state);
  },
);
