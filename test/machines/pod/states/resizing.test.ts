import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { initialAssignments } from '../../../../kubernetes/cpus/cpuPolicy.ts';
import {
  actuatedResources,
  allocationFromCheckpoints,
  allocationOf,
} from '../../../../kubernetes/resources/allocation.ts';
import { hasSameResources, resourcesOf } from '../../../../kubernetes/resources/resize.ts';
import { simulatedCpuManager } from '../../../../testing/simulation/host/cpuTopologies.ts';
import { aContainer, aPod, requestsWith } from '../../../kubernetes/fixtures.ts';
import { podStory } from '../../support/podStory.ts';

const sized = (cpu: string): Pod =>
  aPod({ containers: [aContainer({ resources: { requests: { cpu }, limits: { cpu } } })] });
const update = (pod: Pod) => ({ type: 'pod.update', pod }) as const;

/** Returns the details in the events of a resize to this amount of CPU. */
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

/** Returns a Guaranteed pod with two containers that have these amounts of CPU. */
const shared = (first: string, second: string): Pod => {
  const container = (name: string, cpu: string) => {
    const amounts = { cpu, memory: '1Mi' };
    return aContainer({ name, resources: { requests: amounts, limits: amounts } });
  };
  return aPod({ containers: [container('main', first), container('other', second)] });
};

/** Creates a pod that runs with one CPU and is being resized to two. */
function resizingPod(pod = sized('1'), next = sized('2')) {
  const story = podStory({ pod, held: ['resizePod'] });
  story.send(update(next));
  return story;
}

describe('C25: a pod that is resized', () => {
  test('waits in a state of its own for the containers and the cgroup, and publishes their sizes afterwards', () => {
    const story = resizingPod();
    expect(story.state()).toBe('active.running.resizing');
    expect(story.ports.asked('resizePod')).toMatchObject([
      {
        pod: sized('2'),
        appliedPod: sized('1'),
        sandboxId: story.context().sandbox?.id,
        containers: [{ name: 'main', id: story.context().containerIds.main, size: { cpuLimit: 1_000 } }],
      },
    ]);
    expect(story.view().containers).toMatchObject([{ size: { cpuLimit: 1_000 } }]);
    story.ports.answer('resizePod');
    expect(story.state()).toBe('active.running.steady');
    expect(story.context()).toMatchObject({ appliedPod: sized('2'), sizes: { main: { cpuLimit: 2_000 } } });
    expect(story.view().containers).toMatchObject([{ size: { cpuLimit: 2_000 } }]);
  });

  test('shows the actual resources of the pod, not the desired ones', () => {
    const whole = (cpu: string) => aPod({ ...sized('1').spec, resources: { limits: { cpu } } });
    const story = resizingPod(whole('2'), whole('3'));
    expect(story.state()).toBe('active.running.resizing');
    expect(story.ports.asked('resizePod')).toMatchObject([{ containers: [] }]);
    expect(story.view()).toMatchObject({
      appliedSpec: { resources: { limits: { cpu: '2' } } },
      pod: { spec: { resources: { limits: { cpu: '3' } } } },
    });
    story.ports.answer('resizePod');
    expect(story.view()).not.toHaveProperty('appliedSpec');
  });

  test('is resized again to what is admitted meanwhile, after the call in flight, and completes then', () => {
    const story = resizingPod();
    story.told();
    story.send(update(sized('3')));
    expect(story.ports.asked('resizePod')).toHaveLength(1);
    story.ports.answer('resizePod');
    expect(story.ports.asked('resizePod')).toMatchObject([
      { pod: sized('2') },
      { pod: sized('3'), appliedPod: sized('2'), containers: [{ size: { cpuLimit: 2_000 } }] },
    ]);
    story.ports.answer('resizePod');
    expect(story.told()).toEqual([
      `Normal ResizeStarted: Pod resize started: ${details('3')}`,
      `Normal ResizeCompleted: Pod resize completed: ${details('3')}`,
    ]);
    expect(story.context().appliedPod).toEqual(sized('3'));
  });

  test('is not resized if CPU moves between its containers while the CPU manager assigns exclusive CPUs', () => {
    const { cpuPolicy } = simulatedCpuManager('laptop');
    const progress = { revision: 0, reportedRevision: 0, unconfirmed: [] };
    const cpus = { cpuPolicy, assignments: initialAssignments(cpuPolicy), ...progress };
    const story = podStory({ pod: shared('500m', '1500m'), managers: { cpus } });
    story.send(update(shared('1500m', '500m')));
    expect(story.context().updateRefusal).toEqual({
      reason: 'Infeasible',
      message: 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
    });
    expect(story.ports.asked('resizePod')).toEqual([]);
  });

  test('is retried after a failure in 10 s, at once with different resources, and when the runtime returns', () => {
    const story = resizingPod();
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    expect(story.state()).toBe('active.running.awaitingResize');
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('active.running.awaitingResize');
    story.send(update(sized('3')));
    expect(story.state()).toBe('active.running.resizing');
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    story.ports.advance(10_000);
    expect(story.state()).toBe('active.running.resizing');
    story.ports.fail('resizePod', 'RuntimeUnavailable');
    story.send({ type: 'runtime.returned' });
    expect(story.state()).toBe('active.running.resizing');
  });

  test('is resized back by the next agent if an earlier resize may have changed a container before it failed', () => {
    const story = resizingPod();
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    const persisted = () => ({
      allocated: resourcesOf(story.context().allocated),
      actuated: actuatedResources(story.view()),
    });
    // The actuated resources are still one CPU, because the failed resize may not have changed the container.
    expect(hasSameResources(persisted().actuated, resourcesOf(sized('1')))).toBe(true);
    story.send(update(sized('1')));
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    story.ports.advance(10_000);
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    const next = podStory({
      pod: sized('1'),
      held: ['resizePod'],
      allocation: allocationFromCheckpoints(allocationOf(sized('1')), persisted()),
      before: (world) => void world.run(sized('1'), 'main', { id: 'c1' }),
    });
    expect(next.ports.asked('resizePod')).toMatchObject([
      { pod: sized('1'), containers: [{ name: 'main', size: { cpuLimit: 2_000 } }] },
    ]);
    story.ports.advance(10_000);
    story.ports.answer('resizePod');
    expect(hasSameResources(persisted().actuated, resourcesOf(sized('1')))).toBe(true);
  });

  test('has its cgroup corrected by the next agent if an earlier resize may have changed only the cgroup before it failed', () => {
    const limited = (cpu: string): Pod => {
      const pod = sized('1');
      return { ...pod, spec: { ...pod.spec, resources: { requests: { cpu }, limits: { cpu } } } };
    };
    const story = resizingPod(limited('2'), limited('3'));
    const persisted = () => ({
      allocated: resourcesOf(story.context().allocated),
      actuated: actuatedResources(story.view()),
    });
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    expect(persisted().actuated.pod).toEqual(limited('2').spec.resources);
    story.send(update(limited('2')));
    expect(persisted().actuated.pod).toEqual(limited('3').spec.resources);
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    story.ports.advance(10_000);
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    const next = podStory({
      pod: limited('2'),
      held: ['resizePod'],
      allocation: allocationFromCheckpoints(allocationOf(limited('2')), persisted()),
      before: (world) => void world.run(limited('2'), 'main', { id: 'c1' }),
    });
    expect(next.ports.asked('resizePod')).toMatchObject([{ pod: limited('2'), appliedPod: undefined }]);
    story.ports.advance(10_000);
    story.ports.answer('resizePod');
    expect(persisted().actuated).toEqual(persisted().allocated);
  });

  test('is resized back after a failure, because the call may have changed the containers and the cgroup', () => {
    const story = resizingPod();
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    story.send(update(sized('1')));
    expect(story.state()).toBe('active.running.resizing');
    const [, secondCall] = story.ports.asked('resizePod');
    expect(secondCall).toMatchObject({
      pod: sized('1'),
      appliedPod: undefined,
      containers: [{ name: 'main', size: { cpuLimit: 1_000 }, isUncertain: true }],
    });
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    story.ports.advance(10_000);
    expect(story.ports.asked('resizePod')).toHaveLength(3);
    story.ports.answer('resizePod');
    expect(story.state()).toBe('active.running.steady');
    expect(story.view()).not.toHaveProperty('isResizing');
    expect(story.ports.asked('resizePod')).toHaveLength(3);
  });

  test('waits until a container that restarts for the resize has stopped', () => {
    const restarting = (cpu: string): Pod =>
      aPod({
        containers: [
          aContainer({
            resources: { requests: { cpu }, limits: { cpu } },
            resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
          }),
        ],
      });
    const story = podStory({ pod: restarting('1'), held: ['resizePod', 'stopContainer'] });
    story.send(update(restarting('2')));
    expect(story.ports.asked('resizePod')).toEqual([]);
    story.ports.answer('stopContainer');
    expect(story.ports.asked('resizePod')).toMatchObject([{ containers: [] }]);
    story.ports.answer('resizePod');
    expect(story.context().sizes).toMatchObject({ main: { cpuLimit: 2_000 } });
  });

  test('waits until a container that is being restarted with its old size has started', () => {
    const story = podStory({ pod: sized('1') });
    story.ports.hold('startContainer');
    story.world.end(story.context().containerIds.main ?? '', 1);
    story.send({ type: 'runtime.podObserved', pod: story.world.observed(sized('1')) });
    expect(story.context().containers).toEqual({ main: 'launching' });
    story.send(update(sized('2')));
    expect(story.ports.asked('resizePod')).toEqual([]);
    story.ports.answer('startContainer');
    expect(story.ports.asked('resizePod')).toMatchObject([{ containers: [{ size: { cpuLimit: 1_000 } }] }]);
    expect(story.context().sizes).toMatchObject({ main: { cpuLimit: 2_000 } });
  });

  test('does not apply the size of a run that has ended during the call', () => {
    const story = resizingPod();
    story.world.end(story.context().containerIds.main ?? '', 1);
    story.send({ type: 'runtime.podObserved', pod: story.world.observed(sized('1')) });
    story.ports.answer('resizePod');
    expect(story.state()).toBe('active.running.steady');
    expect(story.context().sizes).toMatchObject({ main: { cpuLimit: 2_000 } });
    expect(story.ports.asked('resizePod')).toHaveLength(1);
  });
});

describe('C25: a pod whose init container is resized', () => {
  const initialized = (cpu: string): Pod =>
    aPod({ initContainers: [aContainer({ name: 'init', resources: { requests: { cpu }, limits: { cpu } } })] });

  test('is resized while the init container runs, again after a failure, and before the next container starts', () => {
    const story = podStory({ pod: initialized('1'), held: ['resizePod'] });
    expect(story.state()).toBe('active.initializing.steady');
    story.send(update(initialized('2')));
    expect(story.state()).toBe('active.initializing.resizing');
    story.ports.fail('resizePod', 'ResizePodInPlaceError');
    expect(story.state()).toBe('active.initializing.awaitingResize');
    story.ports.advance(10_000);
    expect(story.state()).toBe('active.initializing.resizing');
    story.ports.answer('resizePod');
    expect(story.state()).toBe('active.initializing.steady');
    expect(story.context()).toMatchObject({
      appliedPod: initialized('2'),
      sizes: { init: { cpuLimit: 2_000 } },
    });
  });
});

describe('C25: a pod whose initialization completes during a resize', () => {
  const withSidecar = (cpu: string): Pod => {
    const resources = { requests: { cpu }, limits: { cpu } };
    return aPod({
      initContainers: [aContainer({ name: 'side', restartPolicy: 'Always', resources }), aContainer({ name: 'init' })],
    });
  };

  test('is resized back to its former size if the resize is reverted', () => {
    const story = podStory({ pod: withSidecar('1'), held: ['resizePod'] });
    expect(story.state()).toBe('active.initializing.steady');
    story.send(update(withSidecar('2')));
    story.send(update(withSidecar('1')));
    expect(story.ports.asked('resizePod')).toHaveLength(1);
    story.world.end(story.context().containerIds.init ?? '', 0);
    story.send({ type: 'runtime.podObserved', pod: story.world.observed(withSidecar('1')) });
    expect(story.state()).toBe('active.running.resizing');
    expect(story.ports.asked('resizePod')).toMatchObject([
      { pod: withSidecar('2') },
      { pod: withSidecar('1'), containers: [{ name: 'side', isUncertain: true }] },
    ]);
  });
});

describe('C25: the events of a resize', () => {
  /** Creates a running pod with one CPU and discards the events of its start. */
  function steady(options: Parameters<typeof podStory>[0] = {}) {
    const story = podStory({ pod: sized('1'), held: ['resizePod'], ...options });
    expect(story.state()).toBe('active.running.steady');
    story.told();
    return story;
  }

  test('report its start, and once its completion when the cgroup has its size', () => {
    const story = steady();
    story.send(update(sized('2')));
    expect(story.told()).toEqual([`Normal ResizeStarted: Pod resize started: ${details('2')}`]);
    story.ports.fail('resizePod', 'ResizePodInPlaceError', 'busy');
    expect(story.told()).toEqual([`Warning ResizeError: Pod resize error: ${details('2', 'busy')}`]);
    expect(story.view().resizeFailure).toBe('busy');
    story.ports.advance(10_000);
    story.ports.fail('resizePod', 'ResizePodInPlaceError', 'busy');
    story.ports.advance(10_000);
    expect(story.told()).toEqual([]);
    story.ports.answer('resizePod');
    expect(story.view()).not.toHaveProperty('isResizing');
    expect(story.told()).toEqual([`Normal ResizeCompleted: Pod resize completed: ${details('2')}`]);
    story.send(update({ ...sized('2'), metadata: { ...sized('2').metadata, labels: { other: 'yes' } } }));
    expect(story.told()).toEqual([]);
  });

  test('report its completion if it is reverted before anything has changed, and release its resources', () => {
    const restarting = (cpu: string): Pod => {
      const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' as const }];
      const resources = { requests: { cpu }, limits: { cpu } };
      return aPod({ containers: [aContainer({ resources, resizePolicy })] });
    };
    const story = steady({ pod: restarting('1'), held: ['resizePod', 'stopContainer'] });
    const occupiedMillis = () => story.occupied()?.cpuMillis;
    story.send(update(restarting('3')));
    expect(occupiedMillis()).toBe(3_000);
    story.ports.fail('stopContainer', 'RuntimeError');
    story.send(update(restarting('1')));
    expect(story.ports.asked('resizePod')).toEqual([]);
    expect(occupiedMillis()).toBeUndefined();
    expect(story.told().flatMap((event) => /Resize\w+(?=:)/.exec(event) ?? [])).toEqual([
      'ResizeStarted',
      'ResizeStarted',
      'ResizeCompleted',
    ]);
  });

  test('report that it is deferred, once per reason', () => {
    const story = steady({ taken: requestsWith({ cpuMillis: 2_500 }) });
    story.send(update(sized('2')));
    const message = "Node didn't have enough resource: cpu, requested: 2000, used: 2500, capacity: 4000";
    const event = `Warning ResizeDeferred: Pod resize OutOfcpu: ${details('2', message)}`;
    expect(story.told()).toEqual([event]);
    story.send({ type: 'admission.refused', reason: 'Deferred', message });
    expect(story.told()).toEqual([]);
    // There is no new event if other pods have released resources, but not enough of them.
    const less = message.replace('used: 2500', 'used: 2100');
    story.send({ type: 'admission.refused', reason: 'Deferred', message: less });
    expect(story.told()).toEqual([]);
    story.send(update(sized('2500m')));
    expect(story.told()).toEqual([]);
    story.send(update(ofGeneration(2, '2500m')));
    expect(story.told()).toEqual([expect.stringMatching(/^Warning ResizeDeferred: .*"generation":2/)]);
    expect(story.view()).toMatchObject({ updateRefusal: { reason: 'Deferred' }, pendingGeneration: 2 });
    story.send(update(sized('1')));
    story.send(update(ofGeneration(2, '2500m')));
    expect(story.told()).toHaveLength(1);
  });

  test.each([
    ['2500m', 'Deferred', []],
    ['2500m', 'Infeasible', ['ResizeDeferred']],
    [undefined, 'Infeasible', []],
    [undefined, 'Deferred', ['ResizeInfeasible']],
  ])('are not repeated for a resize that an earlier agent reported: %s, %s', (cpu, reason, events) => {
    const before = sized('1');
    const wanted = cpu === undefined ? aPod() : sized(cpu);
    const conditions = [{ type: 'PodResizePending', status: 'True' as const, observedGeneration: 2, reason }];
    const story = podStory({
      pod: { ...wanted, metadata: { ...wanted.metadata, generation: 2 }, status: { conditions } },
      allocation: allocationOf(before),
      taken: requestsWith({ cpuMillis: 2_500 }),
    });
    expect(story.context().updateRefusal).toMatchObject({ reason: cpu ? 'Deferred' : 'Infeasible' });
    const sent = story.told().flatMap((event) => /Resize\w+(?=:)/.exec(event) ?? []);
    expect(sent).toEqual(events);
  });

  test('are not repeated for an error of the cgroup that an earlier agent reported', () => {
    const conditions = [{ type: 'PodResizeInProgress', status: 'True' as const, reason: 'Error', message: 'busy' }];
    const pod = { ...sized('2'), status: { conditions } };
    const story = podStory({
      pod,
      allocation: { ...allocationOf(pod), sizes: {} },
      held: ['resizePod'],
      before: (world) => void world.run(pod, 'main', { id: 'c1' }),
    });
    expect(story.state()).toBe('active.running.resizing');
    story.told();
    story.ports.fail('resizePod', 'ResizePodInPlaceError', 'busy');
    expect(story.told()).toEqual([]);
    story.ports.advance(10_000);
    story.ports.fail('resizePod', 'ResizePodInPlaceError', 'gone');
    expect(story.told()).toEqual([`Warning ResizeError: Pod resize error: ${details('2', 'gone')}`]);
  });

  test('contain the generation of the resize in progress, not of a later update', () => {
    const story = steady();
    story.send(update(ofGeneration(2, '2')));
    expect(story.view()).toMatchObject({ isResizing: true, resizeGeneration: 2 });
    story.send(update(ofGeneration(3, '2')));
    expect(story.view()).toMatchObject({ isResizing: true, resizeGeneration: 2 });
    story.told();
    story.ports.answer('resizePod');
    expect(story.told()).toEqual([expect.stringMatching(/^Normal ResizeCompleted: .*"generation":2/)]);
  });

  test('report that it needs more than the node has', () => {
    const story = steady();
    story.send(update(sized('5')));
    const message = "Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000";
    expect(story.told()).toEqual([`Warning ResizeDeferred: Pod resize OutOfcpu: ${details('5', message)}`]);
  });

  test('report that the pod can never be resized', () => {
    const story = steady();
    story.send(update(aPod()));
    const words = 'Pod QOS Class may not change as a result of resizing';
    expect(story.told()).toEqual([
      expect.stringMatching(`^Warning ResizeInfeasible: Pod resize Infeasible: .*${words}`),
    ]);
  });

  test('report an infeasible resize once, until an update requests different resources', () => {
    const story = steady();
    const unlimited = (generation: number, image: string) => ({
      ...aPod({ containers: [aContainer({ image })] }),
      metadata: { ...aPod().metadata, generation },
    });
    story.send(update(unlimited(2, 'busybox:1')));
    expect(story.told()).toHaveLength(1);
    story.send(update(unlimited(3, 'busybox:2')));
    expect(story.told().filter((event) => event.includes('ResizeInfeasible'))).toEqual([]);
    expect(story.view()).toMatchObject({ updateRefusal: { reason: 'Infeasible' }, pendingGeneration: 2 });
    story.send(update(ofGeneration(4, '2')));
    story.ports.answer('resizePod');
    story.told();
    story.send(update(unlimited(5, 'busybox:2')));
    expect(story.told()).toContainEqual(expect.stringMatching(/^Warning ResizeInfeasible: .*"generation":5/));
  });
});
