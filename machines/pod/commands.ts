/**
 * Commands of a pod to the actors of its containers. Each of them costs some of the node's time, so that a pod of a thousand
 * containers sends its commands in batches, between which everything else on the node gets its turn. A container gets its
 * commands in their order. A kubelet has the same: it works on each pod in a goroutine of its own.
 */

import { lookUp } from '../../base/lookUp.ts';
import { containerNamed } from '../../kubernetes/api/containers.ts';
import type { ContainerInput } from '../container/context.ts';
import type { ContainerEvent } from '../shared/events.ts';
import { type Command, knownRuns, mountedVolumes, type PodContext, type SpawnCommand } from './context.ts';
import { persistedSizes } from './resizing.ts';

export const containerId = (name: string) => `container/${name}` as const;

/** Maximum number of commands to containers in a batch. A pod with fewer containers sends each command at once. */
export const BATCH = 50;

const sizeOf = (commands: readonly Command[]): number => commands.reduce((sum, { names }) => sum + names.length, 0);

/** Splits commands into the first batch and the rest. */
function firstBatch(commands: readonly Command[]): { batch: Command[]; rest: Command[] } {
  const batch: Command[] = [];
  const rest: Command[] = [];
  let room = BATCH;
  for (const { names, event } of commands) {
    if (room > 0) batch.push({ names: names.slice(0, room), event });
    if (names.length > room) rest.push({ names: names.slice(room), event });
    room = Math.max(0, room - names.length);
  }
  return { batch, rest };
}

/** The part of the `enqueue` of XState's `enqueueActions` that commands need. */
interface Enqueue {
  sendTo(target: string, event: ContainerEvent): void;
  assign(changes: Pick<PodContext, 'queued'>): void;
  spawnChild(machine: 'container', options: { readonly id: string; readonly input: ContainerInput }): void;
  spawnChild(machine: 'pace', options: { readonly id: 'pace' }): void;
  stopChild(id: string): void;
}

/**
 * Sends commands to containers: at once if they fit into one batch and nothing is queued before them, otherwise in batches.
 * `enqueue` is that of an action of the pod, which calls this once.
 */
export function command(enqueue: object, context: PodContext, commands: readonly Command[]): void {
  const own = asEnqueue(enqueue);
  if (context.queued !== undefined) own.assign({ queued: withCommands(context.queued, commands) });
  else if (sizeOf(commands) <= BATCH) send(own, context, commands);
  else sendBatch(own, { ...context, queued: withCommands([], commands) });
}

/** Sends the first of the queued commands, and the others after the rest of the node has had its turn. */
export function sendBatch(enqueue: object, context: PodContext): void {
  const own = asEnqueue(enqueue);
  const { batch, rest } = firstBatch(context.queued ?? []);
  own.stopChild('pace');
  send(own, context, batch);
  own.assign({ queued: rest.length > 0 ? rest : undefined });
  if (rest.length > 0) own.spawnChild('pace', { id: 'pace' });
}

/** Its type depends on the other actions of a setup. In each setup of a pod it has these functions. */
const asEnqueue = (enqueue: object) => enqueue as Enqueue;

function send(enqueue: Enqueue, context: PodContext, commands: readonly Command[]): void {
  for (const { names, event } of commands) {
    for (const name of names) {
      if (event.type !== 'spawn') enqueue.sendTo(containerId(name), event);
      else enqueue.spawnChild('container', { id: containerId(name), input: inputOf(context, name, event) });
    }
  }
}

/** Input of the actor of a container. */
function inputOf(context: PodContext, name: string, { pod, restarts }: SpawnCommand): ContainerInput {
  const { ticket, crashLoop, sandbox } = context;
  const observed = knownRuns(context, name);
  return {
    pod,
    ticket,
    crashLoop,
    sandbox,
    volumes: mountedVolumes(context),
    name,
    observed,
    role: containerNamed(pod.spec, name)?.role ?? 'regular',
    size: observed.length > 0 ? persistedSizes(context)(name) : undefined,
    probed: context.probed?.find(({ id }) => id === observed[0]?.id),
    restarts: restarts && lookUp(restarts, name),
  };
}

/** The queue after commands were added. A later observation of a container replaces an earlier one that is still queued. */
function withCommands(queued: readonly Command[], commands: readonly Command[]): Command[] {
  const observed = new Set(commands.flatMap(({ event }) => observedId(event) ?? []));
  const current = queued.filter(({ event }) => !observed.has(observedId(event) ?? ''));
  return [...current, ...commands.filter(({ names }) => names.length > 0)];
}

const observedId = (event: Command['event']): string | undefined =>
  event.type === 'runtime.containerObserved' && event.container !== null ? event.id : undefined;

/** The queue without commands to some containers, whose actors are gone. */
export function withoutCommandsTo(
  queued: readonly Command[] | undefined,
  gone: ReadonlySet<string>,
): readonly Command[] | undefined {
  return queued?.map(({ names, event }) => ({ names: names.filter((name) => !gone.has(name)), event }));
}

/** Whether actors of containers that the runtime shows are yet to be spawned: nobody knows what those have come to. */
export const awaitsAdoption = ({ queued = [], observed }: PodContext): boolean =>
  observed.containers.length > 0 && queued.some(({ event }) => event.type === 'spawn');
