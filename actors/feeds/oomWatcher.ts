/** Watches the kernel log for processes that the OOM killer has killed. */

import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { messageOf, NodeFailure, toFailure } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { KernelLog } from '../../host/kernelLog/kernelLog.ts';
import { OomKillParser } from '../../host/kernelLog/oomKills.ts';
import { containerIdOfKill, isSystemOom, type OomKill } from '../../kubernetes/lifecycle/oomKill.ts';
import { waitOnce } from '../alarm.ts';
import type { FactFeed } from '../boundary.ts';
import { withTimeout } from '../services/withTimeout.ts';

/** Returns the last OOM kill in the container with this ID. Undefined if the kernel log contains none. */
export type FindOomKill = (
  containerId: string,
  options: { readonly signal?: AbortSignal },
) => Promise<OomKill | undefined>;

interface OomWatcherDependencies {
  /** Undefined if the node does not watch for OOM kills. */
  readonly kernelLog?: KernelLog | undefined;
  /** Returns the new OOM kills in the cgroups of containers. Undefined if they are not counted. */
  readonly countOomKills?: (() => readonly OomKill[]) | undefined;
  readonly clock: Clock;
  readonly onError: (source: string, error: unknown) => void;
}

/** Number of containers whose last OOM kill is stored. */
const MAX_CONTAINERS = 1_000;
/** Time limit for reading the pending kernel log messages, in milliseconds. */
const READ_TIMEOUT_MS = 10_000;
/** Time limit for a read that delays a container's status, in milliseconds. */
const STATUS_TIMEOUT_MS = 1_000;
/** Interval between attempts to read the kernel log while it is unreadable, in milliseconds. */
const RETRY_MS = 10_000;

/**
 * Reads the kernel log from its oldest message on, so a restarted agent reports kills again, as the kubelet does
 * (`pkg/kubelet/oom/oom_watcher_linux.go`). A kubelet does not start if the log cannot be read. This node starts
 * without the log, shows the reason and retries. In the meantime, it detects kills in containers by the counters of
 * cgroup v2.
 */
export class OomWatcher {
  readonly #kernelLog: KernelLog | undefined;
  readonly #countOomKills: () => readonly OomKill[];
  readonly #clock: Clock;
  readonly #onError: OomWatcherDependencies['onError'];
  readonly #parser = new OomKillParser();
  /** The last OOM kill in each container, by container ID. The container with the least recent kill comes first. */
  readonly #killsByContainer = new Map<string, OomKill>();
  /** OOM kills that the feed has not sent yet. */
  #unsentKills: OomKill[] = [];
  #sendKills: (() => void) | undefined;
  /** Settles when the last requested read of the kernel log has ended. */
  #lastRead: Promise<void> = Promise.resolve();

  constructor({ kernelLog, countOomKills = () => [], clock, onError }: OomWatcherDependencies) {
    this.#kernelLog = kernelLog;
    this.#countOomKills = countOomKills;
    this.#clock = clock;
    this.#onError = onError;
  }

  /**
   * Returns the container's last OOM kill. Reads the pending messages of the log first, because the kernel logs a kill
   * before the process exits.
   */
  readonly find: FindOomKill = async (containerId, { signal }) => {
    const timeoutOptions = { clock: this.#clock, timeoutMs: STATUS_TIMEOUT_MS, ...(signal ? { signal } : {}) };
    // Ignore a failure, because the feed reports it.
    await withTimeout((limited) => unlessAborted(this.#catchUp(limited), limited), timeoutOptions).catch(() => {});
    return this.#killsByContainer.get(containerId);
  };

  /** Sends system-wide and container OOM kills, and whether the log can be read. */
  readonly feed: FactFeed = (send, { signal }) => {
    const kernelLog = this.#kernelLog;
    return kernelLog && this.#runFeed(kernelLog, send, signal);
  };

  async #runFeed(kernelLog: KernelLog, send: Parameters<FactFeed>[0], signal: AbortSignal): Promise<void> {
    const clock = this.#clock;
    this.#sendKills = () => {
      for (const kill of this.#unsentKills.splice(0)) send({ type: 'node.oomKilled', kill });
    };
    let lastFailureMessage: string | undefined | null = null;
    const reportState = (error?: unknown) => {
      const failure = error === undefined ? undefined : toFailure(error, clock.now());
      if (failure?.message === lastFailureMessage) return;
      lastFailureMessage = failure?.message;
      if (error !== undefined) this.#onError('oomWatcher', error);
      send({ type: 'node.oomWatchChanged', ...(failure ? { failure } : {}), at: clock.now() });
    };
    let wasReadable = false;
    while (!signal.aborted) {
      try {
        await withTimeout((limited) => this.#catchUp(limited), { clock, timeoutMs: READ_TIMEOUT_MS, signal });
        wasReadable = true;
        reportState();
        this.#sendKills();
        await kernelLog.untilWritten({ signal });
      } catch (error) {
        if (signal.aborted) break;
        reportState(createUnreadableLogFailure(error));
        const countedKills = this.#readCounts();
        // Ignore the counts if the log was readable, because the log has already reported the same kills.
        const newKills = wasReadable ? [] : countedKills;
        wasReadable = false;
        for (const kill of newKills) send({ type: 'node.oomKilled', kill: { ...kill, at: clock.now() } });
        await waitOnce(clock.now() + RETRY_MS, clock, signal);
      }
    }
    this.#sendKills = undefined;
    await kernelLog.close();
  }

  /**
   * Returns the kills that cgroups have counted. The counts show neither the process nor its memory, so they are used only
   * without the log.
   */
  #readCounts(): readonly OomKill[] {
    try {
      return this.#countOomKills();
    } catch (error) {
      this.#onError('oomWatcher', error);
      return [];
    }
  }

  /** Reads all pending kernel log messages. Reads never overlap. */
  #catchUp(signal: AbortSignal): Promise<void> {
    const read = () => this.#readMessages(signal);
    this.#lastRead = this.#lastRead.then(read, read);
    return this.#lastRead;
  }

  async #readMessages(signal: AbortSignal): Promise<void> {
    const kernelLog = this.#kernelLog;
    if (kernelLog === undefined || signal.aborted) return;
    let messages = await kernelLog.read({ signal });
    // The kernel logs the memory usage of a killed process in the message after the kill. If no message is pending, add
    // the kill without its memory usage.
    if (messages.length === 0) this.#addKill(this.#parser.flush());
    while (messages.length > 0 && !signal.aborted) {
      for (const message of messages) this.#addKill(this.#parser.push(message));
      messages = await kernelLog.read({ signal });
    }
    this.#sendKills?.();
  }

  #addKill(kill: OomKill | undefined): void {
    if (kill === undefined) return;
    const containerId = containerIdOfKill(kill);
    if (isSystemOom(kill) || containerId !== undefined) this.#unsentKills.push(kill);
    if (containerId === undefined) return;
    this.#killsByContainer.delete(containerId);
    this.#killsByContainer.set(containerId, kill);
    const [oldest] = this.#killsByContainer.keys();
    if (this.#killsByContainer.size > MAX_CONTAINERS && oldest !== undefined) this.#killsByContainer.delete(oldest);
  }
}

const createUnreadableLogFailure = (cause: unknown): NodeFailure =>
  new NodeFailure('FailedRead', `the kernel's log cannot be read: ${messageOf(cause)}`, { cause });
