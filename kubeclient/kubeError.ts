/** Errors returned by an API server. */
import * as z from 'zod/mini';
import { printableLine } from '../base/text/printable.ts';
import { UnexpectedResponse } from './answer.ts';

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

interface ErrorDetails {
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  readonly causes: readonly string[];
}

export class KubeError extends Error {
  override readonly name = 'KubeError';
  /** HTTP status code. */
  readonly code: number;
  /** Reason from the API such as `NotFound`. Empty if the server sent none. */
  readonly reason: string;
  /** Delay before a retry in milliseconds. Undefined if the server did not send one. */
  readonly retryAfterMs: number | undefined;
  /** Reasons of the `causes` in the Status. */
  readonly causes: readonly string[];

  constructor(code: number, message: string, { reason = '', retryAfterMs, causes = [] }: Partial<ErrorDetails> = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.causes = causes;
  }
}

const SECOND_MS = 1000;
/** Pattern of a number of seconds. The limit of nine digits prevents a timer overflow. */
const SECONDS_PATTERN = /^\d{1,9}$/;
/** Maximum number of characters of an error message. */
const MAX_MESSAGE_LENGTH = 1024;

export function createErrorFromResponse(code: number, body: string, retryAfter: string | undefined): KubeError {
  const status = parseStatus(body);
  return new KubeError(
    code,
    status.message ? shortenText(status.message) : parseErrorMessage(code, body),
    errorDetails(status, retryAfter),
  );
}

/** Creates the error for a Status object, e.g. from a watch. `message` is used if the Status has no message. */
export function createErrorFromStatus(object: object, message: string): KubeError {
  const status = toStatus(object);
  return new KubeError(status.code ?? 0, status.message ? shortenText(status.message) : message, errorDetails(status));
}

/**
 * Derives an error message from a body that is not a Status. For an HTML or text page, the message is its first line.
 */
function parseErrorMessage(code: number, body: string): string {
  const [line = ''] = body.trimStart().split(/[\r\n]/, 1);
  const summary = `the server answered with code ${code}`;
  if (line.trim() === '') return summary;
  return code < 400 ? `${summary}: ${shortenText(line.trim())}` : shortenText(line.trim());
}

/** Limits the length of external text and makes it printable. */
function shortenText(text: string): string {
  const printableText = printableLine(text.slice(0, MAX_MESSAGE_LENGTH));
  return text.length > MAX_MESSAGE_LENGTH || printableText.length > MAX_MESSAGE_LENGTH
    ? `${printableText.slice(0, MAX_MESSAGE_LENGTH - 1).toWellFormed()}…`
    : printableText;
}

function errorDetails({ reason = '', details }: Status, retryAfter?: string): ErrorDetails {
  const retrySeconds = [retryAfter, String(details?.retryAfterSeconds)].find(
    (candidate) => candidate && SECONDS_PATTERN.test(candidate),
  );
  return {
    reason: shortenText(reason),
    retryAfterMs: retrySeconds === undefined ? undefined : Number(retrySeconds) * SECOND_MS,
    causes: (details?.causes ?? []).flatMap((cause) => cause.reason ?? []),
  };
}

function parseStatus(body: string): Status {
  try {
    return toStatus(JSON.parse(body));
  } catch {
    return {};
  }
}

function toStatus(object: unknown): Status {
  const result = z.safeParse(statusSchema, object);
  return result.success ? result.data : {};
}

const SUMMARIES_BY_CODE: ReadonlyMap<number, string> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'not found'],
  [429, 'held off by a busy server'],
]);

/**
 * Summarizes an error in a few words that complete a sentence such as "3 objects are …". Unlike an error message, the
 * summary does not name objects.
 */
export function summarizeError(error: unknown): string {
  if (error instanceof KubeError) return SUMMARIES_BY_CODE.get(error.code) ?? `refused with ${error.code}`;
  return error instanceof UnexpectedResponse ? 'answered oddly' : 'out of reach';
}

export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.code === 404;
export const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.code === 403;
/** Whether the server rejected the object as invalid. */
export const isInvalidObjectError = (error: unknown): boolean => error instanceof KubeError && error.code === 422;
export const isConflict = (error: unknown): boolean => error instanceof KubeError && error.code === 409;

const EXPIRED_REASONS: readonly string[] = ['Expired', 'Gone'];

/**
 * Whether the server does not have the requested resourceVersion, because that version has been compacted or does not
 * exist yet.
 */
export const isExpiredVersionError = (error: unknown): boolean =>
  error instanceof KubeError &&
  (error.code === 410 || EXPIRED_REASONS.includes(error.reason) || error.causes.includes('ResourceVersionTooLarge'));
