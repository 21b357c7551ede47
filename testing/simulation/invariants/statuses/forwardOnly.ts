import type { PodChange } from '../../../../actors/status/statusBoard.ts';
import type { StatusReport } from '../../../../actors/status/statusReports.ts';
import { isJsonEqual } from '../../../../base/values/isJsonEqual.ts';
import type { RuntimeEffect } from '../../../../cri/simulated/objects/views.ts';
import type { ContainerStatus, PodStatus } from '../../../../kubernetes/api/schema/status.ts';
import { isTerminalPhase } from '../../../../kubernetes/status/phase.ts';
import { PATHS } from '../../host/host.ts';
import type { CallFault, OutsideCall } from '../../run/gate.ts';
import { replaceRenamedId } from '../../run/renamedIds.ts';
import type { Invariant, Watched } from '../invariant.ts';
import { refusals, statusesOf } from './apiRules.ts';
import { regressions } from './regressions.ts';
import { type FactKind, factsOf, StoredFacts, type UnsentEnd } from './storedFacts.ts';

interface SentStatus {
  readonly pod: string;
  readonly status: PodStatus;
  /**
   * Number of the agent that sent the status. For the end of a pod that the previous agent left unsent, it is that
   * agent's number.
   */
  readonly agentNumber: number;
}

interface NewStatus {
  readonly now: PodStatus;
  /** Whether the status is the end of a pod that the previous agent left unsent. */
  readonly isUnsentEnd: boolean;
}

/** A model of the API server that receives all status reports. */
class ServerModel {
  readonly #watched: Watched;
  readonly #stored: StoredFacts;
  readonly #sent = new Map<string, SentStatus>();
  /** UIDs of the pods that may start over under the same UID. */
  readonly #mayStartOver = new Set<string>();
  /** UIDs of the pods that a previous agent has removed. The current agent may only report how they ended. */
  readonly #removedByFormer = new Set<string>();
  /** Statuses published since this agent removed a pod that has started again, by UID. */
  readonly #startedOver = new Map<string, PodStatus[]>();
  /** UIDs of the pods whose terminal status was reported before it was on disk, because the disk failed. */
  readonly #unsaved = new Set<string>();
  /**
   * Paths of the failed disk calls of the current agent. If reads of logs fail, the kubelet loses restart counts as
   * well (C23).
   */
  readonly #failedPaths = new Set<string>();
  /** IDs of the containers whose state the runtime did not know when the current agent started. */
  readonly #unknownAtStart = new Set<string>();
  /** IDs of the containers created by the current agent, whose restart counts follow from its own statuses. */
  readonly #created = new Set<string>();
  /** UIDs of the pods whose end no agent knew when the current one started. */
  readonly #forgotten = new Set<string>();
  /**
   * UIDs of the pods whose exceeded deadline no agent knew. They may continue with the containers that the runtime has.
   */
  readonly #reprieved = new Set<string>();
  /** UIDs of the pods whose current allocation was not saved. The next agent knows only the manifest. */
  readonly #unallocated = new Set<string>();
  /** IDs of the containers whose removal, or that of their sandbox, was requested. */
  readonly #removalRequested = new Set<string>();
  /** IDs of the containers that were removed on request. A later agent must know how they ended without the runtime. */
  readonly #removed = new Set<string>();
  /**
   * UIDs of the pods whose last sandbox an agent has removed. They have terminated, and the next agent starts them
   * again.
   */
  readonly #ended = new Set<string>();
  /** Pods whose end the previous agent left unsent, by UID. */
  #unsentEnds = new Map<string, UnsentEnd>();
  /** Start of the current agent in node time, in milliseconds. */
  #agentStartedAt = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#stored = new StoredFacts(watched.host);
  }

  /** Records a report and returns what is wrong with it. */
  accept({ uid, namespace, name, status: sent }: StatusReport): string[] {
    const { host, podOf, actionLog } = this.#watched;
    const isUnsentEnd = this.#unsentEnds.has(uid);
    const agentNumber = this.#watched.agentNumber - (isUnsentEnd ? 1 : 0);
    const before = this.#sent.get(uid);
    // The runtime may also have forgotten the pod after the current agent started.
    const mayBeLost = before !== undefined && before.agentNumber !== agentNumber && !this.#ended.has(uid);
    const wasForgotten = this.#forgotten.delete(uid) || (mayBeLost && this.#isForgotten(uid));
    const isReprieved = this.#reprieved.delete(uid);
    const unsaved = this.#checkSaved({ uid, namespace, name, status: sent });
    const unproven = this.#unprovenRuns(uid, sent);
    const isNewPod = before !== undefined && this.#isNewPod(uid, before, { now: sent, isUnsentEnd });
    this.#forgetUnsent(uid, sent);
    const known = isNewPod ? undefined : before;
    const isDecidedAgain = known !== undefined && known.agentNumber !== agentNumber && wasRejected(known.status);
    const mayHaveOtherClass =
      known !== undefined && (isDecidedAgain || this.#unallocated.has(uid)) && this.#isEdited(known);
    const status = mayHaveOtherClass ? sent : withQosClass(sent, known?.status);
    this.#sent.set(uid, { pod: `${namespace}/${name}`, status, agentNumber });
    if (known === undefined) return [...unsaved, ...unproven, ...refusals(status)];
    const isSameAgent = known.agentNumber === agentNumber;
    // No client has been informed about a pod that ended with its node before the source reported it.
    if (actionLog.hasEnded(uid) || (!isSameAgent && wasForgotten))
      return [...unsaved, ...unproven, ...refusals(status)];
    const between = {
      isSameAgent,
      mayPrecede: (first: number, then: number) => host.clock.mayPrecede(first, then),
      hasLostStart: (id: string) => host.runtimeFaults.hasLostStart(id),
      knownRestarts: (old: ContainerStatus) => this.#knownRestarts({ uid, namespace, name }, old),
    };
    const spec = podOf(uid)?.spec;
    const { phase: _, ...phaseless } = known.status;
    this.#unallocated.delete(uid);
    const sure = mayHaveOtherClass ? withoutQosClass(known.status) : known.status;
    const previous = isSameAgent ? sure : this.#withoutLost(uid, sure);
    const comparable = isReprieved || isDecidedAgain ? phaseless : known.status;
    return [
      ...unsaved,
      ...unproven,
      ...refusals(status, previous, spec),
      ...regressions(comparable, status, { ...between, spec }),
    ];
  }

  /**
   * Returns messages about containers that are reported as running although the runtime has never shown that to this
   * agent.
   */
  #unprovenRuns(uid: string, status: PodStatus): string[] {
    if (this.#unknownAtStart.size === 0) return [];
    const unknown = this.#watched.host
      .containers()
      .filter(({ id, hasUnknownState }) => hasUnknownState && this.#unknownAtStart.has(id));
    return statusesOf(status).flatMap(({ name, state }) =>
      state?.running && unknown.some(({ podUid, containerName }) => containerName === name && podUid === uid)
        ? [`${name}: it is reported as running, but the runtime does not know its state`]
        : [],
    );
  }

  /** Forgets a pod of which only the unsent end was left. */
  #forgetUnsent(uid: string, { phase }: PodStatus): void {
    if (this.#unsentEnds.get(uid)?.isOver && isTerminalPhase(phase)) this.forget(uid);
    this.#unsentEnds.delete(uid);
  }

  /** Returns the restart count that a new agent can determine for a container from the runtime and the logs. */
  #knownRestarts(
    { uid, namespace, name }: Pick<StatusReport, 'uid' | 'namespace' | 'name'>,
    container: ContainerStatus,
  ): number {
    const { host } = this.#watched;
    const logs = `${PATHS.logs}/${namespace}_${name}_${uid}/${container.name}`;
    const logged =
      host.files.existsSync(logs) && !this.#failedPaths.has(logs)
        ? host.files.readdirSync(logs).map((file) => Number.parseInt(file, 10))
        : [];
    const all = host.containers().filter((each) => each.podUid === uid && each.containerName === container.name);
    const found = all.filter(({ id }) => !this.#created.has(id));
    // An agent cannot know containers that no list has shown. The kubelet does not read logs if the runtime has an
    // earlier run.
    const strayed = new Set(found.flatMap(({ id, attempt }) => (host.runtimeFaults.wasHidden(id) ? [attempt] : [])));
    // The kubelet does not read the logs of a container that is not started again, but reports the remaining run.
    const isEnding = this.#watched.podOf(uid)?.metadata.deletionGracePeriodSeconds !== undefined;
    const known = [...(isEnding && found.length > 0 ? [] : logged), ...found.map(({ attempt }) => attempt)];
    return Math.max(0, ...known.filter((number) => !Number.isNaN(number) && !strayed.has(number)));
  }

  /**
   * Whether the manifest was edited. The kubelet then creates a new mirror pod, so the API server does not compare the
   * statuses.
   */
  #isEdited({ pod }: SentStatus): boolean {
    return this.#watched.actionLog.versionsOf(pod).length > 1;
  }

  /** Allows the next status with this UID to be that of a different pod, or of the same pod starting over. */
  forget(uid: string): void {
    this.#mayStartOver.add(uid);
  }

  /**
   * Records the statuses published after a pod was removed. A pod that starts over within a second of its end has the
   * same start time, so only these statuses distinguish the two.
   */
  noteStatus({ uid, pod: { status }, removed }: PodChange): void {
    if (removed) {
      this.forget(uid);
      this.#startedOver.set(uid, []);
    } else if (status !== undefined) this.#startedOver.get(uid)?.push(status);
  }

  /** Called when an agent starts. The agent need not know that a pod was not wanted for a while. */
  noteAgentStart(): void {
    const { actionLog, host } = this.#watched;
    this.#unsentEnds = this.#stored.unsentEnds();
    this.#unallocated.clear();
    for (const [uid, { pod }] of this.#sent) {
      if (this.#startedOver.has(uid)) this.#removedByFormer.add(uid);
      if (actionLog.mayStartOverSince(pod, this.#agentStartedAt)) this.forget(uid);
      if (!this.#stored.has(uid, 'allocations') && this.#hasFailed(uid, 'allocations')) this.#unallocated.add(uid);
      if (this.#isForgotten(uid)) this.#forgotten.add(uid);
      else if (this.#hasLostDeadline(uid)) this.#reprieved.add(uid);
    }
    this.#startedOver.clear();
    this.#agentStartedAt = host.clock.elapsed;
    this.#failedPaths.clear();
    this.#created.clear();
    this.#unknownAtStart.clear();
    for (const { id, hasUnknownState } of host.containers()) if (hasUnknownState) this.#unknownAtStart.add(id);
  }

  noteFault({ target, about }: OutsideCall): void {
    if (target === 'disk') this.#failedPaths.add(about);
  }

  /**
   * Records effects at the runtime. An agent may not have seen a container that something else removed before the
   * agent's first report of the pod.
   */
  noteEffect(effect: RuntimeEffect): void {
    const { kind, container } = effect;
    const { podUid: uid } = effect.sandbox;
    for (const ids of [this.#created, this.#removalRequested, this.#removed]) replaceRenamedId(ids, effect);
    if (kind === 'created' && container !== undefined) this.#created.add(container.id);
    if (kind === 'removed' && container !== undefined && this.#removalRequested.has(container.id))
      this.#removed.add(container.id);
    const isReported = this.#sent.get(uid)?.agentNumber === this.#watched.agentNumber;
    if (kind !== 'removed' || container === undefined || this.#removalRequested.has(container.id) || isReported) return;
    if (this.#isForgotten(uid)) this.#forgotten.add(uid);
  }

  noteRemoval({ name, about }: OutsideCall): void {
    if (name === 'removeContainer') this.#removalRequested.add(about);
    if (name !== 'removePodSandbox') return;
    const { host } = this.#watched;
    for (const { id, sandbox } of host.containers()) if (sandbox.id === about) this.#removalRequested.add(id);
    const uid = host.sandboxes().find(({ id }) => id === about)?.podUid;
    const isLast = host.sandboxes().every(({ id, podUid }) => id === about || podUid !== uid);
    if (uid !== undefined && isLast) this.#ended.add(uid);
  }

  /** Whether the terminal status of a pod was reported without being saved, and no container is left that shows it. */
  #isForgotten(uid: string): boolean {
    return this.#isUnsaved(uid) && this.#watched.host.containers().every(({ podUid }) => podUid !== uid);
  }

  /**
   * Whether a pod may have lost its deadline. The runtime knows neither the deadline nor when the pod started to run,
   * which may be long before its first sandbox. The kubelet knows both from the mirror pod, whose status it uses as the
   * old one and whose `startTime` it preserves (`updateStatusInternal` in pkg/kubelet/status/status_manager.go).
   * Without an API server, this agent has no mirror pod. With one, this exception does not apply.
   */
  #hasLostDeadline(uid: string): boolean {
    return this.#isUnsaved(uid) && this.#sent.get(uid)?.status.reason === 'DeadlineExceeded';
  }

  #isUnsaved(uid: string): boolean {
    return this.#unsaved.has(uid) && !this.#stored.has(uid, 'statuses');
  }

  /** Checks that a reported terminal status is on disk, unless the disk has failed. */
  #checkSaved({ uid, namespace, name, status }: Omit<StatusReport, 'ended'>): string[] {
    const wasSaved = !this.#unsaved.delete(uid);
    const before = this.#sent.get(uid);
    // A terminal phase that was set at the API server does not have to be saved.
    const isKnown = this.#stored.has(uid, 'statuses') || this.#watched.actionLog.hasEnded(uid);
    if (!isTerminalPhase(status.phase) || wasRejected(status) || isKnown) return [];
    if (this.#hasFailed(uid, 'statuses')) {
      this.#unsaved.add(uid);
      return [];
    }
    // A saved terminal status may be deleted after it has been sent to the API server.
    const wasReported = wasSaved && before?.agentNumber === this.#watched.agentNumber;
    if (wasReported && isJsonEqual(before.status, withQosClass(status, before.status))) return [];
    // A pod that terminates because it is not wanted starts over if it is wanted again.
    const { actionLog, podOf } = this.#watched;
    const { deletionGracePeriodSeconds: isRemoved } = podOf(uid)?.metadata ?? { deletionGracePeriodSeconds: 0 };
    const mayStartOver =
      isRemoved !== undefined || actionLog.mayStartOverSince(`${namespace}/${name}`, this.#agentStartedAt);
    return mayStartOver || this.#stored.has(uid, 'unacknowledged')
      ? []
      : ['its terminal status was reported before it was on disk'];
  }

  #hasFailed(uid: string, kind: FactKind): boolean {
    const folder = factsOf(kind);
    return [...this.#failedPaths].some((path) => path === folder || (path.startsWith(folder) && path.includes(uid)));
  }

  #isNewPod(uid: string, { status: before, agentNumber }: SentStatus, { now, isUnsentEnd }: NewStatus): boolean {
    // The last status of the removed pod may arrive late. A terminal status that only a later agent reports comes from
    // an outdated list of the runtime.
    const isEnd =
      isTerminalPhase(now.phase) && (agentNumber === this.#watched.agentNumber || now.phase === before.phase);
    const startsOver = this.#startedOver.get(uid)?.some((status) => isJsonEqual(status, now)) === true;
    // A later agent may get the start time of the removed pod from a list that still shows its sandbox.
    const isNext = this.#removedByFormer.has(uid) && !isUnsentEnd && !isTerminalPhase(now.phase);
    const hasStartedOver =
      startsOver || isNext || before.startTime !== now.startTime || (isTerminalPhase(before.phase) && !isEnd);
    if (!this.#mayStartOver.has(uid) || !hasStartedOver) return false;
    this.#mayStartOver.delete(uid);
    this.#removedByFormer.delete(uid);
    this.#startedOver.delete(uid);
    return true;
  }

  /**
   * Returns a status without the containers whose end a later agent cannot know: those that something else removed from
   * the runtime, those that no list has shown, and those that were never created. The latter have an end only in a pod
   * that was terminated (C13), which starts over if it has no terminal phase. A static pod gets none (C24).
   */
  #withoutLost(uid: string, before: PodStatus): PodStatus {
    const { host } = this.#watched;
    const hasEnded = this.#ended.delete(uid);
    // Only the agent that tried to start a container knows that the start failed.
    const shown = host.containers().filter(({ id, state }) => state !== 'created' && !host.runtimeFaults.wasHidden(id));
    const there = new Set(shown.map(({ id }) => id));
    const isKnown = ({ state }: ContainerStatus) => {
      const endedId = state?.terminated?.containerID?.split('//')[1];
      if (endedId === undefined) return state?.terminated === undefined || isTerminalPhase(before.phase);
      const id = host.runtimeFaults.currentId(endedId);
      return there.has(id) || (this.#removed.has(id) && !hasEnded);
    };
    const lost = new Set(statusesOf(before).flatMap((each) => (isKnown(each) ? [] : [each.name])));
    if (lost.size === 0) return before;
    const known = (list: readonly ContainerStatus[] = []) => list.filter(({ name }) => !lost.has(name));
    return {
      ...before,
      initContainerStatuses: known(before.initContainerStatuses),
      containerStatuses: known(before.containerStatuses),
    };
  }
}

export const forwardOnly: Invariant = {
  number: 3,
  description: 'A terminal phase never changes, a status never regresses, and the API server would accept each status.',
  follow: (watched, violated) => {
    const server = new ServerModel(watched);
    const onReport = (report: StatusReport) => {
      const { namespace, name } = report;
      for (const each of server.accept(report))
        violated(`${namespace}/${name}: ${each}, at ${watched.host.clock.now()}`);
    };
    const onStatus = (change: PodChange) => server.noteStatus(change);
    const onCall = (call: OutsideCall, fault?: CallFault) => {
      if (call.target === 'runtime' && call.writes) server.noteRemoval(call);
      if (fault !== undefined) server.noteFault(call);
    };
    const onEffect = (effect: RuntimeEffect) => server.noteEffect(effect);
    return { onReport, onStatus, onCall, onEffect, onAgentStarted: () => server.noteAgentStart() };
  },
};

/**
 * Whether a pod was rejected. A new agent decides again and may admit it (C24). The kubelet remembers the rejection
 * only in its status manager, and the manifest of a static pod has no status from which the next kubelet could learn it
 * (`rejectPod` and `HandlePodAdditions` in pkg/kubelet/kubelet.go, `generateAPIPodStatus` in kubelet_pods.go).
 */
const wasRejected = ({ phase, message }: PodStatus): boolean =>
  phase === 'Failed' && message?.startsWith('Pod was rejected: ') === true;

const withoutQosClass = ({ qosClass: _, ...status }: PodStatus): PodStatus => status;

/**
 * Returns the status as the API server stores it, which preserves the QoS class if the new status has none
 * (`PrepareForUpdate` in pkg/registry/core/pod/strategy.go).
 */
const withQosClass = (now: PodStatus, { qosClass }: PodStatus = {}): PodStatus =>
  now.qosClass === undefined && qosClass !== undefined ? { ...now, qosClass } : now;
