/** What agents have asked for of containers and sandboxes: what else happens to them comes from somebody else. */
import type { RuntimeEffect } from '../../../cri/simulated/objects/views.ts';
import { fullName, type SimulatedHost } from '../host/host.ts';
import type { Fate, OutsideCall } from '../run/outside.ts';
import { renameIn, renameKey } from '../run/renamed.ts';
import type { Deeds } from '../users/deeds.ts';
import { ACTS_FOR_MS } from './touches.ts';

/** What the runtime has is in a list by then, unless lists are troubled. */
const LISTED_WITHIN_MS = 120_000;

const ENDINGS: ReadonlySet<string> = new Set(['stopContainer', 'stopPodSandbox', 'removePodSandbox']);

/** A container whose start is refused has ended. */
const isRefusal = ({ room, name }: OutsideCall, fate: Fate | undefined): boolean =>
  room === 'runtime' && name === 'startContainer' && (fate?.kind === 'fail' || fate?.kind === 'lostReply');

interface Around {
  readonly host: SimulatedHost;
  readonly deeds: Deeds;
}

export class Endings {
  /** When that was asked for last: what had no effect by then, as its agent died, has none. */
  readonly #asked = new Map<string, number>();
  /** The containers that were to be removed: that is refused while one starts, which then runs as if nobody had asked. */
  readonly #removals = new Set<string>();
  /** How many sandboxes the present agent waits for, by the UID of their pod. */
  readonly #awaited = new Map<string, number>();

  /** What an earlier agent had asked for, and comes now, the present one has to take from others. */
  beginLife(): void {
    this.#awaited.clear();
  }

  /** Notes what a call asks for. */
  note({ host, deeds }: Around, call: OutsideCall, fate?: Fate): void {
    const { room, name, about } = call;
    if (room === 'runtime' && ENDINGS.has(name)) this.#asked.set(about, host.clock.elapsed);
    if (room === 'runtime' && name === 'removeContainer') this.#removals.add(about);
    if (room === 'runtime' && name === 'runPodSandbox') this.#awaited.set(about, this.#awaitedOf(about) + 1);
    const refused = isRefusal(call, fate) ? host.containers().find(({ id }) => id === about) : undefined;
    if (refused) deeds.touchContainer(fullName(refused), refused.containerName, host.clock.elapsed);
  }

  /** Notes what somebody else than an agent has done. */
  noteEffect({ host: { clock }, deeds }: Around, effect: RuntimeEffect): void {
    const { sandbox, container } = effect;
    renameKey(this.#asked, effect);
    renameIn(this.#removals, effect);
    const pod = fullName(sandbox);
    if (this.isByOthers(effect, clock.elapsed)) {
      if (container === undefined) deeds.touch(pod, clock.elapsed);
      else deeds.touchContainer(pod, container.containerName, clock.elapsed);
    }
    // Of two sandboxes neither stays (C8), as soon as a list shows both.
    if (this.isSurplus(effect)) deeds.touch(pod, clock.elapsed + LISTED_WITHIN_MS);
  }

  /** Whether something has ended that no agent had asked to end; what is gone, or is used again, is forgotten. */
  isByOthers({ kind, container, sandbox }: RuntimeEffect, now: number): boolean {
    const { id } = container ?? sandbox;
    const isAsked = [sandbox.id, id].some((each) => this.#isAsked(each, now) || this.#removals.has(each));
    // A sandbox that it could not stop may be wanted again: what an agent starts in it ends without that call.
    if (kind === 'started') this.#asked.delete(sandbox.id);
    if (kind === 'removed') this.#asked.delete(id);
    if (kind === 'started' || kind === 'removed') this.#removals.delete(id);
    return kind === 'ended' && !isAsked;
  }

  /** Whether a pod has got a sandbox that only an earlier agent had asked for. */
  isSurplus({ kind, container, sandbox: { podUid } }: RuntimeEffect): boolean {
    if (kind !== 'started' || container !== undefined) return false;
    const awaited = this.#awaitedOf(podUid);
    this.#awaited.set(podUid, Math.max(0, awaited - 1));
    return awaited === 0;
  }

  #isAsked(id: string, now: number): boolean {
    const at = this.#asked.get(id);
    return at !== undefined && at + ACTS_FOR_MS >= now;
  }

  #awaitedOf = (podUid: string): number => this.#awaited.get(podUid) ?? 0;
}
