import { messageOf, NodeFailure } from '../../base/failure.ts';
import { formatRpcError, isExhausted } from '../../cri/client/failure.ts';
import { NOSNIFF_HEADERS, sendText } from '../answers.ts';
import type { HttpResponse } from '../exchange.ts';

/** An error response with the exact body to send. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: number, text: string, headers: Readonly<Record<string, string>> = {}) {
    super(text);
    this.code = code;
    this.headers = headers;
  }
}

/** Creates an error response in the format of Go's `http.Error`. */
export const createErrorRefusal = (code: number, text: string): Refusal =>
  new Refusal(code, `${text}\n`, NOSNIFF_HEADERS);

/**
 * Lifetime of the runtime's streaming URLs, in seconds. A client that the runtime refuses because there are too many
 * URLs can retry after that time.
 */
const URL_SECONDS = '60';

/**
 * Converts the runtime's error for a streaming request to an error response (`WriteError` in
 * `cri-streaming/pkg/streaming/errors.go`).
 */
export function toRefusal(error: unknown): Refusal {
  if (!(error instanceof NodeFailure)) return new Refusal(500, messageOf(error));
  const text = formatRpcError(error);
  if (isExhausted(error)) return new Refusal(429, text, { 'Retry-After': URL_SECONDS });
  return new Refusal(error.reason === 'NotFound' ? 404 : 500, text);
}

export const sendRefusal = (response: HttpResponse, { code, message: text, headers }: Refusal): void =>
  sendText(response, { code, text, headers });
