import { describe, expect, test } from '@jest/globals';
import { aContainer, aPod } from '../../../kubernetes/fixtures.ts';
import { podStory } from '../../support/podStory.ts';

const exec = { exec: { command: ['true'] } };
const sidecar = (name: string) => aContainer({ name, restartPolicy: 'Always' });
const pod = aPod({
  initContainers: [sidecar('first'), sidecar('second')],
  containers: [aContainer({ name: 'a' }), aContainer({ name: 'b' })],
});

/** Creates a running pod. The test responds to each stop of a container. */
function runningPod(of = pod) {
  const story = podStory({ pod: of });
  expect(story.state()).toBe('active.running.steady');
  story.ports.hold('stopContainer', 'runHook');
  return story;
}

const signalled = (story: ReturnType<typeof runningPod>) => story.ports.asked('stopContainer').map(({ id }) => id);

describe('the order in which containers stop', () => {
  test('C11: sidecars wait for all regular containers, then stop in the reverse order of their declaration', () => {
    const story = runningPod();
    story.terminate();
    expect(signalled(story)).toEqual(['a-0-0', 'b-0-0']);
    expect(story.containers()).toMatchObject({
      first: 'stopping.awaitingOtherContainers',
      second: 'stopping.awaitingOtherContainers',
    });
    story.ports.answer('stopContainer');
    expect(signalled(story)).toEqual(['a-0-0', 'b-0-0']);
    story.ports.answer('stopContainer');
    expect(signalled(story)).toEqual(['a-0-0', 'b-0-0', 'second-0-0']);
    story.ports.answer('stopContainer');
    expect(signalled(story)).toEqual(['a-0-0', 'b-0-0', 'second-0-0', 'first-0-0']);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('terminated');
  });

  test('C11: all share one grace period, after which each is signalled whatever the others do', () => {
    const story = runningPod();
    const deadline = story.ports.now + 30_000;
    story.terminate(30);
    expect(story.view().containers.find(({ name }) => name === 'first')).toMatchObject({
      waitingFor: 'the containers that stop before it',
      until: deadline,
    });
    story.ports.advance(29_999);
    expect(signalled(story)).toHaveLength(2);
    story.ports.advance(1);
    expect(signalled(story).sort()).toEqual(['a-0-0', 'b-0-0', 'first-0-0', 'second-0-0']);
    expect(new Set(story.ports.asked('stopContainer').map((input) => input.deadline))).toEqual(new Set([deadline]));
  });

  test('C10: the remaining containers of a completing pod have its whole grace period from then', () => {
    const once = aPod({ restartPolicy: 'Never', initContainers: [sidecar('first')] });
    const story = podStory({
      pod: once,
      held: ['inspectSandbox', 'stopContainer', 'pickTime'],
      before: (world) => {
        world.sandbox(once);
        for (const name of ['first', 'main']) world.run(once, name, { id: name });
        world.end('main', 0);
      },
    });
    story.ports.advance(60_000);
    story.ports.answer('inspectSandbox');
    expect(story.state()).toBe('terminating.startingGracePeriod');
    expect(signalled(story)).toEqual([]);
    story.ports.answer('pickTime');
    const until = story.ports.now + 30_000;
    expect(story.view()).toMatchObject({ state: 'terminating.stoppingContainers.graceful', until });
    expect(story.ports.asked('stopContainer').map(({ deadline }) => deadline)).toEqual([until]);
  });

  test('C10: an earlier command determines the start of the grace period', () => {
    const story = runningPod(aPod({ restartPolicy: 'Never', initContainers: [sidecar('first')] }));
    story.ports.hold('pickTime');
    story.die('main-0-0', 0);
    expect(story.state()).toBe('terminating.startingGracePeriod');
    const until = story.ports.now + 5_000;
    story.terminate(5);
    story.ports.advance(1_000);
    story.ports.answer('pickTime');
    expect(story.view()).toMatchObject({ state: 'terminating.stoppingContainers.graceful', until });
  });

  test('C11: preStop hooks run at once, also those of sidecars', () => {
    const hooked = { ...sidecar('first'), lifecycle: { preStop: exec } };
    const story = runningPod(
      aPod({ initContainers: [hooked], containers: [aContainer({ lifecycle: { preStop: exec } })] }),
    );
    story.terminate();
    expect(
      story.ports
        .asked('runHook')
        .map(({ container }) => container)
        .sort(),
    ).toEqual(['first', 'main']);
    story.ports.answer('runHook');
    story.ports.answer('runHook');
    expect(signalled(story)).toEqual(['main-0-0']);
  });

  test('C11, C10: a shorter second command applies to those that still wait', () => {
    const story = runningPod();
    story.terminate(30);
    story.terminate(5);
    story.ports.advance(4_999);
    expect(new Set(signalled(story))).toEqual(new Set(['a-0-0', 'b-0-0']));
    story.ports.advance(1);
    expect(signalled(story)).toEqual(expect.arrayContaining(['first-0-0', 'second-0-0']));
  });

  test('C11, C9: the sidecars of a pod whose regular containers have completed stop within its own grace period', () => {
    const story = runningPod({ ...pod, spec: { ...pod.spec, restartPolicy: 'Never' } });
    story.die('a-0-0', 0);
    story.ports.advance(5_000);
    story.die('b-0-0', 0);
    const deadline = story.ports.now + 30_000;
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'second-0-0', deadline }]);
    story.ports.answer('stopContainer');
    story.ports.answer('stopContainer');
    expect(signalled(story)).toEqual(['second-0-0', 'first-0-0']);
    expect(story.state()).toBe('finished');
  });

  test('C11: a sidecar that is gone, or exits before its turn, blocks none', () => {
    const story = runningPod();
    story.terminate();
    story.die('second-0-0', 1);
    story.ports.answer('stopContainer');
    story.ports.answer('stopContainer');
    expect(signalled(story)).toEqual(['a-0-0', 'b-0-0', 'first-0-0']);
  });

  test('C11: a sidecar that has not started when the pod terminates never starts, and blocks none', () => {
    const story = podStory({ pod, held: ['startContainer', 'stopContainer'] });
    expect(story.containers()).toMatchObject({
      first: 'launching.creatingContainer.starting',
      second: 'pending.waiting',
    });
    story.terminate();
    story.ports.answer('startContainer');
    expect(signalled(story)).toEqual(['first-0-0']);
    story.ports.answer('stopContainer');
    expect(story.state()).toBe('terminated');
  });

  test('C10: a pod that had completed before the agent started grants its sidecars its whole grace period', () => {
    const once = aPod({ restartPolicy: 'Never', initContainers: [sidecar('first')] });
    const story = podStory({
      pod: once,
      held: ['stopContainer'],
      before: (world) => {
        world.sandbox(once);
        world.run(once, 'first', { id: 'first-0-0' });
        world.run(once, 'main', { id: 'main-0-0' });
        world.change(world.end('main-0-0', 0).id, { finishedAt: 1 });
      },
    });
    expect(story.ports.asked('stopContainer')).toMatchObject([{ id: 'first-0-0', deadline: story.ports.now + 30_000 }]);
  });
});

test('a container that an update removes is removed, and one of the same name starts over', () => {
  const story = podStory({ pod });
  story.send({ type: 'pod.update', pod: aPod({ ...pod.spec, containers: [aContainer({ name: 'a' })] }) });
  expect(Object.keys(story.containers())).toEqual(['first', 'second', 'a']);
  expect([...story.world.containers.keys()]).not.toContain('b-0-0');
  story.send({ type: 'pod.update', pod });
  expect(story.containers()).toMatchObject({ b: 'running.steady' });
  expect(story.view().containers.find(({ name }) => name === 'b')).toMatchObject({ restartCount: 0 });
});
