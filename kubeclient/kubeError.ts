/** An API server's refusal. */
import * as z from 'zod/mini';
import { printableLine } from '../base/printable.ts';
import { OddAnswer } from './answer.ts';

const statusSchema = z.looseObject({
  code: z.optional(z.number()),
  message: z.optional(z.string()),
  reason: z.optional(z.string()),
  details: z.optional(
    z.looseObject({
      retryAfterSeconds: z.optional(z.number()),
      causes: z.optional(z.array(z.looseObject({ reason: z.optional(z.string()) }))),
    }),
  ),
});
type Status = z.infer<typeof statusSchema>;

interface Reasons {
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly string[];
}

export class KubeError extends Error {
  override readonly name = 'KubeError';
  /** The status code of HTTP. */
  readonly code: number;
  /** A word of the API, `NotFound`; empty where the server gives none. */
  readonly reason: string;
  /** How long to wait before another try, if the server says so. */
  readonly retryAfterMs: number | undefined;
  /** More words of the API. */
  readonly causes: readonly string[];

  constructor(code: number, message: string, { reason = '', retryAfterMs, causes = [] }: Partial<Reasons> = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.causes = causes;
  }
}

const SECOND_MS = 1000;
/** A number of them that a clock can count. */
const SECONDS = /^\d{1,9}$/;
/** In characters. */
const LONGEST_TEXT = 1024;

/** Of an answer: its code, its body, and its header `retry-after`. */
export function kubeErrorOf(code: number, text: string, retryAfter: string | undefined): KubeError {
  const status = statusIn(text);
  return new KubeError(
    code,
    status.message ? short(status.message) : wordsOf(code, text),
    reasonsIn(status, retryAfter),
  );
}

/** Of a Status that is told in the middle of something; `message` is for one without its own. */
export function kubeErrorFrom(object: object, message: string): KubeError {
  const status = statusOf(object);
  return new KubeError(status.code ?? 0, status.message ? short(status.message) : message, reasonsIn(status));
}

/** What answers instead of an API server: a page of a proxy says in its first line what there is to say. */
function wordsOf(code: number, text: string): string {
  const [line = ''] = text.trimStart().split(/[\r\n]/, 1);
  const answer = `the server answered with code ${code}`;
  if (line.trim() === '') return answer;
  return code < 400 ? `${answer}: ${short(line.trim())}` : short(line.trim());
}

/** What is kept, logged and shown of a text from outside. */
function short(text: string): string {
  const shown = printableLine(text.slice(0, LONGEST_TEXT));
  return text.length > LONGEST_TEXT || shown.length > LONGEST_TEXT
    ? `${shown.slice(0, LONGEST_TEXT - 1).toWellFormed()}…`
    : shown;
}

function reasonsIn({ reason = '', details }: Status, retryAfter?: string): Reasons {
  const seconds = [retryAfter, String(details?.retryAfterSeconds)].find((each) => each && SECONDS.test(each));
  return {
    reason: short(reason),
    retryAfterMs: seconds === undefined ? undefined : Number(seconds) * SECOND_MS,
    causes: (details?.causes ?? []).flatMap((cause) => cause.reason ?? []),
  };
}

function statusIn(text: string): Status {
  try {
    return statusOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function statusOf(object: unknown): Status {
  const read = z.safeParse(statusSchema, object);
  return read.success ? read.data : {};
}

const WORDS: ReadonlyMap<number, string> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not found'],
  [429, 'held off by a busy server'],
]);

/** In a word or two, as in "3 objects are …", what a request has met with; messages name objects, these do not. */
export function troubleIn(error: unknown): string {
  if (error instanceof KubeError) return WORDS.get(error.code) ?? `refused with ${error.code}`;
  return error instanceof OddAnswer ? 'answered oddly' : 'out of reach';
}

/** Whether the object is not there, or nobody may know that it is. */
export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.code === 404;
export const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.code === 403;
/** Whether the object may not be so, or may not become so. */
export const isInvalid = (error: unknown): boolean => error instanceof KubeError && error.code === 422;
export const isConflict = (error: unknown): boolean => error instanceof KubeError && error.code === 409;

const EXPIRED: readonly string[] = ['Expired', 'Gone'];

/** Whether the server does not know the state of its objects any more that was asked for, or does not know it yet. */
export const isVersionUnknown = (error: unknown): boolean =>
  error instanceof KubeError &&
  (error.code === 410 || EXPIRED.includes(error.reason) || error.causes.includes('ResourceVersionTooLarge'));
