/** Probes a container with an HTTP or HTTPS GET. */
import { BodyFailure } from '../http/httpExchange.ts';
import { type HttpTarget, httpGet } from '../http/httpGet.ts';
import type { Network } from '../http/network.ts';
import type { ProbeAttempt } from './probeAttempt.ts';

/**
 * Sends the request of a probe. A status from 200 to 399 is success. A redirect to a different host is not followed and
 * is treated as success with a warning.
 */
export async function probeHttp(
  network: Pick<Network, 'connect'>,
  target: HttpTarget,
  signal: AbortSignal,
): Promise<ProbeAttempt> {
  try {
    const { status, body } = await httpGet(target, { network, signal });
    if (status < 200 || status >= 400) {
      return { result: 'failure', message: `HTTP probe failed with statuscode: ${status}` };
    }
    if (status < 300) return { result: 'success', message: body };
    return { result: 'warning', message: `Probe terminated redirects, Response body: ${body}` };
  } catch (error) {
    // Like the kubelet, treat a truncated response as an error of the probe and not of the container.
    if (error instanceof BodyFailure || !(error instanceof Error)) throw error;
    return { result: 'failure', message: error.message };
  }
}
