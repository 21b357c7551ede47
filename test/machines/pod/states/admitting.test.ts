import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { NO_EDITS } from '../../../../kubernetes/devices/devices.ts';
import { podStatus } from '../../../../kubernetes/status/status.ts';
import { initialDeviceBook } from '../../../../machines/admission/devices.ts';
import { aContainer, aPod, requestsWith } from '../../../kubernetes/fixtures.ts';
import { podStory } from '../../support/podStory.ts';

const two = aPod({ containers: [aContainer(), aContainer({ name: 'helper' })] });

/** Creates a pod that ran before the agent started, and whose restart counts are being read from its logs. */
const formerPod = (options: Parameters<typeof podStory>[0] = {}) =>
  podStory({ pod: two, hasLogs: true, held: ['countRestarts', 'mountVolume', 'runSandbox'], ...options });

/** Reports that the runtime no longer has anything of the pod. */
const losesAll = ({ send, world }: ReturnType<typeof podStory>) =>
  send({ type: 'runtime.podObserved', pod: { ...world.observed(two), sandboxes: [], containers: [] } });

/** Returns the phase, and the name, restart count, state and last termination reason of each container. */
function reported(story: ReturnType<typeof podStory>) {
  const status = podStatus(story.view(), { now: 0, hostIps: [], runtimeName: 'containerd' });
  const containers = (status.containerStatuses ?? []).map(({ name, restartCount, state, lastState }) => {
    return [name, restartCount, Object.keys(state ?? {})[0], lastState?.terminated?.reason];
  });
  return [status.phase, ...containers];
}

describe('C23: a pod whose containers the runtime has lost', () => {
  test('is not admitted before its logs have shown the restart counts', () => {
    const story = formerPod();
    expect(story.state()).toBe('countingRestarts');
    expect(story.ports.asked('countRestarts')).toMatchObject([{ containers: ['main', 'helper'] }]);
    story.ports.answer('countRestarts', { restarts: { main: 3, helper: 0 } });
    expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
    expect(reported(story)).toEqual([
      'Pending',
      ['helper', 0, 'waiting', undefined],
      ['main', 2, 'waiting', 'ContainerStatusUnknown'],
    ]);
    story.ports.answer('runSandbox');
    expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 3 }, { attempt: 0 }]);
    expect(reported(story)).toEqual([
      'Running',
      ['helper', 0, 'running', undefined],
      ['main', 3, 'running', 'ContainerStatusUnknown'],
    ]);
    expect(story.ports.asked('countRestarts')).toHaveLength(1);
  });

  test('reports the counts while its volumes are mounted', () => {
    const pod = aPod({ volumes: [{ name: 'data', emptyDir: {} }] });
    const story = formerPod({ pod });
    story.ports.answer('countRestarts', { restarts: { main: 3 } });
    expect(story.state()).toBe('preparing.mountingVolumes');
    expect(reported(story)).toEqual(['Pending', ['main', 2, 'waiting', undefined]]);
  });

  test('reports the count of a container that the runtime loses before it has an actor', () => {
    const story = podStory({
      before: (world, pod) => [world.sandbox(pod), world.run(pod, 'main', { attempt: 3 })],
      held: ['preparePod'],
    });
    losesAll(story);
    expect(reported(story)).toEqual(['Pending', ['main', 3, 'waiting', undefined]]);
    losesAll(story);
    story.ports.answer('preparePod');
    expect(story.ports.asked('createContainer')).toMatchObject([{ attempt: 4 }]);
    expect(reported(story)).toEqual(['Running', ['main', 4, 'running', 'ContainerStatusUnknown']]);
  });

  test('counts containers that the runtime loses while the logs are read', () => {
    const story = formerPod({ before: (world, pod) => [world.sandbox(pod), world.run(pod, 'main', { attempt: 1 })] });
    losesAll(story);
    story.ports.answer('countRestarts', { restarts: { helper: 3 } });
    expect(reported(story)).toEqual([
      'Running',
      ['helper', 2, 'waiting', 'ContainerStatusUnknown'],
      ['main', 1, 'waiting', 'ContainerStatusUnknown'],
    ]);
  });

  test('reads only the logs of missing containers', () => {
    const story = formerPod({ before: (world, pod) => [world.sandbox(pod), world.run(pod, 'main', { attempt: 1 })] });
    expect(story.ports.asked('countRestarts')).toMatchObject([{ containers: ['helper'] }]);
    story.ports.answer('countRestarts', { restarts: { helper: 2 } });
    expect(story.state()).toBe('active.running.steady');
    expect(story.ports.asked('createContainer')).toMatchObject([{ container: 'helper', attempt: 2 }]);
  });

  test('is decided after the count, whatever admission responds meanwhile', () => {
    const story = formerPod();
    story.send({ type: 'admission.refused', reason: 'OutOfcpu', message: 'too little cpu' });
    expect(story.state()).toBe('countingRestarts');
    story.ports.answer('countRestarts', { restarts: { main: 3 } });
    expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
  });

  test('continues if they cannot be counted', () => {
    const story = formerPod();
    story.ports.fail('countRestarts', 'RuntimeError');
    expect(story.state()).toBe('sandboxing.creatingSandbox.creating');
  });

  test.each([
    ['answer', 2],
    ['fail', 0],
  ] as const)(
    'that is terminated during the restart count terminates once the count succeeds or fails: %s',
    (how, restarts) => {
      const story = formerPod();
      story.terminate(1, { reason: 'Preempting', message: 'Preempted in order to admit critical pod' });
      expect(story.told()).toEqual(['Warning Preempting: Preempted in order to admit critical pod']);
      expect(story.state()).toBe('countingRestarts');
      expect(story.ports.asked('countRestarts').map(({ limitMs }) => limitMs)).toEqual([undefined, 5_000]);
      if (how === 'answer') story.ports.answer('countRestarts', { restarts: { main: 3, helper: 0 } });
      else story.ports.fail('countRestarts', 'RuntimeError');
      expect(story.state()).toBe('terminated');
      expect(reported(story)).toContainEqual(['main', restarts, 'terminated', undefined]);
    },
  );

  test('whose deadline passes meanwhile terminates with the count', () => {
    const story = formerPod({ pod: { ...two, spec: { ...two.spec, activeDeadlineSeconds: 10 } } });
    story.send({ type: 'pod.deadlineExceeded', deadline: 0, at: 0 });
    expect(story.told()).toEqual([expect.stringMatching('Normal DeadlineExceeded')]);
    expect(story.state()).toBe('countingRestarts');
    story.ports.answer('countRestarts', { restarts: { main: 3, helper: 0 } });
    expect(reported(story)).toEqual([
      'Failed',
      ['helper', 0, 'terminated', undefined],
      ['main', 2, 'terminated', 'ContainerStatusUnknown'],
    ]);
  });

  test('has the metadata of an update without changes to its spec once it is admitted', () => {
    const story = formerPod();
    const labeled = { ...two, metadata: { ...two.metadata, labels: { app: 'zoo' } } };
    story.send({ type: 'pod.update', pod: labeled });
    story.ports.answer('countRestarts', { restarts: { main: 1, helper: 0 } });
    expect(story.context().allocated).toEqual(labeled);
  });

  test('accepts an update meanwhile', () => {
    const edited = formerPod();
    edited.send({ type: 'pod.update', pod: aPod() });
    edited.ports.answer('countRestarts', { restarts: { main: 1 } });
    edited.ports.answer('runSandbox');
    expect(Object.keys(edited.containers())).toEqual(['main']);
  });
});

test('a pod without logs of an earlier agent does not wait for any', () => {
  const story = podStory({ held: ['countRestarts'] });
  expect(story.state()).toBe('active.running.steady');
  expect(story.containers()).toEqual({ main: 'pending.countingRestarts' });
});

const GPU = 'example.com/gpu';
const gpuPod = (cpu: string): Pod => {
  const amounts = { cpu, memory: '1Mi', [GPU]: '1' };
  return aPod({ containers: [aContainer({ resources: { requests: amounts, limits: amounts } })] });
};

/** Creates a pod with one CPU and one GPU, which the device plugin has yet to allocate. */
const awaitingDevice = (options: Parameters<typeof podStory>[0] = {}) =>
  podStory({
    pod: gpuPod('1'),
    held: ['preparePod'],
    managers: {
      devices: initialDeviceBook({
        resources: [
          {
            name: GPU,
            devices: [{ id: 'g0', isHealthy: true, numaNodes: [] }],
            options: { needsPreStart: false, hasPreferences: false },
            isConnected: true,
          },
        ],
        allocations: [],
      }),
    },
    ...options,
  });

function saveDevice({ sendToAdmission, context }: ReturnType<typeof podStory>) {
  const { uid } = context().allocated.metadata;
  sendToAdmission({ type: 'admission.devicesAllocated', uid, container: 'main', resource: GPU, edits: NO_EDITS });
  sendToAdmission({ type: 'admission.devicesSaved', revision: 1 });
}

describe('C25: an update of a pod that waits for its devices', () => {
  test('is decided after the former version has been admitted', () => {
    const story = awaitingDevice();
    story.send({ type: 'pod.update', pod: gpuPod('2') });
    expect([story.state(), story.allocated()?.cpuMillis]).toEqual(['admitting', 1_000]);
    saveDevice(story);
    expect([story.state(), story.allocated()?.cpuMillis]).toEqual(['preparing.creatingDirectory', 2_000]);
    expect(story.context().allocated).toEqual(gpuPod('2'));
  });

  test('takes effect with the admission if it only changes metadata', () => {
    const story = awaitingDevice();
    const pod = gpuPod('1');
    const annotated = { ...pod, metadata: { ...pod.metadata, annotations: { owner: 'zoo' }, generation: 3 } };
    story.send({ type: 'pod.update', pod: annotated });
    saveDevice(story);
    expect(story.state()).toBe('preparing.creatingDirectory');
    expect(story.context().allocated.metadata).toEqual(annotated.metadata);
  });

  test('is not applied if the node has no room for it', () => {
    const story = awaitingDevice({ taken: requestsWith({ cpuMillis: 2_500 }) });
    story.send({ type: 'pod.update', pod: gpuPod('2') });
    saveDevice(story);
    expect([story.state(), story.allocated()?.cpuMillis]).toEqual(['preparing.creatingDirectory', 1_000]);
    expect(story.context()).toMatchObject({ allocated: gpuPod('1'), updateRefusal: { reason: 'Deferred' } });
  });

  test('is not applied if it is infeasible', () => {
    const story = awaitingDevice();
    const limits = { cpu: '1', memory: '1Mi', [GPU]: '1' };
    const resources = { requests: { ...limits, cpu: '500m' }, limits };
    story.send({ type: 'pod.update', pod: aPod({ containers: [aContainer({ resources })] }) });
    saveDevice(story);
    expect(story.context()).toMatchObject({ allocated: gpuPod('1'), updateRefusal: { reason: 'Infeasible' } });
  });
});
