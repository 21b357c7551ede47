import { messageOf, NodeFailure } from '../../base/failure.ts';
import { isExhausted, rpcErrorText } from '../../cri/failure.ts';
import { NOSNIFF, sendText } from '../answers.ts';
import type { HttpResponse } from '../exchange.ts';

/** What a client is told instead of what it asked for, byte for byte. */
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

/** One that Go's `http.Error` writes: the text is a line, and its type is not to be guessed. */
export const errorLine = (code: number, text: string): Refusal => new Refusal(code, `${text}\n`, NOSNIFF);

/** A URL of the runtime is good for so many seconds, and so are the places of those that have not been used yet. */
const URL_SECONDS = '60';

/** The runtime gives no URL (`WriteError` in `cri-streaming/pkg/streaming/errors.go`). */
export function refusedByRuntime(error: unknown): Refusal {
  if (!(error instanceof NodeFailure)) return new Refusal(500, messageOf(error));
  const text = rpcErrorText(error);
  if (isExhausted(error)) return new Refusal(429, text, { 'Retry-After': URL_SECONDS });
  return new Refusal(error.reason === 'NotFound' ? 404 : 500, text);
}

/** Answers with it. */
export const tell = (response: HttpResponse, { code, message: text, headers }: Refusal): void =>
  sendText(response, { code, text, headers });
