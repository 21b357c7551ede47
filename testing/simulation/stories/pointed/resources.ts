import { container, type Manifest, type ManifestSpec } from '../manifests.ts';
import {
  AWAY,
  apply,
  at,
  BROKEN,
  flaky,
  greedy,
  killAgent,
  late,
  main,
  type PointedStory,
  runtimeDown,
  SECOND,
  STUBBORN,
  same,
  shell,
  sized,
  strike,
  told,
  UNKNOWN,
} from './pointedStory.ts';

/** A pod that preempts a pod which terminates slowly. */
export const preemptions: Readonly<Record<string, PointedStory>> = {
  'a pod of a higher priority takes the place of another': told([
    apply(0, greedy('low', 0)),
    apply(6, greedy('high', 9)),
  ]),
  'a pod that gives way to another ends late': told(
    [apply(0, greedy('low', 0)), apply(6, greedy('high', 9))],
    [strike('runtime', 'stopContainer', late(20))],
  ),
  'the sandbox of a pod that gives way to another ends late': told(
    [apply(0, greedy('low', 0)), apply(6, greedy('high', 9))],
    [strike('runtime', 'stopPodSandbox', late(20))],
  ),
  'the sandbox of a pod that gives way to another cannot be stopped': told(
    [apply(0, greedy('low', 0)), apply(6, greedy('high', 9))],
    [strike('runtime', 'stopPodSandbox', UNKNOWN, { times: 3 })],
  ),
  'a volume of a pod that gives way to another cannot be unmounted': told(
    [
      apply(0, greedy('low', 0, { volumes: [{ name: 'memory', emptyDir: { medium: 'Memory' } }] })),
      apply(6, greedy('high', 9)),
    ],
    [strike('mounts', 'unmount', late(20))],
  ),
  'a pod gives way to another before it has a sandbox': told(
    [apply(0, greedy('low', 0)), apply(3, greedy('high', 9))],
    [strike('runtime', 'runPodSandbox', late(30))],
  ),
};

/** A pod of an API server that needs most of the node, as the only replica of a Deployment does. */
const replica = (name: string, more: Partial<ManifestSpec> = {}) => greedy(name, 0, more);
const create = (seconds: number, pod: Manifest) => at(seconds, { kind: 'createPod', pod });
const deletePod = (seconds: number, name: string, graceSeconds?: number) =>
  at(seconds, { kind: 'deletePod', pod: `default/${name}`, ...(graceSeconds === undefined ? {} : { graceSeconds }) });

/** A Deployment with the strategy Recreate, whose pod fills the node. */
export const recreations: Readonly<Record<string, PointedStory>> = {
  'a pod takes the place of another whose sandbox stops late': {
    ...told(
      [create(0, replica('web-1')), deletePod(10, 'web-1'), create(15, replica('web-2'))],
      [strike('runtime', 'stopPodSandbox', late(20))],
    ),
    inCluster: true,
  },
  'a pod takes the place of another that was deleted by force': {
    ...told([
      create(
        0,
        replica('web-1', { containers: [main({ command: STUBBORN, resources: { requests: { cpu: '40' } } })] }),
      ),
      deletePod(10, 'web-1', 0),
      create(11, replica('web-2')),
    ]),
    inCluster: true,
  },
  'a pod takes the place of another that has completed while no agent was running': {
    ...told([
      create(0, replica('web-1', { restartPolicy: 'Never' })),
      killAgent(8, 4),
      at(9, { kind: 'exit', which: 0, exitCode: 0 }),
      create(10, replica('web-2')),
    ]),
    inCluster: true,
  },
};

/** A pod with an init container that has these resources and runs for a while. */
const initialized = (cpu: string) => {
  const resources = { requests: { cpu }, limits: { cpu } };
  const setup = container('setup', { command: shell('sleep 20'), resources });
  return same('sized', { initContainers: [setup] });
};

/** A pod that is resized in place. */
export const resizes: Readonly<Record<string, PointedStory>> = {
  'the cgroup of a pod is not resized at first': told(
    [
      apply(0, same('sized', { containers: [sized('100m')] })),
      apply(8, same('sized', { containers: [sized('200m')] })),
    ],
    [strike('cgroups', 'write', BROKEN, { about: 'poduid-of-sized/cpu.weight', after: 2 })],
  ),
  'the cgroup of a pod is not resized at first, and then other resources are wanted': told(
    [
      apply(0, same('sized', { containers: [sized('100m')] })),
      apply(8, same('sized', { containers: [sized('200m')] })),
      apply(8.5, same('sized', { containers: [sized('300m')] })),
    ],
    [strike('cgroups', 'write', BROKEN, { about: 'poduid-of-sized/cpu.weight', after: 2 })],
  ),
  'a pod wants more than any node has': told([
    apply(0, same('sized', { containers: [sized('100m')] })),
    apply(8, same('sized', { containers: [sized('100')] })),
  ]),
  'other resources are wanted while the cgroup of a pod is resized': told(
    [
      apply(0, same('sized', { containers: [sized('100m')] })),
      apply(8, same('sized', { containers: [sized('200m')] })),
      apply(9, same('sized', { containers: [sized('300m')] })),
    ],
    [strike('cgroups', 'write', late(4), { about: 'poduid-of-sized/cpu.weight', after: 2 })],
  ),
  'a container is not resized at first, and then other resources are wanted': told(
    [
      apply(0, same('sized', { containers: [sized('100m')] })),
      apply(8, same('sized', { containers: [sized('200m')] })),
      apply(9, same('sized', { containers: [sized('200m')], activeDeadlineSeconds: 900 })),
      apply(10, same('sized', { containers: [sized('300m')] })),
    ],
    [strike('runtime', 'updateContainerResources', UNKNOWN, { times: 3 })],
  ),
  'a container is not resized as its runtime is away': told(
    [
      apply(0, same('sized', { containers: [sized('100m')] })),
      apply(8, same('sized', { containers: [sized('200m')] })),
      runtimeDown(8.5, 4),
    ],
    [strike('runtime', 'updateContainerResources', AWAY)],
  ),
  'a container is restarted with other resources': told(
    ['100m', '200m'].map((cpu, index) => {
      const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
      return apply(8 * index, same('sized', { containers: [sized(cpu, { resizePolicy })] }));
    }),
  ),
  'the cgroup of a pod is not resized at first while an init container runs': told(
    [apply(0, initialized('100m')), apply(8, initialized('200m'))],
    [strike('cgroups', 'write', BROKEN, { about: 'poduid-of-sized/cpu.weight', after: 2 })],
  ),
  'the cgroup of a pod is not resized at first while an init container runs, and then other resources are wanted': told(
    [apply(0, initialized('100m')), apply(8, initialized('200m')), apply(8.5, initialized('300m'))],
    [strike('cgroups', 'write', BROKEN, { about: 'poduid-of-sized/cpu.weight', after: 2 })],
  ),
  'other resources are wanted while the cgroup of a pod is resized and an init container runs': told(
    [apply(0, initialized('100m')), apply(8, initialized('200m')), apply(9, initialized('300m'))],
    [strike('cgroups', 'write', late(4), { about: 'poduid-of-sized/cpu.weight', after: 2 })],
  ),
  'a container is resized while it starts up': told(
    ['100m', '200m'].map((cpu, index) => {
      const startupProbe = { exec: { command: ['false'] }, periodSeconds: 10, failureThreshold: 9 };
      return apply(5 * index, same('sized', { containers: [sized(cpu, { startupProbe })] }));
    }),
  ),
};

const labelled = (seconds: number, version: string) =>
  apply(
    seconds,
    same(
      'web',
      {
        containers: [main({ volumeMounts: [{ name: 'info', mountPath: '/info' }] })],
        volumes: [
          { name: 'info', downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
        ],
      },
      { labels: { version } },
    ),
  );

/** The contents of a downward API volume change. */
export const volumes: Readonly<Record<string, PointedStory>> = {
  'the labels of a pod change, which a volume cannot show at first': told([
    labelled(0, '1'),
    flaky(5, 'mounts', 15),
    labelled(5.1, '2'),
    labelled(6, '3'),
  ]),
  'the labels of a pod change twice while a volume is updated': told(
    [labelled(0, '1'), labelled(5, '2'), labelled(6, '3')],
    [strike('mounts', 'mountAt', late(4))],
  ),
  'the labels of a pod change while a volume waits for another attempt to mount it': told([
    flaky(0, 'mounts', 10),
    labelled(0.1, '1'),
    labelled(3, '2'),
  ]),
  'the labels of a pod change while a volume is mounted': told(
    [labelled(0, '1'), labelled(2, '2')],
    [strike('mounts', 'mount', late(5))],
  ),
};

/** The parent cgroups of pods, which are checked once a minute. */
export const cgroups: Readonly<Record<string, PointedStory>> = {
  'the cgroups of pods cannot be set up for a while': told([flaky(0.5, 'cgroups', 75), killAgent(1)], [], 200 * SECOND),
};
