import { container, type ManifestContainer, type ManifestSpec, manifest } from '../manifests.ts';
import {
  AWAY,
  apply,
  at,
  killAgent,
  late,
  main,
  type PointedStory,
  runtimeDown,
  SECOND,
  STUBBORN,
  same,
  shell,
  strike,
  told,
  UNKNOWN,
} from './pointedStory.ts';

/** A container whose exit restarts all containers of its pod. */
export const ENDS_ALL = main({
  command: shell('sleep 6; exit 1'),
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
});
const beside = (more: Partial<ManifestContainer>, spec: Partial<ManifestSpec> = {}) =>
  apply(0, manifest('web', { containers: [ENDS_ALL, container('helper', more)], ...spec }));
const ofHelper = { after: 1 };

/** All containers of a pod restart because one exits. */
export const restartsOfAll: Readonly<Record<string, PointedStory>> = {
  'all restart while the hook of one runs': told([
    beside({ lifecycle: { postStart: { exec: { command: ['sleep', '20'] } } } }),
  ]),
  'all restart while one is created': told([beside({})], [strike('runtime', 'createContainer', late(15), ofHelper)]),
  'all restart while the creation of one hangs': told(
    [beside({})],
    [strike('runtime', 'createContainer', { kind: 'hang' }, ofHelper)],
    400 * SECOND,
  ),
  'all restart while one is created, whose sandbox ends': told(
    [beside({}), at(9, { kind: 'killSandbox', which: 0 })],
    [strike('runtime', 'createContainer', late(20), ofHelper)],
  ),
  'all restart while one is started': told([beside({})], [strike('runtime', 'startContainer', late(15), ofHelper)]),
  'all restart while one is to be started, and the runtime goes away': told(
    [beside({}), runtimeDown(14, 6)],
    [strike('runtime', 'startContainer', late(15), ofHelper)],
  ),
  'all restart while the runtime forgets the one whose end it is': told(
    [beside({ command: STUBBORN }), at(9.5, { kind: 'runtimeDown', downMs: 0, keepContainers: true, forgets: 1 })],
    [strike('runtime', 'startContainer', AWAY, { after: 2, times: 4 })],
    700 * SECOND,
  ),
  'all restart while one cannot be created': told(
    [beside({})],
    [strike('runtime', 'createContainer', UNKNOWN, { ...ofHelper, times: 4 })],
  ),
  'all restart while the image of one cannot be pulled': told([
    at(0, { kind: 'registryDown', images: ['registry.local/pulled:1'], forMs: 20 * SECOND }),
    beside({ image: 'registry.local/pulled:1' }),
  ]),
  'all restart while one is stopped for its probe': told([
    beside(
      {
        command: STUBBORN,
        livenessProbe: { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 2 },
      },
      { terminationGracePeriodSeconds: 60 },
    ),
  ]),
  'all are to restart while their pod is to have another network': told(
    [undefined, true].map((hostNetwork, index) =>
      apply(
        3 * index,
        same('web', {
          containers: [ENDS_ALL, container('helper', { command: STUBBORN })],
          ...(hostNetwork === undefined ? {} : { hostNetwork }),
        }),
      ),
    ),
    [strike('runtime', 'podSandboxStatus', late(8), { after: 1 })],
  ),
  'all restart while the next agent asks about one': told(
    [beside({}), killAgent(5, 3)],
    [strike('runtime', 'containerStatus', late(4), { after: 3 })],
  ),
  'all restart for the end of an init container': told([
    beside({}, { initContainers: [{ ...ENDS_ALL, name: 'setup' }], containers: [main()] }),
  ]),
};
