/**
 * Records the activity of a node in a ring of files on disk. The activity consists of the inputs of the node's actors,
 * the actors' calls and state changes, and the published statuses and events. A failure of the recorder never stops the
 * node.
 */
import type { NodeAgent } from '../actors/node/nodeAgent.ts';
import type { NodeParts } from '../actors/node/nodeParts.ts';
import type { Redaction } from '../actors/replay/redaction.ts';
import { withTimeout } from '../actors/services/withTimeout.ts';
import type { PodChange } from '../actors/status/statusBoard.ts';
import { runAllSteps, runStepsInTurns } from '../base/async/steps.ts';
import { unlessAborted } from '../base/async/unlessAborted.ts';
import type { Clock } from '../base/time/clock.ts';
import type { PodStatus } from '../kubernetes/api/schema/status.ts';
import { namespacedName } from '../kubernetes/shownName.ts';
import { FORMAT_VERSION, type RecordingLine, type SegmentHeader } from './lines.ts';
import { type Deflate, encodeMember } from './member.ts';
import { PendingLines, type PendingText, serializeHeader } from './pending.ts';
import { FileRing, type RingOptions } from './ring.ts';

export interface FlightRecorderOptions extends RingOptions {
  readonly clock: Clock;
  readonly deflate: Deflate;
  /** Identifies the program. Written to the header of each segment. */
  readonly program: Pick<SegmentHeader, 'machines' | 'versions' | 'life'>;
  /** Removes secrets from a value before it is recorded. */
  readonly redact: Redaction['redact'];
  /**
   * Called with the error of the first failed write. Not called again for later failures until a write has succeeded.
   */
  readonly onError: (error: unknown) => void;
}

/** The part of the agent that the recorder observes. */
type ObservedAgent = Pick<NodeAgent, 'input' | 'draftKeyframe' | 'now' | 'subscribe' | 'unpublishedUids'>;

interface RecorderProgress {
  /** Number of lines recorded since the agent started. */
  readonly lines: number;
  /** Number of compressed bytes written since the agent started. */
  readonly bytes: number;
  /** Number of characters that have not been written yet. */
  readonly pendingLength: number;
  /** Number of lines lost since the last successful write. */
  readonly lostLines: number;
  /** Whether the last write failed. */
  readonly isFailing: boolean;
}

export interface FlightRecorder {
  /** Listeners for the node to call, each of which records one kind of line. */
  readonly listeners: {
    readonly [K in 'onInput' | 'onPortCall' | 'onStateChange' | 'events']-?: NonNullable<NodeParts[K]>;
  };
  progress(): RecorderProgress;
  /** Subscribes to the agent. Must be called before the agent starts. */
  start(agent: ObservedAgent): void;
  /** Writes the pending lines. Resolves once the write has succeeded or failed. */
  flush(): Promise<void>;
  /**
   * Resolves when everything recorded so far is on disk, so that a reader can open the files. Resolves immediately if
   * the last write started less than a second ago or if writes are failing, so callers need not throttle their calls.
   */
  waitUntilWritten(): Promise<void>;
  /** Writes the last lines. Must be called after the agent has stopped. */
  close(): Promise<void>;
}

/** Maximum delay before a line is written, in milliseconds. */
const FLUSH_INTERVAL_MS = 1_000;
/** Number of pending characters that triggers an immediate write. */
const FLUSH_THRESHOLD_LENGTH = 2 ** 18;
/**
 * Maximum number of pending characters, beyond which the pending lines are dropped. The longest line is not counted,
 * because a single manifest can be this long.
 */
const MAX_PENDING_LENGTH = 2 ** 21;
/**
 * Minimum number of entries between two keyframes. In addition, the lines since the last keyframe must be at least as
 * long in total as that keyframe. The first condition bounds the duration of a replay, and the second one prevents a
 * burst on a node with hundreds of pods from writing mostly keyframes.
 */
const KEYFRAME_INTERVAL_ENTRIES = 2_000;
/** Number of keyframe serialization steps per turn of the event loop. A step covers about one actor. */
const STEPS_PER_TURN = 100;
/** Delay in milliseconds before the next write after a failed one. */
const RETRY_DELAY_MS = 10_000;
/** Timeout of a write, in milliseconds. A disk that takes longer is considered hung. */
const WRITE_TIMEOUT_MS = 10_000;
/** Timeout of the final write before the agent exits, in milliseconds. */
const FINAL_WRITE_TIMEOUT_MS = 2_000;

export const createFlightRecorder = (options: FlightRecorderOptions): FlightRecorder => new Recorder(options);

class Recorder implements FlightRecorder {
  readonly #options: FlightRecorderOptions;
  readonly #ringFiles: FileRing;
  #agent: ObservedAgent | undefined;
  #pendingLines = new PendingLines();
  #entries = 0;
  /** Lengths, in characters, of the last keyframe and of the lines added since then. */
  #segmentLengths = { keyframe: 0, since: 0 };
  #lostLineCount = 0;
  #writtenMemberCount = 0;
  #writtenTotals = { lines: 0, bytes: 0 };
  /** Whether lines have been lost, in which case later lines can be replayed only from a new keyframe. */
  #needsKeyframe = false;
  #isFailing = false;
  /** Monotonic time at which the last successful write started. Everything recorded before that time is on disk. */
  #lastWriteStartedAt = Number.NEGATIVE_INFINITY;
  /** The write in progress. It remains set if the write has timed out but not completed. */
  #pendingAppend: Promise<void> | undefined;
  #timer: { readonly id: unknown; readonly ms: number } | undefined;
  #pendingWrite: Promise<void> | undefined;
  #unsubscribe = () => {};

  constructor(options: FlightRecorderOptions) {
    this.#options = options;
    this.#ringFiles = new FileRing(options);
  }

  readonly listeners: FlightRecorder['listeners'] = {
    onInput: (entry) => {
      this.#entries += 1;
      this.#addLine(entry);
    },
    onPortCall: (call) => this.#addLine({ kind: 'asked', ...call }),
    onStateChange: (move) => this.#addLine({ kind: 'state', ...move }),
    events: ({ type: _, ...event }) => this.#addLine({ kind: 'event', ...this.#options.redact(event) }),
  };

  progress = (): RecorderProgress => ({
    ...this.#writtenTotals,
    pendingLength: this.#pendingLines.length,
    lostLines: this.#lostLineCount,
    isFailing: this.#isFailing,
  });

  start(agent: ObservedAgent): void {
    this.#agent = agent;
    // Prepend the header, because lines may have been recorded before the agent was passed to `start`.
    const header = this.#createHeader(agent, agent.now(), 0);
    this.#pendingLines.prependHeader(header, runAllSteps(serializeHeader(header)), 'anew');
    this.#unsubscribe = agent.subscribe(this.#statusListener());
    this.#scheduleWrite();
  }

  flush = (): Promise<void> => {
    this.#clearTimer();
    this.#pendingWrite ??= this.#writePending().finally(() => {
      this.#pendingWrite = undefined;
      if (!this.#pendingLines.isEmpty) this.#scheduleWrite();
    });
    return this.#pendingWrite;
  };

  waitUntilWritten = async (): Promise<void> => {
    if (this.#isFailing || this.#options.clock.monotonic() - this.#lastWriteStartedAt < FLUSH_INTERVAL_MS) return;
    // Wait for a write in progress, and then write again, because lines that were added since the write started are not
    // included.
    await this.#pendingWrite;
    if (!this.#isFailing && !this.#pendingLines.isEmpty) await this.flush();
  };

  async close(): Promise<void> {
    this.#unsubscribe();
    const unpublishedUids = this.#agent?.unpublishedUids() ?? [];
    // Clear the agent, because a stopped agent has no state for a keyframe.
    this.#agent = undefined;
    const finalWrite = (async () => {
      await this.#pendingWrite;
      this.#addEndedLine(unpublishedUids);
      await this.flush();
    })();
    // Limit the wait, because a hung disk must not delay the exit of the agent.
    await this.#withTimeout(FINAL_WRITE_TIMEOUT_MS, finalWrite).catch(() => {});
    this.#clearTimer();
  }

  /**
   * Adds the final line. It includes the number of lost lines, because no later segment header can report that number.
   */
  #addEndedLine(untold: readonly string[]): void {
    if (this.#needsKeyframe) this.#dropPending();
    this.#needsKeyframe = false;
    const lostLineCount = this.#lostLineCount > 0 ? { missed: this.#lostLineCount } : {};
    this.#addLine({
      kind: 'ended',
      at: this.#options.clock.now(),
      ...lostLineCount,
      ...(untold.length > 0 ? { untold } : {}),
    });
  }

  #createHeader(agent: ObservedAgent, at: number, before: number): SegmentHeader {
    const { program } = this.#options;
    const lostLineCount = this.#lostLineCount > 0 ? { missed: this.#lostLineCount } : {};
    this.#entries = 0;
    return { kind: 'began', at, format: FORMAT_VERSION, ...program, input: agent.input, ...lostLineCount, before };
  }

  #addLine(line: RecordingLine): void {
    if (this.#pendingLines.lengthWithoutLongest > MAX_PENDING_LENGTH) this.#dropPending();
    this.#segmentLengths.since += this.#pendingLines.add(line);
    this.#writtenTotals.lines += 1;
    this.#scheduleWrite();
  }

  /** Returns a listener that records a pod's status whenever the status changes. */
  #statusListener(): (change: PodChange) => void {
    const previousStatuses = new Map<string, PodStatus | undefined>();
    const { clock, redact } = this.#options;
    return ({ uid, removed, pod }) => {
      const { status } = pod;
      if (!removed && previousStatuses.get(uid) === status) return;
      if (removed) previousStatuses.delete(uid);
      else previousStatuses.set(uid, status);
      const recordedStatus = removed || status === undefined ? {} : { status: redact(status) };
      this.#addLine({ kind: 'status', at: clock.now(), uid, pod: namespacedName(pod), ...recordedStatus });
    };
  }

  /** Drops the pending lines. Later lines can then be replayed only from a new keyframe. */
  #dropPending(): void {
    this.#lostLineCount += this.#pendingLines.take()?.count ?? 0;
    this.#needsKeyframe = true;
  }

  #scheduleWrite(): void {
    if (this.#agent === undefined || this.#pendingWrite !== undefined) return;
    const delayMs = this.#isFailing ? RETRY_DELAY_MS : FLUSH_INTERVAL_MS;
    const ms = this.#pendingLines.length > FLUSH_THRESHOLD_LENGTH && !this.#isFailing ? 0 : delayMs;
    if (this.#timer !== undefined && this.#timer.ms <= ms) return;
    this.#clearTimer();
    this.#timer = { id: this.#options.clock.setTimeout(() => void this.flush(), ms), ms };
  }

  #clearTimer(): void {
    if (this.#timer !== undefined) this.#options.clock.clearTimeout(this.#timer.id);
    this.#timer = undefined;
  }

  async #writePending(): Promise<void> {
    let remainingTexts: readonly PendingText[] = [];
    try {
      if (this.#pendingAppend !== undefined) throw new Error(`${this.#options.directory}: a write has not ended yet`);
      const startedAt = this.#options.clock.monotonic();
      const isNewFile = this.#needsKeyframe || this.#ringFiles.isFull;
      const { pending, header } = this.#takePending(isNewFile);
      remainingTexts = pending ? [pending] : [];
      const headerText = header && (await header);
      if (headerText) remainingTexts = [...remainingTexts, headerText];
      for (const text of remainingTexts) {
        this.#pendingAppend = this.#appendMember(text, isNewFile).finally(() => {
          this.#pendingAppend = undefined;
        });
        await this.#withTimeout(WRITE_TIMEOUT_MS, this.#pendingAppend);
        if (text.lostLines !== undefined) this.#lostLineCount -= text.lostLines;
        remainingTexts = remainingTexts.slice(1);
      }
      this.#isFailing = false;
      this.#lastWriteStartedAt = startedAt;
    } catch (error) {
      this.#lostLineCount += remainingTexts.reduce((sum, { count }) => sum + count, 0);
      this.#needsKeyframe = true;
      if (!this.#isFailing) this.#options.onError(error);
      this.#isFailing = true;
    }
  }

  async #appendMember(text: PendingText, isNewFile: boolean): Promise<void> {
    const member = await encodeMember(text, this.#options.deflate);
    await this.#ringFiles.append(member, { isNewFile: isNewFile && text.startKind !== 'no' });
    this.#writtenMemberCount += 1;
    this.#writtenTotals.bytes += member.length;
  }

  /**
   * Removes and returns the pending lines. Also starts a keyframe if the lines go to a new file (`isNewFile`) or the
   * last keyframe is old enough.
   */
  #takePending(isNewFile: boolean): {
    readonly pending?: PendingText | undefined;
    readonly header?: Promise<PendingText | undefined>;
  } {
    if (this.#needsKeyframe) this.#dropPending();
    const pending = this.#pendingLines.take();
    const { keyframe, since } = this.#segmentLengths;
    const startsSegment = isNewFile || (this.#entries >= KEYFRAME_INTERVAL_ENTRIES && since >= keyframe);
    const membersBefore = this.#writtenMemberCount + (pending === undefined ? 0 : 1);
    if (!startsSegment || this.#agent === undefined) return { pending };
    return { pending, header: this.#createKeyframe(this.#agent, isNewFile ? 'anew' : 'again', membersBefore) };
  }

  /**
   * Serializes a keyframe of the current state over several turns of the event loop. Lines that are added in the
   * meantime follow the keyframe.
   */
  async #createKeyframe(
    agent: ObservedAgent,
    startKind: 'anew' | 'again',
    previousMembers: number,
  ): Promise<PendingText | undefined> {
    const { at, steps } = agent.draftKeyframe();
    const header = this.#createHeader(agent, at, previousMembers);
    this.#needsKeyframe = false;
    this.#segmentLengths = { keyframe: 0, since: 0 };
    const from = await runStepsInTurns(steps, STEPS_PER_TURN);
    const headerText = await runStepsInTurns(serializeHeader({ ...header, from }), STEPS_PER_TURN);
    this.#segmentLengths.keyframe = headerText.length;
    const lines = new PendingLines();
    lines.prependHeader(header, headerText, startKind);
    return lines.take();
  }

  /** Returns the result of `promise`. Rejects if `promise` has not settled within `ms` milliseconds. */
  #withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
    const { clock, directory } = this.#options;
    const waitForPromise = (signal: AbortSignal) =>
      unlessAborted(promise, signal).catch((error: unknown) => {
        throw signal.aborted ? new Error(`${directory}: no answer within ${ms / 1_000} s`) : error;
      });
    return withTimeout(waitForPromise, { clock, timeoutMs: ms });
  }
}
