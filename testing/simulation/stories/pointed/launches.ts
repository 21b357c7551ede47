import { PRESENT_IMAGE } from '../../host/host.ts';
import type { CallFault } from '../../run/gate.ts';
import { container, manifest } from '../manifests.ts';
import {
  apply,
  at,
  faultAt,
  fixedPod,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  remove,
  runtimeDown,
  SECOND,
  secondImage,
  shell,
  UNAVAILABLE,
  UNKNOWN,
} from './pointedStory.ts';

const LOST: CallFault = { kind: 'lostReply', code: 'UNKNOWN' };

/** Stories in which a container is being created and started. */
export const launches: Readonly<Record<string, PointedStory>> = {
  'the sandbox of a container ends while its hook runs': pointedStory([
    apply(
      0,
      manifest('web', {
        containers: [mainContainer({ lifecycle: { postStart: { exec: { command: ['sleep', '20'] } } } })],
      }),
    ),
    at(6, { kind: 'killSandbox', which: 0 }),
  ]),
  'a container ends while its hook hangs': pointedStory(
    [
      apply(
        0,
        manifest('web', {
          containers: [
            mainContainer({
              command: shell('sleep 5; exit 1'),
              lifecycle: { postStart: { exec: { command: ['sleep', '20'] } } },
            }),
          ],
        }),
      ),
    ],
    [faultAt('runtime', 'execSync', { kind: 'hang' })],
  ),
  'a pod is changed while the hook of its container runs': pointedStory(
    [undefined, 600].map((activeDeadlineSeconds, index) =>
      apply(
        index * 6,
        fixedPod('web', {
          containers: [mainContainer({ lifecycle: { postStart: { exec: { command: ['sleep', '20'] } } } })],
          ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
        }),
      ),
    ),
  ),
  'a container that is not known to have started is to have another image': pointedStory(
    [apply(0, fixedPod('web', {})), apply(0.6, fixedPod('web', { containers: [mainContainer(secondImage)] }))],
    [faultAt('runtime', 'startContainer', UNAVAILABLE, { times: 2 })],
  ),
  'a container that cannot be created is to have another image': pointedStory(
    [apply(0, fixedPod('web', {})), apply(1.5, fixedPod('web', { containers: [mainContainer(secondImage)] }))],
    [faultAt('runtime', 'createContainer', UNKNOWN)],
  ),
  'a container that waits for a volume is to have another image': pointedStory(
    [undefined, secondImage]
      .map((image, index) => {
        const volumeMounts = [{ name: 'files', mountPath: '/files' }];
        const volumes = [{ name: 'files', image: { reference: 'registry.local/pulled:2' } }];
        return apply(
          index * 6 + 0.1,
          fixedPod('web', { containers: [mainContainer({ volumeMounts, ...image })], volumes }),
        );
      })
      .concat(at(0, { kind: 'registryDown', images: ['registry.local/pulled:2'], forMs: 20 * SECOND })),
  ),
  'a container that was refused to start is to have another image': pointedStory(
    [apply(0, fixedPod('web', {})), apply(1.3, fixedPod('web', { containers: [mainContainer(secondImage)] }))],
    [faultAt('runtime', 'startContainer', UNKNOWN, { times: 2 })],
  ),
  'the pod of a container that was refused to start is changed': pointedStory(
    [apply(0, fixedPod('web', {})), apply(1.3, fixedPod('web', { activeDeadlineSeconds: 600 }))],
    [faultAt('runtime', 'startContainer', UNKNOWN, { times: 2 })],
  ),
  'the sandbox of a container that was refused to start ends': pointedStory(
    [apply(0, manifest('web')), at(1.3, { kind: 'killSandbox', which: 0 })],
    [faultAt('runtime', 'startContainer', UNKNOWN, { times: 2 })],
  ),
  'the sandbox of a container that was refused to start again ends in its back-off': pointedStory(
    [apply(0, manifest('web')), at(5.5, { kind: 'killSandbox', which: 0 })],
    [faultAt('runtime', 'startContainer', UNKNOWN, { times: 3 })],
  ),
  'a pod is to end while the creation of its container hangs': pointedStory(
    [apply(0, manifest('web')), remove(5, 'web')],
    [faultAt('runtime', 'createContainer', { kind: 'hang' })],
    300 * SECOND,
  ),
  'a container whose image cannot be pulled is to have another': pointedStory([
    at(0, { kind: 'registryDown', images: ['registry.local/pulled:1'], forMs: 20 * SECOND }),
    apply(0.1, fixedPod('web', { containers: [mainContainer(secondImage)] })),
    apply(6, fixedPod('web', {})),
  ]),
  'an image that another container has pulled meanwhile cannot be looked for': pointedStory(
    [apply(0, manifest('web', { containers: [mainContainer(secondImage), container('second', secondImage)] }))],
    [faultAt('runtime', 'imageStatus', UNKNOWN, { skip: 3 })],
  ),
  'an image is missing that nobody may pull': pointedStory([
    at(0, { kind: 'loseImage', image: PRESENT_IMAGE }),
    apply(0.1, manifest('web', { containers: [mainContainer({ imagePullPolicy: 'Never' })] })),
  ]),
  'a pod is changed while its container is created': pointedStory(
    [apply(0, fixedPod('web', {})), apply(5, fixedPod('web', { activeDeadlineSeconds: 600 }))],
    [faultAt('runtime', 'createContainer', late(20))],
  ),
  'the sandbox of a container that has ended at once ends before its start has answered': pointedStory(
    [
      apply(0, manifest('web', { containers: [mainContainer({ command: shell('exit 1') })] })),
      at(6, { kind: 'killSandbox', which: 0 }),
    ],
    [faultAt('disk', 'symlink', { kind: 'hang' }, { about: '/default_web' })],
  ),
  'an image is lost just before a container is created': pointedStory(
    [apply(0, manifest('web')), at(2, { kind: 'loseImage', image: PRESENT_IMAGE })],
    [faultAt('runtime', 'createContainer', late(4))],
  ),
  'a container ends at once, and its start seems to have failed': pointedStory(
    [apply(0, manifest('web', { containers: [mainContainer({ command: shell('exit 0') })] }))],
    [faultAt('runtime', 'startContainer', LOST, { times: 5 })],
  ),
  'a pod is to end while the start of its container hangs': pointedStory(
    [apply(0, manifest('web')), remove(5, 'web')],
    [faultAt('runtime', 'startContainer', { kind: 'hang' })],
    300 * SECOND,
  ),
  'a list does not show a container of which the runtime says nothing at first': pointedStory(
    [at(0, { kind: 'lists', show: 'stale', forMs: 30 * SECOND }), apply(1, manifest('web'))],
    [faultAt('runtime', 'containerStatus', UNKNOWN, { skip: 4, times: 2 })],
  ),
  'a list does not show a container, and the runtime goes away': pointedStory(
    [at(0, { kind: 'lists', show: 'stale', forMs: 30 * SECOND }), apply(1, manifest('web')), runtimeDown(4, 3)],
    [faultAt('runtime', 'containerStatus', UNAVAILABLE, { skip: 4, times: 2 })],
  ),
  'a list does not show containers, and the runtime cannot take them up': pointedStory([
    at(0, { kind: 'lists', show: 'stale', forMs: 30 * SECOND }),
    ...[0, 1, 2, 3, 4].map((pod) => apply(1, manifest(`web-${pod}`))),
    at(2.5, { kind: 'runtimeDown', downMs: 0, keepContainers: true, hasUnknown: true }),
  ]),
  'a container ends while no list shows it': pointedStory(
    [
      at(0, { kind: 'lists', show: 'stale', forMs: 30 * SECOND }),
      at(0, { kind: 'events', delivery: 'dropped', forMs: 30 * SECOND }),
      apply(1, manifest('web')),
      at(3, { kind: 'exit', which: 0, exitCode: 1 }),
    ],
    [faultAt('runtime', 'containerStatus', late(4), { skip: 4, times: 2 })],
  ),
  'a pod is to end sooner than its container, whose hook runs': pointedStory([
    apply(
      0,
      manifest('web', {
        containers: [
          mainContainer({
            livenessProbe: {
              exec: { command: ['false'] },
              periodSeconds: 1,
              failureThreshold: 2,
              terminationGracePeriodSeconds: 60,
            },
            lifecycle: { preStop: { exec: { command: ['sleep', '40'] } } },
          }),
        ],
      }),
    ),
    remove(6, 'web'),
  ]),
};
