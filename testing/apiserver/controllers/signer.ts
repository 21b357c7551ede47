/**
 * Approves and signs certificate signing requests (`csrapproving` and `csrsigning` of kube-controller-manager)
 * according to a policy. By default, kubelet client certificates are approved at once, and serving certificates need
 * manual approval.
 */

import type { TimerClock } from '../../../base/time/clock.ts';
import { readSigningRequest } from '../certificates/signingRequest.ts';
import { type JsonObject, objectAt, textAt } from '../json.ts';
import { listAt, objectsAt, specOf, statusOf } from '../registry/strategies/parts.ts';
import type { Authority } from '../serving/authority.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Controller, Write } from './controller.ts';

export interface SigningPolicy {
  /** Decides about a new request. `wait` leaves it to manual approval. */
  decide(request: { readonly signer: string; readonly user: string }): 'approve' | 'deny' | 'fail' | 'wait';
  /** Delay between the creation of a request and the decision, in milliseconds. */
  delayMs: number;
  /** Lifetime of certificates, in milliseconds. */
  lifeMs: number;
}

const CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet';
const SIGNERS: ReadonlyMap<string, 'client auth' | 'server auth'> = new Map([
  [CLIENT, 'client auth'],
  ['kubernetes.io/kubelet-serving', 'server auth'],
] as const);
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

export const defaultPolicy = (): SigningPolicy => ({
  decide: ({ signer }) => (signer === CLIENT ? 'approve' : 'wait'),
  delayMs: 0,
  lifeMs: YEAR_MS,
});

interface Signer {
  readonly authority: Pick<Authority, 'sign'>;
  readonly clock: TimerClock;
  readonly policy: SigningPolicy;
}

export const signingController = (signer: Signer): Controller => ({
  user: 'system:serviceaccount:kube-system:certificate-controller',
  resources: ['certificates.k8s.io/certificatesigningrequests'],
  reconcile: async (store, write) => {
    const waits: number[] = [];
    for (const [, request] of store.list('certificates.k8s.io/certificatesigningrequests')) {
      const wait = await processRequest(request, write, signer);
      if (wait > 0) waits.push(wait);
    }
    return waits.length > 0 ? Math.min(...waits) : undefined;
  },
});

/** Processes a request as far as possible. Returns the remaining delay in milliseconds, or 0. */
async function processRequest(request: JsonObject, write: Write, signer: Signer): Promise<number> {
  const { clock, policy } = signer;
  const [has, usage] = [typesOf(request), SIGNERS.get(textAt(specOf(request), 'signerName'))];
  if (usage === undefined || has.includes('Denied') || has.includes('Failed')) return 0;
  if (has.includes('Approved')) {
    if (textAt(statusOf(request), 'certificate') === '') await sign(request, usage, write, signer);
    return 0;
  }
  const wait = Date.parse(textAt(objectAt(request, 'metadata'), 'creationTimestamp')) + policy.delayMs - clock.now();
  if (wait > 0) return wait;
  const spec = specOf(request);
  const decision = policy.decide({ signer: textAt(spec, 'signerName'), user: textAt(spec, 'username') });
  if (decision === 'approve') await addCondition(request, 'approval', 'Approved', write);
  if (decision === 'deny') await addCondition(request, 'approval', 'Denied', write);
  if (decision === 'fail') await addCondition(request, 'status', 'Failed', write);
  return 0;
}

const typesOf = (request: JsonObject): string[] =>
  objectsAt(statusOf(request), 'conditions').map((each) => textAt(each, 'type'));
const pathOf = (request: JsonObject, part: string): string =>
  `/apis/certificates.k8s.io/v1/certificatesigningrequests/${metadataOf(request).name}/${part}`;

async function addCondition(
  request: JsonObject,
  part: 'approval' | 'status',
  type: 'Approved' | 'Denied' | 'Failed',
  write: Write,
): Promise<void> {
  const condition = { type, status: 'True', reason: 'StandIn', message: `${type} by the policy of this cluster` };
  const conditions = [...listAt(statusOf(request), 'conditions'), condition];
  await write('PATCH', pathOf(request, part), { status: { conditions } });
}

async function sign(
  request: JsonObject,
  usage: 'client auth' | 'server auth',
  write: Write,
  { authority, clock, policy: { lifeMs } }: Signer,
): Promise<void> {
  const from = clock.now();
  const read = readSigningRequest(textAt(specOf(request), 'request'));
  const certificate = authority.sign(read, { usage, from, to: from + lifeMs });
  await write('PATCH', pathOf(request, 'status'), {
    status: { certificate: Buffer.from(certificate).toString('base64') },
  });
}
