/**
 * Sends a pod's commands to the actors of its containers and volumes. Each command occupies the event loop for some
 * time, so a pod with a thousand containers sends its commands in batches, and other work on the node runs in between.
 * An actor receives its commands in order. The kubelet achieves the same by handling each pod in its own goroutine.
 */

import { lookUp } from '../../../base/values/lookUp.ts';
import { memoize } from '../../../base/values/memoize.ts';
import { findContainerByName } from '../../../kubernetes/api/pods/containers.ts';
import { allStatuses } from '../../../kubernetes/status/allStatuses.ts';
import type { ContainerEnds } from '../../../kubernetes/status/view.ts';
import type { ContainerInput, ProbeResults } from '../../container/context.ts';
import type { ContainerEvent, VolumeEvent } from '../../shared/events/events.ts';
import type { VolumeInput } from '../../volume/setup.ts';
import { type Command, knownRuns, mountedVolumes, type PodContext, type SpawnContainers } from '../context.ts';
import { persistedSizes } from '../resizing.ts';

export const containerId = (name: string) => `container/${name}` as const;
export const volumeId = (name: string) => `volume/${name}` as const;

/** Maximum number of commands in a batch. A pod with fewer containers and volumes sends each command immediately. */
export const BATCH_SIZE = 20;

const commandCount = (commands: readonly Command[]): number =>
  commands.reduce((sum, { names }) => sum + names.length, 0);

/** Splits commands into the first batch and the rest. */
function splitFirstBatch(commands: readonly Command[]): { batch: Command[]; remaining: Command[] } {
  const batch: Command[] = [];
  const remaining: Command[] = [];
  let remainingCapacity = BATCH_SIZE;
  // Stop when the batch is full, because a pod may have queued a command for each of its containers.
  for (const [index, command] of commands.entries()) {
    const { names } = command;
    batch.push({ ...command, names: names.slice(0, remainingCapacity) });
    if (names.length > remainingCapacity) remaining.push({ ...command, names: names.slice(remainingCapacity) });
    remainingCapacity -= names.length;
    if (remainingCapacity <= 0) return { batch, remaining: remaining.concat(commands.slice(index + 1)) };
  }
  return { batch, remaining };
}

/** The overloads of `spawn`, an argument of XState's `assign`, that commands need. */
interface SpawnActor {
  (machine: 'container', options: { readonly id: string; readonly input: ContainerInput }): unknown;
  (machine: 'volume', options: { readonly id: string; readonly input: VolumeInput }): unknown;
}

/** The methods of `enqueue`, an argument of XState's `enqueueActions`, that commands need. */
interface Enqueue {
  sendTo(target: string, event: ContainerEvent | VolumeEvent): void;
  assign(
    changes: Partial<Pick<PodContext, 'queued' | 'containers' | 'volumes'>> | ((args: { spawn: SpawnActor }) => object),
  ): void;
  spawnChild(machine: 'pace', options: { readonly id: 'pace' }): void;
  stopChild(id: string): void;
}

/**
 * Sends commands to containers and volumes. The commands are sent immediately if they fit into one batch and the queue
 * is empty, and otherwise in batches. `enqueue` is the argument of an action of the pod's machine. An action may call
 * this function only once, because `context` does not contain the commands that a first call has queued.
 */
export function sendCommands(enqueue: object, context: PodContext, commands: readonly Command[]): void {
  const actions = asEnqueue(enqueue);
  if (context.queued !== undefined) actions.assign({ queued: withCommands(context.queued, commands) });
  else if (commandCount(commands) <= BATCH_SIZE) sendNow(actions, context, commands);
  else sendBatch(actions, { ...context, queued: withCommands([], commands) });
}

/** Sends the next batch of the queued commands. The remaining ones follow after other work on the node has run. */
export function sendBatch(enqueue: object, context: PodContext): void {
  const actions = asEnqueue(enqueue);
  const { batch, remaining } = splitFirstBatch(context.queued ?? []);
  actions.stopChild('pace');
  sendNow(actions, context, batch);
  actions.assign({ queued: remaining.length > 0 ? remaining : undefined });
  if (remaining.length > 0) actions.spawnChild('pace', { id: 'pace' });
}

/**
 * Safe cast: the type of `enqueue` depends on the other actions of a setup, but in every setup of a pod `enqueue` has
 * these methods.
 */
const asEnqueue = (enqueue: object) => enqueue as Enqueue;

function sendNow(enqueue: Enqueue, context: PodContext, commands: readonly Command[]): void {
  for (const command of commands) {
    if (command.to === 'volumes') sendToVolumes(enqueue, command);
    else sendToContainers(enqueue, context, command);
  }
}

type CommandTo<To extends Command['to']> = Extract<Command, { readonly to?: To }>;

function sendToVolumes(enqueue: Enqueue, { names, event }: CommandTo<'volumes'>): void {
  if (event.type === 'spawn') {
    const { type: _, ...input } = event;
    spawnAll(enqueue, names, (spawn, name) => spawn('volume', { id: volumeId(name), input: { ...input, name } }));
    return;
  }
  for (const name of names) {
    if (event.type === 'stop') enqueue.stopChild(volumeId(name));
    else enqueue.sendTo(volumeId(name), event);
  }
}

function sendToContainers(enqueue: Enqueue, context: PodContext, { names, event }: CommandTo<undefined>): void {
  if (event.type === 'spawn') {
    spawnAll(enqueue, names, (spawn, name) =>
      spawn('container', { id: containerId(name), input: containerInput(context, name, event) }),
    );
    return;
  }
  for (const name of names) {
    if (event.type === 'stop') enqueue.stopChild(containerId(name));
    else enqueue.sendTo(containerId(name), event);
  }
}

/** Spawns actors in one action, because XState copies the pod's map of children for each action that spawns. */
function spawnAll(
  enqueue: Enqueue,
  names: readonly string[],
  spawnActor: (spawn: SpawnActor, name: string) => void,
): void {
  if (names.length === 0) return;
  enqueue.assign(({ spawn }) => {
    for (const name of names) spawnActor(spawn, name);
    return {};
  });
}

function containerInput(context: PodContext, name: string, { pod, restarts }: SpawnContainers): ContainerInput {
  const { arrivalOrder, crashLoop, sandbox } = context;
  const observedContainers = knownRuns(context, name);
  const publishedStatus = pod.status ?? context.containerEnds ?? {};
  return {
    pod,
    arrivalOrder,
    crashLoop,
    sandbox,
    volumes: mountedVolumes(context),
    name,
    observed: observedContainers,
    role: findContainerByName(pod.spec, name)?.role ?? 'regular',
    size: observedContainers.length > 0 ? persistedSizes(context)(name) : undefined,
    probed: context.probed && probedById(context.probed).get(observedContainers[0]?.id ?? ''),
    restarts: restarts && lookUp(restarts, name),
    reportedRestarts: reportedRestarts(publishedStatus).get(name),
    publishedRestarts: publishedRestarts(publishedStatus).get(name),
  };
}

const probedById = memoize(
  (probed: readonly ProbeResults[]): ReadonlyMap<string, ProbeResults> =>
    new Map(probed.map((each) => [each.id, each])),
);

/** Returns the published restart counts of all containers, by name. */
const publishedRestarts = memoize(
  (status: ContainerEnds): ReadonlyMap<string, number> =>
    new Map(allStatuses(status).map(({ name, restartCount }) => [name, restartCount])),
);

/**
 * Returns the reported restart counts of the containers that were removed for a restart of all containers (C5), by name.
 * A removed container waits without an ID, and its restart count already includes the next run.
 */
const reportedRestarts = memoize((status: ContainerEnds): ReadonlyMap<string, number> => {
  const removed = allStatuses(status).filter(({ state, containerID }) => state?.waiting && containerID === undefined);
  return new Map(removed.map(({ name, restartCount }) => [name, restartCount]));
});

/** Appends commands to the queue. A later observation of a container replaces an earlier one that is still queued. */
function withCommands(queuedCommands: readonly Command[], commands: readonly Command[]): Command[] {
  const observedIds = new Set(commands.flatMap(({ event }) => observedId(event) ?? []));
  const retainedCommands = queuedCommands.filter(({ event }) => !observedIds.has(observedId(event) ?? ''));
  return [...retainedCommands, ...commands.filter(({ names }) => names.length > 0)];
}

const observedId = (event: Command['event']): string | undefined =>
  event.type === 'runtime.containerObserved' && event.container !== null ? event.id : undefined;

/** Removes commands to containers whose actors are gone. */
export function withoutCommandsTo(
  queuedCommands: readonly Command[] | undefined,
  removedNames: ReadonlySet<string>,
): readonly Command[] | undefined {
  return queuedCommands?.map((each) =>
    each.to === 'volumes' ? each : { ...each, names: each.names.filter((name) => !removedNames.has(name)) },
  );
}

/**
 * Whether containers in the runtime have no actors yet because the command to spawn them is still queued. The state of
 * these containers is unknown.
 */
export const awaitsAdoption = ({ queued: queuedCommands = [], observed }: PodContext): boolean =>
  observed.containers.length > 0 && queuedCommands.some(({ to, event }) => to === undefined && event.type === 'spawn');

/**
 * Stops the actors of a terminated pod in reverse order. V8 removes the last property of an object in constant time,
 * but rebuilds the object to remove any other property.
 */
export function stopActors(enqueue: object, context: PodContext): void {
  const [containers, volumes] = [Object.keys(context.containers).reverse(), Object.keys(context.volumes).reverse()];
  sendCommands(enqueue, context, [
    { names: containers, event: { type: 'stop' } },
    { to: 'volumes', names: volumes, event: { type: 'stop' } },
  ]);
  asEnqueue(enqueue).assign({ containers: {}, volumes: {} });
}
