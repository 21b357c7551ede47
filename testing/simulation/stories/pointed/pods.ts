/** Stories of pods that are adopted, created, changed and removed. */
import { container, manifest } from '../manifests.ts';
import {
  apply,
  at,
  drain,
  faultAt,
  fixedPod,
  killAgent,
  largePod,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  remove,
  runtimeDown,
  SECOND,
  STUBBORN,
  shell,
  UNAVAILABLE,
  UNKNOWN,
} from './pointedStory.ts';

/** Stories of events before the node knows the running pods. */
export const earlyEvents: Readonly<Record<string, PointedStory>> = {
  'a node is to end its pods before its runtime has listed them, and again before it has ended them': pointedStory([
    apply(0, manifest('web', { containers: [mainContainer({ command: STUBBORN })] })),
    runtimeDown(5, 3),
    killAgent(5.1),
    drain(6),
    drain(6.5),
    drain(9),
  ]),
  'the manifest of a pod is removed, and created again while the pod ends': pointedStory([
    apply(0, fixedPod('web', { containers: [mainContainer({ command: STUBBORN })] })),
    remove(10, 'web'),
    apply(13, fixedPod('web', { containers: [mainContainer({ command: STUBBORN })] })),
  ]),
  'a node is to end its pods, and its runtime does not list them in time': pointedStory([
    apply(0, manifest('web')),
    runtimeDown(5, 20),
    killAgent(5.1),
    drain(6),
  ]),
  'a pod is changed while its previous restarts are counted': pointedStory(
    [
      apply(0, fixedPod('web', { containers: [mainContainer({ command: shell('sleep 1; exit 1') })] })),
      at(15, { kind: 'runtimeDown', downMs: 500, keepContainers: false, forgets: 1 }),
      killAgent(15.1),
      apply(17, fixedPod('web', { activeDeadlineSeconds: 600 })),
    ],
    [faultAt('disk', 'entries', late(5), { about: '/log/pods/default_web', skip: 1 })],
  ),
  'a pod is to end while its previous restarts are counted': pointedStory(
    [
      apply(0, manifest('web', { containers: [mainContainer({ command: shell('sleep 1; exit 1') })] })),
      at(15, { kind: 'runtimeDown', downMs: 500, keepContainers: false, forgets: 1 }),
      killAgent(15.1),
      remove(17, 'web'),
    ],
    [faultAt('disk', 'entries', late(4), { about: '/log/pods/default_web', skip: 1 })],
  ),
  'a list shows nothing of a pod that an earlier agent has made': pointedStory([
    at(0, { kind: 'lists', show: 'stale', forMs: 20 * SECOND }),
    apply(1, manifest('web')),
    killAgent(8),
  ]),
  'the sandbox that a list shows of a pod that waits is gone': pointedStory([
    apply(0, manifest('web', { containers: [mainContainer({ command: shell('exit 1') })] })),
    at(10, { kind: 'lists', show: 'stale', forMs: 20 * SECOND }),
    at(10.5, { kind: 'killSandbox', which: 0 }),
    killAgent(11),
  ]),
  'the runtime goes away while the next agent asks it about a container': pointedStory(
    [apply(0, manifest('web')), killAgent(8), runtimeDown(8.5, 4)],
    [faultAt('runtime', 'containerStatus', UNAVAILABLE, { skip: 4, times: 4 })],
  ),
  'a container ends while the next agent asks about it': pointedStory(
    [apply(0, manifest('web')), killAgent(8), at(9, { kind: 'exit', which: 0, exitCode: 1 })],
    [faultAt('runtime', 'containerStatus', late(4), { skip: 4 })],
  ),
  'the runtime cannot take up what the next agent finds': pointedStory([
    ...[0, 1, 2, 3, 4].map((pod) => apply(0, manifest(`web-${pod}`))),
    at(8, { kind: 'runtimeDown', downMs: 100, keepContainers: true, hasUnknown: true }),
    killAgent(8.1),
  ]),
  'a pod that has ended is found to have a sandbox that the runtime had lost': pointedStory([
    apply(0, manifest('once', { restartPolicy: 'Never', containers: [mainContainer({ command: shell('sleep 4') })] })),
    at(2, { kind: 'runtimeDown', downMs: 100, keepContainers: true, forgets: 1 }),
    at(40, { kind: 'runtimeDown', downMs: 100, keepContainers: true, recalls: true }),
  ]),
  'a pod ends while the runtime is asked again about its sandbox': pointedStory(
    [
      apply(
        0,
        manifest('once', { restartPolicy: 'Never', containers: [mainContainer({ command: shell('sleep 30') })] }),
      ),
      killAgent(5),
      at(6, { kind: 'killSandbox', which: 0 }),
    ],
    [faultAt('runtime', 'podSandboxStatus', UNKNOWN, { times: 1, skip: 1 })],
  ),
};

/** Stories of pods whose sandbox has to be replaced. */
export const sandboxes: Readonly<Record<string, PointedStory>> = {
  'a pod is to have the network of its host': pointedStory([
    apply(0, fixedPod('web', {})),
    apply(6, fixedPod('web', { hostNetwork: true })),
  ]),
  'a pod is to have the network of its host while its sandbox is created': pointedStory(
    [apply(0, fixedPod('web', {})), apply(2, fixedPod('web', { hostNetwork: true }))],
    [faultAt('runtime', 'runPodSandbox', late(4))],
  ),
  'a pod is changed while the runtime is asked about its sandbox': pointedStory(
    [
      apply(0, fixedPod('web', {})),
      at(6, { kind: 'killSandbox', which: 0 }),
      apply(15, fixedPod('web', { activeDeadlineSeconds: 600 })),
    ],
    [faultAt('runtime', 'podSandboxStatus', late(6), { skip: 1, times: 3 })],
  ),
  'the time of a pod is over while its sandbox is created': pointedStory(
    [apply(0, manifest('web', { activeDeadlineSeconds: 2 }))],
    [faultAt('runtime', 'runPodSandbox', late(6))],
  ),
  'the runtime does not say at first what has become of a sandbox': pointedStory(
    [apply(0, manifest('web')), at(6, { kind: 'killSandbox', which: 0 })],
    [faultAt('runtime', 'podSandboxStatus', UNKNOWN, { skip: 1, times: 2 })],
  ),
  'the runtime goes away when it is asked what has become of a sandbox': pointedStory(
    [apply(0, manifest('web')), at(6, { kind: 'killSandbox', which: 0 }), runtimeDown(8, 4)],
    [faultAt('runtime', 'podSandboxStatus', UNAVAILABLE, { skip: 1, times: 4 })],
  ),
};

/** Stories of removals and mounts that take several attempts. */
export const removals: Readonly<Record<string, PointedStory>> = {
  'the runtime goes away when it is to remove a sandbox': pointedStory(
    [apply(0, manifest('web')), remove(6, 'web'), runtimeDown(8, 4)],
    [faultAt('runtime', 'removePodSandbox', UNAVAILABLE, { times: 3 })],
  ),
  'the runtime goes away when a volume is to be mounted from an image of it': pointedStory([
    apply(
      0,
      manifest('web', {
        containers: [mainContainer({ volumeMounts: [{ name: 'files', mountPath: '/files' }] })],
        volumes: [{ name: 'files', image: { reference: 'registry.local/pulled:2' } }],
      }),
    ),
    runtimeDown(0.1, 4),
  ]),
  'a pod is removed while its sandbox is created, and the runtime goes away': pointedStory(
    [apply(0, manifest('web')), remove(1, 'web'), runtimeDown(2, 5)],
    [faultAt('runtime', 'runPodSandbox', late(3))],
  ),
  'a pod is removed that ends sooner than a container of it which failed its liveness probe': pointedStory([
    apply(
      0,
      manifest('web', {
        terminationGracePeriodSeconds: 5,
        containers: [
          mainContainer({
            command: STUBBORN,
            livenessProbe: {
              exec: { command: ['false'] },
              periodSeconds: 3,
              failureThreshold: 1,
              terminationGracePeriodSeconds: 40,
            },
          }),
        ],
      }),
    ),
    remove(12, 'web'),
  ]),
};

/** Stories of pod changes that the API server would reject. */
export const edits: Readonly<Record<string, PointedStory>> = {
  'a container is taken out of a pod, and cannot be removed at first': pointedStory(
    [apply(0, fixedPod('web', { containers: [mainContainer(), container('helper')] })), apply(8, fixedPod('web', {}))],
    [faultAt('runtime', 'removeContainer', UNKNOWN)],
  ),
  'a container is taken out of a pod, and the runtime goes away before it is removed': pointedStory(
    [
      apply(0, fixedPod('web', { containers: [mainContainer(), container('helper')] })),
      apply(8, fixedPod('web', {})),
      runtimeDown(8.5, 2),
    ],
    [faultAt('runtime', 'removeContainer', UNKNOWN, { times: 3 })],
  ),
  'a container comes to a pod that runs': pointedStory([
    apply(0, fixedPod('web', {})),
    apply(6, fixedPod('web', { containers: [mainContainer(), container('more')] })),
  ]),
  'a container comes to a pod that still initializes': pointedStory([
    apply(0, fixedPod('web', { initContainers: [container('setup', { command: shell('sleep 8') })] })),
    apply(
      4,
      fixedPod('web', {
        initContainers: [container('setup', { command: shell('sleep 8') })],
        containers: [mainContainer(), container('more')],
      }),
    ),
  ]),
  'a pod is changed while it ends by itself': pointedStory(
    [
      { seconds: 0, activeDeadlineSeconds: 5, version: '1' },
      { seconds: 8, activeDeadlineSeconds: 5, version: '2' },
      { seconds: 9, activeDeadlineSeconds: 6, version: '2' },
    ].map(({ seconds, activeDeadlineSeconds, version }) => {
      const containers = [mainContainer({ command: STUBBORN })];
      const spec = { containers, activeDeadlineSeconds, terminationGracePeriodSeconds: 20 };
      return apply(seconds, fixedPod('web', spec, { labels: { version } }));
    }),
  ),
  'the time of a pod is over while it is removed': pointedStory([
    apply(
      0,
      manifest('web', {
        containers: [mainContainer({ command: STUBBORN })],
        activeDeadlineSeconds: 8,
        terminationGracePeriodSeconds: 20,
      }),
    ),
    remove(5, 'web'),
  ]),
  'a pod that was refused is changed, and its time passes': pointedStory([
    apply(0, largePod('first', 0)),
    ...[5, 6].map((activeDeadlineSeconds, index) =>
      apply(
        5 + 2 * index,
        fixedPod('second', {
          containers: [mainContainer({ resources: { requests: { cpu: '40' } } })],
          activeDeadlineSeconds,
        }),
      ),
    ),
  ]),
};
