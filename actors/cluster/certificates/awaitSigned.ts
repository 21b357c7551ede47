/** Waits for the outcome of a certificate request (`util/certificate/csr` of client-go). */
import * as z from 'zod/mini';
import { NodeFailure } from '../../../base/failure.ts';
import { printableLine } from '../../../base/text/printable.ts';
import type { Clock } from '../../../base/time/clock.ts';
import type { KubeClient } from '../../../kubeclient/client.ts';
import { CERTIFICATE_SIGNING_REQUEST_TYPE } from '../../../kubeclient/paths.ts';
import { type KubeObject, Reflector } from '../../../kubeclient/reflector.ts';

export const SIGNING_REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

interface WaitOptions {
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

/**
 * Resolves with the issued certificates in PEM. Rejects if the request is denied, has failed or is deleted, or after
 * the time limit.
 */
export async function awaitSigned(
  request: { readonly name: string; readonly uid: string },
  options: WaitOptions,
): Promise<string> {
  const { clock, limitMs, signal: stop, ...reflectorParts } = options;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const completion = new AbortController();
  const signal = AbortSignal.any([stop, completion.signal]);
  const onTimeout = () => reject(new NodeFailure('CertificateNotIssued', notIssuedMessage(request.name, limitMs)));
  const timer = clock.setTimeout(onTimeout, limitMs);
  stop.addEventListener('abort', () => reject(stop.reason), { once: true, signal: completion.signal });
  const reflector = new Reflector({
    ...reflectorParts,
    clock,
    signal,
    path: SIGNING_REQUESTS,
    type: CERTIFICATE_SIGNING_REQUEST_TYPE,
    query: { fieldSelector: `metadata.name=${request.name}` },
    onSet: ([csr]) => {
      try {
        const certificate = readCertificate(request, csr);
        if (certificate !== undefined) resolve(certificate);
      } catch (error) {
        reject(error);
      }
    },
    onStep: () => {},
  });
  // The reflector retries while the server is unreachable, so a later response is still received.
  void reflector.run().catch(reject);
  try {
    return await promise;
  } finally {
    clock.clearTimeout(timer);
    completion.abort();
  }
}

const MINUTE_MS = 60_000;
const notIssuedMessage = (name: string, limitMs: number): string =>
  `certificate request ${name} was not approved within ${limitMs / MINUTE_MS} minutes`;

/**
 * Returns the issued certificates, or undefined while the request is pending. Throws if the request was denied, deleted
 * or replaced, or has failed.
 */
function readCertificate(
  { name, uid }: { readonly name: string; readonly uid: string },
  csr: KubeObject | undefined,
): string | undefined {
  if (csr === undefined) throw new NodeFailure('CertificateNotIssued', `certificate request ${name} was deleted`);
  const { metadata, status } = z.parse(statusSchema, csr);
  if (metadata.uid !== uid) throw new NodeFailure('CertificateNotIssued', `certificate request ${name} was replaced`);
  const [denied, failed] = ['Denied', 'Failed'].map((type) =>
    status.conditions.find((condition) => condition.type === type),
  );
  if (denied)
    throw new NodeFailure('CertificateDenied', `certificate request ${name} was denied${formatExplanation(denied)}`);
  if (failed)
    throw new NodeFailure(
      'CertificateFailed',
      `certificate request ${name} could not be signed${formatExplanation(failed)}`,
    );
  return status.certificate ? Buffer.from(status.certificate, 'base64').toString() : undefined;
}

function formatExplanation({ reason, message }: { readonly reason: string; readonly message: string }): string {
  const explanation = [reason, message].filter((part) => part !== '').join(', ');
  return explanation === '' ? '' : `: ${printableLine(explanation)}`;
}
