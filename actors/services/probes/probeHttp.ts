/** Tries a probe by a GET over HTTP or HTTPS. */
import { BodyFailure } from '../http/httpExchange.ts';
import { type HttpTarget, httpGet } from '../http/httpGet.ts';
import type { Network } from '../http/network.ts';
import type { Try } from './probeTry.ts';

/** 200 to 399 is success; a redirect to another host is not followed, and a success with a warning. */
export async function tryHttp(
  network: Pick<Network, 'connect'>,
  target: HttpTarget,
  signal: AbortSignal,
): Promise<Try> {
  try {
    const { status, body } = await httpGet(target, { network, signal });
    if (status < 200 || status >= 400) {
      return { result: 'failure', message: `HTTP probe failed with statuscode: ${status}` };
    }
    if (status < 300) return { result: 'success', message: body };
    return { result: 'warning', message: `Probe terminated redirects, Response body: ${body}` };
  } catch (error) {
    // A server that sends half an answer is a fault of the tool to the kubelet.
    if (error instanceof BodyFailure || !(error instanceof Error)) throw error;
    return { result: 'failure', message: error.message };
  }
}
