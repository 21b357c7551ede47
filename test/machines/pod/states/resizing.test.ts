import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { allocationOf } from '../../../../kubernetes/resources/allocation.ts';
import { aContainer, aPod, requestsWith } from '../../../kubernetes/fixtures.ts';
import { podStory } from '../../support/podStory.ts';

const sized = (cpu: string): Pod =>
  aPod({ containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu } } })] });
const update = (pod: Pod) => ({ type: 'pod.update', pod }) as const;

/** What an event says of a pod that has so much cpu, or is to have it. */
const details = (cpu: string, error?: string) =>
  JSON.stringify({
    containers: [{ name: 'main', resources: { requests: { cpu }, limits: { cpu } } }],
    generation: 0,
    ...(error ? { error } : {}),
  });

const ofGeneration = (generation: number, cpu: string): Pod => {
  const pod = sized(cpu);
  return { ...pod, metadata: { ...pod.metadata, generation } };
};

/** A pod that runs with one cpu and is to have two: its container has them, its cgroup is being fitted. */
function resizingPodCgroup() {
  const story = podStory({ pod: sized('1'), held: ['fitPod'] });
  story.send(update(sized('2')));
  return story;
}

describe('C25: the cgroup of a pod that is resized', () => {
  test('is fitted once its containers have their sizes', () => {
    const story = resizingPodCgroup();
    expect(story.state()).toBe('active.running.resizingPodCgroup');
    expect(story.context().sizes).toMatchObject({ main: { cpuLimit: 2_000 } });
    story.ports.answer('fitPod');
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().fitted).toEqual(sized('2'));
  });

  test("shows the pod's own resources as it has them, not as it is to have them", () => {
    const whole = (cpu: string) => aPod({ ...sized('1').spec, resources: { limits: { cpu } } });
    const story = podStory({ pod: whole('2'), held: ['fitPod'] });
    story.send(update(whole('3')));
    expect(story.state()).toBe('active.running.resizingPodCgroup');
    expect(story.view()).toMatchObject({
      applied: { resources: { limits: { cpu: '2' } } },
      pod: { spec: { resources: { limits: { cpu: '3' } } } },
    });
    story.ports.answer('fitPod');
    expect(story.view()).not.toHaveProperty('applied');
  });

  test('is fitted again to what is admitted meanwhile; it is complete then', () => {
    const story = resizingPodCgroup();
    story.told();
    story.send(update(sized('3')));
    story.ports.answer('fitPod');
    expect(story.told()).toEqual([
      `Normal ResizeStarted: Pod resize started: ${details('3')}`,
      `Normal ResizeCompleted: Pod resize completed: ${details('3')}`,
    ]);
    expect(story.ports.asked('fitPod').map(({ pod }) => pod)).toEqual([sized('2'), sized('3')]);
    expect(story.context().fitted).toEqual(sized('3'));
  });

  test('is fitted after a failure in 10 s, or to other resources at once', () => {
    const story = resizingPodCgroup();
    story.ports.fail('fitPod', 'ResizePodInPlaceError');
    expect(story.state()).toBe('active.running.awaitingPodCgroupRetry');
    story.send(update(sized('3')));
    expect(story.state()).toBe('active.running.resizingPodCgroup');
    story.ports.fail('fitPod', 'ResizePodInPlaceError');
    story.ports.advance(10_000);
    expect(story.state()).toBe('active.running.resizingPodCgroup');
  });
});

describe('C25: the cgroup of a pod whose init container is resized', () => {
  const initialized = (cpu: string): Pod =>
    aPod({ initContainers: [aContainer({ name: 'init', resources: { requests: { cpu }, limits: { cpu } } })] });

  test('is fitted while the init container runs, again after a failure, and before the next container starts', () => {
    const story = podStory({ pod: initialized('1'), held: ['fitPod'] });
    expect(story.state()).toBe('active.initializing.steady');
    story.send(update(initialized('2')));
    expect(story.state()).toBe('active.initializing.resizingPodCgroup');
    expect(story.context().sizes).toMatchObject({ init: { cpuLimit: 2_000 } });
    story.ports.fail('fitPod', 'ResizePodInPlaceError');
    expect(story.state()).toBe('active.initializing.awaitingPodCgroupRetry');
    story.ports.advance(10_000);
    expect(story.state()).toBe('active.initializing.resizingPodCgroup');
    story.ports.answer('fitPod');
    expect(story.state()).toBe('active.initializing.steady');
    expect(story.context().fitted).toEqual(initialized('2'));
  });
});

describe('C25: who resizes a pod is told', () => {
  /** A pod that runs with one cpu and has told all about its start. */
  function steady(options: Parameters<typeof podStory>[0] = {}) {
    const story = podStory({ pod: sized('1'), held: ['fitPod'], ...options });
    expect(story.state()).toBe('active.running.steady');
    story.told();
    return story;
  }

  test('that it begins, and once, when the cgroup fits at last, that it is complete', () => {
    const story = steady();
    story.send(update(sized('2')));
    expect(story.told()).toEqual([`Normal ResizeStarted: Pod resize started: ${details('2')}`]);
    story.ports.fail('fitPod', 'ResizePodInPlaceError', 'busy');
    expect(story.told()).toEqual([`Warning ResizeError: Pod resize error: ${details('2', 'busy')}`]);
    expect(story.view().resizeFailure).toBe('busy');
    story.ports.advance(10_000);
    story.ports.fail('fitPod', 'ResizePodInPlaceError', 'busy');
    story.ports.advance(10_000);
    expect(story.told()).toEqual([]);
    story.ports.answer('fitPod');
    expect(story.view()).not.toHaveProperty('resizing');
    expect(story.told()).toEqual([`Normal ResizeCompleted: Pod resize completed: ${details('2')}`]);
    story.send(update({ ...sized('2'), metadata: { ...sized('2').metadata, labels: { other: 'yes' } } }));
    expect(story.told()).toEqual([]);
  });

  test('that it must wait, once for the same reason', () => {
    const story = steady({ taken: requestsWith({ cpuMillis: 2_500 }) });
    story.send(update(sized('2')));
    const message = "Node didn't have enough resource: cpu, requested: 2000, used: 2500, capacity: 4000";
    const told = `Warning ResizeDeferred: Pod resize OutOfcpu: ${details('2', message)}`;
    expect(story.told()).toEqual([told]);
    story.send({ type: 'admission.refused', reason: 'Deferred', message });
    expect(story.told()).toEqual([]);
    // That others have given something back, and not enough, is no news.
    const less = message.replace('used: 2500', 'used: 2100');
    story.send({ type: 'admission.refused', reason: 'Deferred', message: less });
    expect(story.told()).toEqual([]);
    story.send(update(sized('2500m')));
    expect(story.told()).toEqual([]);
    story.send(update(ofGeneration(2, '2500m')));
    expect(story.told()).toEqual([expect.stringMatching(/^Warning ResizeDeferred: .*"generation":2/)]);
    expect(story.view()).toMatchObject({ unadmitted: { reason: 'Deferred' }, pendingGeneration: 2 });
    story.send(update(sized('1')));
    story.send(update(ofGeneration(2, '2500m')));
    expect(story.told()).toHaveLength(1);
  });

  test.each([
    ['2500m', 'Deferred', []],
    ['2500m', 'Infeasible', ['ResizeDeferred']],
    [undefined, 'Infeasible', []],
    [undefined, 'Deferred', ['ResizeInfeasible']],
  ])('nothing about a resize that an earlier agent reported: %s, %s', (cpu, reason, events) => {
    const before = sized('1');
    const wanted = cpu === undefined ? aPod() : sized(cpu);
    const conditions = [{ type: 'PodResizePending', status: 'True' as const, observedGeneration: 2, reason }];
    const story = podStory({
      pod: { ...wanted, metadata: { ...wanted.metadata, generation: 2 }, status: { conditions } },
      allocation: allocationOf(before),
      taken: requestsWith({ cpuMillis: 2_500 }),
    });
    expect(story.context().unadmitted).toMatchObject({ reason: cpu ? 'Deferred' : 'Infeasible' });
    const sent = story.told().flatMap((event) => /Resize\w+(?=:)/.exec(event) ?? []);
    expect(sent).toEqual(events);
  });

  test('the generation of the resize in progress, not of a later update', () => {
    const story = steady();
    story.send(update(ofGeneration(2, '2')));
    expect(story.view()).toMatchObject({ resizing: true, resizeGeneration: 2 });
    story.send(update(ofGeneration(3, '2')));
    expect(story.view()).toMatchObject({ resizing: true, resizeGeneration: 2 });
    story.told();
    story.ports.answer('fitPod');
    expect(story.told()).toEqual([expect.stringMatching(/^Normal ResizeCompleted: .*"generation":2/)]);
  });

  test('that it waits for what the node never has, too', () => {
    const story = steady();
    story.send(update(sized('5')));
    const message = "Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000";
    expect(story.told()).toEqual([`Warning ResizeDeferred: Pod resize OutOfcpu: ${details('5', message)}`]);
  });

  test('that it can never be of this pod', () => {
    const story = steady();
    story.send(update(aPod()));
    const words = 'Pod QOS Class may not change as a result of resizing';
    expect(story.told()).toEqual([
      expect.stringMatching(`^Warning ResizeInfeasible: Pod resize Infeasible: .*${words}`),
    ]);
  });
});
