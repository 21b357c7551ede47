import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { podStatus } from '../../../kubernetes/status/status.ts';
import type { Termination } from '../../../kubernetes/status/view.ts';
import { preemptionOf } from '../../../machines/node/pods/endings.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { podStory } from '../support/podStory.ts';

const pod = (activeDeadlineSeconds?: number) =>
  aPod({ ...(activeDeadlineSeconds ? { activeDeadlineSeconds } : {}), terminationGracePeriodSeconds: 20 });

describe('activeDeadlineSeconds', () => {
  test('terminates a pod that is active for longer within its grace period, and leaves it as Failed', () => {
    const story = podStory({ pod: pod(60), held: ['stopContainer'] });
    story.ports.advance(59_999);
    expect(story.state()).toBe('active.running.steady');
    story.ports.advance(1);
    expect(story.state()).toBe('terminating.stoppingContainers.graceful');
    expect(story.ports.asked('stopContainer')).toMatchObject([{ deadline: story.ports.now + 20_000 }]);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('finished');
    expect(story.view().termination).toMatchObject({ reason: 'DeadlineExceeded', phase: 'Failed' });
    expect(story.ports.asked('removePodData')).toEqual([]);
    story.terminate();
    expect(story.state()).toBe('terminated');
    expect(story.view().termination).toMatchObject({ reason: 'DeadlineExceeded', phase: 'Failed' });
  });

  test('counts from the start of the pod, also under an earlier agent', () => {
    const story = podStory({
      pod: pod(60),
      held: ['stopContainer'],
      before: (world) => {
        const sandbox = world.sandbox(pod());
        world.sandboxes.set(sandbox.id, { ...sandbox, createdAt: sandbox.createdAt - 50_000 });
        world.run(pod(), 'main');
      },
    });
    story.ports.advance(9_999);
    expect(story.state()).toBe('active.running.steady');
    story.ports.advance(1);
    expect(story.state()).toBe('terminating.stoppingContainers.graceful');
  });

  test('does not shorten the grace period if it passed while no agent was running', () => {
    const story = podStory({
      pod: pod(60),
      held: ['stopContainer'],
      before: (world) => {
        const sandbox = world.sandbox(pod());
        world.sandboxes.set(sandbox.id, { ...sandbox, createdAt: sandbox.createdAt - 3_600_000 });
        world.run(pod(), 'main');
      },
    });
    story.ports.advance(0);
    expect(story.ports.asked('stopContainer')).toMatchObject([{ deadline: story.ports.now + 20_000 }]);
  });

  test('follows the wall clock, although it was ahead when the agent started', () => {
    const story = podStory({
      pod: pod(4_000),
      before: (world) => {
        const sandbox = world.sandbox(pod());
        world.sandboxes.set(sandbox.id, { ...sandbox, createdAt: sandbox.createdAt - 3_600_000 });
        world.run(pod(), 'main');
      },
    });
    story.ports.setClock(-3_600_000);
    story.ports.advance(3_999_999);
    expect(story.state()).toBe('active.running.steady');
    story.ports.advance(1);
    expect(story.state()).toBe('finished');
    const ahead = podStory({ pod: pod(60) });
    ahead.ports.setClock(3_600_000);
    ahead.ports.advance(0);
    expect(ahead.state()).toBe('finished');
  });

  test('does not shorten the grace period if an update sets it in the past', () => {
    const story = podStory({ pod: pod(), held: ['stopContainer'] });
    story.ports.advance(90_000);
    story.send({ type: 'pod.update', pod: pod(60) });
    story.ports.advance(0);
    expect(story.ports.asked('stopContainer')).toMatchObject([{ deadline: story.ports.now + 20_000 }]);
  });

  test('counts from itself if the time cannot be read, unless an update postpones it', () => {
    const held = ['stopContainer', 'pickTime'] as const;
    const failing = podStory({ pod: pod(60), held });
    failing.ports.advance(60_000);
    const deadline = failing.ports.now + 20_000;
    failing.ports.advance(1_000);
    failing.ports.fail('pickTime', 'InternalError');
    expect(failing.ports.asked('stopContainer')).toMatchObject([{ deadline }]);
    const late = podStory({ pod: pod(60), held });
    late.ports.advance(60_000);
    late.send({ type: 'pod.update', pod: pod(600) });
    late.ports.advance(1_000);
    expect([late.state(), late.ports.asked('stopContainer')]).toEqual(['active.running.steady', []]);
  });

  test('may be set and shortened by an update', () => {
    const story = podStory({ pod: pod() });
    story.ports.advance(30_000);
    story.send({ type: 'pod.update', pod: pod(600) });
    story.send({ type: 'pod.update', pod: pod(45) });
    story.ports.advance(14_999);
    expect(story.state()).toBe('active.running.steady');
    story.ports.advance(1);
    expect(story.state()).toBe('finished');
  });

  test('terminates a pod in any state: during the creation of its sandbox, in its back-off', () => {
    const making = podStory({ pod: pod(60), held: ['runSandbox'] });
    making.ports.advance(60_000);
    expect(making.state()).toBe('sandboxing.creatingSandbox.creating');
    making.ports.answer('runSandbox');
    expect(making.state()).toBe('finished');
    expect(making.ports.asked('createContainer')).toEqual([]);
    const crashing = podStory({ pod: pod(12) });
    crashing.die('main-0-0', 1);
    crashing.die('main-0-1', 1);
    expect(crashing.containers()).toEqual({ main: 'ended.backingOff' });
    crashing.ports.advance(10_000);
    crashing.die('main-0-2', 1);
    crashing.ports.advance(2_000);
    expect(crashing.state()).toBe('finished');
  });

  test('does not affect a pod that is rejected or has terminated', () => {
    const greedy = aContainer({ resources: { requests: { cpu: '5' } } });
    const refused = podStory({ pod: aPod({ activeDeadlineSeconds: 60, containers: [greedy] }) });
    refused.ports.advance(60_000);
    expect(refused.state()).toBe('refused');
    const done = podStory({ pod: aPod({ activeDeadlineSeconds: 60, restartPolicy: 'Never' }) });
    done.die('main-0-0', 0);
    done.ports.advance(60_000);
    expect([done.state(), done.view().termination]).toEqual(['finished', undefined]);
    const stopped = podStory({ pod: pod(60), held: ['removeCgroup'] });
    stopped.terminate(100);
    stopped.ports.advance(60_000);
    expect(stopped.state()).toBe('terminating.removingCgroup');
    expect([stopped.view().exceedsDeadline, stopped.told().join()]).toEqual([
      undefined,
      expect.not.stringContaining('DeadlineExceeded'),
    ]);
  });

  const deadlineEvents = (story: ReturnType<typeof podStory>) =>
    story.told().filter((event) => event.includes('DeadlineExceeded'));

  test.each<[string, Termination]>([
    ['deleted', { reason: 'Deleted', graceSeconds: 100, at: 0 }],
    ['removed', { reason: 'Removed', graceSeconds: 100, at: 0 }],
    ['preempted', { ...preemptionOf(pod(60), 0), graceSeconds: 100 }],
  ])('C2: a pod that is %s fails if its deadline passes before it has stopped', (_, cause) => {
    const story = podStory({ pod: pod(60), held: ['stopContainer'] });
    const termination = { ...cause, at: story.ports.now };
    story.send({ type: 'pod.terminate', termination });
    const [stop] = story.ports.asked('stopContainer');
    story.told();
    story.ports.advance(59_999);
    expect([story.view().exceedsDeadline, deadlineEvents(story)]).toEqual([undefined, []]);
    story.ports.advance(1);
    expect(deadlineEvents(story)).toHaveLength(1);
    expect(story.view()).toMatchObject({ exceedsDeadline: true, termination });
    expect([story.state(), story.ports.asked('stopContainer')]).toEqual([
      'terminating.stoppingContainers.graceful',
      [stop],
    ]);
    story.ports.answer('stopContainer');
    story.ports.advance(100_000);
    expect([story.view().exceedsDeadline, deadlineEvents(story)]).toEqual([true, []]);
  });

  test('C2: a deleted pod has the deadline of its latest update until it has stopped', () => {
    const story = podStory({ pod: pod(), held: ['stopContainer', 'removeCgroup'] });
    story.ports.advance(10_000);
    story.terminate(100);
    story.send({ type: 'pod.update', pod: pod(600) });
    story.ports.advance(19_999);
    story.send({ type: 'pod.update', pod: pod(30) });
    expect(story.view().exceedsDeadline).toBeUndefined();
    story.ports.advance(1);
    expect(story.view()).toMatchObject({ exceedsDeadline: true, termination: { reason: 'Removed' } });
    story.ports.answer('stopContainer');
    expect(story.view().exceedsDeadline).toBe(true);
    const stopped = podStory({ pod: pod(), held: ['removeCgroup'] });
    stopped.terminate(100);
    stopped.send({ type: 'pod.update', pod: pod(30) });
    stopped.ports.advance(60_000);
    expect(stopped.view().exceedsDeadline).toBeUndefined();
  });

  test('C2: a completing pod whose sidecar stops too late fails as well, and so does a pod whose sandbox is created too late', () => {
    const sidecar = aContainer({ name: 'sidecar', restartPolicy: 'Always' });
    const completing = podStory({
      pod: aPod({ activeDeadlineSeconds: 60, restartPolicy: 'Never', initContainers: [sidecar] }),
      held: ['stopContainer'],
    });
    completing.die('main-0-0', 0);
    completing.ports.advance(60_000);
    expect(completing.view()).toMatchObject({ isCompleting: true, exceedsDeadline: true });
    completing.terminate(5);
    expect(completing.view()).toMatchObject({ exceedsDeadline: true, termination: { reason: 'Removed' } });
    const creating = podStory({ pod: pod(60), held: ['runSandbox'] });
    creating.terminate(100);
    creating.ports.advance(60_000);
    expect(creating.view()).toMatchObject({ exceedsDeadline: true, termination: { reason: 'Removed' } });
    expect(deadlineEvents(creating)).toHaveLength(1);
  });
});

describe('C13: a container in CrashLoopBackOff when its pod terminates', () => {
  const crashed = (termination: (pod: Pod) => Termination, exitCode = 3) => {
    const story = podStory({ pod: pod(), held: ['removeCgroup'] });
    story.die('main-0-0', exitCode);
    story.die('main-0-1', exitCode);
    expect(story.containers()).toEqual({ main: 'ended.backingOff' });
    story.send({ type: 'pod.terminate', termination: termination(story.context().allocated) });
    const options = { now: story.ports.now, hostIps: [], runtimeName: 'containerd' };
    const { phase, containerStatuses = [] } = podStatus(story.view(), options);
    return { now: story.view().containers[0]?.now, phase, main: containerStatuses[0] };
  };

  test('is reported with its last run if the pod is deleted', () => {
    const { now, phase, main } = crashed(() => ({ reason: 'Deleted', graceSeconds: 5, at: 0 }));
    expect([now, phase]).toEqual([expect.objectContaining({ kind: 'terminated' }), 'Failed']);
    expect(main).toMatchObject({ restartCount: 1, state: { terminated: { exitCode: 3 } } });
  });

  test.each([0, 3])('has an unknown exit after exit code %d if the node terminates the pod', (exitCode) => {
    const { now, phase, main } = crashed((preempted) => preemptionOf(preempted, 0), exitCode);
    expect([now, phase]).toEqual([expect.objectContaining({ reason: 'CrashLoopBackOff' }), 'Failed']);
    expect(main).toMatchObject({
      restartCount: 1,
      state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } },
      lastState: { terminated: { exitCode } },
    });
  });
});
