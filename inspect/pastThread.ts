/** The past, read and played in a thread that there is only while somebody asks about it. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../base/clock.ts';
import { ownScript } from '../host/ownScript.ts';
import { NotInspected } from './inspected.ts';
import type { Past } from './past.ts';
import type { PastData, PastNews, PastTask } from './pastTask.ts';

interface PastThreadParts extends PastData {
  readonly clock: Clock;
  /** To be done before each question: what goes on is written down first. */
  readonly before?: () => Promise<void>;
}

/** A thread that nobody asks for so long is ended. */
const IDLE_MS = 60_000;
/** Far more than the largest recording takes: a thread that is slower is ended. */
const ANSWER_MS = 60_000;
const THREAD_MEGABYTES = 512;
const CLOSED = 'the page has been closed';

/** More at a time than a page asks for. */
const MOST_ASKED = 8;

/** Requests that a reader waits for. They are served before all requests for history, even older ones. */
const URGENT: ReadonlySet<keyof Past> = new Set(['moment', 'detail']);

interface Asked {
  readonly task: PastTask;
  readonly resolve: (json: string) => void;
  readonly reject: (error: Error) => void;
}

/** Asks the thread, which it starts when it is needed, one question after the other, the urgent ones first. */
export class PastThread implements Past {
  readonly #parts: PastThreadParts;
  readonly #waiting: Asked[] = [];
  /** What the thread works on, and what ends that. */
  #running: (Asked & { readonly timer: unknown }) | undefined;
  #worker: Worker | undefined;
  #number = 0;
  /** How many wait for an answer, whatever for. */
  #count = 0;
  #idle: unknown;
  #isClosed = false;

  constructor(parts: PastThreadParts) {
    this.#parts = parts;
  }

  recorded = () => this.#ask('recorded');
  moment = (at: number) => this.#ask('moment', at);
  story = (uid: string, from: number, to: number) => this.#ask('story', uid, from, to);
  rail = (now?: number) => this.#ask('rail', now);
  detail = (path: string, at: number) => this.#ask('detail', path, at);
  actorHistory = (path: string, at: number) => this.#ask('actorHistory', path, at);
  object = (uid: string, at: number) => this.#ask('object', uid, at);
  entry = (actor: string, source: string, at: number) => this.#ask('entry', actor, source, at);
  actorPast = (path: string, at: number) => this.#ask('actorPast', path, at);

  /** Whoever waits for an answer gets none, and nobody gets one from now on. */
  end(): void {
    this.#isClosed = true;
    this.#endThread();
    for (const { reject } of [this.#taken(), ...this.#waiting.splice(0)].flatMap((asked) => asked ?? []))
      reject(new Error(CLOSED));
  }

  async #ask<K extends keyof Past>(ask: K, ...args: Parameters<Past[K]>): Promise<Awaited<ReturnType<Past[K]>>> {
    if (this.#isClosed) throw new Error(CLOSED);
    if (this.#count >= MOST_ASKED) throw new Error('too much is asked of the recording at a time');
    this.#count += 1;
    try {
      await this.#parts.before?.();
      if (this.#isClosed) throw new Error(CLOSED);
      const json: unknown = JSON.parse(await this.#answer(ask, args));
      // The thread is of the same program; what is nothing there is nothing here.
      return (json ?? undefined) as Awaited<ReturnType<Past[K]>>;
    } finally {
      this.#count -= 1;
    }
  }

  #answer(ask: keyof Past, args: readonly unknown[]): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#number += 1;
    this.#waiting.push({ task: { id: this.#number, ask, args }, resolve, reject });
    this.#goOn();
    return promise;
  }

  /** Asks the next question, where none is worked on. */
  #goOn(): void {
    if (this.#running) return;
    const { clock } = this.#parts;
    clock.clearTimeout(this.#idle);
    const urgent = this.#waiting.findIndex(({ task }) => URGENT.has(task.ask));
    const [next] = this.#waiting.splice(Math.max(0, urgent), 1);
    if (next) {
      const timer = clock.setTimeout(() => this.#fail(`no answer within ${ANSWER_MS / 1_000} s`), ANSWER_MS);
      this.#running = { ...next, timer };
      this.#thread().postMessage(next.task);
    } else if (this.#worker) this.#idle = clock.setTimeout(() => this.#endThread(), IDLE_MS);
  }

  /** Ends the thread with the question that it works on; the others are asked of another one. */
  #fail(why: string): void {
    this.#endThread();
    this.#taken()?.reject(new Error(why));
    this.#goOn();
  }

  #endThread(): void {
    this.#parts.clock.clearTimeout(this.#idle);
    this.#worker?.terminate().catch(() => {});
    this.#worker = undefined;
  }

  /** The question that is worked on, which is so no more. */
  #taken(): Asked | undefined {
    const running = this.#running;
    this.#parts.clock.clearTimeout(running?.timer);
    this.#running = undefined;
    return running;
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const { path, machines, mode } = this.#parts;
    const workerData: PastData = { path, machines, mode };
    const worker = new Worker(ownScript(import.meta.dirname, 'pastWorker'), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MEGABYTES },
    });
    worker.unref();
    // Nobody else posts to this thread's port.
    worker.on('message', (news: PastNews) => this.#hear(news));
    worker.on('error', (error) => this.#lose(worker, error.message));
    worker.on('exit', () => this.#lose(worker, 'the thread that reads the recording exited'));
    this.#worker = worker;
    return worker;
  }

  #hear(news: PastNews): void {
    // It was asked of a thread that has been ended.
    if (news.id !== this.#running?.task.id) return;
    const asked = this.#taken();
    if ('json' in news) asked?.resolve(news.json);
    else asked?.reject(news.isMissing ? new NotInspected(news.failed) : new Error(news.failed));
    this.#goOn();
  }

  #lose(worker: Worker, why: string): void {
    if (worker === this.#worker) this.#fail(why);
  }
}
