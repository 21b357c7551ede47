/** Asks the API server whose a token is (`plugin/pkg/authenticator/token/webhook/webhook.go` of apiserver). */
import * as z from 'zod/mini';
import { messageOf } from '../../base/failure.ts';
import { OddAnswer, readAnswer } from '../../kubeclient/answer.ts';
import type { KubeClient } from '../../kubeclient/client.ts';
import type { Clock } from '../../kubeclient/clock.ts';
import { KubeError, troubleIn } from '../../kubeclient/kubeError.ts';
import type { ObjectType } from '../../kubeclient/paths.ts';
import type { Caller } from '../exchange.ts';
import type { AccessObserver } from './accessObserver.ts';
import { triedAgain } from './triedAgain.ts';

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews';
const ASKED = { asked: `POST ${PATH}`, expected: 'a TokenReview' };

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

/** Creates a review once. As in a kubelet, a response that cannot be read has the code of a success. */
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
    if (error instanceof OddAnswer) report(CREATED);
    else report(error instanceof KubeError ? error.code : undefined);
    throw error;
  }
}

/** Undefined for a token that nobody has. Rejects where nobody says; then no word of the token is in the message. */
export async function reviewToken(token: string, parts: ReviewParts, signal: AbortSignal): Promise<Caller | undefined> {
  const review = { kind: 'TokenReview', apiVersion: 'authentication.k8s.io/v1', spec: { token } };
  const { status } = await told(token, () =>
    triedAgain(async () => readAnswer(schema, await createReview('authn', PATH, review, { ...parts, signal }), ASKED), {
      clock: parts.clock,
      signal,
    }),
  );
  if (status.authenticated !== true) {
    // Why a token is not known may be told with parts of it.
    if (status.error) throw new Error('the API server could not review a token');
    return undefined;
  }
  const { username = '', uid, groups, extra } = status.user ?? {};
  const named = { name: username, groups: groups ?? [], extra: new Map(Object.entries(extra ?? {})) };
  return uid ? { ...named, uid } : named;
}

/** What an answer says, or an error with it as its cause, may have the token in it: only what is said here goes on. */
async function told<T>(token: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const isAnswer = error instanceof KubeError || error instanceof OddAnswer;
    const message = isAnswer ? `the API server is ${troubleIn(error)}` : messageOf(error);
    throw new Error(message.includes(token) ? 'the API server is out of reach' : message);
  }
}
