/** What becomes of the runtime without anybody's having asked for it. */
import type { EventDelivery } from '../../../cri/simulated/objects/events.ts';
import type { RuntimeEffect, SimulatedContainer, SimulatedSandbox } from '../../../cri/simulated/objects/views.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import type { Random } from '../random.ts';
import { renameIn } from '../run/renamed.ts';
import type { Schedule } from '../run/schedule.ts';
import type { Spells } from './spells.ts';

/** How events are told, beside as they should be. */
export type EventTrouble = 'paused' | 'dropped' | 'doubled' | 'late' | 'reordered' | 'some';

/** How the runtime goes away and comes back. */
export interface RuntimeRestart {
  readonly downMs: number;
  readonly keepContainers: boolean;
  /** Which share of all sandboxes, with their containers, it has forgotten then, from 0 to 1. */
  readonly forgets?: number;
  /** It gives this share of its sandboxes, with their containers, other ids, from 0 to 1. */
  readonly renames?: number;
  /** It finds again what it had forgotten. */
  readonly recalls?: boolean;
  /** It cannot take up some of the containers that run. */
  readonly hasUnknown?: boolean;
}

/** More than there are pods in any story. */
const ADDRESSES = 65_000;
const LATEST_EVENT_MS = 5_000;

export class RuntimeTroubles {
  readonly #runtime: SimulatedRuntime;
  readonly #clock: Schedule;
  readonly #spells: Spells;
  readonly #random: Random;
  /** The sandboxes and containers that the runtime did not know, or not show, for a while, although they ran. */
  readonly #strayed = new Set<string>();
  readonly #unknown = new Set<string>();
  /** The ids that the runtime gave in the place of others. */
  readonly #present = new Map<string, string>();
  /** How often it went away: what ends one outage does not end the next. */
  #outages = 0;

  constructor(
    runtime: SimulatedRuntime,
    { clock, spells, random }: { clock: Schedule; spells: Spells; random: Random },
  ) {
    this.#runtime = runtime;
    this.#clock = clock;
    this.#spells = spells;
    this.#random = random;
  }

  hasStrayed(id: string): boolean {
    return this.#strayed.has(id);
  }

  noteEffect(effect: RuntimeEffect): void {
    if (effect.kind === 'renamed') this.#present.set(effect.formerId, (effect.container ?? effect.sandbox).id);
    renameIn(this.#strayed, effect);
  }

  /** The id that the runtime has now for what it had under this one. */
  presentId(id: string): string {
    const next = this.#present.get(id);
    return next === undefined ? id : this.presentId(next);
  }

  /** An agent begins: containers of earlier ones that no list shows yet it cannot know. */
  beginLife(): void {
    for (const { id } of this.#runtime.containers()) if (!this.#runtime.lists.showsContainer(id)) this.#strayed.add(id);
  }

  /** Whether it is a container that the runtime could not take up when it came back. */
  isUnknown(id: string): boolean {
    return this.#unknown.has(id);
  }

  /** `isPicked`: which of what the runtime has can be forgotten. */
  restart(
    { downMs, keepContainers, forgets = 0, renames = 0, recalls = false, hasUnknown = false }: RuntimeRestart,
    isPicked: (id: string) => boolean,
  ): void {
    if (this.#runtime.isUp) this.#outages += 1;
    const outage = this.#outages;
    this.#runtime.down();
    this.#clock.setTimeout(() => {
      // Somebody else may have brought it back meanwhile: a power cut.
      if (this.#runtime.isUp || outage !== this.#outages) return;
      const forget = this.#picks(forgets, isPicked);
      this.#unknown.clear();
      const unknown = ({ id }: SimulatedContainer) => {
        const isUnknown = hasUnknown && isPicked(id) && this.#random.chance(0.3);
        if (isUnknown) this.#unknown.add(id);
        return isUnknown;
      };
      const rename = ({ id }: SimulatedSandbox) => isPicked(id) && this.#random.chance(renames);
      const renaming = renames > 0 ? { rename } : {};
      const unread = () => this.#random.chance(0.5);
      this.#runtime.restart({ keepContainers, forget, ...renaming, recall: recalls, unknown, unread });
    }, downMs);
  }

  stall(forMs: number): void {
    this.#runtime.stall();
    this.#spells.begin('stall', forMs, () => this.#runtime.resume());
  }

  deliverEvents(trouble: EventTrouble, forMs: number): void {
    this.#runtime.events.deliver(this.#delivery(trouble));
    this.#spells.begin('events', forMs, () => this.#runtime.events.deliver('normal'));
  }

  showLists(show: 'stale' | 'shuffled', forMs: number): void {
    const { lists } = this.#runtime;
    if (show === 'stale') lists.freeze();
    else lists.shuffle(this.#random.fraction);
    this.#spells.begin(`${show} lists`, forMs, () => (show === 'stale' ? lists.thaw() : lists.shuffle()));
  }

  breakNetwork(forMs: number): void {
    this.#runtime.network.fail();
    this.#spells.begin('network', forMs, () => this.#runtime.network.recover());
  }

  /** No sandbox gets an address any more. */
  exhaustAddresses(forMs: number): void {
    this.#runtime.network.limitAddresses(0);
    this.#spells.begin('addresses', forMs, () => this.#runtime.network.limitAddresses(ADDRESSES));
  }

  /** No image can be pulled any more. */
  breakRegistry(images: readonly string[], forMs: number): void {
    const error = { message: 'failed to do request: dial tcp: lookup registry.local: no such host' };
    for (const image of images) this.#runtime.images.publish(image, { error });
    this.#spells.begin('registry', forMs, () => {
      for (const image of images) this.#runtime.images.publish(image, {});
    });
  }

  #picks(share: number, isPicked: (id: string) => boolean) {
    const forgotten = new Map<string, boolean>();
    return (each: SimulatedSandbox | SimulatedContainer): boolean => {
      const { id } = 'sandbox' in each ? each.sandbox : each;
      const isForgotten = forgotten.get(id) ?? (isPicked(id) && this.#random.chance(share));
      forgotten.set(id, isForgotten);
      if (isForgotten) this.#strayed.add(each.id);
      return isForgotten;
    };
  }

  #delivery(trouble: EventTrouble): EventDelivery {
    if (trouble === 'late') return () => [LATEST_EVENT_MS];
    if (trouble === 'reordered') return () => [this.#random.between(0, LATEST_EVENT_MS)];
    if (trouble === 'some')
      return () => (this.#random.chance(0.5) ? [] : [0, this.#random.between(0, LATEST_EVENT_MS)]);
    return trouble;
  }
}
