/** Builds the events about containers with the kubelet's reasons and messages. */

import type { Failure } from '../../base/failure.ts';
import { type EventMessage, warning } from '../../kubernetes/events/recordedEvent.ts';
import type { ContainerRole, ProbeKind } from '../../kubernetes/status/view.ts';
import { failureEvents } from '../shared/events/failureEvents.ts';
import { type FailureEvent, failureOf } from '../shared/waiting/failure.ts';
import { type ContainerContext, specOf } from './context.ts';

type ContextArgs = { readonly context: ContainerContext };

const killingEvent = (message: string): EventMessage => ({ reason: 'Killing', message });

/** Returns the `Failed` event of a container that could not be created or started. */
export const launchFailedEvents = (failure: Failure): EventMessage[] =>
  failureEvents(failure, 'Failed', `Error: ${failure.message}`);

function backOffEvent({ context: { pod, name } }: ContextArgs): EventMessage {
  const { name: podName, namespace, uid } = pod.metadata;
  return warning('BackOff', `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${uid})`);
}

const stoppedEvents = ({ context }: ContextArgs): EventMessage[] =>
  context.id === undefined ? [] : [killingEvent(`Stopping container ${context.name}`)];

const outdatedEvents = ({ context }: ContextArgs): EventMessage[] =>
  context.id === undefined ? [] : [killedEvent(context, 'definition changed', true)];

/**
 * Returns the `Killing` event of a container whose probe has failed. The event announces a restart unless the restart
 * policy is Never.
 */
export function failedProbeEvent(context: ContainerContext, kind: ProbeKind): EventMessage {
  const policy = specOf(context).restartPolicy ?? context.pod.spec.restartPolicy;
  return killedEvent(context, `failed ${kind} probe`, policy !== 'Never');
}

/**
 * Returns the `Killing` event of a container. As in the kubelet, the event does not announce the restart of an init
 * container or sidecar.
 */
function killedEvent({ name, role }: ContainerContext, cause: string, announcesRestart: boolean): EventMessage {
  if (isInit(role)) return killingEvent(`Init container ${name} ${cause}`);
  return killingEvent(`Container ${name} ${cause}${announcesRestart ? ', will be restarted' : ''}`);
}

const isInit = (role: ContainerRole): boolean => role === 'init' || role === 'sidecar';

const resizeByRestartEvent = ({ context }: ContextArgs): EventMessage =>
  killingEvent(`Container ${context.name} resize requires restart`);

const postStartFailedEvents: EventMessage[] = [
  warning('FailedPostStartHook', 'PostStartHook failed'),
  killingEvent('FailedPostStartHook'),
];

const stateUnknownEvent = ({ context: { role } }: ContextArgs): EventMessage =>
  killingEvent(`${isInit(role) ? 'Init container' : 'Container'} is in "unknown" state, try killing it before restart`);

const recordEvent = <P>(params: P) => ({ type: 'recordEvent' as const, params });

export const recordCreationEvent = recordEvent({ reason: 'Created', message: 'Container created' });
export const recordStartEvent = recordEvent({ reason: 'Started', message: 'Container started' });
/** Records the failure of the call whose error event is being handled. */
export const recordLaunchFailedEvent = recordEvent(({ event }: { readonly event: FailureEvent }) =>
  launchFailedEvents(failureOf(event)),
);
/** Records that the pod stops the container. A container that was never created needs no event. */
export const recordStopEvent = recordEvent(stoppedEvents);
export const recordOutdatedEvent = recordEvent(outdatedEvents);
export const recordResizeEvent = recordEvent(resizeByRestartEvent);
export const recordUnknownStateEvent = recordEvent(stateUnknownEvent);
/** Records that the postStart hook failed. The hook's output is omitted, because it may contain a secret. */
export const recordFailedPostStartEvent = recordEvent(postStartFailedEvents);
export const recordBackOffEvent = recordEvent(backOffEvent);

export const preStopFailedEvents = (failure: Failure | null): EventMessage[] =>
  failure ? [warning('FailedPreStopHook', 'PreStopHook failed')] : [];
