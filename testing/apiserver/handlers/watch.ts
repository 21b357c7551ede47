/** Watches (`apiserver/pkg/storage/cacher`). */
import { decode } from '../decode/decode.ts';
import { expired, Failure, type FailureStatus } from '../failures/failures.ts';
import type { JsonObject } from '../json.ts';
import { type ListOptions, listOptions } from '../options/listOptions.ts';
import { groupVersion, storedAs } from '../resources/resource.ts';
import { selectorOf } from '../selection/selector.ts';
import { withMetadata } from '../store/metadata.ts';
import type { Change } from '../store/store.ts';
import { watchEvent } from '../store/watchEvent.ts';
import type { Call } from './call.ts';
import { isInTarget } from './read.ts';

type SentEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: JsonObject }
  | { readonly type: 'ERROR'; readonly status: FailureStatus };

/** Sends events until the watch calls `end` or the returned function is called. */
export type Watch = (send: (event: SentEvent) => void, end: () => void) => () => void;

const SECOND_MS = 1000;
/** The default timeout of a watch in milliseconds. It is the minimum of the kube-apiserver's range. */
const DEFAULT_TIMEOUT_MS = 1_800_000;
/** Time between the last bookmark and the end of a watch, in milliseconds. */
const BOOKMARK_BEFORE_MS = 2000;
const INITIAL_EVENTS_END = { 'k8s.io/initial-events-end': 'true' };

export function watch(call: Call): Watch {
  const options = listOptions(call.query);
  const selects = selectorOf(options, call.strategy);
  const version = versionOf(options.resourceVersion);
  const isSelected = (object: JsonObject) => isInTarget(call, object) && selects(object);
  return (send, end) => new WatchHandler(call, options, isSelected).start(version, send, end);
}

function versionOf(text: string): number {
  if (text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const why = `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw new Failure(500, '', `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${why}`);
}

/** Returns an empty object of a kind, as Go writes it. */
function emptyOf({ target: { resource }, types }: Call): JsonObject {
  const type = types.kind(resource.group, resource.version, resource.kind);
  return type === undefined ? {} : decode({}, type).object;
}

class WatchHandler {
  readonly #call: Call;
  readonly #options: ListOptions;
  readonly #isSelected: (object: JsonObject) => boolean;

  constructor(call: Call, options: ListOptions, isSelected: (object: JsonObject) => boolean) {
    this.#call = call;
    this.#options = options;
    this.#isSelected = isSelected;
  }

  start(version: number, send: (event: SentEvent) => void, end: () => void): () => void {
    const { store, clock } = this.#call.registry;
    const missed = this.#initialEvents(version);
    if (missed === undefined) {
      send({ type: 'ERROR', status: expired('The resourceVersion for the provided watch is too old.').status });
      end();
      return () => undefined;
    }
    for (const event of missed) send(event);
    const stop = store.watch(storedAs(this.#call.target.resource), (change) => {
      const event = change.revision > version ? this.#eventOf(change) : undefined;
      if (event !== undefined) send(event);
    });
    const lasts =
      this.#options.timeoutSeconds === undefined ? DEFAULT_TIMEOUT_MS : this.#options.timeoutSeconds * SECOND_MS;
    const timers = [
      clock.setTimeout(end, lasts),
      clock.setTimeout(
        () => {
          // The first bookmark of a watch from version 0 marks the end of its initial events.
          const isFirst = version === 0 && this.#options.sendsInitialEvents === undefined;
          if (this.#options.allowsBookmarks) send(this.#bookmark(isFirst ? INITIAL_EVENTS_END : undefined));
        },
        Math.max(0, lasts - BOOKMARK_BEFORE_MS),
      ),
    ];
    return () => {
      stop();
      for (const timer of timers) clock.clearTimeout(timer);
    };
  }

  /** Returns the initial events of a watch, or undefined if they have been compacted. */
  #initialEvents(version: number): SentEvent[] | undefined {
    const { store } = this.#call.registry;
    const resource = storedAs(this.#call.target.resource);
    const { sendsInitialEvents, allowsBookmarks } = this.#options;
    if (sendsInitialEvents ?? version === 0) {
      const there = store.list(resource).map(([, object]) => object);
      const added = there.filter(this.#isSelected).map((object) => ({ type: 'ADDED' as const, object }));
      return sendsInitialEvents && allowsBookmarks ? [...added, this.#bookmark(INITIAL_EVENTS_END)] : added;
    }
    if (version === 0) return [];
    return store.changesSince(resource, version)?.flatMap((change) => this.#eventOf(change) ?? []);
  }

  #eventOf(change: Change): SentEvent | undefined {
    return watchEvent(change, this.#isSelected);
  }

  #bookmark(annotations?: Readonly<Record<string, string>>): SentEvent {
    const { resource } = this.#call.target;
    const empty = { kind: resource.kind, apiVersion: groupVersion(resource), ...emptyOf(this.#call) };
    const object = withMetadata(empty, {
      resourceVersion: String(this.#call.registry.store.revision),
      ...(annotations === undefined ? {} : { annotations }),
    });
    return { type: 'BOOKMARK', object };
  }
}
