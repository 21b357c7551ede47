/** Queues the lines of a recording until they are written. */
import * as z from 'zod/mini';
import type { RecordingLine, SegmentHeader } from './lines.ts';
import type { MemberText } from './member.ts';
import { replaceRepeatedObjects } from './repeatedParts.ts';

export interface PendingText extends MemberText {
  /** Number of lines, excluding the segment header. */
  readonly count: number;
  /** Number of lost lines as stated in the segment header. */
  readonly lostLines?: number | undefined;
}

/** The field of a probe's response that contains its result. */
const probeResponseSchema = z.looseObject({ result: z.string() });

/** Maximum number of failing probes to remember. */
const MAX_FAILING_PROBES = 10_000;

/** Counts failures. A probe that fails repeatedly is counted only once until it succeeds again. */
class FailureCounter {
  readonly #failingProbes = new Set<string>();

  /** Whether a line records a failure that has not been counted yet. */
  isNew(line: RecordingLine): boolean {
    if (line.kind === 'event') return line.eventType === 'Warning' && line.reason !== 'Unhealthy';
    if ((line.kind === 'answer' || line.kind === 'failure') && line.source === 'runProbe')
      return this.#isFirstFailure(line);
    return line.kind === 'failure';
  }

  #isFirstFailure({ actor, kind, value }: Extract<RecordingLine, { source: string }>): boolean {
    const probePath = actor.slice(0, actor.lastIndexOf('/'));
    const probeResult = kind === 'failure' ? 'error' : probeResponseSchema.safeParse(value).data?.result;
    if (probeResult === 'success') this.#failingProbes.delete(probePath);
    if (probeResult !== 'failure' && probeResult !== 'error') return false;
    if (this.#failingProbes.has(probePath)) return false;
    if (this.#failingProbes.size >= MAX_FAILING_PROBES) this.#failingProbes.clear();
    this.#failingProbes.add(probePath);
    return true;
  }
}

export class PendingLines {
  #lines: string[] = [];
  #length = 0;
  #longestLineLength = 0;
  #at = 0;
  #startKind: MemberText['startKind'] = 'no';
  #lostLines: number | undefined;
  #entries = 0;
  #failures = 0;
  readonly #failureCounter = new FailureCounter();

  /** Total length in characters. */
  get length(): number {
    return this.#length;
  }

  /**
   * Length without the longest line, in characters. The longest line is excluded, because its content is in the
   * caller's memory anyway.
   */
  get lengthWithoutLongest(): number {
    return this.#length - this.#longestLineLength;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Appends a line and returns its length in characters. */
  add(line: RecordingLine): number {
    if (this.isEmpty) this.#at = line.at;
    // Serialize the line immediately, so that its objects can be garbage-collected.
    const lineJson = JSON.stringify(line);
    this.#lines.push(lineJson);
    this.#addLength(lineJson);
    if ('source' in line) this.#entries += 1;
    if (this.#failureCounter.isNew(line)) this.#failures += 1;
    return lineJson.length;
  }

  /** Prepends a segment header. `text` is the serialized header. */
  prependHeader({ at, missed }: SegmentHeader, text: string, startKind: 'anew' | 'again'): void {
    this.#lines.unshift(text);
    this.#addLength(text);
    [this.#at, this.#startKind, this.#lostLines] = [at, startKind, missed];
  }

  /** Removes and returns all lines. Returns undefined if there are none. */
  take(): PendingText | undefined {
    if (this.isEmpty) return undefined;
    const [lines, at, startKind, lostLines] = [this.#lines, this.#at, this.#startKind, this.#lostLines];
    const [entries, failures] = [this.#entries, this.#failures];
    [this.#lines, this.#length, this.#longestLineLength, this.#startKind, this.#lostLines] = [
      [],
      0,
      0,
      'no',
      undefined,
    ];
    [this.#entries, this.#failures] = [0, 0];
    const count = lines.length - (startKind === 'no' ? 0 : 1);
    return { text: `${lines.join('\n')}\n`, at, startKind, lostLines, count, entries, failures };
  }

  #addLength({ length }: string): void {
    this.#length += length + 1;
    this.#longestLineLength = Math.max(this.#longestLineLength, length + 1);
  }
}

/**
 * Serializes a segment header in short steps. An object that several actors of the keyframe share is written only once.
 */
export function* serializeHeader({ from, ...headerFields }: SegmentHeader): Generator<void, string> {
  return JSON.stringify(
    from === undefined ? headerFields : { ...headerFields, from: yield* replaceRepeatedObjects(from) },
  );
}
