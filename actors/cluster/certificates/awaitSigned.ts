/** Waits until a request for a certificate has come to something (`util/certificate/csr` of client-go). */
import * as z from 'zod/mini';
import type { Clock } from '../../../base/clock.ts';
import { NodeFailure } from '../../../base/failure.ts';
import { printableLine } from '../../../base/printable.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { CERTIFICATE_SIGNING_REQUEST } from '../../../kubeclient/paths.ts';
import { type KubeObject, Reflector } from '../../../kubeclient/reflector.ts';

export const SIGNING_REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

interface Waiting {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly jitter: () => number;
  readonly signal: AbortSignal;
  readonly limitMs: number;
}

const statusSchema = z.object({
  metadata: z.object({ uid: z.string() }),
  status: z._default(
    z.object({
      certificate: z.optional(z.string()),
      conditions: z._default(
        z.array(
          z.object({
            type: z.string(),
            reason: z._default(z.string(), ''),
            message: z._default(z.string(), ''),
          }),
        ),
        [],
      ),
    }),
    { conditions: [] },
  ),
});

/** Gives the certificates in PEM; rejects with why there will be none, or once the limit is over. */
export async function awaitSigned(
  request: { readonly name: string; readonly uid: string },
  waiting: Waiting,
): Promise<string> {
  const { clock, limitMs, signal: stop, ...how } = waiting;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const end = new AbortController();
  const signal = AbortSignal.any([stop, end.signal]);
  const late = () => reject(new NodeFailure('CertificateNotIssued', notIssued(request.name, limitMs)));
  const timer = clock.setTimeout(late, limitMs);
  stop.addEventListener('abort', () => reject(stop.reason), { once: true, signal: end.signal });
  const reflector = new Reflector({
    ...how,
    clock,
    signal,
    path: SIGNING_REQUESTS,
    type: CERTIFICATE_SIGNING_REQUEST,
    query: { fieldSelector: `metadata.name=${request.name}` },
    onSet: ([found]) => {
      try {
        const certificate = certificateIn(request, found);
        if (certificate !== undefined) resolve(certificate);
      } catch (error) {
        reject(error);
      }
    },
    onStep: () => {},
  });
  // While the server cannot be reached it goes on trying: what it says then still counts.
  void reflector.run().catch(reject);
  try {
    return await promise;
  } finally {
    clock.clearTimeout(timer);
    end.abort();
  }
}

const MINUTE_MS = 60_000;
const notIssued = (name: string, limitMs: number): string =>
  `nobody has approved certificate request ${name} within ${limitMs / MINUTE_MS} minutes`;

/** Undefined: nobody has decided yet. */
function certificateIn(
  { name, uid }: { readonly name: string; readonly uid: string },
  found: KubeObject | undefined,
): string | undefined {
  if (found === undefined) throw new NodeFailure('CertificateNotIssued', `certificate request ${name} was deleted`);
  const { metadata, status } = z.parse(statusSchema, found);
  if (metadata.uid !== uid) throw new NodeFailure('CertificateNotIssued', `certificate request ${name} was replaced`);
  const [denied, failed] = ['Denied', 'Failed'].map((type) => status.conditions.find((each) => each.type === type));
  if (denied) throw new NodeFailure('CertificateDenied', `its request for a certificate was denied${wordsOf(denied)}`);
  if (failed) throw new NodeFailure('CertificateFailed', `its certificate could not be signed${wordsOf(failed)}`);
  return status.certificate ? Buffer.from(status.certificate, 'base64').toString() : undefined;
}

function wordsOf({ reason, message }: { readonly reason: string; readonly message: string }): string {
  const words = [reason, message].filter((each) => each !== '').join(', ');
  return words === '' ? '' : `: ${printableLine(words)}`;
}
