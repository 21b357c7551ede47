/** Tells the node what becomes of the objects that its pods have in use: how they are followed, and which pods see a change. */
import type { SourceState } from '../../machines/node/source.ts';
import type { NodeFact } from '../../machines/shared/events.ts';
import type { ConfigKind, ConfigReference } from '../../pod/objects/configObject.ts';
import type { Clock } from '../clock.ts';
import { tellingSteps } from '../sources/sourceNews.ts';
import type { HeldStep } from './heldObject.ts';

interface Told {
  readonly reference: ConfigReference;
  readonly step: HeldStep;
}

/** What changes all the time is told no more often. */
const QUIET_MS = 1_000;

export class ObjectNews {
  readonly #clock: Clock;
  /** How all objects of a kind are doing. */
  readonly #all: (kind: ConfigKind) => readonly Told[];
  #send: ((fact: NodeFact) => void) | undefined;
  #signal: AbortSignal | undefined;
  readonly #steps = new Map<ConfigKind, ReturnType<typeof tellingSteps>>();
  /** When a change of each pod's objects was told last. */
  readonly #toldAt = new Map<string, number>();
  /** Pods to be told, once the time is there. */
  readonly #due = new Set<string>();
  #timer: unknown;

  constructor(clock: Clock, all: (kind: ConfigKind) => readonly Told[]) {
    this.#clock = clock;
    this.#all = all;
  }

  begin(send: (fact: NodeFact) => void, signal: AbortSignal): void {
    this.#send = send;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#clock.clearTimeout(this.#timer), { once: true });
  }

  /** Another step of one object of a kind. */
  stepped(kind: ConfigKind): void {
    const [send, signal] = [this.#send, this.#signal];
    if (send === undefined || signal === undefined || signal.aborted) return;
    const tell =
      this.#steps.get(kind) ??
      tellingSteps((state: SourceState) => send({ type: 'cluster.watchChanged', watch: kind, state }), {
        ...{ clock: this.#clock, signal, place: `the ${kind}s that its pods name` },
      });
    this.#steps.set(kind, tell);
    tell(stepOfAll(this.#all(kind)));
  }

  /** An object is another now than these pods have seen. */
  changed(uids: Iterable<string>): void {
    for (const uid of uids) this.#due.add(uid);
    this.#clock.clearTimeout(this.#timer);
    this.#tell();
  }

  /** Nobody tells this pod anything any more. */
  forget(uid: string): void {
    this.#due.delete(uid);
    this.#toldAt.delete(uid);
  }

  #tell(): void {
    if (this.#send === undefined || this.#signal?.aborted) return;
    const now = this.#clock.monotonic();
    const waitOf = (uid: string) => (this.#toldAt.get(uid) ?? Number.NEGATIVE_INFINITY) + QUIET_MS - now;
    const uids = [...this.#due].filter((uid) => waitOf(uid) <= 0);
    for (const uid of uids) {
      this.#due.delete(uid);
      this.#toldAt.set(uid, now);
    }
    if (uids.length > 0) this.#send({ type: 'cluster.objectsChanged', uids });
    if (this.#due.size === 0) return;
    const wait = Math.min(...[...this.#due].map(waitOf));
    this.#timer = this.#clock.setTimeout(() => this.#tell(), wait);
  }
}

/** That of the one that is worst off. */
function stepOfAll(all: readonly Told[]): HeldStep {
  const failing = all.find(({ step }) => step.state === 'failing');
  if (failing?.step.state === 'failing') {
    const { namespace, name } = failing.reference;
    return { ...failing.step, failure: `${namespace}/${name}: ${failing.step.failure}` };
  }
  return { state: all.some(({ step }) => step.state === 'reading') ? 'reading' : 'watching' };
}
