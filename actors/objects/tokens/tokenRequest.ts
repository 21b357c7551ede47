/** Builds requests for service account tokens and parses the responses. */
import * as z from 'zod/mini';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { TokenRequest } from '../../../kubernetes/objects/podObjects.ts';

const SECOND_MS = 1_000;

export const serviceAccountOf = ({ metadata: { namespace }, spec }: Pod) => ({
  namespace,
  name: spec.serviceAccountName ?? '',
});

/**
 * Builds a TokenRequest bound to the pod, so the token becomes invalid when the pod is deleted. An empty audience
 * selects the API server itself (`pkg/volume/projected/projected.go` of the kubelet).
 */
export const createTokenRequest = ({ metadata: { name, uid } }: Pod, request: TokenRequest) => ({
  kind: 'TokenRequest',
  apiVersion: 'authentication.k8s.io/v1',
  ...(request.accountUid === undefined ? {} : { metadata: { uid: request.accountUid } }),
  spec: {
    ...(request.audience === '' ? {} : { audiences: [request.audience] }),
    ...(request.expirationSeconds === undefined ? {} : { expirationSeconds: request.expirationSeconds }),
    boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid },
  },
});

/** Formats a token request as in the kubelet's messages, with values in Go syntax. */
export function formatTokenRequest(pod: Pod, request: TokenRequest): string {
  const { namespace, name } = serviceAccountOf(pod);
  const { metadata } = pod;
  const audiences = request.audience === '' ? '[]string(nil)' : `[]string{${JSON.stringify(request.audience)}}`;
  const objectRef = `v1.BoundObjectReference{Kind:"Pod", APIVersion:"v1", Name:${JSON.stringify(metadata.name)}, UID:${JSON.stringify(metadata.uid)}}`;
  const { expirationSeconds = 0, accountUid = '' } = request;
  const account = `${JSON.stringify(name)}/${JSON.stringify(namespace)}`;
  return `${account}/${audiences}/${expirationSeconds}/${objectRef}/${JSON.stringify(accountUid)}`;
}

const timestampSchema = z.pipe(
  z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text)))),
  z.transform(Date.parse),
);
const responseSchema = z.object({
  metadata: z.optional(z.object({ creationTimestamp: z.optional(z.nullable(timestampSchema)) })),
  spec: z.object({ expirationSeconds: z.number().check(z.positive()) }),
  status: z.object({ token: z.string().check(z.minLength(1)), expirationTimestamp: timestampSchema }),
});

/**
 * Parses a token and its lifetime, measured from its creation. The lifetime is the shorter of the specified duration
 * and the interval between the server's own timestamps. If the response contains no token, throws an error that does
 * not quote the response.
 */
export function readToken(response: unknown): { readonly token: string; readonly lifetimeMs: number } {
  const parsedResponse = z.safeParse(responseSchema, response);
  if (!parsedResponse.success) throw new Error('the response of the API server contains no token');
  const { metadata, spec, status } = parsedResponse.data;
  const specifiedMs = spec.expirationSeconds * SECOND_MS;
  const createdAt = metadata?.creationTimestamp ?? undefined;
  const intervalMs = createdAt === undefined ? specifiedMs : status.expirationTimestamp - createdAt;
  return { token: status.token, lifetimeMs: intervalMs > 0 ? Math.min(specifiedMs, intervalMs) : specifiedMs };
}
