import { describe, expect, test } from '@jest/globals';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import {
  actuatedResources,
  allocationFromCheckpoints,
  allocationOf,
} from '../../../kubernetes/resources/allocation.ts';
import { containerSize } from '../../../kubernetes/resources/resources.ts';
import type { ContainerView, PodView } from '../../../kubernetes/status/view.ts';
import { containerWith, podWith } from '../../fakes/pods.ts';

const Mi = 2 ** 20;
const amounts = (cpu: string, memory = '64Mi') => ({ requests: { cpu, memory }, limits: { cpu, memory } });

const pod = podWith('web', {
  initContainers: [containerWith('setup')],
  containers: [containerWith('main', { resources: amounts('500m') }), containerWith('free')],
  resources: amounts('2', '1Gi'),
});

/** The view of a pod whose containers have the given sizes. */
const viewWith = (sizes: Readonly<Record<string, ContainerView['size']>>, more: Partial<PodView> = {}): PodView => ({
  pod,
  tags: [],
  volumes: [],
  containers: Object.entries(sizes).map(([name, size]) => ({
    name,
    role: 'regular',
    restartCount: 0,
    now: { kind: 'running', startedAt: 0 },
    willRestart: true,
    ready: true,
    started: true,
    ...(size ? { size } : {}),
  })),
  isInitialized: true,
  hasEnded: false,
  isReclaimed: false,
  ...more,
});

const specSize = (target: Pod, index: number) => {
  const container = target.spec.containers[index];
  return container && containerSize(target.spec, container);
};

describe('the resources that a pod has', () => {
  test('are those in its spec, where the limits of the pod apply to a container without limits', () => {
    expect(actuatedResources(viewWith({ main: specSize(pod, 0), free: specSize(pod, 1) }))).toEqual({
      pod: amounts('2', '1Gi'),
      containers: { main: amounts('500m'), free: { limits: { cpu: '2', memory: '1Gi' } } },
    });
  });

  test('are those before a resize until the runtime has changed them', () => {
    const size = { cpuRequest: 250, cpuLimit: 0, memoryLimit: 32 * Mi, memoryRequest: 16 * Mi };
    const appliedSpec = { ...pod.spec, resources: { limits: { cpu: '1', memory: '512Mi' } } };
    expect(actuatedResources(viewWith({ main: size }, { isResizing: true, appliedSpec }))).toEqual({
      pod: { limits: { cpu: '1', memory: '512Mi' } },
      containers: {
        main: { requests: { cpu: '250m', memory: `${16 * Mi}` }, limits: { memory: `${32 * Mi}` } },
      },
    });
  });

  test('remain as recorded for containers without a view and for a cgroup in an unknown state', () => {
    const previous = { pod: amounts('1'), containers: { setup: amounts('100m'), main: amounts('1'), gone: {} } };
    expect(actuatedResources(viewWith({ main: undefined }, { isResizing: true }), previous)).toEqual({
      pod: amounts('1'),
      containers: { setup: amounts('100m') },
    });
  });
});

describe('the allocation of a pod with checkpoints', () => {
  const persisted = allocationOf(podWith('web', { containers: [containerWith('main', { resources: amounts('1') })] }));

  test('is the persisted one if both have the same resources', () => {
    const allocated = { containers: { main: amounts('1000m') } };
    expect(allocationFromCheckpoints(persisted, { allocated, actuated: allocated })).toEqual({
      ...persisted,
      resources: allocated,
    });
  });

  test('has the resources that a kubelet has admitted since, and the sizes that the containers still have', () => {
    const allocated = { containers: { main: amounts('2'), side: amounts('500m') } };
    const actuated = { containers: { main: amounts('1'), side: amounts('500m') } };
    expect(allocationFromCheckpoints(persisted, { allocated, actuated })).toEqual({
      ...persisted,
      cpuMillis: 2_500,
      memoryBytes: 128 * Mi,
      resources: allocated,
      sizes: {
        main: { cpuRequest: 1_000, cpuLimit: 1_000, memoryLimit: 64 * Mi, memoryRequest: 64 * Mi },
        side: { cpuRequest: 500, cpuLimit: 500, memoryLimit: 64 * Mi, memoryRequest: 64 * Mi },
      },
    });
  });

  test('of which nothing is persisted has the requests in the checkpoint', () => {
    const allocated = { pod: { requests: { cpu: '3' } }, containers: { main: amounts('2') } };
    expect(allocationFromCheckpoints(undefined, { allocated, actuated: undefined })).toMatchObject({
      cpuMillis: 3_000,
      memoryBytes: 64 * Mi,
      resources: allocated,
    });
  });

  test('of a pod whose own resources are being resized has sizes, so that its cgroup is resized', () => {
    const containers = { main: amounts('1') };
    const [allocated, actuated] = ['4', '3'].map((cpu) => ({ pod: { requests: { cpu } }, containers }));
    expect(allocated && allocationFromCheckpoints(persisted, { allocated, actuated }).sizes).toBeDefined();
  });
});
