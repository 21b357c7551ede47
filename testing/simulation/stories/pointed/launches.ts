import { PRESENT_IMAGE } from '../../host/host.ts';
import type { Fate } from '../../run/outside.ts';
import { container, manifest } from '../manifests.ts';
import {
  AWAY,
  apply,
  at,
  late,
  main,
  type PointedStory,
  remove,
  runtimeDown,
  SECOND,
  same,
  secondImage,
  shell,
  strike,
  told,
  UNKNOWN,
} from './pointedStory.ts';

const LOST: Fate = { kind: 'lostReply', code: 'UNKNOWN' };

/** A container is being created and started. */
export const launches: Readonly<Record<string, PointedStory>> = {
  'the sandbox of a container ends while its hook runs': told([
    apply(
      0,
      manifest('web', { containers: [main({ lifecycle: { postStart: { exec: { command: ['sleep', '20'] } } } })] }),
    ),
    at(6, { kind: 'killSandbox', which: 0 }),
  ]),
  'a container ends while its hook hangs': told(
    [
      apply(
        0,
        manifest('web', {
          containers: [
            main({
              command: shell('sleep 5; exit 1'),
              lifecycle: { postStart: { exec: { command: ['sleep', '20'] } } },
            }),
          ],
        }),
      ),
    ],
    [strike('runtime', 'execSync', { kind: 'hang' })],
  ),
  'a pod is changed while the hook of its container runs': told(
    [undefined, 600].map((activeDeadlineSeconds, index) =>
      apply(
        index * 6,
        same('web', {
          containers: [main({ lifecycle: { postStart: { exec: { command: ['sleep', '20'] } } } })],
          ...(activeDeadlineSeconds === undefined ? {} : { activeDeadlineSeconds }),
        }),
      ),
    ),
  ),
  'a container that is not known to have started is to have another image': told(
    [apply(0, same('web', {})), apply(0.6, same('web', { containers: [main(secondImage)] }))],
    [strike('runtime', 'startContainer', AWAY, { times: 2 })],
  ),
  'a container that cannot be created is to have another image': told(
    [apply(0, same('web', {})), apply(1.5, same('web', { containers: [main(secondImage)] }))],
    [strike('runtime', 'createContainer', UNKNOWN)],
  ),
  'a container that waits for a volume is to have another image': told(
    [undefined, secondImage]
      .map((image, index) => {
        const volumeMounts = [{ name: 'files', mountPath: '/files' }];
        const volumes = [{ name: 'files', image: { reference: 'registry.local/pulled:2' } }];
        return apply(index * 6 + 0.1, same('web', { containers: [main({ volumeMounts, ...image })], volumes }));
      })
      .concat(at(0, { kind: 'registryDown', images: ['registry.local/pulled:2'], forMs: 20 * SECOND })),
  ),
  'a container that was refused to start is to have another image': told(
    [apply(0, same('web', {})), apply(1.3, same('web', { containers: [main(secondImage)] }))],
    [strike('runtime', 'startContainer', UNKNOWN, { times: 2 })],
  ),
  'the pod of a container that was refused to start is changed': told(
    [apply(0, same('web', {})), apply(1.3, same('web', { activeDeadlineSeconds: 600 }))],
    [strike('runtime', 'startContainer', UNKNOWN, { times: 2 })],
  ),
  'the sandbox of a container that was refused to start ends': told(
    [apply(0, manifest('web')), at(1.3, { kind: 'killSandbox', which: 0 })],
    [strike('runtime', 'startContainer', UNKNOWN, { times: 2 })],
  ),
  'the sandbox of a container that was refused to start again ends in its back-off': told(
    [apply(0, manifest('web')), at(5.5, { kind: 'killSandbox', which: 0 })],
    [strike('runtime', 'startContainer', UNKNOWN, { times: 3 })],
  ),
  'a pod is to end while the creation of its container hangs': told(
    [apply(0, manifest('web')), remove(5, 'web')],
    [strike('runtime', 'createContainer', { kind: 'hang' })],
    300 * SECOND,
  ),
  'a container whose image cannot be pulled is to have another': told([
    at(0, { kind: 'registryDown', images: ['registry.local/pulled:1'], forMs: 20 * SECOND }),
    apply(0.1, same('web', { containers: [main(secondImage)] })),
    apply(6, same('web', {})),
  ]),
  'an image that another container has pulled meanwhile cannot be looked for': told(
    [apply(0, manifest('web', { containers: [main(secondImage), container('second', secondImage)] }))],
    [strike('runtime', 'imageStatus', UNKNOWN, { after: 3 })],
  ),
  'an image is missing that nobody may pull': told([
    at(0, { kind: 'loseImage', image: PRESENT_IMAGE }),
    apply(0.1, manifest('web', { containers: [main({ imagePullPolicy: 'Never' })] })),
  ]),
  'a pod is changed while its container is created': told(
    [apply(0, same('web', {})), apply(5, same('web', { activeDeadlineSeconds: 600 }))],
    [strike('runtime', 'createContainer', late(20))],
  ),
  'the sandbox of a container that has ended at once ends before its start has answered': told(
    [
      apply(0, manifest('web', { containers: [main({ command: shell('exit 1') })] })),
      at(6, { kind: 'killSandbox', which: 0 }),
    ],
    [strike('disk', 'symlink', { kind: 'hang' }, { about: '/default_web' })],
  ),
  'an image is lost just before a container is created': told(
    [apply(0, manifest('web')), at(2, { kind: 'loseImage', image: PRESENT_IMAGE })],
    [strike('runtime', 'createContainer', late(4))],
  ),
  'a container ends at once, and its start seems to have failed': told(
    [apply(0, manifest('web', { containers: [main({ command: shell('exit 0') })] }))],
    [strike('runtime', 'startContainer', LOST, { times: 5 })],
  ),
  'a pod is to end while the start of its container hangs': told(
    [apply(0, manifest('web')), remove(5, 'web')],
    [strike('runtime', 'startContainer', { kind: 'hang' })],
    300 * SECOND,
  ),
  'a list does not show a container of which the runtime says nothing at first': told(
    [at(0, { kind: 'lists', show: 'stale', forMs: 30 * SECOND }), apply(1, manifest('web'))],
    [strike('runtime', 'containerStatus', UNKNOWN, { after: 1, times: 2 })],
  ),
  'a list does not show a container, and the runtime goes away': told(
    [at(0, { kind: 'lists', show: 'stale', forMs: 30 * SECOND }), apply(1, manifest('web')), runtimeDown(4, 3)],
    [strike('runtime', 'containerStatus', AWAY, { after: 1, times: 2 })],
  ),
  'a list does not show containers, and the runtime cannot take them up': told([
    at(0, { kind: 'lists', show: 'stale', forMs: 30 * SECOND }),
    ...[0, 1, 2, 3, 4].map((pod) => apply(1, manifest(`web-${pod}`))),
    at(2.5, { kind: 'runtimeDown', downMs: 0, keepContainers: true, hasUnknown: true }),
  ]),
  'a container ends while no list shows it': told(
    [
      at(0, { kind: 'lists', show: 'stale', forMs: 30 * SECOND }),
      at(0, { kind: 'events', delivery: 'dropped', forMs: 30 * SECOND }),
      apply(1, manifest('web')),
      at(3, { kind: 'exit', which: 0, exitCode: 1 }),
    ],
    [strike('runtime', 'containerStatus', late(4), { after: 1, times: 2 })],
  ),
  'a pod is to end sooner than its container, whose hook runs': told([
    apply(
      0,
      manifest('web', {
        containers: [
          main({
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
