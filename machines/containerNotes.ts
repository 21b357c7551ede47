/** What a container's chart tells its author: the kubelet's reasons and messages. Fixed ones stand in the chart. */
import { goDuration } from '../pod/duration.ts';
import type { Failure } from '../pod/failure.ts';
import type { Note } from '../pod/occurrence.ts';
import type { ProbeKind } from '../pod/view.ts';
import { type ContainerContext, specOf } from './containerContext.ts';
import { isRuntimeAway } from './failure.ts';
import type { PortTypes } from './ports.ts';

type Told = { readonly context: ContainerContext };

const imageOf = (context: ContainerContext): string => specOf(context).image ?? '';
const warning = (reason: string, message: string): Note => ({ eventType: 'Warning', reason, message });
const killing = (message: string): Note => ({ reason: 'Killing', message });

/** The image that is there is used; the kubelet's words say that nothing has to be proved to the registry. */
const imagePresent = ({ context }: Told): Note => ({
  reason: 'Pulled',
  message: `Container image "${imageOf(context)}" already present on machine and can be accessed by the pod`,
});

const imageMissing = ({ context }: Told): Note[] => [
  warning('ErrImageNeverPull', `Container image "${imageOf(context)}" is not present with pull policy of Never`),
  warning('Failed', 'Error: ErrImageNeverPull'),
];

const pullBegins = ({ context }: Told): Note => ({
  reason: 'Pulling',
  message: `Pulling image "${imageOf(context)}"`,
});

export function pullDone(context: ContainerContext, pulled: PortTypes['pullImage']['output']): Note {
  const took = goDuration(pulled.finishedAt - pulled.startedAt);
  const waited = goDuration(pulled.finishedAt - context.soughtAt);
  const message = `Successfully pulled image "${imageOf(context)}" in ${took} (${waited} including waiting). Image size: ${pulled.sizeBytes} bytes.`;
  return { reason: 'Pulled', message };
}

/** The image could not be looked for. What fails while the runtime is away is the node's trouble, not the image's. */
export function inspectionFailed(context: ContainerContext, failure: Failure): Note[] {
  if (isRuntimeAway(failure)) return [];
  const invalid = failure.reason === 'InvalidImageName';
  const message = invalid ? failure.message : `Failed to inspect image "${imageOf(context)}": ${failure.message}`;
  return [
    warning('InspectFailed', message),
    warning('Failed', `Error: ${invalid ? failure.reason : 'ImageInspectError'}`),
  ];
}

export const pullFailed = (context: ContainerContext, { reason, message }: Failure): Note[] => [
  warning('Failed', `Failed to pull image "${imageOf(context)}": ${message}`),
  warning('Failed', `Error: ${reason}`),
];

const pullBacksOff = ({ context }: Told): Note[] => [
  { reason: 'BackOff', message: `Back-off pulling image "${imageOf(context)}"` },
  warning('Failed', 'Error: ImagePullBackOff'),
];

/** The runtime refused to create or start it. */
export const launchFailed = (failure: Failure): Note[] =>
  isRuntimeAway(failure) ? [] : [warning('Failed', `Error: ${failure.message}`)];

function restartBacksOff({ context: { pod, name } }: Told): Note {
  const { name: podName, namespace, uid } = pod.metadata;
  return warning('BackOff', `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${uid})`);
}

const stopped = ({ context }: Told): Note[] =>
  context.id === undefined ? [] : [killing(`Stopping container ${context.name}`)];

const outdated = ({ context }: Told): Note[] =>
  context.id === undefined ? [] : [killing(`Container ${context.name} definition changed, will be restarted`)];

/** It is restarted whatever its exit code, unless its policy is Never. */
export function failedProbe(context: ContainerContext, kind: ProbeKind): Note {
  const { name, role, pod } = context;
  const policy = role === 'sidecar' ? 'Always' : (specOf(context).restartPolicy ?? pod.spec.restartPolicy);
  return killing(`Container ${name} failed ${kind} probe${policy === 'Never' ? '' : ', will be restarted'}`);
}
const resizedByRestart = ({ context }: Told): Note => killing(`Container ${context.name} resize requires restart`);

const postStartFailed: Note[] = [
  warning('FailedPostStartHook', 'PostStartHook failed'),
  killing('FailedPostStartHook'),
];

const UNKNOWN_STATE = 'Container is in "unknown" state, try killing it before restart';

/** An action of the chart that tells what its parameters say. */
const tells = <P>(params: P) => ({ type: 'note' as const, params });

export const tellsCreation = tells({ reason: 'Created', message: 'Container created' });
export const tellsStart = tells({ reason: 'Started', message: 'Container started' });
/** It has to end because its pod wants it so; one that was never made needs no killing. */
export const tellsStop = tells(stopped);
export const tellsOutdated = tells(outdated);
export const tellsResize = tells(resizedByRestart);
export const tellsUnknownState = tells(killing(UNKNOWN_STATE));
/** What the hook said is not told: it may hold a secret. */
export const tellsFailedPostStart = tells(postStartFailed);
export const tellsPresentImage = tells(imagePresent);
export const tellsMissingImage = tells(imageMissing);
export const tellsPull = tells(pullBegins);
export const tellsPullBackOff = tells(pullBacksOff);
export const tellsBackOff = tells(restartBacksOff);

export const preStopFailed = (failure: Failure | null): Note[] =>
  failure ? [warning('FailedPreStopHook', 'PreStopHook failed')] : [];
