import { describe, expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { podStory } from '../support/podStory.ts';

const pod = (activeDeadlineSeconds?: number) =>
  aPod({ ...(activeDeadlineSeconds ? { activeDeadlineSeconds } : {}), terminationGracePeriodSeconds: 20 });

describe('activeDeadlineSeconds', () => {
  test('a pod that is active for longer is ended within its grace, and stays as Failed', () => {
    const story = podStory({ pod: pod(60), held: ['stopContainer'] });
    story.ports.advance(59_999);
    expect(story.state()).toBe('active.running.steady');
    story.ports.advance(1);
    expect(story.state()).toBe('terminating.containers.graceful');
    expect(story.ports.asked('stopContainer')).toMatchObject([{ deadline: story.ports.now + 20_000 }]);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('finished');
    expect(story.view().termination).toMatchObject({ reason: 'DeadlineExceeded', phase: 'Failed' });
    expect(story.ports.asked('removePodData')).toEqual([]);
    story.terminate();
    expect(story.state()).toBe('terminated');
    expect(story.view().termination).toMatchObject({ reason: 'DeadlineExceeded', phase: 'Failed' });
  });

  test('counts from when the pod began, also under an earlier agent', () => {
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
    expect(story.state()).toBe('terminating.containers.graceful');
  });

  test('one that had passed while no agent was there takes nothing of the grace', () => {
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

  test('goes by what the clock shows, although it was ahead as the agent began', () => {
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

  test('one that an update brings when it has passed already takes nothing of the grace', () => {
    const story = podStory({ pod: pod(), held: ['stopContainer'] });
    story.ports.advance(90_000);
    story.send({ type: 'pod.update', pod: pod(60) });
    story.ports.advance(0);
    expect(story.ports.asked('stopContainer')).toMatchObject([{ deadline: story.ports.now + 20_000 }]);
  });

  test('counts from itself where the present moment cannot be told, and not where an update puts it off before', () => {
    const held = ['stopContainer', 'pickMoment'] as const;
    const failing = podStory({ pod: pod(60), held });
    failing.ports.advance(60_000);
    const deadline = failing.ports.now + 20_000;
    failing.ports.advance(1_000);
    failing.ports.fail('pickMoment', 'InternalError');
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

  test('ends a pod wherever it is: while its sandbox is made, in its back-off', () => {
    const making = podStory({ pod: pod(60), held: ['runSandbox'] });
    making.ports.advance(60_000);
    expect(making.state()).toBe('sandboxing.creatingSandbox.running');
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

  test('is nothing to a pod that is refused, that ends, or that has ended', () => {
    const greedy = aContainer({ resources: { requests: { cpu: '5' } } });
    const refused = podStory({ pod: aPod({ activeDeadlineSeconds: 60, containers: [greedy] }) });
    refused.ports.advance(60_000);
    expect(refused.state()).toBe('refused');
    const done = podStory({ pod: aPod({ activeDeadlineSeconds: 60, restartPolicy: 'Never' }) });
    done.die('main-0-0', 0);
    done.ports.advance(60_000);
    expect([done.state(), done.view().termination]).toEqual(['finished', undefined]);
    const ending = podStory({ pod: pod(60), held: ['stopContainer'] });
    ending.terminate(100);
    ending.ports.advance(60_000);
    expect(ending.view().termination).toMatchObject({ reason: 'Removed' });
  });
});
