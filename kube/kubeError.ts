/** An API server's refusal. */
import * as z from 'zod/mini';

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

/** Of an answer: its code, its body, and its header `retry-after`. */
export function kubeErrorOf(code: number, text: string, retryAfter: string | undefined): KubeError {
  const status = statusIn(text);
  const message = status.message ?? (text.trim() || `the server answered with code ${code}`);
  return new KubeError(code, message, reasonsIn(status, retryAfter));
}

/** Of a Status that is told in the middle of something; `message` is for one without its own. */
export function kubeErrorFrom(object: object, message: string): KubeError {
  const status = statusOf(object);
  return new KubeError(status.code ?? 0, status.message ?? message, reasonsIn(status));
}

function reasonsIn({ reason = '', details }: Status, retryAfter?: string): Reasons {
  const seconds = Number(retryAfter ?? details?.retryAfterSeconds);
  return {
    reason,
    retryAfterMs: seconds >= 0 ? seconds * SECOND_MS : undefined,
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

/** Whether the object is not there, or nobody may know that it is. */
export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.code === 404;
export const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.code === 403;
export const isConflict = (error: unknown): boolean => error instanceof KubeError && error.code === 409;

const EXPIRED: readonly string[] = ['Expired', 'Gone'];

/** Whether the server does not know the state of its objects any more that was asked for, or does not know it yet. */
export const isVersionUnknown = (error: unknown): boolean =>
  error instanceof KubeError &&
  (error.code === 410 || EXPIRED.includes(error.reason) || error.causes.includes('ResourceVersionTooLarge'));
