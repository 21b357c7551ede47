/** Answers that are made at once, whole. */
import type { HttpResponse } from './exchange.ts';

/** An answer that is the same for everybody. */
export interface Fixed {
  readonly code: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The type of an answer is not to be guessed. */
export const NOSNIFF = { 'X-Content-Type-Options': 'nosniff' };

/** Sends a plain text. */
export function sendText(response: HttpResponse, { code, text, headers }: Fixed): void {
  response.writeHead(code, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** As Go's `http.Error`: a line of text. */
export const sendError = (response: HttpResponse, code: number, text: string): void =>
  sendText(response, { code, text: `${text}\n`, headers: NOSNIFF });

/** Sends what is JSON already. */
export function sendJson(response: HttpResponse, json: string | Buffer): void {
  const body = typeof json === 'string' ? Buffer.from(json) : json;
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
}
