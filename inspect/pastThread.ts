/** The past, read and played in a thread that there is only while somebody asks about it. */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../actors/clock.ts';
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
const MOST_ASKED = 64;

interface Asked {
  readonly timer: unknown;
  readonly resolve: (json: string) => void;
  readonly reject: (error: Error) => void;
}

/** Asks the thread, which it starts when it is needed. */
export class PastThread implements Past {
  readonly #parts: PastThreadParts;
  readonly #asked = new Map<number, Asked>();
  #worker: Worker | undefined;
  #number = 0;
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
  object = (uid: string, at: number) => this.#ask('object', uid, at);
  actorPast = (path: string, at: number) => this.#ask('actorPast', path, at);

  /** Whoever waits for an answer gets none, and nobody gets one from now on. */
  end(): void {
    this.#isClosed = true;
    this.#stop(CLOSED);
  }

  #stop(why: string): void {
    const { clock } = this.#parts;
    clock.clearTimeout(this.#idle);
    this.#worker?.terminate().catch(() => {});
    this.#worker = undefined;
    for (const { reject, timer } of this.#asked.values()) {
      clock.clearTimeout(timer);
      reject(new Error(why));
    }
    this.#asked.clear();
  }

  async #ask<K extends keyof Past>(ask: K, ...args: Parameters<Past[K]>): Promise<Awaited<ReturnType<Past[K]>>> {
    await this.#parts.before?.();
    if (this.#isClosed) throw new Error(CLOSED);
    if (this.#asked.size >= MOST_ASKED) throw new Error('too much is asked of the recording at a time');
    const worker = this.#thread();
    this.#number += 1;
    const task: PastTask = { id: this.#number, ask, args };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const { clock } = this.#parts;
    clock.clearTimeout(this.#idle);
    const timer = clock.setTimeout(() => this.#stop(`no answer within ${ANSWER_MS / 1_000} s`), ANSWER_MS);
    this.#asked.set(task.id, { timer, resolve, reject });
    worker.postMessage(task);
    const json: unknown = JSON.parse(await promise);
    // The thread is of the same program; what is nothing there is nothing here.
    return (json ?? undefined) as Awaited<ReturnType<Past[K]>>;
  }

  #thread(): Worker {
    if (this.#worker) return this.#worker;
    const { path, machines, mode } = this.#parts;
    const workerData: PastData = { path, machines, mode };
    const worker = new Worker(ownScript(import.meta.dirname, 'pastWorker'), {
      ...{ workerData, resourceLimits: { maxOldGenerationSizeMb: THREAD_MEGABYTES } },
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
    const asked = this.#asked.get(news.id);
    // It was asked of a thread that has been ended.
    if (asked === undefined) return;
    const { clock } = this.#parts;
    this.#asked.delete(news.id);
    clock.clearTimeout(asked.timer);
    if (this.#asked.size === 0) this.#idle = clock.setTimeout(() => this.#stop('it was idle'), IDLE_MS);
    if ('json' in news) asked.resolve(news.json);
    else asked.reject(news.isMissing ? new NotInspected(news.failed) : new Error(news.failed));
  }

  #lose(worker: Worker, why: string): void {
    if (worker === this.#worker) this.#stop(why);
  }
}
