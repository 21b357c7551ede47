/** Requests TokenReviews from the API server (`plugin/pkg/authenticator/token/webhook/webhook.go` of apiserver). */
import * as z from 'zod/mini';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { parseResponse, UnexpectedResponse } from '../../kubeclient/answer.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import { errorSummary, KubeError } from '../../kubeclient/kubeError.ts';
import type { ObjectType } from '../../kubeclient/paths.ts';
import type { Caller } from '../exchange.ts';
import type { AccessObserver } from './accessObserver.ts';
import { withRetries } from './triedAgain.ts';

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews';
const RESPONSE_CONTEXT = { request: `POST ${PATH}`, expected: 'a TokenReview' };

const user = z.looseObject({
  username: z.optional(z.string()),
  uid: z.optional(z.string()),
  groups: z.optional(z.nullable(z.array(z.string()))),
  extra: z.optional(z.nullable(z.record(z.string(), z.array(z.string())))),
});
const schema = z.looseObject({
  status: z.looseObject({
    authenticated: z.optional(z.boolean()),
    user: z.optional(user),
    error: z.optional(z.string()),
  }),
});

export interface ReviewParts {
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  readonly onReviewed?: AccessObserver['reviewed'] | undefined;
}

const CREATED = 201;

/** Creates a review without retries. Like in the kubelet, a response that cannot be parsed counts as a success. */
export async function createReview<Review extends ObjectType>(
  kind: Parameters<AccessObserver['reviewed']>[0],
  path: string,
  review: Review,
  { client, clock, onReviewed, signal }: ReviewParts & { readonly signal: AbortSignal },
): Promise<unknown> {
  const startedAt = clock.monotonic();
  const report = (code?: number) => onReviewed?.(kind, code, clock.monotonic() - startedAt);
  try {
    const created = await client.create(path, review, { signal });
    report(CREATED);
    return created;
  } catch (error) {
    if (error instanceof UnexpectedResponse) report(CREATED);
    else report(error instanceof KubeError ? error.code : undefined);
    throw error;
  }
}

/**
 * Returns the owner of a token, or undefined if the token is unknown. Rejects if the API server returns no decision.
 * The error does not contain the token.
 */
export async function reviewToken(token: string, parts: ReviewParts, signal: AbortSignal): Promise<Caller | undefined> {
  const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: { token } };
  const { status } = await withoutToken(token, () =>
    withRetries(
      async () =>
        parseResponse(schema, await createReview('authn', PATH, review, { ...parts, signal }), RESPONSE_CONTEXT),
      {
        clock: parts.clock,
        signal,
      },
    ),
  );
  if (status.authenticated !== true) {
    // The reason may contain parts of the token.
    if (status.error) throw new Error('the API server could not review a token');
    return undefined;
  }
  const { username = '', uid, groups, extra } = status.user ?? {};
  const named = { name: username, groups: groups ?? [], extra: new Map(Object.entries(extra ?? {})) };
  return uid ? { ...named, uid } : named;
}

/** Replaces errors of the API server, whose messages and causes may contain the token. */
async function withoutToken<T>(token: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const isAnswer = error instanceof KubeError || error instanceof UnexpectedResponse;
    const message = isAnswer ? `the API server is ${errorSummary(error)}` : messageOf(error);
    throw new Error(message.includes(token) ? 'the API server is out of reach' : message);
  }
}
