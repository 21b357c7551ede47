/** Feeds a recording to a fresh agent: the same machines, with nothing behind them but what was written down. */

import { fromCallback, fromPromise } from 'xstate';
import type { Clock } from '../../base/clock.ts';
import { nextTurn as nextTurnOfHost } from '../../base/nextTurn.ts';
import type { NodeInput } from '../../machines/node/context.ts';
import { pathOf } from '../../machines/shared/actorRefs.ts';
import type { FeedLogic, Port, PortName, TimerLogic } from '../../machines/shared/ports.ts';
import type { Boundary, Entry, FactReceiver } from '../boundary.ts';
import { createAgent, type Keyframe, type NodeAgent } from '../node/nodeAgent.ts';
import type { NodeParts } from '../node/nodeParts.ts';
import { checkReplay } from './checkReplay.ts';

export interface Replay {
  /** Started by `play`; its statuses, views and explanations are those of the moment that is played. */
  readonly agent: NodeAgent;
  /**
   * Lets the entries in, each at its time, in order. The answer is those that no actor waited for, nor had until that
   * very moment: of a recording by the same machines there are none.
   */
  readonly play: () => Promise<readonly Entry[]>;
  /** Lets one more in, once the agent has been started; whether an actor waited for it, or had until that very moment. */
  readonly enter: (entry: Entry) => Promise<boolean>;
  /** Lets time go by up to a moment (milliseconds since the epoch): ages and waits are told as they are then. */
  readonly passTo: (at: number) => void;
}

/**
 * Makes an agent that begins with what the recorded one began with, or goes on from a keyframe of it; everything else
 * that enters it is in the entries. After a keyframe these are those that had not been recorded before it. Throws a
 * `TypeError` where it is given no such recording.
 */
export function createReplay(
  input: NodeInput,
  entries: readonly Entry[],
  options: Pick<NodeParts, 'inspect' | 'events' | 'moves' | 'nextTurn'> & {
    readonly from?: Keyframe;
    readonly at?: number;
  } = {},
): Replay {
  checkReplay({ input, entries, options });
  const { from, at, nextTurn = nextTurnOfHost, ...observers } = options;
  const awaited = new Awaited();
  let now = from?.at ?? at ?? entries[0]?.at ?? 0;
  const clock: Clock = { now: () => now, monotonic: () => now, setTimeout: () => undefined, clearTimeout: () => {} };
  const agent = createAgent(recordedBoundary(awaited, clock), withUnbounded(input), {
    ...observers,
    from,
    clock,
    onError: () => {},
  });
  let isFirst = true;
  const enter = async (entry: Entry) => {
    // The statuses that follow from the start alone must not show what enters after it.
    if (isFirst) await nextTurn();
    isFirst = false;
    now = entry.at;
    const take = awaited.at(entry);
    if (take) take(entry);
    else if (entry.actor === ROOT) agent.send(entry.value as Parameters<NodeAgent['send']>[0]);
    // Everything happens that follows from it.
    await nextTurn();
    return take !== undefined || entry.actor === ROOT || awaited.hadJustEnded(entry);
  };
  const play = async () => {
    const unplaced: Entry[] = [];
    agent.start();
    for (const entry of entries) if (!(await enter(entry))) unplaced.push(entry);
    return unplaced;
  };
  const passTo = (at: number) => {
    now = at;
  };
  return { agent, play, enter, passTo };
}

/** JSON, which recordings are kept as, has null for a number without a bound. */
function withUnbounded(input: NodeInput): NodeInput {
  const orUnbounded = (number: number | null) => number ?? Number.POSITIVE_INFINITY;
  const { pullSlots, garbage } = input;
  return {
    ...input,
    pullSlots: orUnbounded(pullSlots),
    ...(garbage && {
      garbage: { perContainer: orUnbounded(garbage.perContainer), total: orUnbounded(garbage.total) },
    }),
  };
}

/** The path of the actor that facts from outside the feeds go to. */
const ROOT = '';

type Take = (entry: Entry) => void;

/** Who waits for what was recorded, by path. */
class Awaited {
  readonly #takes = new Map<string, Take>();
  /** Who has ceased to wait at the present moment: live, what came for it then had been written down already. */
  readonly #ended = new Set<string>();
  #now = Number.NaN;

  /** Who takes an entry; its moment is the present one from now on. */
  at({ at, actor }: Entry): Take | undefined {
    if (at !== this.#now) this.#ended.clear();
    this.#now = at;
    return this.#takes.get(actor);
  }

  hadJustEnded = ({ actor }: Entry): boolean => this.#ended.has(actor);

  /** The function that it gives ends the wait. */
  wait = (path: string, take: Take): (() => void) => {
    this.#takes.set(path, take);
    return () => {
      if (this.#takes.get(path) !== take) return;
      this.#takes.delete(path);
      this.#ended.add(path);
    };
  };
}

function recordedBoundary({ wait }: Awaited, { now }: Clock): Boundary {
  return {
    now,
    // Each entry has all its consequences before the next one is played.
    isSettled: () => true,
    // What is secret was not recorded.
    redact: (value) => value,
    redactor: () => (value) => value,
    port: <K extends PortName>() =>
      fromPromise<unknown>(
        ({ self, signal }) =>
          new Promise((resolve, reject) => {
            const forget = wait(pathOf(self).join('/'), ({ kind, value }) => {
              forget();
              if (kind === 'answer') resolve(value);
              else reject(value);
            });
            signal.addEventListener('abort', forget, { once: true });
          }),
        // What was recorded of a port is what that port had answered.
      ) as unknown as Port<K>,
    feed: () => fed(wait),
    timer: fed(wait),
    deliver: (to: FactReceiver, fact) => to.send(fact),
    delay: (path, _ms, act) => {
      const forget = wait(path, () => {
        forget();
        act();
      });
      return forget;
    },
  };
}

/** A feed or a timer: what was recorded of it is the event that it sent. */
function fed(wait: Awaited['wait']): FeedLogic & TimerLogic {
  return fromCallback(({ self, sendBack }) =>
    wait(pathOf(self).join('/'), ({ value }) => sendBack(value as { type: string })),
  ) as unknown as FeedLogic & TimerLogic;
}
