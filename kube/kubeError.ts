/** An API server's refusal. */
import * as z from 'zod/mini';

const statusSchema = z.looseObject({
  message: z.optional(z.string()),
  reason: z.optional(z.string()),
  details: z.optional(z.looseObject({ retryAfterSeconds: z.optional(z.number()) })),
});

export class KubeError extends Error {
  override readonly name = 'KubeError';
  /** The status code of HTTP. */
  readonly code: number;
  /** A word of the API, `NotFound`; empty where the server gives none. */
  readonly reason: string;
  /** How long to wait before another try, if the server says so. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: number,
    message: string,
    { reason = '', retryAfterMs }: { reason?: string; retryAfterMs?: number | undefined } = {},
  ) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

const SECOND_MS = 1000;

/** Of an answer: its code, its body, and its header `retry-after`. */
export function kubeErrorOf(code: number, text: string, retryAfter: string | undefined): KubeError {
  const { message, reason, details } = statusIn(text);
  const seconds = Number(retryAfter ?? details?.retryAfterSeconds);
  return new KubeError(code, message ?? (text.trim() || `the server answered with code ${code}`), {
    ...(reason === undefined ? {} : { reason }),
    retryAfterMs: seconds >= 0 ? seconds * SECOND_MS : undefined,
  });
}

function statusIn(text: string): z.infer<typeof statusSchema> {
  try {
    const read = z.safeParse(statusSchema, JSON.parse(text));
    return read.success ? read.data : {};
  } catch {
    return {};
  }
}

/** Whether the object is not there, or nobody may know that it is. */
export const isNotFound = (error: unknown): boolean => error instanceof KubeError && error.code === 404;
export const isForbidden = (error: unknown): boolean => error instanceof KubeError && error.code === 403;
export const isConflict = (error: unknown): boolean => error instanceof KubeError && error.code === 409;
