import { ContainerEventType } from '../../generated/runtime.ts';
import type { RuntimeContext } from '../runtimeContext.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import type { ChangeKind } from './views.ts';

const EVENT_TYPES = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  started: ContainerEventType.CONTAINER_STARTED_EVENT,
  ended: ContainerEventType.CONTAINER_STOPPED_EVENT,
  removed: ContainerEventType.CONTAINER_DELETED_EVENT,
} as const;

/** Notifies the observer of a change to a container and emits a CRI event. */
export function notifyContainerChange(context: RuntimeContext, kind: ChangeKind, container: ContainerRecord): void {
  context.onEffect?.({ kind, sandbox: container.sandbox, container });
  emitEvent(context, kind, container.id, container.sandbox);
}

/** Notifies the observer of a change to a sandbox and emits a CRI event. */
export function notifySandboxChange(context: RuntimeContext, kind: ChangeKind, sandbox: SandboxRecord): void {
  context.onEffect?.({ kind, sandbox });
  emitEvent(context, kind, sandbox.id, sandbox);
}

function emitEvent({ clock, events }: RuntimeContext, kind: ChangeKind, id: string, sandbox: SandboxRecord): void {
  events.emit({ type: EVENT_TYPES[kind], id, sandboxId: sandbox.id, podUid: sandbox.podUid, at: clock.now() });
}
