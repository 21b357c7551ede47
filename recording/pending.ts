/** Lines that wait to be written. */
import * as z from 'zod/mini';
import type { Began, Line } from './lines.ts';
import type { MemberText } from './member.ts';
import { withoutRepeats } from './repeatedParts.ts';

export interface PendingText extends MemberText {
  /** How many lines it has that tell what happened. */
  readonly count: number;
  /** How many its first line says are missing. */
  readonly missed?: number | undefined;
}

/** The part of a probe's answer that says how the attempt ended. */
const probeAnswer = z.looseObject({ result: z.string() });

/** Maximum number of probes that are remembered as failing. */
const MAX_FAILING = 10_000;

/** Finds failures among lines. A probe that keeps failing is one failure, until it succeeds. */
class Failures {
  readonly #failingProbes = new Set<string>();

  /** Whether a line is a failure that no earlier line has been. */
  isNew(line: Line): boolean {
    if (line.kind === 'event') return line.eventType === 'Warning' && line.reason !== 'Unhealthy';
    if ((line.kind === 'answer' || line.kind === 'failure') && line.source === 'runProbe') return this.#isFirst(line);
    return line.kind === 'failure';
  }

  #isFirst({ actor, kind, value }: Extract<Line, { source: string }>): boolean {
    const probe = actor.slice(0, actor.lastIndexOf('/'));
    const result = kind === 'failure' ? 'error' : probeAnswer.safeParse(value).data?.result;
    if (result === 'success') this.#failingProbes.delete(probe);
    if (result !== 'failure' && result !== 'error') return false;
    if (this.#failingProbes.has(probe)) return false;
    if (this.#failingProbes.size >= MAX_FAILING) this.#failingProbes.clear();
    this.#failingProbes.add(probe);
    return true;
  }
}

export class Pending {
  #lines: string[] = [];
  #length = 0;
  #longest = 0;
  #at = 0;
  #begins: MemberText['begins'] = 'no';
  #missed: number | undefined;
  #entries = 0;
  #failures = 0;
  readonly #found = new Failures();

  /** In characters. */
  get length(): number {
    return this.#length;
  }

  /** Without its longest line, which somebody else holds as well: in characters. */
  get lengthOfRest(): number {
    return this.#length - this.#longest;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** After all that are here; gives how many characters it takes. */
  add(line: Line): number {
    if (this.isEmpty) this.#at = line.at;
    // At once: what it holds need not be kept alive.
    const text = JSON.stringify(line);
    this.#lines.push(text);
    this.#count(text);
    if ('source' in line) this.#entries += 1;
    if (this.#found.isNew(line)) this.#failures += 1;
    return text.length;
  }

  /** Before all that are here. `text` is that of the beginning. */
  beginWith({ at, missed }: Began, text: string, begins: 'anew' | 'again'): void {
    this.#lines.unshift(text);
    this.#count(text);
    [this.#at, this.#begins, this.#missed] = [at, begins, missed];
  }

  /** All that are here, which are here no more; undefined where there are none. */
  take(): PendingText | undefined {
    if (this.isEmpty) return undefined;
    const [lines, at, begins, missed] = [this.#lines, this.#at, this.#begins, this.#missed];
    const [entries, failures] = [this.#entries, this.#failures];
    [this.#lines, this.#length, this.#longest, this.#begins, this.#missed] = [[], 0, 0, 'no', undefined];
    [this.#entries, this.#failures] = [0, 0];
    const count = lines.length - (begins === 'no' ? 0 : 1);
    return { text: `${lines.join('\n')}\n`, at, begins, missed, count, entries, failures };
  }

  #count({ length }: string): void {
    this.#length += length + 1;
    this.#longest = Math.max(this.#longest, length + 1);
  }
}

/** A beginning as it is written, in short steps: what several actors of its keyframe have in common is written once. */
export function* beganText({ from, ...began }: Began): Generator<void, string> {
  return JSON.stringify(from === undefined ? began : { ...began, from: yield* withoutRepeats(from) });
}
