/** Sends complete responses with a fixed body. */
import type { HttpResponse } from './exchange.ts';

export interface TextResponse {
  readonly code: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Prevents browsers from guessing the content type. */
export const NOSNIFF_HEADERS = { 'X-Content-Type-Options': 'nosniff' };

export function sendText(response: HttpResponse, { code, text, headers }: TextResponse): void {
  response.writeHead(code, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    ...headers,
  });
  response.end(text);
}

/** Sends a one-line error message in the format of Go's `http.Error`. */
export const sendError = (response: HttpResponse, code: number, text: string): void =>
  sendText(response, { code, text: `${text}\n`, headers: NOSNIFF_HEADERS });

/** Sends a body that is already serialized as JSON. */
export function sendJson(response: HttpResponse, json: string | Buffer): void {
  const body = typeof json === 'string' ? Buffer.from(json) : json;
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
}
