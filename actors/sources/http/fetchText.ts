import { messageOf } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { FetchResponse, Network } from '../../services/http/network.ts';
import { MAX_TEXT_BYTES } from '../manifest/manifestLimits.ts';
import { splitCredentials } from './urlSecrets.ts';

const RESPONSE_TIMEOUT_MS = 10_000;

export interface FetchOptions {
  readonly url: string;
  /** Several headers of the same name are sent in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly clock: Clock;
  readonly network: Pick<Network, 'fetch'>;
  readonly signal: AbortSignal;
}

/** Fetches the content of a URL, at most 10 MiB within 10 s. All errors have a message for users. */
export async function fetchText({ url, headers, clock, network, signal }: FetchOptions): Promise<string> {
  const [timeout, done] = [new AbortController(), new AbortController()];
  const timer = clock.setTimeout(() => timeout.abort(), RESPONSE_TIMEOUT_MS);
  const { url: requestUrl, authorization } = splitCredentials(url);
  const hasAuthorization = headers.some(([name]) => name.toLowerCase() === 'authorization');
  try {
    const response = await network.fetch(requestUrl, {
      headers: [
        ...headers.map(([name, value]): [string, string] => [name, value]),
        ...(authorization === undefined || hasAuthorization
          ? []
          : [['Authorization', authorization] satisfies [string, string]]),
      ],
      signal: AbortSignal.any([signal, timeout.signal, done.signal]),
    });
    if (response.status !== 200) {
      // Cancel the body, because it may never end.
      response.body?.cancel().catch(() => {});
      throw new Error(`the server answered ${response.status} ${response.statusText}`.trim());
    }
    return await readBody(response);
  } catch (error) {
    if (timeout.signal.aborted)
      throw new Error(`no response within ${RESPONSE_TIMEOUT_MS / 1_000} s`, { cause: error });
    // The error of `fetch` only states that the request failed. Its cause contains the reason.
    const cause = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
    throw new Error(messageOf(cause ?? error), { cause: error });
  } finally {
    clock.clearTimeout(timer);
    done.abort();
  }
}

/** Reads the body into one growing buffer, because many small chunks would need more memory than their content. */
async function readBody(response: FetchResponse): Promise<string> {
  let bodyBuffer = Buffer.allocUnsafe(64 * 1024);
  let length = 0;
  for await (const chunk of response.body ?? []) {
    const end = length + chunk.byteLength;
    if (end > MAX_TEXT_BYTES) throw new Error(`the response is larger than ${MAX_TEXT_BYTES} bytes`);
    if (end > bodyBuffer.length) {
      const largerBuffer = Buffer.allocUnsafe(2 * end);
      bodyBuffer.copy(largerBuffer, 0, 0, length);
      bodyBuffer = largerBuffer;
    }
    bodyBuffer.set(chunk, length);
    length = end;
  }
  return bodyBuffer.toString('utf8', 0, length);
}
