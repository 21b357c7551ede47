import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { fullName, PATHS } from '../../host/host.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { moveRenamedKey } from '../../run/renamedIds.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { wrongMounts } from '../volumes/wrongMounts.ts';
import { StopRequests } from './stopRequests.ts';

/** The containers of each sandbox that were to start, have started up, or have succeeded. */
class SandboxProgress {
  readonly #started = new Map<string, Set<string>>();
  readonly #up = new Map<string, Set<string>>();
  readonly #succeeded = new Map<string, Set<string>>();

  note(effect: RuntimeEffect): void {
    const { kind, sandbox, container } = effect;
    if (container === undefined) {
      for (const each of [this.#started, this.#up, this.#succeeded]) {
        moveRenamedKey(each, effect);
        if (kind === 'removed') each.delete(sandbox.id);
      }
      return;
    }
    const { containerName, exitCode } = container;
    if (kind === 'ended' && exitCode === 0) add(this.#succeeded, sandbox.id, containerName);
  }

  noteStart({ sandbox, containerName }: SimulatedContainer): void {
    add(this.#started, sandbox.id, containerName);
  }

  noteUp({ sandbox, containerName }: SimulatedContainer): void {
    add(this.#up, sandbox.id, containerName);
  }

  wasStarted = (sandboxId: string, name: string): boolean => this.#started.get(sandboxId)?.has(name) === true;
  wasUp = (sandboxId: string, name: string): boolean => this.#up.get(sandboxId)?.has(name) === true;
  hasSucceeded = (sandboxId: string, name: string): boolean => this.#succeeded.get(sandboxId)?.has(name) === true;
}

const add = (all: Map<string, Set<string>>, key: string, value: string) =>
  void all.set(key, (all.get(key) ?? new Set()).add(value));

/** Returns the init containers that should have completed before this container and have not. */
function missingBefore(
  { sandbox, containerName: name }: SimulatedContainer,
  { spec }: Pod,
  seen: SandboxProgress,
): string[] {
  const inits = spec.initContainers ?? [];
  const own = inits.findIndex((each) => each.name === name);
  return inits.slice(0, own === -1 ? inits.length : own).flatMap((init) => {
    const isDone =
      init.restartPolicy === 'Always' ? seen.wasUp(sandbox.id, init.name) : seen.hasSucceeded(sandbox.id, init.name);
    return isDone ? [] : [init.name];
  });
}

/** The waiting reasons of a container that has not been created yet. */
const NOT_CREATED_REASONS: ReadonlySet<string | undefined> = new Set(['ContainerCreating', 'PodInitializing']);

/**
 * Returns the containers that precede this one in the spec and have neither been started in the sandbox nor failed
 * (C9).
 */
function passedOver(
  { agent }: Watched,
  sandboxId: string,
  name: string,
  { spec, status, metadata }: Pod,
  seen: SandboxProgress,
) {
  const own = spec.containers.findIndex((each) => each.name === name);
  const waiting = new Map(status?.containerStatuses?.map((each) => [each.name, each.state?.waiting?.reason]));
  const before = spec.containers.slice(0, Math.max(0, own)).map((each) => each.name);
  const unasked = before.filter(
    (each) => NOT_CREATED_REASONS.has(waiting.get(each)) && !seen.wasStarted(sandboxId, each),
  );
  if (unasked.length === 0) return [];
  // The status does not show every failure.
  const actors = agent?.trees().get(metadata.uid)?.children ?? [];
  const lastFailureOf = (each: string) => actors.find(({ id }) => id === `container/${each}`)?.lastFailure;
  return unasked.filter((each) => lastFailureOf(each) === undefined);
}

/** The directory of a container, which is created when the container's turn has come. */
const CONTAINER_DIRECTORY = new RegExp(`^${PATHS.root}/pods/([^/]+)/containers/([^/]+)$`);

/**
 * Containers that were passed over when the turn of a later container came and still are when it starts. A failure at
 * the former time may have been retried by now, and an exit may not have been published.
 */
class Turns {
  readonly #watched: Watched;
  readonly #progress: SandboxProgress;
  readonly #passedOver = new Map<string, readonly string[]>();
  /**
   * The containers that were delayed by a failure when the turn of each container came. They may have recovered before
   * it gets its directory.
   */
  readonly #delayed = new Map<string, readonly string[]>();

  constructor(watched: Watched, seen: SandboxProgress) {
    this.#watched = watched;
    this.#progress = seen;
  }

  noteCall({ target, name: called, about }: OutsideCall): void {
    const [, uid, name] = (target === 'disk' && called === 'mkdir' && CONTAINER_DIRECTORY.exec(about)) || [];
    if (uid === undefined || name === undefined) return;
    const { host, podOf } = this.#watched;
    const [pod, sandbox] = [podOf(uid), host.sandboxes().find(({ podUid, ready }) => podUid === uid && ready)];
    const passed = pod && sandbox ? passedOver(this.#watched, sandbox.id, name, pod, this.#progress) : [];
    const putOff = this.#delayed.get(`${uid}/${name}`) ?? [];
    this.#passedOver.set(
      `${uid}/${name}`,
      passed.filter((each) => !putOff.includes(each)),
    );
  }

  /** Records delayed containers. Actors are only inspected if there are any. */
  noteStatus({ uid, pod: { status } }: PodChange): void {
    const putOff = (status?.containerStatuses ?? []).flatMap(({ name, state }) => {
      const reason = state?.waiting?.reason;
      return reason === undefined || NOT_CREATED_REASONS.has(reason) ? [] : [name];
    });
    if (putOff.length === 0) return;
    for (const { id, tags } of this.#watched.agent?.trees().get(uid)?.children ?? []) {
      const key = `${uid}/${id.replace('container/', '')}`;
      // The tag applies from its turn until it has started, including the wait for a slot.
      if (tags.includes('creatingContainer') && !this.#delayed.has(key)) this.#delayed.set(key, putOff);
    }
  }

  clear(): void {
    this.#passedOver.clear();
    this.#delayed.clear();
  }

  /** Returns the containers that this one has passed over. The next start has its own turn. */
  takePassedOver({ podUid, containerName: name, sandbox }: SimulatedContainer, pod: Pod): readonly string[] {
    const key = `${podUid}/${name}`;
    const passed = this.#passedOver.get(key) ?? [];
    this.#passedOver.delete(key);
    this.#delayed.delete(key);
    if (passed.length === 0) return passed;
    const still = passedOver(this.#watched, sandbox.id, name, pod, this.#progress);
    return passed.filter((each) => still.includes(each));
  }
}

/**
 * Records sidecars that have started up according to the status, i.e. with a completed postStart hook and a passed
 * startup probe (C4).
 */
function noteUp({ host }: Watched, { pod: { status } }: PodChange, seen: SandboxProgress): void {
  for (const { started, state, containerID } of status?.initContainerStatuses ?? []) {
    if (!started || state?.running === undefined) continue;
    const container = host.container(containerID?.replace(/^.*:\/\//, '') ?? '');
    if (container !== undefined) seen.noteUp(container);
  }
}

/** Records the same for pods with unpublished statuses, according to their actors. */
function noteRunning({ agent, host }: Watched, uids: readonly string[], seen: SandboxProgress): void {
  if (uids.length === 0) return;
  const trees = agent?.trees();
  for (const uid of uids) {
    const up = (trees?.get(uid)?.children ?? []).filter(
      ({ tags, children }) => tags.includes('running') && children.every(({ id }) => id !== 'probe/startup'),
    );
    for (const container of host.containers()) {
      if (container.podUid !== uid || container.state !== 'running') continue;
      if (up.some(({ id }) => id === `container/${container.containerName}`)) seen.noteUp(container);
    }
  }
}

/** Returns the missing volumes of a container. */
function missingVolumes({ host }: Watched, { mounts }: SimulatedContainer): string[] {
  const paths = mounts.map(({ hostPath }) => hostPath);
  return paths.filter((path) => path.startsWith(`${PATHS.root}/`) && !host.files.existsSync(path));
}

/** Returns the volumes of a pod that the agent creates and that do not exist when its sandbox is created. */
function missingOwnVolumes({ host, podOf }: Watched, podUid: string): string[] {
  const kinds = `${PATHS.root}/pods/${podUid}/volumes`;
  const there = host.files.existsSync(kinds)
    ? host.files.readdirSync(kinds).flatMap((kind) => host.files.readdirSync(`${kinds}/${kind}`))
    : [];
  const own = (podOf(podUid)?.spec.volumes ?? []).filter((each) => each.emptyDir ?? each.projected ?? each.downwardAPI);
  return own.flatMap(({ name }) => (there.includes(name) ? [] : [name]));
}

const nameOf = (container: SimulatedContainer): string => `${fullName(container)} ${container.containerName}`;

/** Returns what is wrong with the start of a container. */
function startProblems(watched: Watched, container: SimulatedContainer, seen: SandboxProgress, turns: Turns): string[] {
  const unmounted = missingVolumes(watched, container).map((path) => `started without its volume at ${path}`);
  const pod = watched.podOf(container.podUid);
  if (pod === undefined) return unmounted;
  // The init containers may have completed in the same step.
  if (missingBefore(container, pod, seen).length > 0) noteRunning(watched, [container.podUid], seen);
  const mounts = wrongMounts(watched.host, pod, container).map((wrong) => `started ${wrong}`);
  const missing = [...missingBefore(container, pod, seen), ...turns.takePassedOver(container, pod)];
  return [...unmounted, ...mounts, ...(missing.length > 0 ? [`started before ${missing.join(', ')}`] : [])];
}

export const startOrder: Invariant = {
  number: 2,
  description:
    'No sandbox is made before the volumes of its pod are there. No container is started without the volumes that it ' +
    'mounts, after its stop was asked for, or before its turn: each init container before it has succeeded, and each ' +
    'sidecar before it has started up.',
  follow: (watched, violated) => {
    const { host } = watched;
    const seen = new SandboxProgress();
    const turns = new Turns(watched, seen);
    const stopped = new StopRequests();
    const onStart = (id: string) => {
      const container = host.container(id);
      if (container === undefined) return;
      if (stopped.has(container)) violated(`${nameOf(container)}: started after its stop was asked for`);
      for (const each of startProblems(watched, container, seen, turns)) violated(`${nameOf(container)}: ${each}`);
      seen.noteStart(container);
    };
    return {
      onEffect: (effect) => {
        const { kind, sandbox, container } = effect;
        if (kind === 'created' && container === undefined)
          for (const volume of missingOwnVolumes(watched, sandbox.podUid))
            violated(`${fullName(sandbox)}: its sandbox was made before its volume ${volume}`);
        seen.note(effect);
        stopped.noteEffect(effect);
      },
      onStatus: (change) => {
        noteUp(watched, change, seen);
        turns.noteStatus(change);
      },
      // Statuses are not published before their facts are on disk.
      afterStep: () => noteRunning(watched, watched.agent?.unpublishedUids() ?? [], seen),
      onAgentStarted: () => {
        stopped.clear();
        turns.clear();
      },
      onCall: (call: OutsideCall) => {
        if (call.target === 'runtime' && call.name === 'startContainer') onStart(call.about);
        turns.noteCall(call);
        stopped.noteCall(call);
      },
    };
  },
};
