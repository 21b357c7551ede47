import { describe, expect, test } from '@jest/globals';
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { aContainer, aPod } from '../../kubernetes/fixtures.ts';
import { containerStory } from '../support/containerStory.ts';
import { podStory } from '../support/podStory.ts';

const volumes = [{ name: 'site', image: { reference: 'site:1', pullPolicy: 'Always' as const } }];
const volumeMounts = [{ name: 'site', mountPath: '/site' }];
const mounting = (name: string, more: Partial<Container> = {}) => aContainer({ name, volumeMounts, ...more });
const pulled = (at: number) => ({ imageRef: 'sha256:site', sizeBytes: 1, startedAt: at, finishedAt: at });

describe('C16: a pod whose image volume cannot be pulled', () => {
  const heldPod = (spec: Partial<PodSpec>, before?: Parameters<typeof podStory>[0]) => {
    const story = podStory({ pod: aPod({ volumes, ...spec }), held: ['pullImage'], ...before });
    expect(story.state()).toBe('preparing.mountingVolumes');
    story.ports.fail('pullImage', 'ErrImagePull');
    return story;
  };
  /** Lets the next attempt of the pull succeed. */
  const mend = (story: ReturnType<typeof heldPod>) => {
    story.ports.advance(10_000);
    story.ports.answer('pullImage', pulled(story.ports.now));
  };
  const reasonOf = (story: ReturnType<typeof heldPod>, name: string) => {
    const now = story.view().containers.find((each) => each.name === name)?.now;
    return now?.kind === 'waiting' ? now.reason : now?.kind;
  };

  test('starts the containers that do not mount it; the others report why they wait, and continue by themselves', () => {
    const story = heldPod({ containers: [mounting('main'), aContainer({ name: 'other' })] });
    expect(story.containers()).toEqual({ main: 'pending.awaitingVolumes', other: 'running.steady' });
    expect(reasonOf(story, 'main')).toBe('ErrImagePull');
    story.ports.advance(3_000);
    expect(reasonOf(story, 'main')).toBe('ImagePullBackOff');
    story.ports.advance(7_000);
    story.ports.answer('pullImage', pulled(story.ports.now));
    expect(story.containers()).toEqual({ main: 'running.steady', other: 'running.steady' });
    expect(story.ports.asked('createContainer').map(({ container, volumes: paths }) => [container, paths])).toEqual([
      ['other', {}],
      ['main', { site: { kind: 'image', imageRef: 'sha256:site' } }],
    ]);
  });

  test('runs the init containers before the one that mounts it, and no later container', () => {
    const initContainers = [aContainer({ name: 'first' }), mounting('second')];
    const story = heldPod({ initContainers, containers: [aContainer({ name: 'main' })] });
    expect(story.containers()).toMatchObject({
      first: 'running.steady',
      second: 'pending.waiting',
      main: 'pending.waiting',
    });
    story.die('first-0-0', 0);
    expect(story.containers()).toMatchObject({ second: 'pending.awaitingVolumes', main: 'pending.waiting' });
    expect([reasonOf(story, 'second'), reasonOf(story, 'main')]).toEqual(['ErrImagePull', 'PodInitializing']);
    mend(story);
    expect(story.containers()).toMatchObject({ second: 'running.steady', main: 'pending.waiting' });
  });

  test('continues to run its containers when the agent restarts, and crashed containers wait for the volume', () => {
    const story = heldPod(
      { containers: [mounting('main')] },
      {
        before: (world, pod) => {
          world.sandbox(pod);
          world.run(pod, 'main');
        },
      },
    );
    expect(story.containers()).toEqual({ main: 'running.steady' });
    story.die('main-0-0', 1);
    expect(story.containers()).toEqual({ main: 'pending.awaitingVolumes' });
    expect(story.view().containers).toMatchObject([{ now: { reason: 'ErrImagePull' }, lastRun: { exitCode: 1 } }]);
    mend(story);
    expect(story.containers()).toEqual({ main: 'running.steady' });
  });

  test('terminates without waiting for the volume', () => {
    const story = heldPod({ containers: [mounting('main')] });
    story.terminate();
    expect(story.state()).toBe('terminated');
    expect(story.ports.asked('createContainer')).toEqual([]);
  });

  test('gets another sandbox meanwhile if its own is lost', () => {
    const story = heldPod({ containers: [mounting('main'), aContainer({ name: 'other' })] });
    story.world.loseSandbox('sandbox-uid-1-0');
    story.observe();
    expect(story.context().sandbox?.attempt).toBe(1);
    expect(story.containers()).toMatchObject({ main: 'pending.awaitingVolumes' });
    mend(story);
    expect(story.containers()).toMatchObject({ main: 'running.steady' });
  });

  test('waits with all containers during the first attempt, and while the runtime is not available', () => {
    const story = podStory({ pod: aPod({ volumes }), held: ['pullImage'] });
    expect(story.state()).toBe('preparing.mountingVolumes');
    story.ports.fail('pullImage', 'RuntimeUnavailable');
    expect(story.state()).toBe('preparing.mountingVolumes');
    expect(story.containers()).toEqual({});
  });
});

describe('C16: a container that waits for a volume', () => {
  const heldContainer = () => {
    const story = containerStory({ pod: aPod({ volumes, containers: [mounting('main')] }) });
    story.begin();
    expect(story.state()).toBe('pending.awaitingVolumes');
    expect(story.lifecycles().at(-1)).toBe('delayed');
    return story;
  };
  const there = { site: { kind: 'image' as const, imageRef: 'sha256:site' } };

  test('continues when it is mounted', () => {
    const story = heldContainer();
    story.send({ type: 'container.update', pod: aPod({ volumes, containers: [mounting('main')] }), volumes: there });
    expect(story.state()).toBe('running.steady');
  });

  test('waits with another image, and continues when it does not mount it any more', () => {
    const story = heldContainer();
    const next = aPod({ volumes, containers: [mounting('main', { image: 'next' })] });
    story.send({ type: 'container.update', pod: next, volumes: {} });
    expect(story.state()).toBe('pending.awaitingVolumes');
    const without = aPod({ volumes, containers: [aContainer({ name: 'main', image: 'next' })] });
    story.send({ type: 'container.update', pod: without, volumes: {} });
    expect(story.ports.asked('createContainer')).toMatchObject([{ imageRef: 'sha256:next' }]);
  });

  test('accepts a stop, a reset, and the loss of its sandbox', () => {
    const stopped = heldContainer();
    stopped.stop();
    expect(stopped.state()).toBe('stopped');
    const reset = heldContainer();
    reset.send({ type: 'container.reset' });
    expect(reset.state()).toBe('pending.waiting');
    const moved = heldContainer();
    moved.send({ type: 'sandbox.lost' });
    moved.send({ type: 'container.update', pod: aPod({ volumes, containers: [mounting('main')] }), volumes: there });
    expect(moved.state()).toBe('launching.readyToCreate');
  });
});
