import { container, type ManifestContainer, type ManifestSpec, manifest } from '../manifests.ts';
import {
  apply,
  at,
  faultAt,
  fixedPod,
  killAgent,
  late,
  mainContainer,
  type PointedStory,
  pointedStory,
  runtimeDown,
  SECOND,
  STUBBORN,
  shell,
  UNAVAILABLE,
  UNKNOWN,
} from './pointedStory.ts';

/** A container whose exit restarts all containers of its pod. */
export const RESTARTS_ALL = mainContainer({
  command: shell('sleep 6; exit 1'),
  restartPolicy: 'Never',
  restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
});
const beside = (more: Partial<ManifestContainer>, spec: Partial<ManifestSpec> = {}) =>
  apply(0, manifest('web', { containers: [RESTARTS_ALL, container('helper', more)], ...spec }));
const ofHelper = { skip: 1 };

/** Stories in which all containers of a pod restart because one exits. */
export const podRestarts: Readonly<Record<string, PointedStory>> = {
  'all restart while the hook of one runs': pointedStory([
    beside({ lifecycle: { postStart: { exec: { command: ['sleep', '20'] } } } }),
  ]),
  'all restart while one is created': pointedStory(
    [beside({})],
    [faultAt('runtime', 'createContainer', late(15), ofHelper)],
  ),
  'all restart while the creation of one hangs': pointedStory(
    [beside({})],
    [faultAt('runtime', 'createContainer', { kind: 'hang' }, ofHelper)],
    400 * SECOND,
  ),
  'all restart while one is created, whose sandbox ends': pointedStory(
    [beside({}), at(9, { kind: 'killSandbox', which: 0 })],
    [faultAt('runtime', 'createContainer', late(20), ofHelper)],
  ),
  'all restart while one is started': pointedStory(
    [beside({})],
    [faultAt('runtime', 'startContainer', late(15), ofHelper)],
  ),
  'all restart while one is to be started, and the runtime goes away': pointedStory(
    [beside({}), runtimeDown(14, 6)],
    [faultAt('runtime', 'startContainer', late(15), ofHelper)],
  ),
  'all restart while the runtime forgets the one whose end it is': pointedStory(
    [beside({ command: STUBBORN }), at(9.5, { kind: 'runtimeDown', downMs: 0, keepContainers: true, forgets: 1 })],
    [faultAt('runtime', 'startContainer', UNAVAILABLE, { skip: 2, times: 4 })],
    700 * SECOND,
  ),
  'all restart while one cannot be created': pointedStory(
    [beside({})],
    [faultAt('runtime', 'createContainer', UNKNOWN, { ...ofHelper, times: 4 })],
  ),
  'all restart while the image of one cannot be pulled': pointedStory([
    at(0, { kind: 'registryDown', images: ['registry.local/pulled:1'], forMs: 20 * SECOND }),
    beside({ image: 'registry.local/pulled:1' }),
  ]),
  'all restart while one is stopped for its probe': pointedStory([
    beside(
      {
        command: STUBBORN,
        livenessProbe: { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 2 },
      },
      { terminationGracePeriodSeconds: 60 },
    ),
  ]),
  'all are to restart while their pod is to have another network': pointedStory(
    [undefined, true].map((hostNetwork, index) =>
      apply(
        3 * index,
        fixedPod('web', {
          containers: [RESTARTS_ALL, container('helper', { command: STUBBORN })],
          ...(hostNetwork === undefined ? {} : { hostNetwork }),
        }),
      ),
    ),
    [faultAt('runtime', 'podSandboxStatus', late(8), { skip: 1 })],
  ),
  'all restart while the next agent asks about one': pointedStory(
    [beside({}), killAgent(5, 3)],
    [faultAt('runtime', 'containerStatus', late(4), { skip: 7 })],
  ),
  'all restart for the end of an init container': pointedStory([
    beside({}, { initContainers: [{ ...RESTARTS_ALL, name: 'setup' }], containers: [mainContainer()] }),
  ]),
};
