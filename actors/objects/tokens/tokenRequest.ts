/** What an API server is asked for a token with, and what it answers. */
import * as z from 'zod/mini';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { TokenRequest } from '../../../kubernetes/objects/podObjects.ts';

const SECOND_MS = 1_000;

/** Whose token it is. */
export const accountOf = ({ metadata: { namespace }, spec }: Pod) => ({
  namespace,
  name: spec.serviceAccountName ?? '',
});

/**
 * Bound to the pod: it is worth nothing any more once that is gone. For the API server itself it names no audience
 * (`pkg/volume/projected/projected.go` of a kubelet).
 */
export const tokenRequestOf = ({ metadata: { name, uid } }: Pod, request: TokenRequest) => ({
  kind: 'TokenRequest',
  apiVersion: 'authentication.k8s.io/v1',
  ...(request.accountUid === undefined ? {} : { metadata: { uid: request.accountUid } }),
  spec: {
    ...(request.audience === '' ? {} : { audiences: [request.audience] }),
    ...(request.expirationSeconds === undefined ? {} : { expirationSeconds: request.expirationSeconds }),
    boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
  },
});

/** How a kubelet calls a token in its messages: the values as Go writes them. */
export function tokenCalled(pod: Pod, request: TokenRequest): string {
  const { namespace, name } = accountOf(pod);
  const { metadata } = pod;
  const audiences = request.audience === '' ? '[]string(nil)' : `[]string{${JSON.stringify(request.audience)}}`;
  const bound = `v1.BoundObjectReference{Kind:"Pod", APIVersion:"v1", Name:${JSON.stringify(metadata.name)}, UID:${JSON.stringify(metadata.uid)}}`;
  const { expirationSeconds = 0, accountUid = '' } = request;
  const whose = `${JSON.stringify(name)}/${JSON.stringify(namespace)}`;
  return `${whose}/${audiences}/${expirationSeconds}/${bound}/${JSON.stringify(accountUid)}`;
}

const moment = z.pipe(z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text)))), z.transform(Date.parse));
const answerSchema = z.object({
  metadata: z.optional(z.object({ creationTimestamp: z.optional(z.nullable(moment)) })),
  spec: z.object({ expirationSeconds: z.number().check(z.positive()) }),
  status: z.object({ token: z.string().check(z.minLength(1)), expirationTimestamp: moment }),
});

/**
 * The token, and for how long it holds from when it was made: at most as long as the server says, and no longer than from
 * the one to the other of its own moments. Throws where it says nothing of the kind, with no word of what it did say.
 */
export function readToken(answer: unknown): { readonly token: string; readonly lifetimeMs: number } {
  const read = z.safeParse(answerSchema, answer);
  if (!read.success) throw new Error('the API server answered with no token');
  const { metadata, spec, status } = read.data;
  const told = spec.expirationSeconds * SECOND_MS;
  const createdAt = metadata?.creationTimestamp ?? undefined;
  const between = createdAt === undefined ? told : status.expirationTimestamp - createdAt;
  return { token: status.token, lifetimeMs: between > 0 ? Math.min(told, between) : told };
}
