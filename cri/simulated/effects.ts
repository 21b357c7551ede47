import { ContainerEventType } from '../generated/runtime.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import type { Change } from './views.ts';
import type { World } from './world.ts';

const EVENT_TYPES = {
  created: ContainerEventType.CONTAINER_CREATED_EVENT,
  started: ContainerEventType.CONTAINER_STARTED_EVENT,
  ended: ContainerEventType.CONTAINER_STOPPED_EVENT,
  removed: ContainerEventType.CONTAINER_DELETED_EVENT,
} as const;

/** Tells what happened to a container: to the observer at once, and as an event. */
export function tellOfContainer(world: World, kind: Change, container: ContainerRecord): void {
  world.onEffect?.({ kind, sandbox: container.sandbox, container });
  emit(world, kind, container.id, container.sandbox);
}

/** Tells what happened to a sandbox, likewise. */
export function tellOfSandbox(world: World, kind: Change, sandbox: SandboxRecord): void {
  world.onEffect?.({ kind, sandbox });
  emit(world, kind, sandbox.id, sandbox);
}

function emit({ clock, events }: World, kind: Change, id: string, sandbox: SandboxRecord): void {
  events.emit({ type: EVENT_TYPES[kind], id, sandboxId: sandbox.id, podUid: sandbox.podUid, at: clock.now() });
}
