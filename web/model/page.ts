/**
 * Creates the signals for the state that all panels share, i.e. the selection, the time, the connection and the data of
 * the node.
 */
import { computed, signal } from '@preact/signals';
import type { ActorDetail, ActorHistory, Rail, ShownActor, ShownPod, Snapshot } from '../../inspect/protocol.ts';
import { createKeys } from './navigation/keys.ts';
import type { PageLocation } from './navigation/pageLocation.ts';
import type { ServerClient } from './server/serverClient.ts';
import { type World, worldOf } from './server/world.ts';

/** State of the connection to the server. */
type Connection =
  | { readonly kind: 'live' }
  /** The page shows a recording, which receives no updates. */
  | { readonly kind: 'still' }
  | { readonly kind: 'lost'; readonly since: number; readonly retryAt: number };

/** A past snapshot that is being loaded or could not be loaded. */
type PendingSnapshot =
  | { readonly kind: 'asked'; readonly at: number; readonly since: number }
  | { readonly kind: 'failed'; readonly at: number; readonly message: string };

/** The last known state of the selected actor, which may be missing from the displayed snapshot. */
export interface LastKnownActor {
  readonly actor: ShownActor;
  /** The actor's pod. Undefined for the node's own actors. */
  readonly pod?: ShownPod;
  readonly at: number;
}

/** The browser's history of URLs. */
interface PageHistory {
  push(url: string): void;
  replace(url: string): void;
}

/** Used if the page has no browser history. */
const NO_HISTORY: PageHistory = { push: () => {}, replace: () => {} };

interface PageOptions {
  readonly initialSnapshot: Snapshot;
  readonly location: PageLocation;
  readonly client: ServerClient;
  readonly now: () => number;
  readonly history?: PageHistory;
}

/**
 * Expected maximum latency of a frame, in milliseconds. A larger change in the measured clock offset means that one of
 * the clocks has been adjusted.
 */
const MAX_FRAME_LATENCY_MS = 500;

/** Creates the clocks of the browser and of the node, which may not be in sync. */
function createClocks({ at, mode }: Snapshot, now: () => number) {
  /** The browser's clock, updated every second. All countdowns share its timer. */
  const browserTime = signal(now());
  /**
   * Difference between the node's clock and the browser's clock. 0 for a recording, whose timestamps cannot be compared
   * with the browser's clock.
   */
  const offsetMs = signal(mode === 'live' ? at - browserTime.peek() : 0);
  return {
    browserTime,
    /** The node's current time, updated every second, even if no frames arrive or a past time is displayed. */
    nodeTime: computed(() => browserTime.value + offsetMs.value),
    /** Updates the offset from a timestamp that the node has just sent. */
    syncClock(nodeTimestamp: number): void {
      const measuredOffset = nodeTimestamp - now();
      // Ignore small differences, which are due to varying latency and would cause all times to jitter.
      if (Math.abs(measuredOffset - offsetMs.peek()) > MAX_FRAME_LATENCY_MS) offsetMs.value = measuredOffset;
    },
  };
}

/**
 * Rounds down to whole seconds, like the displayed clocks. Otherwise a countdown and the displayed deadline would not
 * add up.
 */
const floorToSecond = (at: number): number => Math.floor(at / 1_000) * 1_000;

/** Creates the signals for the displayed time, which is live, past or frozen. */
function createTimeSignals(initialSnapshot: Snapshot, now: () => number) {
  const world = worldOf(initialSnapshot);
  /** The latest state that the node has sent. */
  const live = signal<World>(world);
  /** The displayed past snapshot. Undefined in the live view. */
  const past = signal<World | undefined>(initialSnapshot.mode === 'live' ? undefined : world);
  /** The state that is displayed while the view is frozen. Pressing Space freezes or unfreezes the view. */
  const frozen = signal<World | undefined>(undefined);
  const clock = createClocks(initialSnapshot, now);
  const connection = signal<Connection>(initialSnapshot.mode === 'file' ? { kind: 'still' } : { kind: 'live' });
  return {
    live,
    past,
    frozen,
    connection,
    ...clock,
    /** The snapshot that all panels show. */
    world: computed(() => past.value ?? frozen.value ?? live.value),
    /**
     * Reference time for ages and countdowns, updated every second. It does not advance while the connection is lost.
     */
    now: computed(() => {
      const frozenWorld = past.value ?? frozen.value;
      if (frozenWorld || connection.value.kind === 'lost') return (frozenWorld ?? live.value).at;
      return floorToSecond(clock.nodeTime.value);
    }),
    /**
     * The past snapshot that is being loaded, or the failure to load it. Undefined once the requested snapshot is
     * displayed.
     */
    pendingSnapshot: signal<PendingSnapshot | undefined>(undefined),
    /** Whether the user is scrubbing the timeline. Meanwhile, only the tree and the chart are updated. */
    isDragging: signal(false),
    /** Number of inputs received since the view was frozen. Lines that the server has omitted count as inputs. */
    eventsSinceFreeze: signal(0),
    recordedRange: signal(initialSnapshot.recorded),
    rail: signal<Rail | undefined>(undefined),
  };
}

/** Creates the state of the page. Panels read its signals, and `actions.ts` changes several of them at once. */
export function createPage({ initialSnapshot, location, client, now, history = NO_HISTORY }: PageOptions) {
  return {
    client,
    history,
    readNow: now,
    mode: initialSnapshot.mode,
    location: signal(location),
    ...createTimeSignals(initialSnapshot, now),
    /** Path of the selected actor, derived from the location. Undefined if no actor is selected. */
    selectedPath: signal<string | undefined>(undefined),
    lastKnown: signal<LastKnownActor | undefined>(undefined),
    /** Details of the selected actor or, until they have been loaded, possibly those of the previous actor. */
    detail: signal<ActorDetail | undefined>(undefined),
    /** Failure to load the details of an actor. */
    detailError: signal<{ readonly path: string; readonly message: string } | undefined>(undefined),
    /** History of the selected actor or, until it has been loaded, possibly that of the previous actor. */
    actorHistory: signal<ActorHistory | undefined>(undefined),
    /** Failure to load the history of an actor. */
    historyError: signal<{ readonly path: string; readonly message: string } | undefined>(undefined),
    /** Number of times that the user has clicked Retry. */
    detailRetries: signal(0),
    keys: createKeys(),
  };
}

export type Page = ReturnType<typeof createPage>;
