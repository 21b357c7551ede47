/** Ports that a test answers itself, at once and in its own order: no promise stands between a question and its answer. */
import { type ActorLogic, type AnyActorRef, type AnyEventObject, fromCallback, type Snapshot } from 'xstate';
import { type Failure, type FailureReason, toFailure } from '../../base/failure.ts';
import type { FeedLogic, Port, PortName, PortTypes, Provider, TimerLogic } from '../../machines/shared/ports.ts';
import type { TimerInput } from '../../machines/shared/waiting/timerInput.ts';

/** What a world answers by itself; a port without an answer waits for the test. */
export type Answers = { readonly [K in PortName]: (input: PortTypes[K]['input']) => PortTypes[K]['output'] };

interface Call {
  readonly port: PortName;
  readonly input: unknown;
  readonly ref: AnyActorRef;
  open: boolean;
  /** What it has led to, while the answer is on its way. */
  outcome?: AnyEventObject;
}

interface Wait {
  due: number;
  /** Whether it is over when the clock shows that, however it is set. */
  readonly byClock: boolean;
  /** Whether it is over when the clock is set back. */
  readonly isOverBack?: boolean;
  readonly elapse: () => void;
}

function dueOf(input: TimerInput, now: number): Omit<Wait, 'elapse'> {
  if ('after' in input) return { due: now + input.after, byClock: false };
  if ('shown' in input) return { due: Math.max(now, input.shown), byClock: true };
  if ('due' in input) return { due: Math.max(now, input.due), byClock: true, isOverBack: true };
  return { due: Math.min(Math.max(now, input.until), now + (input.within ?? Infinity)), byClock: false };
}

/** The ports of some machines, and the time that their timers count. */
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

  /** From now on the test answers these itself. */
  hold(...names: PortName[]): void {
    for (const name of names) this.#held.add(name);
  }

  /** The next call of a port fails with this reason, whoever would answer it. */
  failNext(name: PortName, reason: FailureReason): void {
    this.#failing.set(name, [...(this.#failing.get(name) ?? []), reason]);
  }

  /** The calls that wait for their answer, the oldest first. */
  pending(name?: PortName): PortName[] {
    return this.calls.filter(({ open, port }) => open && (name ?? port) === port).map(({ port }) => port);
  }

  /** What a port was asked so far, the oldest first. */
  asked<K extends PortName>(name: K): PortTypes[K]['input'][] {
    // Each call's input is of its own port.
    return this.calls.filter(({ port }) => port === name).map(({ input }) => input as PortTypes[K]['input']);
  }

  /** Answers the oldest call of a port that waits; without an output, as the world would. */
  answer<K extends PortName>(name: K, ...output: [] | [PortTypes[K]['output']]): void {
    const call = this.#take(name);
    call.ref.send(output.length > 0 ? { type: 'fake.answer', output: output[0] } : this.#outcome(call));
  }

  /** The world does now what the oldest call of a port asks for; the answer is still on its way. */
  perform(name: PortName): void {
    const call = this.#oldest(name);
    call.outcome = this.#outcome(call);
  }

  /** Whether the world has done what the oldest call of a port asks for. */
  isPerformed(name: PortName): boolean {
    return this.#oldest(name).outcome !== undefined;
  }

  /** What the oldest call of a port asks for is done, but the answer is lost: the runtime seems to be away. */
  lose(name: PortName): void {
    this.perform(name);
    this.fail(name, 'RuntimeUnavailable', 'the answer was lost');
  }

  fail(name: PortName, reason: FailureReason, message = `${name} failed`, over: Partial<Failure> = {}): void {
    this.#take(name).ref.send({ type: 'fake.failure', failure: { ...this.#failure(reason, message), ...over } });
  }

  /** Moves time on by `ms` milliseconds, each wait ending at its own moment. */
  advance(ms: number): void {
    const target = this.now + ms;
    for (let next = this.#next(); next !== undefined && next.due <= target; next = this.#next()) {
      this.now = Math.max(this.now, next.due);
      this.#waits.delete(next);
      next.elapse();
    }
    this.now = target;
  }

  /** Moves time on to the end of the next wait, and ends that one alone. */
  endNextWait(): void {
    const next = this.#next();
    if (next === undefined) throw new Error('there is no wait');
    this.now = Math.max(this.now, next.due);
    this.#waits.delete(next);
    next.elapse();
  }

  /** Sets the clock so many milliseconds forward, or back: what waits already goes on, but for what the clock is to show. */
  setClock(by: number): void {
    this.now += by;
    for (const wait of this.#waits) {
      if (!wait.byClock) wait.due += by;
      if (wait.isOverBack && by < 0) wait.due = this.now;
    }
  }

  /** When the next wait ends, in milliseconds from now. */
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
    // To the machine it is a promise's logic: it ends with an output or an error.
    return logic as unknown as Port<K>;
  }

  /** The test tells itself what a feed would. */
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

  /** What a call leads to in the world, which happens once. */
  #outcome({ port, input, outcome }: Call): AnyEventObject {
    if (outcome !== undefined) return outcome;
    try {
      // The call's input is of this port.
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
