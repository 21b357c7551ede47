/**
 * Ports whose calls the test answers itself, synchronously and in any order. No promise stands between a call and its
 * result.
 */
import { type ActorLogic, type AnyActorRef, type AnyEventObject, fromCallback, type Snapshot } from 'xstate';
import { type Failure, type FailureReason, toFailure } from '../../base/failure.ts';
import type { FeedLogic, Port, PortName, PortTypes, Provider, TimerLogic } from '../../machines/shared/ports.ts';
import type { TimerInput } from '../../machines/shared/waiting/timerInput.ts';

/** Computes the result of a call of each port. Without it, all calls wait for the test. */
export type Answers = { readonly [K in PortName]: (input: PortTypes[K]['input']) => PortTypes[K]['output'] };

interface Call {
  readonly port: PortName;
  readonly input: unknown;
  readonly ref: AnyActorRef;
  open: boolean;
  /** The result of the call, while the response is in flight. */
  outcome?: AnyEventObject;
}

interface Wait {
  due: number;
  /** Whether the wait ends at a wall-clock time, so that setting the clock changes its duration. */
  readonly byClock: boolean;
  /** Whether the wait ends when the clock is set back. */
  readonly isOverBack?: boolean;
  readonly elapse: () => void;
}

function dueOf(input: TimerInput, now: number): Omit<Wait, 'elapse'> {
  if ('after' in input) return { due: now + input.after, byClock: false };
  if ('shown' in input) return { due: Math.max(now, input.shown), byClock: true };
  if ('due' in input) return { due: Math.max(now, input.due), byClock: true, isOverBack: true };
  return { due: Math.min(Math.max(now, input.until), now + (input.within ?? Infinity)), byClock: false };
}

/** Fake ports of some machines, and the clock of their timers. */
export class FakePorts implements Provider {
  now: number;
  readonly calls: Call[] = [];
  readonly #answers: Answers | undefined;
  readonly #held = new Set<PortName>();
  readonly #failing = new Map<PortName, FailureReason[]>();
  readonly #waits = new Set<Wait>();

  /** `now` is in milliseconds since the epoch. */
  constructor(now: number, answers?: Answers) {
    this.now = now;
    this.#answers = answers;
  }

  /** Leaves the calls of these ports to the test from now on. */
  hold(...names: PortName[]): void {
    for (const name of names) this.#held.add(name);
  }

  /** Makes the next call of a port fail with this reason, even if the test does not answer that port. */
  failNext(name: PortName, reason: FailureReason): void {
    this.#failing.set(name, [...(this.#failing.get(name) ?? []), reason]);
  }

  /** Returns the ports of the calls that wait for a response, oldest first. */
  pending(name?: PortName): PortName[] {
    return this.calls.filter(({ open, port }) => open && (name ?? port) === port).map(({ port }) => port);
  }

  /** Returns the inputs of all calls of a port so far, oldest first. */
  asked<K extends PortName>(name: K): PortTypes[K]['input'][] {
    // The input of each call has the type of its port.
    return this.calls.filter(({ port }) => port === name).map(({ input }) => input as PortTypes[K]['input']);
  }

  /** Answers the oldest waiting call of a port, with the computed result unless an output is given. */
  answer<K extends PortName>(name: K, ...output: [] | [PortTypes[K]['output']]): void {
    const call = this.#take(name);
    call.ref.send(output.length > 0 ? { type: 'fake.answer', output: output[0] } : this.#outcome(call));
  }

  /** Performs the oldest waiting call of a port. The response stays in flight. */
  perform(name: PortName): void {
    const call = this.#oldest(name);
    call.outcome = this.#outcome(call);
  }

  /** Whether the oldest waiting call of a port has been performed. */
  isPerformed(name: PortName): boolean {
    return this.#oldest(name).outcome !== undefined;
  }

  /** Performs the oldest waiting call of a port and loses the response, so that the runtime seems to be unavailable. */
  lose(name: PortName): void {
    this.perform(name);
    this.fail(name, 'RuntimeUnavailable', 'the answer was lost');
  }

  fail(name: PortName, reason: FailureReason, message = `${name} failed`, over: Partial<Failure> = {}): void {
    this.#take(name).ref.send({ type: 'fake.failure', failure: { ...this.#failure(reason, message), ...over } });
  }

  /** Advances time by `ms` milliseconds. Each wait ends at its own time. */
  advance(ms: number): void {
    const target = this.now + ms;
    for (let next = this.#next(); next !== undefined && next.due <= target; next = this.#next()) {
      this.now = Math.max(this.now, next.due);
      this.#waits.delete(next);
      next.elapse();
    }
    this.now = target;
  }

  /** Advances time to the end of the next wait, and ends only that wait. */
  endNextWait(): void {
    const next = this.#next();
    if (next === undefined) throw new Error('there is no wait');
    this.now = Math.max(this.now, next.due);
    this.#waits.delete(next);
    next.elapse();
  }

  /**
   * Sets the clock forward by `by` milliseconds, or back if `by` is negative. Waits for a duration are unaffected, but
   * those for a wall-clock time are not.
   */
  setClock(by: number): void {
    this.now += by;
    for (const wait of this.#waits) {
      if (!wait.byClock) wait.due += by;
      if (wait.isOverBack && by < 0) wait.due = this.now;
    }
  }

  /** Time in milliseconds until the next wait ends. */
  get untilNext(): number | undefined {
    const next = this.#next();
    return next && next.due - this.now;
  }

  port<K extends PortName>(name: K): Port<K> {
    const logic: ActorLogic<Snapshot<unknown>, AnyEventObject, unknown> = {
      getInitialSnapshot: () => ({ status: 'active', output: undefined, error: undefined }),
      getPersistedSnapshot: (snapshot) => snapshot,
      transition: (snapshot, event, { self }) => this.#transition(snapshot, event, self),
      start: (_, { self }) => this.#begin(name, inputs.get(self), self),
    };
    const inputs = new WeakMap<AnyActorRef, unknown>();
    const initial = logic.getInitialSnapshot;
    logic.getInitialSnapshot = (scope, input) => {
      inputs.set(scope.self, input);
      return initial(scope, input);
    };
    // The machine treats this logic like a promise, because it ends with an output or an error.
    return logic as unknown as Port<K>;
  }

  /** Returns a feed that reports nothing, because the test sends the facts itself. */
  feed(): FeedLogic {
    return fromCallback<{ type: 'feed.never' }>(() => {});
  }

  readonly timer: TimerLogic = fromCallback<{ type: 'timer.never' }, TimerInput>(({ input, sendBack }) => {
    const named = 'after' in input && input.wait !== undefined ? { wait: input.wait } : {};
    const wait = { ...dueOf(input, this.now), elapse: () => sendBack({ type: 'timer.elapsed', ...named }) };
    this.#waits.add(wait);
    return () => this.#waits.delete(wait);
  });

  #begin(port: PortName, input: unknown, ref: AnyActorRef): void {
    const call = { port, input, ref, open: true };
    this.calls.push(call);
    const [reason, ...rest] = this.#failing.get(port) ?? [];
    if (reason !== undefined) {
      this.#failing.set(port, rest);
      this.fail(port, reason);
    } else if (this.#answers !== undefined && !this.#held.has(port)) this.answer(port);
  }

  #transition(snapshot: Snapshot<unknown>, event: AnyEventObject, self: AnyActorRef): Snapshot<unknown> {
    if (event.type === 'xstate.stop') {
      for (const call of this.calls) if (call.ref === self) call.open = false;
      return { ...snapshot, status: 'stopped', output: undefined, error: undefined };
    }
    if ('output' in event) return { status: 'done', output: event.output, error: undefined };
    if ('failure' in event) return { status: 'error', output: undefined, error: event.failure };
    return snapshot;
  }

  #take(name: PortName): Call {
    const call = this.#oldest(name);
    call.open = false;
    return call;
  }

  #oldest(name: PortName): Call {
    const call = this.calls.find(({ port, open }) => open && port === name);
    if (call === undefined) throw new Error(`nobody waits for ${name}, but for [${this.pending().join(', ')}]`);
    return call;
  }

  /** Performs a call once, and returns its result. */
  #outcome({ port, input, outcome }: Call): AnyEventObject {
    if (outcome !== undefined) return outcome;
    try {
      // The input of the call has the type of this port.
      return { type: 'fake.answer', output: this.#answers?.[port](input as never) };
    } catch (error) {
      return { type: 'fake.failure', failure: toFailure(error, this.now) };
    }
  }

  #failure(reason: FailureReason, message: string): Failure {
    return { reason, message, at: this.now };
  }

  #next(): Wait | undefined {
    return [...this.#waits].sort((a, b) => a.due - b.due)[0];
  }
}
