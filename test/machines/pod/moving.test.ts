import { describe, expect, test } from '@jest/globals';
import type { ObservedSandbox } from '../../../kubernetes/lifecycle/observed.ts';
import type { PortName } from '../../../machines/shared/ports.ts';
import type { FakeWorld } from '../../fakes/world.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { podStory } from '../support/podStory.ts';

const preStop = { exec: { command: ['drain'] } };
const pod = aPod({ terminationGracePeriodSeconds: 20, containers: [aContainer({ lifecycle: { preStop } })] });
const KILLED = 'Normal Killing: Stopping container main';
const steps: PortName[] = ['runHook', 'stopContainer', 'findImage', 'stopSandboxes', 'runSandbox'];

type Story = ReturnType<typeof podStory>;

const runsIn = (world: FakeWorld, attempt = 0) =>
  world.run(pod, 'main', { id: 'main', sandboxId: `sandbox-uid-1-${attempt}` });

/** Creates a pod that the agent finds at its start, with a container running in its sandbox. */
function foundPod(before: (world: FakeWorld) => unknown = (world) => world.sandbox(pod)): Story {
  return podStory({
    pod,
    before: (world) => {
      before(world);
      runsIn(world, Math.max(...[...world.sandboxes.values()].map(({ attempt }) => attempt)));
    },
    held: ['inspectSandbox', ...steps],
  });
}

/** Responds to `inspectSandbox` with the pod's sandbox and these changes. */
function respondWithSandbox(story: Story, over: Partial<ObservedSandbox> = {}) {
  const [sandbox] = story.context().observed.sandboxes;
  if (sandbox === undefined) throw new Error('the pod has no sandbox');
  story.ports.answer('inspectSandbox', { ...sandbox, ...over });
}

/**
 * Checks that the container gets its hook and grace period, that the sandbox is stopped, and that the container then
 * runs in the next sandbox.
 */
function expectOrderlyMove(story: Story, podIp: string | undefined) {
  expect(story.state()).toBe('resetting.draining');
  expect(story.told()).toContain(KILLED);
  expect(story.ports.pending()).toEqual(['runHook']);
  expect(story.ports.asked('runHook')).toMatchObject([{ hook: 'preStop', podIp, graceSeconds: 20 }]);
  story.ports.answer('runHook');
  expect(story.ports.pending()).toEqual(['stopContainer']);
  expect(story.ports.asked('stopContainer')).toMatchObject([{ graceSeconds: 20, deadline: story.ports.now + 20_000 }]);
  story.ports.answer('stopContainer');
  expectNewSandbox(story);
}

function expectNewSandbox(story: Story) {
  expect(story.told()[0]).toBe('Normal SandboxChanged: Pod sandbox changed, it will be killed and re-created.');
  story.ports.answer('findImage');
  story.ports.answer('stopSandboxes');
  story.ports.answer('runSandbox');
  expect(story.state()).toBe('active.running.steady');
  expect(story.containers()).toEqual({ main: 'running.steady' });
  expect(story.view().containers).toMatchObject([{ restartCount: 1 }]);
}

describe('a container in a ready sandbox that its pod cannot use', () => {
  test.each<[string, Partial<ObservedSandbox>, string | undefined]>([
    ['has no address', { ips: [] }, undefined],
    ['is on the network of the host', { hostNetwork: true }, '10.0.0.9'],
  ])('C10: is stopped with its hook and grace period if the adopted sandbox %s', (_, over, podIp) => {
    const story = foundPod();
    expect(story.state()).toBe('sandboxing.adopting');
    respondWithSandbox(story, over);
    expectOrderlyMove(story, podIp);
    expect(story.ports.asked('stopSandboxes')).toMatchObject([{ ids: ['sandbox-uid-1-0'] }]);
  });

  test('C10: is stopped with its hook and grace period when a second ready sandbox is found', () => {
    const story = foundPod((world) => [world.sandbox(pod), world.sandbox(pod, 1)]);
    respondWithSandbox(story);
    expectOrderlyMove(story, '10.0.0.9');
    expect(story.ports.asked('stopSandboxes')).toMatchObject([{ ids: ['sandbox-uid-1-1', 'sandbox-uid-1-0'] }]);
  });

  test('C10: is stopped with its hook and grace period when an update changes the network mode', () => {
    const story = podStory({ pod });
    story.told();
    story.ports.hold(...steps);
    story.send({ type: 'pod.update', pod: { ...pod, spec: { ...pod.spec, hostNetwork: true } } });
    expectOrderlyMove(story, '10.0.0.9');
    expect(story.context().sandbox).toMatchObject({ hostNetwork: true, attempt: 1 });
  });

  test('C10: is stopped with its hook and grace period when the sandbox loses its address', () => {
    const story = podStory({ pod });
    story.told();
    const [sandbox] = story.world.sandboxes.values();
    if (sandbox === undefined) throw new Error('the pod has no sandbox');
    story.world.sandboxes.set(sandbox.id, { ...sandbox, ips: [] });
    story.ports.hold(...steps);
    story.observe();
    expectOrderlyMove(story, undefined);
  });

  test('C10: is stopped with its hook and grace period even if the first query fails because the runtime is not available', () => {
    const story = foundPod();
    story.ports.hold('inspectContainer');
    respondWithSandbox(story, { ips: [] });
    expect(story.state()).toBe('resetting.draining');
    story.ports.fail('inspectContainer', 'RuntimeUnavailable');
    expect([story.state(), story.ports.pending()]).toEqual(['resetting.draining', []]);
    story.send({ type: 'runtime.returned' });
    story.ports.answer('inspectContainer');
    expectOrderlyMove(story, undefined);
  });

  test('C8: may continue if the runtime reports that the sandbox is ready', () => {
    const story = foundPod((world) =>
      world.sandboxes.set('sandbox-uid-1-0', { ...world.sandbox(pod), state: 'notReady' }),
    );
    respondWithSandbox(story, { state: 'ready' });
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.pending()).toEqual([]);
  });

  test('C8: runs again there if the pod wants that sandbox again before it was stopped', () => {
    const story = podStory({ pod });
    story.observe();
    story.ports.hold('stopSandboxes');
    story.send({ type: 'pod.update', pod: { ...pod, spec: { ...pod.spec, hostNetwork: true } } });
    story.ports.fail('stopSandboxes', 'RuntimeError');
    expect([story.state(), story.containers()]).toEqual([
      'sandboxing.awaitingRetry',
      { main: 'launching.readyToCreate' },
    ]);
    story.send({ type: 'pod.update', pod });
    story.ports.advance(10_000);
    expect([story.state(), story.containers()]).toEqual(['active.running.steady', { main: 'running.steady' }]);
    expect(story.context().sandbox).toMatchObject({ attempt: 0 });
  });

  test('stops permanently when its pod terminates meanwhile', () => {
    const story = foundPod();
    respondWithSandbox(story, { ips: [] });
    story.terminate(5);
    expect(story.state()).toBe('terminating.stoppingContainers.graceful');
    story.ports.advance(5_000);
    story.ports.answer('stopContainer');
    story.ports.answer('stopSandboxes');
    expect(story.state()).toBe('terminated');
  });
});

describe('a container that may run in a dead sandbox', () => {
  test.each<[string, (story: Story) => void]>([
    ['is not ready', (story) => respondWithSandbox(story, { state: 'notReady' })],
    ['is gone', (story) => story.ports.answer('inspectSandbox', null)],
  ])('C8: is stopped without a hook when the sandbox %s', (_, act) => {
    const story = foundPod();
    act(story);
    expect(story.state()).toBe('resetting.draining');
    expect(story.ports.asked('runHook')).toEqual([]);
    expect(story.ports.pending()).toEqual(['stopContainer']);
    expect(story.told()).toContain(KILLED);
    story.ports.answer('stopContainer');
    expectNewSandbox(story);
  });
});

test('a container that exited with its sandbox is not reported, and does not block', () => {
  const story = podStory({
    pod,
    before: (world) => {
      world.sandbox(pod);
      runsIn(world);
      world.loseSandbox('sandbox-uid-1-0');
    },
    held: ['stopSandboxes'],
  });
  expect(story.state()).toBe('sandboxing.stoppingOldSandboxes');
  expect(story.told().join()).not.toContain('Killing');
});
