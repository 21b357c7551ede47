import type { PodChange } from '../../../actors/status/statusBoard.ts';
import type { StatusReport } from '../../../actors/status/statusReports.ts';
import { sameValue } from '../../../base/sameValue.ts';
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import type { ContainerStatus, PodStatus } from '../../../kubernetes/api/schema/status.ts';
import { isTerminalPhase } from '../../../kubernetes/status/phase.ts';
import { PLACES } from '../host/host.ts';
import type { Fate, OutsideCall } from '../run/outside.ts';
import { renameIn } from '../run/renamed.ts';
import { refusals, statusesOf } from './apiRules.ts';
import { goneBack } from './goneBack.ts';
import type { Invariant, Watched } from './invariant.ts';
import { type FactKind, factsOf, type LeftEnd, StoredFacts } from './storedFacts.ts';
import { classless, wasRefused, withClass } from './toldStatus.ts';

interface Told {
  /** The full name of the pod. */
  readonly pod: string;
  readonly status: PodStatus;
  /** Which life of the agent told it; of an end that the agent before has left to be told, that one. */
  readonly life: number;
}

interface Sent {
  readonly now: PodStatus;
  /** Whether it is the end that the agent before has left to be told. */
  readonly isLeft: boolean;
}

/** What an API server has, from which each report is told. */
class ApiServer {
  readonly #watched: Watched;
  readonly #stored: StoredFacts;
  readonly #told = new Map<string, Told>();
  /** The pods that may begin anew under their uids. */
  readonly #gone = new Set<string>();
  /** Those of them that an agent before the present one has removed: only of how they ended this one may still tell. */
  readonly #over = new Set<string>();
  /** What this agent has told of those that it has removed and begun with once more. */
  readonly #anew = new Map<string, PodStatus[]>();
  /** The pods whose end was told before the disk had it, for that did not answer. */
  readonly #unsaved = new Set<string>();
  /** Where the disk has not done what it was asked for in this life; logs tell a kubelet nothing then either (C23). */
  readonly #troubled = new Set<string>();
  /** The containers that were made in this life: their numbers are compared with what its agent has told itself. */
  readonly #made = new Set<string>();
  /** The pods whose end nobody knew of when an agent began. */
  readonly #forgotten = new Set<string>();
  /** Those of which nobody knew that they had exceeded their deadline: they may go on, as what the runtime has of them. */
  readonly #reprieved = new Set<string>();
  /** Those of which the disk has not taken which version runs: the next agent knows only what is wanted then. */
  readonly #unallocated = new Set<string>();
  /** The containers that an agent has asked to remove, or whose sandboxes. */
  readonly #asked = new Set<string>();
  /** Those of them that are gone for it: what it knew of them it has to know without. */
  readonly #removed = new Set<string>();
  /** The pods that an agent has removed to the last sandbox: they have ended, and the next agent begins anew with them. */
  readonly #ended = new Set<string>();
  /** The pods whose end the agent before has left to be told. */
  #left = new Map<string, LeftEnd>();
  /** When the present life began, by the time that no jump of the clock changes. */
  #lifeBegan = 0;

  constructor(watched: Watched) {
    this.#watched = watched;
    this.#stored = new StoredFacts(watched.host);
  }

  /** What is wrong with a report. */
  take({ uid, namespace, name, status: sent }: StatusReport): string[] {
    const { host, podOf, deeds } = this.#watched;
    const isLeft = this.#left.has(uid);
    const life = this.#watched.life - (isLeft ? 1 : 0);
    const before = this.#told.get(uid);
    // The runtime may also have forgotten the pod since this life began.
    const mayBeLost = before !== undefined && before.life !== life && !this.#ended.has(uid);
    const wasForgotten = this.#forgotten.delete(uid) || (mayBeLost && this.#isForgotten(uid));
    const isReprieved = this.#reprieved.delete(uid);
    const unsaved = this.#noteSaving({ uid, namespace, name, status: sent });
    const isAnother = before !== undefined && this.#isAnother(uid, before, { now: sent, isLeft });
    this.#forgetLeft(uid, sent);
    const known = isAnother ? undefined : before;
    const status = withClass(sent, known?.status);
    this.#told.set(uid, { pod: `${namespace}/${name}`, status, life });
    if (known === undefined) return [...unsaved, ...refusals(status)];
    const isOneLife = known.life === life;
    // Of what ended with its node, which had yet to hear of it from its source, nobody was told.
    if (deeds.isEnded(uid) || (!isOneLife && wasForgotten)) return [...unsaved, ...refusals(status)];
    const between = {
      isOneLife,
      mayComeInTurn: (first: number, then: number) => host.clock.mayShowInTurn(first, then),
      knownRestarts: (old: ContainerStatus) => this.#knownRestarts({ uid, namespace, name }, old),
    };
    const spec = podOf(uid)?.spec;
    const { phase: _, ...phaseless } = known.status;
    const isDecidedAgain = !isOneLife && wasRefused(known.status);
    const isUnallocated = this.#unallocated.delete(uid);
    const sure = (isDecidedAgain || isUnallocated) && this.#isEdited(known) ? classless(known.status) : known.status;
    const told = isOneLife ? sure : this.#withoutLost(uid, sure);
    const comparable = isReprieved || isDecidedAgain ? phaseless : known.status;
    return [...unsaved, ...refusals(status, told, spec), ...goneBack(comparable, status, { ...between, spec })];
  }

  /** Whatever was told before, of it or of another: a pod of which only its end was left is gone. */
  #forgetLeft(uid: string, { phase }: PodStatus): void {
    if (this.#left.get(uid)?.isOver && isTerminalPhase(phase)) this.forget(uid);
    this.#left.delete(uid);
  }

  /** How often a container was restarted, as the runtime and its logs can tell a new agent. */
  #knownRestarts(
    { uid, namespace, name }: Pick<StatusReport, 'uid' | 'namespace' | 'name'>,
    container: ContainerStatus,
  ): number {
    const { host } = this.#watched;
    const logs = `${PLACES.logs}/${namespace}_${name}_${uid}/${container.name}`;
    const logged =
      host.files.existsSync(logs) && !this.#troubled.has(logs)
        ? host.files.readdirSync(logs).map((file) => Number.parseInt(file, 10))
        : [];
    const all = host.containers().filter((each) => each.podUid === uid && each.containerName === container.name);
    const found = all.filter(({ id }) => !this.#made.has(id));
    // What no list has shown to an agent it cannot know; nor does a kubelet read logs where the runtime has an earlier run.
    const strayed = new Set(found.flatMap(({ id, attempt }) => (host.troubles.hasStrayed(id) ? [attempt] : [])));
    // For a container that is not started once more a kubelet does not look for logs: it tells the run that is left.
    const isEnding = this.#watched.podOf(uid)?.metadata.deletionGracePeriodSeconds !== undefined;
    const known = [...(isEnding && found.length > 0 ? [] : logged), ...found.map(({ attempt }) => attempt)];
    return Math.max(0, ...known.filter((number) => !Number.isNaN(number) && !strayed.has(number)));
  }

  /** For the manifest of a static pod that was edited a kubelet makes another mirror pod: an API server compares nothing. */
  #isEdited({ pod }: Told): boolean {
    return this.#watched.deeds.versionsOf(pod).length > 1;
  }

  /** What comes under this uid may be another pod, or the same that was wanted once more. */
  forget(uid: string): void {
    this.#gone.add(uid);
  }

  /** A pod that begins anew within a second of its end has the same start time: what is told of it tells the two apart. */
  noteStatus({ uid, pod: { status }, removed }: PodChange): void {
    if (removed) {
      this.forget(uid);
      this.#anew.set(uid, []);
    } else if (status !== undefined) this.#anew.get(uid)?.push(status);
  }

  /** A new agent need not have heard that a pod was not wanted for a while. */
  beginLife(): void {
    const { deeds, host } = this.#watched;
    this.#left = this.#stored.endsLeft();
    this.#unallocated.clear();
    for (const [uid, { pod }] of this.#told) {
      if (this.#anew.has(uid)) this.#over.add(uid);
      if (deeds.isRebornSince(pod, this.#lifeBegan)) this.forget(uid);
      if (!this.#stored.has(uid, 'allocations') && this.#isTroubled(uid, 'allocations')) this.#unallocated.add(uid);
      if (this.#isForgotten(uid)) this.#forgotten.add(uid);
      else if (this.#hasLostDeadline(uid)) this.#reprieved.add(uid);
    }
    this.#anew.clear();
    this.#lifeBegan = host.clock.elapsed;
    this.#troubled.clear();
    this.#made.clear();
  }

  noteTrouble({ room, about }: OutsideCall): void {
    if (room === 'disk') this.#troubled.add(about);
  }

  /** What somebody else removes before the agent of this life has told of it, it may not have seen. */
  noteEffect(effect: RuntimeEffect): void {
    const { kind, container } = effect;
    const { podUid: uid } = effect.sandbox;
    for (const ids of [this.#made, this.#asked, this.#removed]) renameIn(ids, effect);
    if (kind === 'created' && container !== undefined) this.#made.add(container.id);
    if (kind === 'removed' && container !== undefined && this.#asked.has(container.id)) this.#removed.add(container.id);
    const isTold = this.#told.get(uid)?.life === this.#watched.life;
    if (kind !== 'removed' || container === undefined || this.#asked.has(container.id) || isTold) return;
    if (this.#isForgotten(uid)) this.#forgotten.add(uid);
  }

  noteRemoval({ name, about }: OutsideCall): void {
    if (name === 'removeContainer') this.#asked.add(about);
    if (name !== 'removePodSandbox') return;
    const { host } = this.#watched;
    for (const { id, sandbox } of host.containers()) if (sandbox.id === about) this.#asked.add(id);
    const uid = host.sandboxes().find(({ id }) => id === about)?.podUid;
    const isLast = host.sandboxes().every(({ id, podUid }) => id === about || podUid !== uid);
    if (uid !== undefined && isLast) this.#ended.add(uid);
  }

  /** Its end was told although the disk did not answer, and nobody is left who knows it. */
  #isForgotten(uid: string): boolean {
    return this.#isUnsaved(uid) && this.#watched.host.containers().every(({ podUid }) => podUid !== uid);
  }

  /**
   * The runtime tells of no deadline; nor of when that began to run, which may have been long before the first sandbox.
   *
   * A kubelet knows that from the mirror pod: it takes the status of that for the old one and keeps its `startTime`
   * (`updateStatusInternal` in pkg/kubelet/status/status_manager.go). This agent has none before it has an API server;
   * with one, nothing is to be forgiven here.
   */
  #hasLostDeadline(uid: string): boolean {
    return this.#isUnsaved(uid) && this.#told.get(uid)?.status.reason === 'DeadlineExceeded';
  }

  #isUnsaved(uid: string): boolean {
    return this.#unsaved.has(uid) && !this.#stored.has(uid, 'statuses');
  }

  /** What is wrong where the end of a pod is told that is not on disk, although nothing has kept it from there. */
  #noteSaving({ uid, namespace, name, status }: Omit<StatusReport, 'ended'>): string[] {
    const wasSaved = !this.#unsaved.delete(uid);
    const before = this.#told.get(uid);
    // What the API server says of itself it knows.
    const isKnown = this.#stored.has(uid, 'statuses') || this.#watched.deeds.isEnded(uid);
    if (!isTerminalPhase(status.phase) || wasRefused(status) || isKnown) return [];
    if (this.#isTroubled(uid, 'statuses')) {
      this.#unsaved.add(uid);
      return [];
    }
    // Once it was told to an API server it need not stay there.
    const wasTold = wasSaved && before?.life === this.#watched.life;
    if (wasTold && sameValue(before.status, withClass(status, before.status))) return [];
    // What ends because it is wanted no more, or was not for a while, begins anew if it is wanted again.
    const { deeds, podOf } = this.#watched;
    const { deletionGracePeriodSeconds: isRemoved } = podOf(uid)?.metadata ?? { deletionGracePeriodSeconds: 0 };
    const mayBeginAnew = isRemoved !== undefined || deeds.isRebornSince(`${namespace}/${name}`, this.#lifeBegan);
    return mayBeginAnew || this.#stored.has(uid, 'unacknowledged') ? [] : ['its end was told before it was on disk'];
  }

  #isTroubled(uid: string, kind: FactKind): boolean {
    const folder = factsOf(kind);
    return [...this.#troubled].some((path) => path === folder || (path.startsWith(folder) && path.includes(uid)));
  }

  #isAnother(uid: string, { status: before, life }: Told, { now, isLeft }: Sent): boolean {
    // The last that was known of the one that is gone may come late; what a later agent sees end is one that an old list
    // of the runtime shows, whose end went with it.
    const isEnd = isTerminalPhase(now.phase) && (life === this.#watched.life || now.phase === before.phase);
    const isAnew = this.#anew.get(uid)?.some((status) => sameValue(status, now)) === true;
    // A later agent may have the start of that one from a list that still shows its sandbox.
    const isNext = this.#over.has(uid) && !isLeft && !isTerminalPhase(now.phase);
    const isBegun = isAnew || isNext || before.startTime !== now.startTime || (isTerminalPhase(before.phase) && !isEnd);
    if (!this.#gone.has(uid) || !isBegun) return false;
    this.#gone.delete(uid);
    this.#over.delete(uid);
    this.#anew.delete(uid);
    return true;
  }

  /**
   * How runs have ended that somebody else has removed from the runtime, or that no list has shown, no later agent knows.
   * Nor of containers that were never made: these have an end only in a pod that was ended (C13), which begins anew
   * where that has given it no terminal phase, as it gives a static pod none (C24).
   */
  #withoutLost(uid: string, before: PodStatus): PodStatus {
    const { host } = this.#watched;
    const hasEnded = this.#ended.delete(uid);
    // Of one that was never started only its agent knew that its start had failed.
    const shown = host.containers().filter(({ id, state }) => state !== 'created' && !host.troubles.hasStrayed(id));
    const there = new Set(shown.map(({ id }) => id));
    const isKnown = ({ state }: ContainerStatus) => {
      const told = state?.terminated?.containerID?.split('//')[1];
      if (told === undefined) return state?.terminated === undefined || isTerminalPhase(before.phase);
      const id = host.troubles.presentId(told);
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
  says: 'A terminal phase never changes, a status never goes back, and each is one that the API server would accept.',
  follow: (watched, violated) => {
    const server = new ApiServer(watched);
    const onReport = (report: StatusReport) => {
      const { namespace, name } = report;
      for (const each of server.take(report)) violated(`${namespace}/${name}: ${each}, at ${watched.host.clock.now()}`);
    };
    const onStatus = (change: PodChange) => server.noteStatus(change);
    const onCall = (call: OutsideCall, fate?: Fate) => {
      if (call.room === 'runtime' && call.writes) server.noteRemoval(call);
      if (fate !== undefined) server.noteTrouble(call);
    };
    const onEffect = (effect: RuntimeEffect) => server.noteEffect(effect);
    return { onReport, onStatus, onCall, onEffect, onLifeBegan: () => server.beginLife() };
  },
};
