/** Asks the API server whether somebody may do something (`plugin/pkg/authorizer/webhook/webhook.go` of apiserver). */
import * as z from 'zod/mini';
import { readAnswer } from '../../kubeclient/answer.ts';
import type { Caller } from '../exchange.ts';
import { createReview, type ReviewParts } from './tokenReview.ts';
import { triedAgain } from './triedAgain.ts';

/** What is to be done with the node. */
export interface Deed {
  /** Empty: a method that has none. */
  readonly verb: string;
  readonly node: string;
  readonly subresource: string;
}

const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const ASKED = { asked: `POST ${PATH}`, expected: 'a SubjectAccessReview' };

const schema = z.looseObject({
  status: z.looseObject({ allowed: z.optional(z.boolean()), denied: z.optional(z.boolean()) }),
});

const TYPE = { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1' };

/** Returns the spec of the review as JSON. Equal specs have equal texts, so that the text can be the key of a cache. */
export function accessQuestion({ name, uid, groups, extra }: Caller, { verb, node, subresource }: Deed): string {
  return JSON.stringify({
    resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: node },
    user: name,
    groups,
    extra: Object.fromEntries(extra),
    ...(uid === undefined ? {} : { uid }),
  });
}

/** Rejects where nobody says. */
export async function reviewAccess(question: string, parts: ReviewParts, signal: AbortSignal): Promise<boolean> {
  const spec: unknown = JSON.parse(question);
  const review = { ...TYPE, spec };
  const { status } = await triedAgain(
    async () => readAnswer(schema, await createReview('authz', PATH, review, { ...parts, signal }), ASKED),
    { clock: parts.clock, signal },
  );
  const { allowed = false, denied = false } = status;
  if (allowed && denied) throw new Error('the API server has both allowed and denied it');
  return allowed;
}
