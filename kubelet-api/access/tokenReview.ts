/** Requests TokenReviews from the API server (`plugin/pkg/authenticator/token/webhook/webhook.go` of apiserver). */
import * as z from 'zod/mini';
import { messageOf } from '../../base/failure.ts';
import type { Clock } from '../../base/time/clock.ts';
import { parseResponse, UnexpectedResponse } from '../../kubeclient/answer.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import { KubeError, summarizeError } from '../../kubeclient/kubeError.ts';
import type { ObjectType } from '../../kubeclient/paths.ts';
import type { Caller } from '../exchange.ts';
import type { AccessObserver } from './accessObserver.ts';
import { withRetries } from './withRetries.ts';

const REVIEW_PATH = '/apis/authentication.k8s.io/v1/tokenreviews';
const RESPONSE_CONTEXT = { request: `POST ${REVIEW_PATH}`, expected: 'a TokenReview' };

const userSchema = z.looseObject({
  username: z.optional(z.string()),
  uid: z.optional(z.string()),
  groups: z.optional(z.nullable(z.array(z.string()))),
  extra: z.optional(z.nullable(z.record(z.string(), z.array(z.string())))),
});
const reviewSchema = z.looseObject({
  status: z.looseObject({
    authenticated: z.optional(z.boolean()),
    user: z.optional(userSchema),
    error: z.optional(z.string()),
  }),
});

export interface ReviewOptions {
  readonly client: Pick<KubeClient, 'create'>;
  readonly clock: Clock;
  readonly onReviewed?: AccessObserver['reviewCompleted'] | undefined;
}

const CREATED_CODE = 201;

/**
 * Creates a review without retries. As in the kubelet, a response that cannot be parsed is reported to `onReviewed` as
 * a success, although the call rejects.
 */
export async function createReview<Review extends ObjectType>(
  kind: Parameters<AccessObserver['reviewCompleted']>[0],
  path: string,
  review: Review,
  { client, clock, onReviewed, signal }: ReviewOptions & { readonly signal: AbortSignal },
): Promise<unknown> {
  const startedAt = clock.monotonic();
  const reportReview = (code?: number) => onReviewed?.(kind, code, clock.monotonic() - startedAt);
  try {
    const createdReview = await client.create(path, review, { signal });
    reportReview(CREATED_CODE);
    return createdReview;
  } catch (error) {
    if (error instanceof UnexpectedResponse) reportReview(CREATED_CODE);
    else reportReview(error instanceof KubeError ? error.code : undefined);
    throw error;
  }
}

/**
 * Returns the owner of the given token, or undefined if the token is unknown. Rejects if the API server returns no
 * decision. The error does not contain the token.
 */
export async function reviewToken(
  token: string,
  options: ReviewOptions,
  signal: AbortSignal,
): Promise<Caller | undefined> {
  const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: { token } };
  const { status } = await redactToken(token, () =>
    withRetries(
      async () =>
        parseResponse(
          reviewSchema,
          await createReview('authn', REVIEW_PATH, review, { ...options, signal }),
          RESPONSE_CONTEXT,
        ),
      {
        clock: options.clock,
        signal,
      },
    ),
  );
  if (status.authenticated !== true) {
    // Omit the reason that the API server states, because it may contain parts of the token.
    if (status.error) throw new Error('the API server could not review a token');
    return undefined;
  }
  const { username = '', uid, groups, extra } = status.user ?? {};
  const caller = { name: username, groups: groups ?? [], extra: new Map(Object.entries(extra ?? {})) };
  return uid ? { ...caller, uid } : caller;
}

/** Replaces errors of the API server with errors that do not contain the token. */
async function redactToken<T>(token: string, sendReview: () => Promise<T>): Promise<T> {
  try {
    return await sendReview();
  } catch (error) {
    const isServerResponse = error instanceof KubeError || error instanceof UnexpectedResponse;
    const message = isServerResponse ? `the API server is ${summarizeError(error)}` : messageOf(error);
    throw new Error(message.includes(token) ? 'the API server is out of reach' : message);
  }
}
