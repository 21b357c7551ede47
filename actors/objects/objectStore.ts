/** The ConfigMaps and Secrets of the API server that pods of the node have in use, each held once for all of them. */

import type { Clock } from '../../base/clock.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import type { ConfigKind, ConfigObject, ConfigReference } from '../../kubernetes/objects/configObject.ts';
import { ObjectNotFound, type ObjectsInUse } from '../../kubernetes/objects/podObjects.ts';
import { referencesOf } from '../../kubernetes/objects/references.ts';
import type { ObjectCounts } from '../../machines/node/objectCounts.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import { createAlarm } from '../alarm.ts';
import type { HeldObject, HeldStep, HoldObject } from './cache/heldObject.ts';
import type { KeptObjects } from './cache/keptObjects.ts';
import { type Lacking, lackingOf } from './objectCounts.ts';
import { ObjectNews } from './objectNews.ts';

interface StoreParts {
  readonly hold: HoldObject;
  /** How they are held. */
  readonly strategy?: ObjectCounts['strategy'];
  readonly clock: Clock;
  /** Absent: nothing outlives the agent. */
  readonly kept?: Pick<KeptObjects, 'read' | 'keep' | 'forget' | 'keepOnly'> | undefined;
  /** Of the pods that the node has from before, known or not. */
  readonly listPodDirs: () => Promise<readonly string[]>;
  readonly onError: (source: string, error: unknown) => void;
}

/** What is known of an object and of who has it in use. */
interface Known {
  readonly reference: ConfigReference;
  /** By the UIDs of pods: whether a volume of theirs shows it. */
  readonly users: Map<string, boolean>;
  /** As it was seen last; null: there is none, undefined: the server has not said. */
  object: ConfigObject | null | undefined;
  step: HeldStep;
  /** Absent: it is had and followed. */
  lacking: Lacking | undefined;
  /** Somebody has been told that it cannot be had. */
  isAwaited: boolean;
}

interface Entry {
  readonly known: Known;
  readonly held: HeldObject;
}

const TEND_MS = 60_000;

export class ObjectStore implements ObjectsInUse {
  readonly #parts: StoreParts;
  readonly #news: ObjectNews;
  readonly #entries = new Map<string, Entry>();
  /** What each pod has in use. */
  readonly #pods = new Map<string, Set<Entry>>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
    this.#news = new ObjectNews(parts.clock, (kind) => this.#stepsOf(kind), parts.strategy);
  }

  /** From now on all that the pod names is held for it. */
  follow({ metadata: { uid, namespace }, spec }: Pick<Pod, 'metadata' | 'spec'>): void {
    const used = this.#pods.get(uid) ?? new Set();
    this.#pods.set(uid, used);
    for (const { kind, name, isInVolume } of referencesOf({ spec }))
      this.#use({ kind, namespace, name }, { uid, isShown: isInVolume });
  }

  /** Nothing is held for the pod any more. */
  release(uid: string): void {
    this.#news.forget(uid);
    for (const entry of this.#pods.get(uid) ?? []) {
      entry.known.users.delete(uid);
      if (entry.known.users.size === 0) this.#end(entry);
      else this.#keep(entry.known);
    }
    this.#pods.delete(uid);
  }

  async get(
    pod: Pod,
    kind: ConfigKind,
    name: string,
    options: { readonly signal: AbortSignal },
  ): Promise<ConfigObject> {
    const { uid, namespace } = pod.metadata;
    if (!this.#pods.has(uid)) throw new Error(`object "${namespace}"/"${name}" not registered`);
    const { held, known } = this.#use({ kind, namespace, name }, { uid, isShown: false });
    try {
      const object = await held.read(options);
      if (object !== undefined) return object;
    } catch (error) {
      options.signal.throwIfAborted();
      const kept = await this.#parts.kept?.read(known.reference);
      if (kept?.uids.includes(uid)) {
        // Once the server is heard again, it may turn out to be an old one.
        known.object ??= kept.object;
        return kept.object;
      }
      known.isAwaited = true;
      throw error;
    }
    known.isAwaited = true;
    throw new ObjectNotFound(kind, name);
  }

  /** Tells the node what becomes of the objects, until the signal aborts. */
  async run(send: (fact: NodeFact) => void, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { clock, kept, listPodDirs, onError } = this.#parts;
    this.#news.begin(send, signal);
    const tidy = async () => kept?.keepOnly(new Set(await listPodDirs()));
    await tidy().catch((error: unknown) => onError('objects', error));
    const alarm = createAlarm(clock, signal);
    while (!signal.aborted) {
      await alarm.wait(clock.now() + TEND_MS);
      if (signal.aborted) break;
      for (const { held, known } of this.#entries.values()) held.tend([...known.users.values()].includes(true));
    }
    for (const { held } of this.#entries.values()) held.close();
  }

  #use(reference: ConfigReference, { uid, isShown }: { readonly uid: string; readonly isShown: boolean }): Entry {
    const entry = this.#entries.get(keyOf(reference)) ?? this.#begin(reference);
    const { users } = entry.known;
    const isNew = !users.has(uid);
    users.set(uid, isShown || users.get(uid) === true);
    if (isNew) {
      this.#pods.get(uid)?.add(entry);
      entry.held.renew();
      this.#keep(entry.known);
    }
    return entry;
  }

  #begin(reference: ConfigReference): Entry {
    const step = { state: 'reading' } as const;
    const lacking = lackingOf({ step, object: undefined }, this.#parts.clock.now());
    const known: Known = { reference, users: new Map(), object: undefined, step, lacking, isAwaited: false };
    const held = this.#parts.hold(reference, {
      onSeen: (object) => this.#seen(known, object),
      onStep: (step) => {
        known.step = step;
        this.#stepped(known);
      },
    });
    const entry = { known, held };
    this.#entries.set(keyOf(reference), entry);
    return entry;
  }

  #stepped(known: Known): void {
    known.lacking = lackingOf(known, this.#parts.clock.now());
    this.#news.stepped(known.reference.kind);
  }

  #end({ held, known: { reference } }: Entry): void {
    held.close();
    this.#entries.delete(keyOf(reference));
    this.#parts.kept?.forget(reference);
    this.#news.stepped(reference.kind);
  }

  #seen(known: Known, object: ConfigObject | undefined): void {
    const before = known.object;
    known.object = object ?? null;
    const isNews = before === undefined ? known.isAwaited : versionOf(before) !== versionOf(object);
    if (object !== undefined) known.isAwaited = false;
    if (object === undefined) this.#parts.kept?.forget(known.reference);
    else this.#keep(known);
    this.#stepped(known);
    if (isNews) this.#news.changed(known.users.keys());
  }

  #keep({ object, users }: Known): void {
    if (object) this.#parts.kept?.keep({ object, uids: [...users.keys()] });
  }

  #stepsOf(kind: ConfigKind): Known[] {
    return [...this.#entries.values()].flatMap(({ known }) => (known.reference.kind === kind ? [known] : []));
  }
}

const keyOf = ({ kind, namespace, name }: ConfigReference): string => `${kind}/${namespace}/${name}`;

const versionOf = (object: ConfigObject | null | undefined): string =>
  object ? `${object.uid}/${object.resourceVersion}` : '';
