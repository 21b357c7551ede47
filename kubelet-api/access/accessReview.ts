/** Requests SubjectAccessReviews from the API server (`plugin/pkg/authorizer/webhook/webhook.go` of apiserver). */
import * as z from 'zod/mini';
import { parseResponse } from '../../kubeclient/answer.ts';
import type { Caller } from '../exchange.ts';
import { createReview, type ReviewOptions } from './tokenReview.ts';
import { withRetries } from './withRetries.ts';

/** An action on the node that a user has to be authorized for. */
export interface NodeAction {
  /** The API verb of the request. Empty for an HTTP method that has no corresponding verb. */
  readonly verb: string;
  readonly node: string;
  readonly subresource: string;
}

const REVIEW_PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const RESPONSE_CONTEXT = { request: `POST ${REVIEW_PATH}`, expected: 'a SubjectAccessReview' };

const reviewSchema = z.looseObject({
  status: z.looseObject({ allowed: z.optional(z.boolean()), denied: z.optional(z.boolean()) }),
});

const REVIEW_TYPE = { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' };

/** Returns the spec of the review as JSON. Equal specs have equal JSON, so the JSON can serve as a cache key. */
export function serializeReviewSpec(
  { name, uid, groups, extra }: Caller,
  { verb, node, subresource }: NodeAction,
): string {
  return JSON.stringify({
    resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: node },
    user: name,
    groups,
    extra: Object.fromEntries(extra),
    ...(uid === undefined ? {} : { uid }),
  });
}

/** Returns whether the API server allows the action. Rejects if it returns no decision. */
export async function reviewAccess(
  serializedSpec: string,
  options: ReviewOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const spec: unknown = JSON.parse(serializedSpec);
  const review = { ...REVIEW_TYPE, spec };
  const { status } = await withRetries(
    async () =>
      parseResponse(
        reviewSchema,
        await createReview('authz', REVIEW_PATH, review, { ...options, signal }),
        RESPONSE_CONTEXT,
      ),
    { clock: options.clock, signal },
  );
  const { allowed = false, denied = false } = status;
  if (allowed && denied) throw new Error('the API server has both allowed and denied it');
  return allowed;
}
