/** Replays a recording in a new agent. The same machines run, but all their inputs come from the recording. */

import { fromCallback, fromPromise } from 'xstate';
import { yieldToEventLoop as nextTurnOfHost } from '../../base/async/yieldToEventLoop.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { NodeInput } from '../../machines/node/context.ts';
import type { FeedLogic, Port, PortName, TimerLogic } from '../../machines/shared/ports.ts';
import { actorPath } from '../../machines/shared/views/actorRefs.ts';
import type { Boundary, FactReceiver, RecordedInput } from '../boundary.ts';
import { createAgent, type Keyframe, type NodeAgent } from '../node/nodeAgent.ts';
import type { NodeParts } from '../node/nodeParts.ts';
import { checkReplay } from './checkReplay.ts';

export interface Replay {
  /**
   * The replayed agent, which `playEntries` starts. Its statuses, views and explanations reflect the current time of
   * the replay.
   */
  readonly agent: NodeAgent;
  /**
   * Plays the entries in order, each at its recorded time. Resolves with the entries for which no actor was waiting. If
   * the recording was made with the same machines, there are none. An actor whose wait ended at the time of the entry
   * still counts as waiting.
   */
  readonly playEntries: () => Promise<readonly RecordedInput[]>;
  /**
   * Plays one more entry after the agent was started. Resolves to whether an actor was waiting for the entry, or
   * stopped waiting at the entry's own time.
   */
  readonly enterEntry: (entry: RecordedInput) => Promise<boolean>;
  /** Advances the current time, from which ages and waits are computed. `at` is in milliseconds since the epoch. */
  readonly advanceTime: (at: number) => void;
}

/**
 * Creates an agent with the initial input of the recorded agent, or with the state of its keyframe `from`. All later
 * inputs come from `entries`. With a keyframe, they must have been recorded after it. Throws a `TypeError` if the
 * arguments are not a recording.
 */
export function createReplay(
  input: NodeInput,
  entries: readonly RecordedInput[],
  options: Pick<NodeParts, 'inspect' | 'events' | 'onStateChange' | 'nextTurn'> & {
    readonly from?: Keyframe;
    readonly at?: number;
  } = {},
): Replay {
  checkReplay({ input, entries, options });
  const { from, at, nextTurn = nextTurnOfHost, ...observers } = options;
  const pendingWaits = new PendingWaits();
  let now = from?.at ?? at ?? entries[0]?.at ?? 0;
  const clock: Clock = { now: () => now, monotonic: () => now, setTimeout: () => undefined, clearTimeout: () => {} };
  const agent = createAgent(createReplayBoundary(pendingWaits, clock), withUnlimited(input), {
    ...observers,
    from,
    clock,
    onError: () => {},
  });
  let isFirstEntry = true;
  const enterEntry = async (entry: RecordedInput) => {
    // Let the agent compute its initial statuses first, because they must not reflect the first entry.
    if (isFirstEntry) await nextTurn();
    isFirstEntry = false;
    now = entry.at;
    const receiveEntry = pendingWaits.receiverAt(entry);
    if (receiveEntry) receiveEntry(entry);
    else if (entry.actor === ROOT_PATH) agent.send(entry.value as Parameters<NodeAgent['send']>[0]);
    // Wait until all consequences of the entry have taken effect.
    await nextTurn();
    return receiveEntry !== undefined || entry.actor === ROOT_PATH || pendingWaits.hasJustFinished(entry);
  };
  const playEntries = async () => {
    const unexpectedEntries: RecordedInput[] = [];
    agent.start();
    for (const entry of entries) if (!(await enterEntry(entry))) unexpectedEntries.push(entry);
    return unexpectedEntries;
  };
  const advanceTime = (at: number) => {
    now = at;
  };
  return { agent, playEntries, enterEntry, advanceTime };
}

/** Restores infinite numbers, which JSON represents as null. */
function withUnlimited(input: NodeInput): NodeInput {
  const restoreUnlimited = (number: number | null) => number ?? Number.POSITIVE_INFINITY;
  const { pullSlots, garbage } = input;
  return {
    ...input,
    pullSlots: restoreUnlimited(pullSlots),
    ...(garbage && {
      garbage: {
        ...garbage,
        perContainer: restoreUnlimited(garbage.perContainer),
        total: restoreUnlimited(garbage.total),
      },
    }),
  };
}

/** The path of the root actor, which receives facts that do not come from a feed. */
const ROOT_PATH = '';

type EntryReceiver = (entry: RecordedInput) => void;

/** The actors that wait for recorded entries, keyed by path. */
class PendingWaits {
  readonly #receiversByPath = new Map<string, EntryReceiver>();
  /**
   * Paths of the actors that stopped waiting at the current time. An entry for such an actor at this time is expected,
   * because the live agent had already recorded it when the actor stopped waiting.
   */
  readonly #finishedPaths = new Set<string>();
  #currentTime = Number.NaN;

  /** Advances to the time of an entry and returns its receiver. */
  receiverAt({ at, actor }: RecordedInput): EntryReceiver | undefined {
    if (at !== this.#currentTime) this.#finishedPaths.clear();
    this.#currentTime = at;
    return this.#receiversByPath.get(actor);
  }

  hasJustFinished = ({ actor }: RecordedInput): boolean => this.#finishedPaths.has(actor);

  /** Registers a receiver. The returned function removes it. */
  addReceiver = (path: string, receive: EntryReceiver): (() => void) => {
    this.#receiversByPath.set(path, receive);
    return () => {
      if (this.#receiversByPath.get(path) !== receive) return;
      this.#receiversByPath.delete(path);
      this.#finishedPaths.add(path);
    };
  };
}

function createReplayBoundary({ addReceiver }: PendingWaits, { now }: Clock): Boundary {
  return {
    now,
    // Each entry is played only after all consequences of the previous one have taken effect.
    isSettled: () => true,
    // Redaction is unnecessary, because recordings contain no secrets.
    redact: (value) => value,
    redactor: () => (value) => value,
    port: <K extends PortName>() =>
      fromPromise<unknown>(
        ({ self, signal }) =>
          new Promise((resolve, reject) => {
            const removeReceiver = addReceiver(actorPath(self).join('/'), ({ kind, value }) => {
              removeReceiver();
              if (kind === 'answer') resolve(value);
              else reject(value);
            });
            signal.addEventListener('abort', removeReceiver, { once: true });
          }),
        // Safe cast: the recorded values of a port are its responses.
      ) as unknown as Port<K>,
    feed: () => replayedEvents(addReceiver),
    timer: replayedEvents(addReceiver),
    deliver: (to: FactReceiver, fact) => to.send(fact),
    delay: (path, _ms, act) => {
      const removeReceiver = addReceiver(path, () => {
        removeReceiver();
        act();
      });
      return removeReceiver;
    },
  };
}

/** Returns the logic of a feed or timer that sends the recorded events. */
function replayedEvents(addReceiver: PendingWaits['addReceiver']): FeedLogic & TimerLogic {
  return fromCallback(({ self, sendBack }) =>
    addReceiver(actorPath(self).join('/'), ({ value }) => sendBack(value as { type: string })),
  ) as unknown as FeedLogic & TimerLogic;
}
