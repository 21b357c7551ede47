/**
 * Creates the recording boundary. All inputs of the actors pass through it: facts from feeds, port responses and
 * elapsed timers. Each input is a plain, serializable value with a timestamp, so it can be recorded and replayed.
 */
import { type AnyActorRef, fromCallback, fromPromise } from 'xstate';
import { toFailure } from '../base/failure.ts';
import type { Clock } from '../base/time/clock.ts';
import { ClockJumps } from '../base/time/clockJumps.ts';
import type { FeedName, NodeFact } from '../machines/shared/events/events.ts';
import type { FeedLogic, Port, PortName, PortTypes, Provider, TimerLogic } from '../machines/shared/ports.ts';
import { actorPath } from '../machines/shared/views/actorRefs.ts';
import type { TimerInput } from '../machines/shared/waiting/timerInput.ts';
import { describeCall, type PortCall } from './portCall.ts';
import type { OutcomeListener, PortOutcome } from './portOutcome.ts';
import { createRedaction, type Redaction } from './replay/redaction.ts';
import { withErrorHandler } from './withErrorHandler.ts';

export interface RecordedInput {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Path of the receiving actor, e.g. `pod/<uid>/container/web/0.container.creating`. */
  readonly actor: string;
  readonly kind: 'answer' | 'failure' | 'fact' | 'elapsed';
  /** The port or feed that sent the value. */
  readonly source: string;
  readonly value: unknown;
}

export type InputRecorder = (entry: RecordedInput) => void;

/** Called when a port call starts, and again if the call is cancelled. */
export type CallListener = (call: PortCall) => void;

/** Implements a port. Must stop when the signal aborts, and must report a failure by rejecting with a `NodeFailure`. */
export type PortService<K extends PortName> = (
  input: PortTypes[K]['input'],
  options: { readonly signal: AbortSignal },
) => Promise<PortTypes[K]['output']>;

export type PortServices = { readonly [K in PortName]: PortService<K> };

/** Sends facts until the signal aborts. If the feed returns a promise, the feed ends when the promise settles. */
export type FactFeed = (
  send: (fact: NodeFact) => void,
  options: { readonly signal: AbortSignal },
) => void | Promise<void>;

/** The environment of a node agent: the implementations of its ports and feeds. */
export interface NodeEnvironment {
  readonly ports: PortServices;
  readonly feeds: { readonly [K in FeedName]: FactFeed };
}

export interface Boundary extends Provider {
  /**
   * Time of the last input, in milliseconds since the epoch. Results of that input carry this timestamp, so a replay
   * computes the same values.
   */
  readonly now: () => number;
  /** Whether every recorded input has taken effect. */
  readonly isSettled: () => boolean;
  /** Returns the given value with its secrets redacted, because they must not leave the agent. */
  readonly redact: Redaction['redact'];
  readonly redactor: Redaction['redactor'];
  /** Sends a fact that does not come from a feed. */
  deliver(to: FactReceiver, fact: NodeFact): void;
  /**
   * Calls `act` after a delay. The end of the delay is recorded under `path`, so a replay calls `act` at the same
   * point. Returns a function that cancels the call.
   */
  delay(path: string, ms: number, act: () => void): () => void;
}

/** The root actor, which receives facts. */
export type FactReceiver = AnyActorRef & { send(fact: NodeFact): void };

export interface BoundaryOptions {
  readonly clock: Clock;
  readonly onInput?: InputRecorder | undefined;
  readonly onPortCall?: CallListener | undefined;
  readonly onPortOutcome?: OutcomeListener | undefined;
  /** Redacts the secrets in the facts from feeds. Defaults to a new redaction. */
  readonly redaction?: Redaction | undefined;
  /** Called with the original error of a service or feed, before the error is converted to a plain failure. */
  readonly onError: (source: string, error: unknown) => void;
}

const createElapsedEvent = (input: TimerInput) => ({
  type: 'timer.elapsed',
  ...('after' in input && input.wait !== undefined ? { wait: input.wait } : {}),
});

/**
 * Creates the actor logic of ports, feeds and timers. Each input receives a timestamp, is recorded, and takes effect
 * one microtask later, so effects happen in the recorded order. Facts, port responses and elapsed timers may be
 * deferred to a later turn of the event loop before they are recorded, so that a burst does not block it.
 */
export function createBoundary({ ports, feeds }: NodeEnvironment, options: BoundaryOptions): Boundary {
  const { clock, onInput, onPortCall, onPortOutcome, redaction = createRedaction(), onError } = options;
  const { learn, redact, redactor } = redaction;
  // Errors thrown by observers must not affect the actors.
  const recordInput = onInput && withErrorHandler('recorder', onInput, onError);
  const reportCall = onPortCall && createCallReporter(withErrorHandler('recorder', onPortCall, onError), clock);
  const reportOutcome = onPortOutcome && withErrorHandler('metrics', onPortOutcome, onError);
  let currentTime = clock.now();
  let pendingCount = 0;
  const onSettled = () => {
    pendingCount -= 1;
  };
  let inputTime = currentTime;
  const enterInput: EnterInput = (receiver, kind, source, value) => {
    // Inputs that take effect together share a timestamp. A live node computes one result for all of them, whereas a
    // replay computes a result after each input. The results are equal only if the timestamps are.
    if (pendingCount === 0) inputTime = clock.now();
    const at = inputTime;
    const actor = () => (typeof receiver === 'string' ? receiver : actorPath(receiver).join('/'));
    recordInput?.({ at, actor: actor(), kind, source, value: redact(value) });
    pendingCount += 1;
    queueMicrotask(() => {
      // All earlier inputs have taken effect by now. This input takes effect next, so its results must carry its time.
      currentTime = at;
      queueMicrotask(onSettled);
    });
  };

  return {
    now: () => currentTime,
    isSettled: () => pendingCount === 0,
    redact,
    redactor,
    port: (name) => portLogic(name, ports[name], { clock, enterInput, reportCall, reportOutcome, onError }),
    feed: (name) => createFeedLogic(name, feeds[name], { clock, learn, enterInput, onError }),
    timer: timerLogic(clock, enterInput),
    deliver: (to, fact) => {
      learn(fact);
      enterInput(to, 'fact', 'outside', fact);
      queueMicrotask(() => to.send(fact));
    },
    delay: (path, ms, act) => {
      let isCancelled = false;
      const onElapsed = () => {
        if (isCancelled) return;
        enterInput(path, 'elapsed', 'timer', { type: 'timer.elapsed' });
        queueMicrotask(() => {
          if (!isCancelled) act();
        });
      };
      const id = clock.setTimeout(() => callInFreeTurn(clock, onElapsed), ms);
      return () => {
        isCancelled = true;
        clock.clearTimeout(id);
      };
    },
  };
}

/** Records an input. `receiver` is an XState actor or, for a receiver that is not an actor, its path. */
type EnterInput = (receiver: AnyActorRef | string, kind: RecordedInput['kind'], source: string, value: unknown) => void;

/** Interval at which wall-clock timers check the clock, as in the kubelet. */
const CLOCK_POLL_MS = 1_000;

/**
 * Returns the time in milliseconds until a timer must next check whether its wait is over. Only a wait for a wall-clock
 * time needs more than one check.
 */
function nextCheckDelay(input: TimerInput, clock: Clock): number {
  if ('after' in input) return input.after;
  if ('shown' in input) return Math.min(input.shown - clock.now(), CLOCK_POLL_MS);
  if ('due' in input) return input.due - clock.now();
  return Math.min(input.until - clock.now(), input.within ?? Infinity);
}

/** Calls `act` now, or in a later turn of the event loop if the time budget of the current turn is used up. */
function callInFreeTurn({ turns }: Clock, act: () => void): void {
  const nextTurn = turns?.acquire();
  if (nextTurn === undefined) act();
  else void nextTurn.then(act);
}

const timerLogic = (clock: Clock, enter: EnterInput): TimerLogic => {
  const clockJumps = new ClockJumps(clock);
  return fromCallback<{ type: 'timer.never' }, TimerInput>(({ input, sendBack, self }) => {
    let timerId: unknown;
    const scheduleCheck = () => {
      clock.clearTimeout(timerId);
      timerId = clock.setTimeout(onElapsed, Math.max(0, nextCheckDelay(input, clock)));
    };
    let isStopped = false;
    const onElapsed = () => {
      if ('shown' in input && clock.now() < input.shown) return scheduleCheck();
      callInFreeTurn(clock, () => {
        if (!isStopped) enterElapsed();
      });
    };
    const enterElapsed = () => {
      stop();
      const elapsedEvent = createElapsedEvent(input);
      enter(self, 'elapsed', 'timer', elapsedEvent);
      queueMicrotask(() => sendBack(elapsedEvent));
    };
    const unsubscribe =
      'due' in input ? clockJumps.listen((changeMs) => (changeMs < 0 ? onElapsed() : scheduleCheck())) : () => {};
    const stop = () => {
      isStopped = true;
      clock.clearTimeout(timerId);
      unsubscribe();
    };
    scheduleCheck();
    return stop;
  });
};

interface FeedDependencies extends Pick<BoundaryOptions, 'clock' | 'onError'>, Pick<Redaction, 'learn'> {
  readonly enterInput: EnterInput;
}

const createFeedLogic = (
  name: FeedName,
  feed: FactFeed,
  { clock, learn, enterInput, onError }: FeedDependencies,
): FeedLogic =>
  fromCallback(({ sendBack, self }) => {
    const abortController = new AbortController();
    // Facts take effect in the order in which they are sent, because turns are granted in order.
    const sendFact = (fact: NodeFact) =>
      callInFreeTurn(clock, () => {
        if (abortController.signal.aborted) return;
        learn(fact);
        enterInput(self, 'fact', name, fact);
        queueMicrotask(() => sendBack(fact));
      });
    runFeed(feed, name, { sendFact, signal: abortController.signal, clock, onError });
    return () => abortController.abort();
  });

interface FeedOptions {
  readonly sendFact: (fact: NodeFact) => void;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly onError: BoundaryOptions['onError'];
}

/** Runs a feed and reports an error if the feed ends before it is stopped. */
async function runFeed(
  feed: FactFeed,
  name: FeedName,
  { sendFact, signal, clock, onError }: FeedOptions,
): Promise<void> {
  try {
    const feedPromise = feed(sendFact, { signal });
    if (feedPromise === undefined) return;
    await feedPromise;
    sendFact({ type: 'feed.ended', feed: name, at: clock.now() });
  } catch (error) {
    onError(name, error);
    const at = clock.now();
    sendFact({ type: 'feed.ended', feed: name, failure: toFailure(error, at), at });
  }
}

/** Reports an outgoing port call. The returned function must be called once the call has completed. */
type ReportCall = (
  port: PortName,
  about: string,
  caller: { readonly self: AnyActorRef; readonly signal: AbortSignal },
) => () => void;

const createCallReporter =
  (report: CallListener, clock: Clock): ReportCall =>
  (port, about, { self, signal }) => {
    const actor = actorPath(self).join('/');
    report({ at: clock.now(), actor, port, about });
    const reportCancellation = () => report({ at: clock.now(), actor, port, isGivenUp: true });
    signal.addEventListener('abort', reportCancellation, { once: true });
    return () => signal.removeEventListener('abort', reportCancellation);
  };

interface PortDependencies extends Pick<BoundaryOptions, 'clock' | 'onError'> {
  readonly enterInput: EnterInput;
  readonly reportCall: ReportCall | undefined;
  readonly reportOutcome: ((outcome: PortOutcome) => void) | undefined;
}

function portLogic<K extends PortName>(
  name: K,
  service: PortService<K>,
  { clock, enterInput, reportCall, reportOutcome, onError }: PortDependencies,
): Port<K> {
  const portLogic = fromPromise<PortTypes[K]['output'], PortTypes[K]['input']>(async ({ input, self, signal }) => {
    const finishCall = reportCall?.(name, describeCall(name, input), { self, signal });
    const startedAt = reportOutcome && clock.monotonic();
    const reportResult = (outcome: Pick<PortOutcome, 'output' | 'failure'>) => {
      if (startedAt === undefined) return;
      // Safe cast: `input` and `outcome` belong to the port `name`.
      reportOutcome?.({ port: name, input, ms: clock.monotonic() - startedAt, ...outcome } as PortOutcome);
    };
    try {
      const output = await service(input, { signal });
      const nextTurn = clock.turns?.acquire();
      if (nextTurn !== undefined) await nextTurn;
      if (!signal.aborted) {
        reportResult({ output });
        enterInput(self, 'answer', name, output);
      }
      return output;
    } catch (error) {
      const nextTurn = clock.turns?.acquire();
      if (nextTurn !== undefined) await nextTurn;
      const failure = toFailure(error, clock.now());
      if (!signal.aborted) {
        onError(name, error);
        reportResult({ failure });
        enterInput(self, 'failure', name, failure);
      }
      throw failure;
    } finally {
      finishCall?.();
    }
  });
  // Safe cast: the two types differ only in how XState declares arbitrary JSON values.
  return portLogic as unknown as Port<K>;
}
