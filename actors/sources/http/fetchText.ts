import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/failure.ts';
import type { FetchResponse, Network } from '../../services/http/network.ts';
import { LARGEST_TEXT } from '../manifest/manifestLimits.ts';
import { splitCredentials } from './urlSecrets.ts';

const ANSWER_WITHIN_MS = 10_000;

export interface FetchOptions {
  readonly url: string;
  /** Several values of one name are sent in their order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly clock: Clock;
  readonly network: Pick<Network, 'fetch'>;
  readonly signal: AbortSignal;
}

/** Reads what a URL answers, at most 10 MiB within 10 s; whatever is no answer throws with a message for people. */
export async function fetchText({ url, headers, clock, network, signal }: FetchOptions): Promise<string> {
  const [late, done] = [new AbortController(), new AbortController()];
  const timer = clock.setTimeout(() => late.abort(), ANSWER_WITHIN_MS);
  const { url: asked, authorization } = splitCredentials(url);
  const isAuthorized = headers.some(([name]) => name.toLowerCase() === 'authorization');
  try {
    const response = await network.fetch(asked, {
      headers: [
        ...headers.map(([name, value]): [string, string] => [name, value]),
        ...(authorization === undefined || isAuthorized
          ? []
          : [['Authorization', authorization] satisfies [string, string]]),
      ],
      signal: AbortSignal.any([signal, late.signal, done.signal]),
    });
    if (response.status !== 200) {
      // Nobody waits for that: it may never come to an end.
      response.body?.cancel().catch(() => {});
      throw new Error(`the server answered ${response.status} ${response.statusText}`.trim());
    }
    return await bodyOf(response);
  } catch (error) {
    if (late.signal.aborted) throw new Error(`no response within ${ANSWER_WITHIN_MS / 1_000} s`, { cause: error });
    // What fetch says itself is always that it failed; its cause says why.
    const why = typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
    throw new Error(messageOf(why ?? error), { cause: error });
  } finally {
    clock.clearTimeout(timer);
    done.abort();
  }
}

/** However small the pieces are that it comes in, they take no more room than what they hold. */
async function bodyOf(response: FetchResponse): Promise<string> {
  let room = Buffer.allocUnsafe(64 * 1024);
  let length = 0;
  for await (const part of response.body ?? []) {
    const end = length + part.byteLength;
    if (end > LARGEST_TEXT) throw new Error(`the response is larger than ${LARGEST_TEXT} bytes`);
    if (end > room.length) {
      const larger = Buffer.allocUnsafe(2 * end);
      room.copy(larger, 0, 0, length);
      room = larger;
    }
    room.set(part, length);
    length = end;
  }
  return room.toString('utf8', 0, length);
}
