/** Builds the events about containers with the kubelet's reasons and messages. Constant ones are in the chart. */

import type { Failure } from '../../base/failure.ts';
import { type EventMessage, warning } from '../../kubernetes/events/recordedEvent.ts';
import type { ContainerRole, ProbeKind } from '../../kubernetes/status/view.ts';
import { failureEvent } from '../shared/failureEvents.ts';
import { type ContainerContext, specOf } from './context.ts';

type InContext = { readonly context: ContainerContext };

const killing = (message: string): EventMessage => ({ reason: 'Killing', message });

/** Returns the events about a container that the runtime refused to create or start. */
export const launchFailed = (failure: Failure): EventMessage[] =>
  failureEvent(failure, 'Failed', `Error: ${failure.message}`);

function restartBacksOff({ context: { pod, name } }: InContext): EventMessage {
  const { name: podName, namespace, uid } = pod.metadata;
  return warning('BackOff', `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${uid})`);
}

const stopped = ({ context }: InContext): EventMessage[] =>
  context.id === undefined ? [] : [killing(`Stopping container ${context.name}`)];

const outdated = ({ context }: InContext): EventMessage[] =>
  context.id === undefined ? [] : [endedFor(context, 'definition changed', true)];

/**
 * Returns the event about a failed probe. The container is restarted regardless of its exit code, unless its policy is
 * Never.
 */
export function failedProbe(context: ContainerContext, kind: ProbeKind): EventMessage {
  const policy = specOf(context).restartPolicy ?? context.pod.spec.restartPolicy;
  return endedFor(context, `failed ${kind} probe`, policy !== 'Never');
}

/**
 * Returns the event about the kill of a container. For init containers, including sidecars, a kubelet does not announce
 * the restart.
 */
function endedFor({ name, role }: ContainerContext, what: string, restarts: boolean): EventMessage {
  if (isInit(role)) return killing(`Init container ${name} ${what}`);
  return killing(`Container ${name} ${what}${restarts ? ', will be restarted' : ''}`);
}

const isInit = (role: ContainerRole): boolean => role === 'init' || role === 'sidecar';

const resizedByRestart = ({ context }: InContext): EventMessage =>
  killing(`Container ${context.name} resize requires restart`);

const postStartFailed: EventMessage[] = [
  warning('FailedPostStartHook', 'PostStartHook failed'),
  killing('FailedPostStartHook'),
];

const stateUnknown = ({ context: { role } }: InContext): EventMessage =>
  killing(`${isInit(role) ? 'Init container' : 'Container'} is in "unknown" state, try killing it before restart`);

const recordEvent = <P>(params: P) => ({ type: 'recordEvent' as const, params });

export const recordCreationEvent = recordEvent({ reason: 'Created', message: 'Container created' });
export const recordStartEvent = recordEvent({ reason: 'Started', message: 'Container started' });
/** Records that the pod stops the container. A container that was never created needs no event. */
export const recordStopEvent = recordEvent(stopped);
export const recordOutdatedEvent = recordEvent(outdated);
export const recordResizeEvent = recordEvent(resizedByRestart);
export const recordUnknownStateEvent = recordEvent(stateUnknown);
/** Records that the postStart hook failed. The hook's output is omitted, because it may contain a secret. */
export const recordFailedPostStartEvent = recordEvent(postStartFailed);
export const recordBackOffEvent = recordEvent(restartBacksOff);

export const preStopFailed = (failure: Failure | null): EventMessage[] =>
  failure ? [warning('FailedPreStopHook', 'PreStopHook failed')] : [];
