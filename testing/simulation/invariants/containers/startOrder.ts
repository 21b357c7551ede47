import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { RuntimeEffect, SimulatedContainer } from '../../../../cri/simulated/objects/views.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import { fullName, PATHS } from '../../host/host.ts';
import type { OutsideCall } from '../../run/gate.ts';
import { moveRenamedKey } from '../../run/renamedIds.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { wrongMounts } from '../volumes/wrongMounts.ts';
import { StopRequests } from './stopRequests.ts';

/**
 * Names of the containers of each sandbox that were started, are fully up (postStart hook completed, startup probe
 * passed), or have succeeded, by sandbox ID.
 */
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

/**
 * Returns the names of the preceding init containers that have not completed and of the preceding sidecars that are not
 * up.
 */
function missingBefore(
  { sandbox, containerName: name }: SimulatedContainer,
  { spec }: Pod,
  progress: SandboxProgress,
): string[] {
  const inits = spec.initContainers ?? [];
  const own = inits.findIndex((each) => each.name === name);
  return inits.slice(0, own === -1 ? inits.length : own).flatMap((init) => {
    const isDone =
      init.restartPolicy === 'Always'
        ? progress.wasUp(sandbox.id, init.name)
        : progress.hasSucceeded(sandbox.id, init.name);
    return isDone ? [] : [init.name];
  });
}

/** Waiting reasons of a container that has not been created yet. */
const NOT_CREATED_REASONS: ReadonlySet<string | undefined> = new Set(['ContainerCreating', 'PodInitializing']);

/** Returns the containers that precede this one in the spec and have neither started in the sandbox nor failed (C9). */
function passedOver(
  { agent }: Watched,
  sandboxId: string,
  name: string,
  { spec, status, metadata }: Pod,
  progress: SandboxProgress,
) {
  const own = spec.containers.findIndex((each) => each.name === name);
  const waiting = new Map(status?.containerStatuses?.map((each) => [each.name, each.state?.waiting?.reason]));
  const before = spec.containers.slice(0, Math.max(0, own)).map((each) => each.name);
  const notStarted = before.filter(
    (each) => NOT_CREATED_REASONS.has(waiting.get(each)) && !progress.wasStarted(sandboxId, each),
  );
  if (notStarted.length === 0) return [];
  // The status does not show every failure, so check the actors as well.
  const actors = agent?.trees().get(metadata.uid)?.children ?? [];
  const lastFailureOf = (each: string) => actors.find(({ id }) => id === `container/${each}`)?.lastFailure;
  return notStarted.filter((each) => lastFailureOf(each) === undefined);
}

/** Directory of a container, which the agent creates when it is the container's turn to start. */
const CONTAINER_DIRECTORY = new RegExp(`^${PATHS.root}/pods/([^/]+)/containers/([^/]+)$`);

/**
 * Tracks containers that were passed over when it was a later container's turn and still are when that one starts. A
 * failure that explained this may have been retried by then, and an exit may not have been published.
 */
class Turns {
  readonly #watched: Watched;
  readonly #progress: SandboxProgress;
  readonly #passedOver = new Map<string, readonly string[]>();
  /**
   * Containers that a failure delayed when it was a later container's turn, by pod UID and later container. They may
   * have recovered before that one gets its directory.
   */
  readonly #delayed = new Map<string, readonly string[]>();

  constructor(watched: Watched, progress: SandboxProgress) {
    this.#watched = watched;
    this.#progress = progress;
  }

  noteCall({ target, name: called, about }: OutsideCall): void {
    const [, uid, name] = (target === 'disk' && called === 'mkdir' && CONTAINER_DIRECTORY.exec(about)) || [];
    if (uid === undefined || name === undefined) return;
    const { host, podOf } = this.#watched;
    const [pod, sandbox] = [podOf(uid), host.sandboxes().find(({ podUid, ready }) => podUid === uid && ready)];
    const passed = pod && sandbox ? passedOver(this.#watched, sandbox.id, name, pod, this.#progress) : [];
    const delayed = this.#delayed.get(`${uid}/${name}`) ?? [];
    this.#passedOver.set(
      `${uid}/${name}`,
      passed.filter((each) => !delayed.includes(each)),
    );
  }

  /** Records the containers that a failure delays. Actors are only inspected if there are any. */
  noteStatus({ uid, pod: { status } }: PodChange): void {
    const delayed = (status?.containerStatuses ?? []).flatMap(({ name, state }) => {
      const reason = state?.waiting?.reason;
      return reason === undefined || NOT_CREATED_REASONS.has(reason) ? [] : [name];
    });
    if (delayed.length === 0) return;
    for (const { id, tags } of this.#watched.agent?.trees().get(uid)?.children ?? []) {
      const key = `${uid}/${id.replace('container/', '')}`;
      // A container has this tag from its turn until it has started, including the wait for a start slot.
      if (tags.includes('creatingContainer') && !this.#delayed.has(key)) this.#delayed.set(key, delayed);
    }
  }

  clear(): void {
    this.#passedOver.clear();
    this.#delayed.clear();
  }

  /** Returns the containers that this one has passed over and forgets them, because its next start has its own turn. */
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
 * Records sidecars that are up according to the status, i.e. whose postStart hook has completed and whose startup probe
 * has passed (C4).
 */
function noteUp({ host }: Watched, { pod: { status } }: PodChange, progress: SandboxProgress): void {
  for (const { started, state, containerID } of status?.initContainerStatuses ?? []) {
    if (!started || state?.running === undefined) continue;
    const container = host.container(containerID?.replace(/^.*:\/\//, '') ?? '');
    if (container !== undefined) progress.noteUp(container);
  }
}

/** Records containers that are up according to their actors, for pods with unpublished statuses. */
function noteRunning({ agent, host }: Watched, uids: readonly string[], progress: SandboxProgress): void {
  if (uids.length === 0) return;
  const trees = agent?.trees();
  for (const uid of uids) {
    const up = (trees?.get(uid)?.children ?? []).filter(
      ({ tags, children }) => tags.includes('running') && children.every(({ id }) => id !== 'probe/startup'),
    );
    for (const container of host.containers()) {
      if (container.podUid !== uid || container.state !== 'running') continue;
      if (up.some(({ id }) => id === `container/${container.containerName}`)) progress.noteUp(container);
    }
  }
}

/** Returns the host paths of a container's volumes that do not exist. */
function missingVolumes({ host }: Watched, { mounts }: SimulatedContainer): string[] {
  const paths = mounts.map(({ hostPath }) => hostPath);
  return paths.filter((path) => path.startsWith(`${PATHS.root}/`) && !host.files.existsSync(path));
}

/**
 * Returns the names of the volumes that the agent should have created for a pod before its sandbox and that do not
 * exist.
 */
function missingOwnVolumes({ host, podOf }: Watched, podUid: string): string[] {
  const kinds = `${PATHS.root}/pods/${podUid}/volumes`;
  const existing = host.files.existsSync(kinds)
    ? host.files.readdirSync(kinds).flatMap((kind) => host.files.readdirSync(`${kinds}/${kind}`))
    : [];
  const own = (podOf(podUid)?.spec.volumes ?? []).filter((each) => each.emptyDir ?? each.projected ?? each.downwardAPI);
  return own.flatMap(({ name }) => (existing.includes(name) ? [] : [name]));
}

const nameOf = (container: SimulatedContainer): string => `${fullName(container)} ${container.containerName}`;

/** Returns descriptions of what is wrong with the start of a container. */
function startProblems(
  watched: Watched,
  container: SimulatedContainer,
  progress: SandboxProgress,
  turns: Turns,
): string[] {
  const unmounted = missingVolumes(watched, container).map((path) => `started without its volume at ${path}`);
  const pod = watched.podOf(container.podUid);
  if (pod === undefined) return unmounted;
  // Sidecars may have come up in the same step, before a status shows it.
  if (missingBefore(container, pod, progress).length > 0) noteRunning(watched, [container.podUid], progress);
  const mounts = wrongMounts(watched.host, pod, container).map((wrong) => `started ${wrong}`);
  const missing = [...missingBefore(container, pod, progress), ...turns.takePassedOver(container, pod)];
  return [...unmounted, ...mounts, ...(missing.length > 0 ? [`started before ${missing.join(', ')}`] : [])];
}

export const startOrder: Invariant = {
  number: 2,
  description:
    'No sandbox is created before the volumes of its pod exist. No container is started without the volumes that it ' +
    'mounts, after its stop was requested, or before its turn, i.e. before each preceding init container has ' +
    'succeeded and each preceding sidecar has started up.',
  follow: (watched, violated) => {
    const { host } = watched;
    const progress = new SandboxProgress();
    const turns = new Turns(watched, progress);
    const stopped = new StopRequests();
    const onStart = (id: string) => {
      const container = host.container(id);
      if (container === undefined) return;
      if (stopped.has(container)) violated(`${nameOf(container)}: started after its stop was requested`);
      for (const each of startProblems(watched, container, progress, turns)) violated(`${nameOf(container)}: ${each}`);
      progress.noteStart(container);
    };
    return {
      onEffect: (effect) => {
        const { kind, sandbox, container } = effect;
        if (kind === 'created' && container === undefined)
          for (const volume of missingOwnVolumes(watched, sandbox.podUid))
            violated(`${fullName(sandbox)}: its sandbox was created before its volume ${volume}`);
        progress.note(effect);
        stopped.noteEffect(effect);
      },
      onStatus: (change) => {
        noteUp(watched, change, progress);
        turns.noteStatus(change);
      },
      // A status is published only after its facts are on disk, so the actors may be ahead of it.
      afterStep: () => noteRunning(watched, watched.agent?.unpublishedUids() ?? [], progress),
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
