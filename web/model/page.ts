/** Creates the state that all panels share, as signals: selection, time, connection and the data of the node. */
import { computed, signal } from '@preact/signals';
import type { ActorDetail, ActorHistory, Rail, ShownActor, ShownPod, Snapshot } from '../../inspect/protocol.ts';
import { createKeys } from './keys.ts';
import type { PageLocation } from './pageLocation.ts';
import type { ServerClient } from './server/serverClient.ts';
import { type World, worldOf } from './server/world.ts';

/** State of the connection to the server. */
type Connection =
  | { readonly kind: 'live' }
  /** A recording, which receives no updates. */
  | { readonly kind: 'still' }
  | { readonly kind: 'lost'; readonly since: number; readonly retryAt: number };

/** A past snapshot that is being loaded, or could not be loaded. */
type PendingSnapshot =
  | { readonly kind: 'asked'; readonly at: number; readonly since: number }
  | { readonly kind: 'failed'; readonly at: number; readonly message: string };

/** The last known state of the selected actor, which may be missing from the snapshot on display. */
export interface LastKnownActor {
  readonly actor: ShownActor;
  /** Pod of the actor. Undefined for an actor of the node. */
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

/** Maximum usual latency of a frame. A larger change of the offset means that one of the clocks was set. */
const MAX_FRAME_LATENCY_MS = 500;

/** Creates the clocks of the browser and of the node, which may differ. */
function createClocks({ at, mode }: Snapshot, now: () => number) {
  /** The browser's clock, updated every second. All countdowns share its timer. */
  const browserTime = signal(now());
  /** Offset of the node's clock from the browser's. 0 for a recording, because its clock cannot be compared. */
  const offsetMs = signal(mode === 'live' ? at - browserTime.peek() : 0);
  return {
    browserTime,
    /** The node's clock, updated every second, even if no frames arrive or a past time is shown. */
    nodeTime: computed(() => browserTime.value + offsetMs.value),
    /** Updates the offset from a timestamp received from the node. */
    syncClock(nodeTimestamp: number): void {
      const measuredOffset = nodeTimestamp - now();
      // Latency varies between frames, so small differences are ignored to prevent all times from jittering.
      if (Math.abs(measuredOffset - offsetMs.peek()) > MAX_FRAME_LATENCY_MS) offsetMs.value = measuredOffset;
    },
  };
}

/**
 * Rounds down to whole seconds, as displayed by the clocks. Otherwise a countdown and the displayed end time would not
 * add up.
 */
const floorToSecond = (at: number): number => Math.floor(at / 1_000) * 1_000;

/** Creates the signals that determine the time on display, which is live, past or frozen. */
function createTimeSignals(initialSnapshot: Snapshot, now: () => number) {
  const world = worldOf(initialSnapshot);
  /** The latest state received from the node. */
  const live = signal<World>(world);
  /** The past snapshot on display. Undefined in the live view. */
  const past = signal<World | undefined>(initialSnapshot.mode === 'live' ? undefined : world);
  /** The frozen view, toggled with the space key. */
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
    /** Reference time for ages and countdowns, updated every second. It stops while the connection is lost. */
    now: computed(() => {
      const frozenWorld = past.value ?? frozen.value;
      if (frozenWorld || connection.value.kind === 'lost') return (frozenWorld ?? live.value).at;
      return floorToSecond(clock.nodeTime.value);
    }),
    /**
     * The past snapshot that is being loaded, or the failure to load it. Undefined if the requested snapshot is on
     * display.
     */
    pendingSnapshot: signal<PendingSnapshot | undefined>(undefined),
    /** Whether the user drags the handle of the rail. Only the tree and the chart are updated meanwhile. */
    isDragging: signal(false),
    /** Number of lines received since the view was frozen. */
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
    /** Path of the selected actor, derived from the location. Undefined until an actor is selected. */
    selectedPath: signal<string | undefined>(undefined),
    lastKnown: signal<LastKnownActor | undefined>(undefined),
    /** Details of the selected actor. Until they arrive, this may contain the details of the previous actor. */
    detail: signal<ActorDetail | undefined>(undefined),
    /** Failure to load the details of an actor. */
    detailError: signal<{ readonly path: string; readonly message: string } | undefined>(undefined),
    /** History of the selected actor. Until it arrives, this may contain the history of the previous actor. */
    actorHistory: signal<ActorHistory | undefined>(undefined),
    /** Failure to load the history of an actor. */
    historyError: signal<{ readonly path: string; readonly message: string } | undefined>(undefined),
    /** Number of retries requested by the user. */
    detailRetries: signal(0),
    keys: createKeys(),
  };
}

export type Page = ReturnType<typeof createPage>;
