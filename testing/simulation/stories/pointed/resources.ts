import { container, type Manifest, type ManifestSpec } from '../manifests.ts';
import {
  apply,
  at,
  BROKEN,
  failCalls,
  faultAt,
  fixedPod,
  killAgent,
  largePod,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  runtimeDown,
  SECOND,
  STUBBORN,
  shell,
  sized,
  UNAVAILABLE,
  UNKNOWN,
} from './pointedStory.ts';

/** Stories of a pod that preempts a pod which terminates slowly. */
export const preemptions: Readonly<Record<string, PointedStory>> = {
  'a pod of a higher priority takes the place of another': pointedStory([
    apply(0, largePod('low', 0)),
    apply(6, largePod('high', 9)),
  ]),
  'a pod of a lower priority does not take the place of another': pointedStory([
    apply(0, largePod('high', 9)),
    apply(6, largePod('low', 0)),
  ]),
  'a pod preempts only the smaller one of two': pointedStory([
    apply(0, fixedPod('large', { containers: [sized('40')], priority: 0 })),
    apply(1, fixedPod('small', { containers: [sized('20')], priority: 0 })),
    apply(8, fixedPod('important', { containers: [sized('20')], priority: 9 })),
  ]),
  'a pod that gives way to another ends late': pointedStory(
    [apply(0, largePod('low', 0)), apply(6, largePod('high', 9))],
    [faultAt('runtime', 'stopContainer', late(20))],
  ),
  'the sandbox of a pod that gives way to another ends late': pointedStory(
    [apply(0, largePod('low', 0)), apply(6, largePod('high', 9))],
    [faultAt('runtime', 'stopPodSandbox', late(20))],
  ),
  'the sandbox of a pod that gives way to another cannot be stopped': pointedStory(
    [apply(0, largePod('low', 0)), apply(6, largePod('high', 9))],
    [faultAt('runtime', 'stopPodSandbox', UNKNOWN, { times: 3 })],
  ),
  'a volume of a pod that gives way to another cannot be unmounted': pointedStory(
    [
      apply(0, largePod('low', 0, { volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }] })),
      apply(6, largePod('high', 9)),
    ],
    [faultAt('mounts', 'unmount', late(20))],
  ),
  'a pod gives way to another before it has a sandbox': pointedStory(
    [apply(0, largePod('low', 0)), apply(3, largePod('high', 9))],
    [faultAt('runtime', 'runPodSandbox', late(30))],
  ),
};

/** Returns a pod of the API server that needs most of the node, like the only replica of a Deployment. */
const replica = (name: string, more: Partial<ManifestSpec> = {}) => largePod(name, 0, more);
const create = (seconds: number, pod: Manifest) => at(seconds, { kind: 'createPod', pod });
const deletePod = (seconds: number, name: string, graceSeconds?: number) =>
  at(seconds, { kind: 'deletePod', pod: `default/${name}`, ...(graceSeconds === undefined ? {} : { graceSeconds }) });

/** Stories of a Deployment with the strategy Recreate, whose pod fills the node. */
export const recreations: Readonly<Record<string, PointedStory>> = {
  'a pod takes the place of another whose sandbox stops late': {
    ...pointedStory(
      [create(0, replica('web-1')), deletePod(10, 'web-1'), create(15, replica('web-2'))],
      [faultAt('runtime', 'stopPodSandbox', late(20))],
    ),
    inCluster: true,
  },
  'a pod takes the place of another that was deleted by force': {
    ...pointedStory([
      create(
        0,
        replica('web-1', {
          containers: [mainContainer({ command: STUBBORN, resources: { requests: { cpu: '40' } } })],
        }),
      ),
      deletePod(10, 'web-1', 0),
      create(11, replica('web-2')),
    ]),
    inCluster: true,
  },
  'a pod takes the place of another that has completed while no agent was running': {
    ...pointedStory([
      create(0, replica('web-1', { restartPolicy: 'Never' })),
      killAgent(8, 4),
      at(9, { kind: 'exit', which: 0, exitCode: 0 }),
      create(10, replica('web-2')),
    ]),
    inCluster: true,
  },
};

/** Stories of several pods that reach the node together and do not all fit. */
export const arrivals: Readonly<Record<string, PointedStory>> = {
  'two pods that do not both fit are assigned while no agent is running': {
    ...pointedStory([killAgent(1, 5), create(2, replica('web-2')), create(4, replica('web-1'))]),
    inCluster: true,
  },
};

/** Returns a pod with an init container that has these resources and runs for a while. */
const initialized = (cpu: string) => {
  const resources = { requests: { cpu }, limits: { cpu } };
  const setup = container('setup', { command: shell('sleep 20'), resources });
  return fixedPod('sized', { initContainers: [setup] });
};

/** Stories of pods that are resized in place. */
export const resizes: Readonly<Record<string, PointedStory>> = {
  'the cgroup of a pod is not resized at first': pointedStory(
    [
      apply(0, fixedPod('sized', { containers: [sized('100m')] })),
      apply(8, fixedPod('sized', { containers: [sized('200m')] })),
    ],
    [faultAt('cgroups', 'write', BROKEN, { about: 'poduid-of-sized/cpu.weight', skip: 2 })],
  ),
  'the cgroup of a pod is not resized at first, and then other resources are wanted': pointedStory(
    [
      apply(0, fixedPod('sized', { containers: [sized('100m')] })),
      apply(8, fixedPod('sized', { containers: [sized('200m')] })),
      apply(8.5, fixedPod('sized', { containers: [sized('300m')] })),
    ],
    [faultAt('cgroups', 'write', BROKEN, { about: 'poduid-of-sized/cpu.weight', skip: 2 })],
  ),
  'a pod wants more than any node has': pointedStory([
    apply(0, fixedPod('sized', { containers: [sized('100m')] })),
    apply(8, fixedPod('sized', { containers: [sized('100')] })),
  ]),
  'other resources are wanted while the cgroup of a pod is resized': pointedStory(
    [
      apply(0, fixedPod('sized', { containers: [sized('100m')] })),
      apply(8, fixedPod('sized', { containers: [sized('200m')] })),
      apply(9, fixedPod('sized', { containers: [sized('300m')] })),
    ],
    [faultAt('cgroups', 'write', late(4), { about: 'poduid-of-sized/cpu.weight', skip: 2 })],
  ),
  'a container is not resized at first, and then other resources are wanted': pointedStory(
    [
      apply(0, fixedPod('sized', { containers: [sized('100m')] })),
      apply(8, fixedPod('sized', { containers: [sized('200m')] })),
      apply(9, fixedPod('sized', { containers: [sized('200m')], activeDeadlineSeconds: 900 })),
      apply(10, fixedPod('sized', { containers: [sized('300m')] })),
    ],
    [faultAt('runtime', 'updateContainerResources', UNKNOWN, { times: 3 })],
  ),
  'a container is not resized as its runtime is away': pointedStory(
    [
      apply(0, fixedPod('sized', { containers: [sized('100m')] })),
      apply(8, fixedPod('sized', { containers: [sized('200m')] })),
      runtimeDown(8.5, 4),
    ],
    [faultAt('runtime', 'updateContainerResources', UNAVAILABLE)],
  ),
  'an init container is not resized as its runtime is away': pointedStory(
    [apply(0, initialized('100m')), apply(8, initialized('200m')), runtimeDown(8.5, 4)],
    [faultAt('runtime', 'updateContainerResources', UNAVAILABLE)],
  ),
  'a container is restarted with other resources': pointedStory(
    ['100m', '200m'].map((cpu, index) => {
      const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
      return apply(8 * index, fixedPod('sized', { containers: [sized(cpu, { resizePolicy })] }));
    }),
  ),
  'the cgroup of a pod is not resized at first while an init container runs': pointedStory(
    [apply(0, initialized('100m')), apply(8, initialized('200m'))],
    [faultAt('cgroups', 'write', BROKEN, { about: 'poduid-of-sized/cpu.weight', skip: 2 })],
  ),
  'the cgroup of a pod is not resized at first while an init container runs, and then other resources are wanted':
    pointedStory(
      [apply(0, initialized('100m')), apply(8, initialized('200m')), apply(8.5, initialized('300m'))],
      [faultAt('cgroups', 'write', BROKEN, { about: 'poduid-of-sized/cpu.weight', skip: 2 })],
    ),
  'other resources are wanted while the cgroup of a pod is resized and an init container runs': pointedStory(
    [apply(0, initialized('100m')), apply(8, initialized('200m')), apply(9, initialized('300m'))],
    [faultAt('cgroups', 'write', late(4), { about: 'poduid-of-sized/cpu.weight', skip: 2 })],
  ),
  'a container is resized while it starts up': pointedStory(
    ['100m', '200m'].map((cpu, index) => {
      const startupProbe = { exec: { command: ['false'] }, periodSeconds: 10, failureThreshold: 9 };
      return apply(5 * index, fixedPod('sized', { containers: [sized(cpu, { startupProbe })] }));
    }),
  ),
};

const labelled = (seconds: number, version: string) =>
  apply(
    seconds,
    fixedPod(
      'web',
      {
        containers: [mainContainer({ volumeMounts: [{ name: 'info', mountPath: '/info' }] })],
        volumes: [
          { name: 'info', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      },
      { labels: { version } },
    ),
  );

/** Stories in which the contents of a downward API volume change. */
export const volumes: Readonly<Record<string, PointedStory>> = {
  'the labels of a pod change, which a volume cannot show at first': pointedStory([
    labelled(0, '1'),
    failCalls(5, 'mounts', 15),
    labelled(5.1, '2'),
    labelled(6, '3'),
  ]),
  'the labels of a pod change twice while a volume is updated': pointedStory(
    [labelled(0, '1'), labelled(5, '2'), labelled(6, '3')],
    [faultAt('mounts', 'mountAt', late(4))],
  ),
  'the labels of a pod change while a volume waits for another attempt to mount it': pointedStory([
    failCalls(0, 'mounts', 10),
    labelled(0.1, '1'),
    labelled(3, '2'),
  ]),
  'the labels of a pod change while a volume is mounted': pointedStory(
    [labelled(0, '1'), labelled(2, '2')],
    [faultAt('mounts', 'mount', late(5))],
  ),
};

/** Stories about the parent cgroups of pods, which are checked once a minute. */
export const cgroups: Readonly<Record<string, PointedStory>> = {
  'the cgroups of pods cannot be set up for a while': pointedStory(
    [failCalls(0.5, 'cgroups', 75), killAgent(1)],
    [],
    200 * SECOND,
  ),
};
