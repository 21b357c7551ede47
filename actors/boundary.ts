/**
 * The one place through which everything enters the actors: facts from feeds, answers of ports, elapsed timers. Each is
 * a plain, serialisable value that is stamped, can be written down, and can be fed again instead of the world.
 */
import { type AnyActorRef, fromCallback, fromPromise } from 'xstate';
import type { Clock } from '../base/clock.ts';
import { ClockJumps } from '../base/clockJumps.ts';
import { toFailure } from '../base/failure.ts';
import { pathOf } from '../machines/shared/actorRefs.ts';
import type { FeedName, NodeFact } from '../machines/shared/events.ts';
import type { FeedLogic, Port, PortName, PortTypes, Provider, TimerLogic } from '../machines/shared/ports.ts';
import type { TimerInput } from '../machines/shared/timerInput.ts';
import { type Asked, aboutOf } from './asked.ts';
import { guarded } from './guarded.ts';
import type { AnswerListener, PortAnswer } from './portAnswer.ts';
import { createRedaction, type Redaction } from './replay/redaction.ts';

/** One thing that entered: who it is for, when, and what. */
export interface Entry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The path of ids of the actor that it enters: `pod/<uid>/container/web/0.container.creating`. */
  readonly actor: string;
  readonly kind: 'answer' | 'failure' | 'fact' | 'elapsed';
  /** The port or feed that it comes from. */
  readonly source: string;
  readonly value: unknown;
}

export type Recorder = (entry: Entry) => void;

/** Told of what goes out through the ports. */
export type CallListener = (call: Asked) => void;

/** Fills a port: what it does with its input until the signal aborts. It rejects with a `NodeFailure`. */
export type Service<K extends PortName> = (
  input: PortTypes[K]['input'],
  options: { readonly signal: AbortSignal },
) => Promise<PortTypes[K]['output']>;

export type Services = { readonly [K in PortName]: Service<K> };

/** A feed: sends facts in until the signal aborts. One that returns a promise has ended when that settles. */
export type Feed = (send: (fact: NodeFact) => void, options: { readonly signal: AbortSignal }) => void | Promise<void>;

/** What a node agent lives off: who answers its ports, and who brings it facts. */
export interface World {
  readonly ports: Services;
  readonly feeds: { readonly [K in FeedName]: Feed };
}

export interface Boundary extends Provider {
  /** When the last thing entered, in milliseconds since the epoch: what follows from it is dated by it, live and replayed. */
  readonly now: () => number;
  /** Whether all that has entered has also taken effect. */
  readonly isSettled: () => boolean;
  /** What may leave the agent of a value. */
  readonly redact: Redaction['redact'];
  readonly redactor: Redaction['redactor'];
  /** Lets a fact in that no feed brings. */
  tell(to: FactTaker, fact: NodeFact): void;
  /**
   * Calls `act` after a delay, as an entry under a path of ids, so that a replay calls it at the same point. Returns a
   * function that cancels the call.
   */
  delay(path: string, ms: number, act: () => void): () => void;
}

/** The root of the actors. */
export type FactTaker = AnyActorRef & { send(fact: NodeFact): void };

export interface BoundaryOptions {
  readonly clock: Clock;
  readonly record?: Recorder | undefined;
  readonly calls?: CallListener | undefined;
  readonly answers?: AnswerListener | undefined;
  /** Learns of what the feeds bring; absent: one of its own. */
  readonly redaction?: Redaction | undefined;
  /** Told of what a service threw, with its cause, before it becomes a plain failure. */
  readonly onError: (source: string, error: unknown) => void;
}

const elapsedOf = (input: TimerInput) => ({
  type: 'timer.elapsed',
  ...('after' in input && input.wait !== undefined ? { wait: input.wait } : {}),
});

/**
 * Makes the actor logic of ports, feeds and timers, each of which stamps and records what it lets in. Whatever its kind,
 * it takes effect one microtask after it was recorded: so the order of the recording is the order of the effects. Answers and
 * elapsed timers wait, before they are recorded, for a later turn of the event loop if many of them come at once.
 */
export function createBoundary({ ports, feeds }: World, options: BoundaryOptions): Boundary {
  const { clock, record, calls, answers, redaction = createRedaction(), onError } = options;
  const { learn, redact, redactor } = redaction;
  // Whoever writes down must not change what happens.
  const write = record && guarded('recorder', record, onError);
  const tellCall = calls && callTeller(guarded('recorder', calls, onError), clock);
  const tellAnswer = answers && guarded('metrics', answers, onError);
  let latest = clock.now();
  let underWay = 0;
  const takenEffect = () => {
    underWay -= 1;
  };
  let enteredAt = latest;
  const enter: Enter = (who, kind, source, value) => {
    // What takes effect together has one moment: what is computed of it once live, a replay computes of each.
    if (underWay === 0) enteredAt = clock.now();
    const at = enteredAt;
    const actor = () => (typeof who === 'string' ? who : pathOf(who).join('/'));
    write?.({ at, actor: actor(), kind, source, value: redact(value) });
    underWay += 1;
    queueMicrotask(() => {
      // What came before it has taken effect, and its own effect comes next.
      latest = at;
      queueMicrotask(takenEffect);
    });
  };

  return {
    now: () => latest,
    isSettled: () => underWay === 0,
    redact,
    redactor,
    port: (name) => portLogic(name, ports[name], { clock, enter, tellCall, tellAnswer, onError }),
    feed: (name) => feedLogic(name, feeds[name], { clock, learn, enter, onError }),
    timer: timerLogic(clock, enter),
    tell: (to, fact) => {
      learn(fact);
      enter(to, 'fact', 'outside', fact);
      queueMicrotask(() => to.send(fact));
    },
    delay: (path, ms, act) => {
      let isCancelled = false;
      const elapse = () => {
        if (isCancelled) return;
        enter(path, 'elapsed', 'timer', { type: 'timer.elapsed' });
        queueMicrotask(() => {
          if (!isCancelled) act();
        });
      };
      const id = clock.setTimeout(() => inTurn(clock, elapse), ms);
      return () => {
        isCancelled = true;
        clock.clearTimeout(id);
      };
    },
  };
}

/** `who` is the actor that the value enters, or the path of one that is no actor of xstate. */
type Enter = (who: AnyActorRef | string, kind: Entry['kind'], source: string, value: unknown) => void;

/** How often to look what the clock is set to: as often as a kubelet does. */
const LOOK_MS = 1_000;

/** How long to wait before the next look whether the wait is over: but for what the clock is to show, until it is. */
function nextLook(input: TimerInput, clock: Clock): number {
  if ('after' in input) return input.after;
  if ('shown' in input) return Math.min(input.shown - clock.now(), LOOK_MS);
  if ('due' in input) return input.due - clock.now();
  return Math.min(input.until - clock.now(), input.within ?? Infinity);
}

/** Calls a function at once, or as soon as the event loop has served others. */
function inTurn({ turns }: Clock, act: () => void): void {
  const turn = turns?.next();
  if (turn === undefined) act();
  else void turn.then(act);
}

const timerLogic = (clock: Clock, enter: Enter): TimerLogic => {
  const jumps = new ClockJumps(clock);
  return fromCallback<{ type: 'timer.never' }, TimerInput>(({ input, sendBack, self }) => {
    let id: unknown;
    const wait = () => {
      clock.clearTimeout(id);
      id = clock.setTimeout(elapse, Math.max(0, nextLook(input, clock)));
    };
    let isOver = false;
    const elapse = () => {
      if ('shown' in input && clock.now() < input.shown) return wait();
      inTurn(clock, () => {
        if (!isOver) enterElapsed();
      });
    };
    const enterElapsed = () => {
      end();
      const elapsed = elapsedOf(input);
      enter(self, 'elapsed', 'timer', elapsed);
      queueMicrotask(() => sendBack(elapsed));
    };
    const unheard = 'due' in input ? jumps.listen((by) => (by < 0 ? elapse() : wait())) : () => {};
    const end = () => {
      isOver = true;
      clock.clearTimeout(id);
      unheard();
    };
    wait();
    return end;
  });
};

interface FeedParts extends Pick<BoundaryOptions, 'clock' | 'onError'>, Pick<Redaction, 'learn'> {
  readonly enter: Enter;
}

const feedLogic = (name: FeedName, feed: Feed, { clock, learn, enter, onError }: FeedParts): FeedLogic =>
  fromCallback(({ sendBack, self }) => {
    const ending = new AbortController();
    const send = (fact: NodeFact) => {
      if (ending.signal.aborted) return;
      learn(fact);
      enter(self, 'fact', name, fact);
      queueMicrotask(() => sendBack(fact));
    };
    follow(feed, name, { send, signal: ending.signal, clock, onError });
    return () => ending.abort();
  });

interface Following {
  readonly send: (fact: NodeFact) => void;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly onError: BoundaryOptions['onError'];
}

/** Lets a feed run, and tells when it has ended before it was stopped. */
async function follow(feed: Feed, name: FeedName, { send, signal, clock, onError }: Following): Promise<void> {
  try {
    const following = feed(send, { signal });
    if (following === undefined) return;
    await following;
    send({ type: 'feed.ended', feed: name, at: clock.now() });
  } catch (error) {
    onError(name, error);
    const at = clock.now();
    send({ type: 'feed.ended', feed: name, failure: toFailure(error, at), at });
  }
}

/** Tells that a call goes out; the function that it gives is to be called with the answer. */
type TellCall = (
  port: PortName,
  about: string,
  caller: { readonly self: AnyActorRef; readonly signal: AbortSignal },
) => () => void;

const callTeller =
  (tell: CallListener, clock: Clock): TellCall =>
  (port, about, { self, signal }) => {
    const actor = pathOf(self).join('/');
    tell({ at: clock.now(), actor, port, about });
    const giveUp = () => tell({ at: clock.now(), actor, port, isGivenUp: true });
    signal.addEventListener('abort', giveUp, { once: true });
    return () => signal.removeEventListener('abort', giveUp);
  };

interface PortParts extends Pick<BoundaryOptions, 'clock' | 'onError'> {
  readonly enter: Enter;
  readonly tellCall: TellCall | undefined;
  readonly tellAnswer: ((answer: PortAnswer) => void) | undefined;
}

function portLogic<K extends PortName>(
  name: K,
  service: Service<K>,
  { clock, enter, tellCall, tellAnswer, onError }: PortParts,
): Port<K> {
  const logic = fromPromise<PortTypes[K]['output'], PortTypes[K]['input']>(async ({ input, self, signal }) => {
    const answered = tellCall?.(name, aboutOf(name, input), { self, signal });
    const begunAt = tellAnswer && clock.monotonic();
    const tell = (came: Pick<PortAnswer, 'output' | 'failure'>) => {
      if (begunAt === undefined) return;
      // The port, what it was asked and what it answered are of one another.
      tellAnswer?.({ port: name, input, ms: clock.monotonic() - begunAt, ...came } as PortAnswer);
    };
    try {
      const output = await service(input, { signal });
      const turn = clock.turns?.next();
      if (turn !== undefined) await turn;
      if (!signal.aborted) {
        tell({ output });
        enter(self, 'answer', name, output);
      }
      return output;
    } catch (error) {
      const turn = clock.turns?.next();
      if (turn !== undefined) await turn;
      const failure = toFailure(error, clock.now());
      if (!signal.aborted) {
        onError(name, error);
        tell({ failure });
        enter(self, 'failure', name, failure);
      }
      throw failure;
    } finally {
      answered?.();
    }
  });
  // The two types differ only in how xstate spells "any JSON".
  return logic as unknown as Port<K>;
}
