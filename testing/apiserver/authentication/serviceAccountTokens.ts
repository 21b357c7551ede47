/** Issues and verifies service account tokens (`pkg/serviceaccount` of kubernetes). */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { lookUp } from '../../../base/values/lookUp.ts';
import { isList, isObject, type Json, type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import type { User } from '../requests/request.ts';
import { metadataOf } from '../store/metadata.ts';
import type { ResourceName, Store } from '../store/store.ts';

export const ISSUER = 'https://kubernetes.default.svc';
const SECOND_MS = 1000;
/**
 * Clock skew tolerance for the validity of a token and for the deletion of the objects that it is bound to, in
 * milliseconds.
 */
const LEEWAY_MS = 60_000;
const HEADER = encodeJson({ alg: 'HS256', typ: 'JWT' });

const UNKNOWN = 'invalid bearer token';

/** The user of a token and its audiences among those requested, or the reason why it is invalid. */
export type Verdict = { readonly user: User; readonly audiences: readonly string[] } | { readonly error: string };

/** The claims of a token. */
export interface Claims {
  readonly namespace: string;
  readonly account: Bound;
  readonly audiences: readonly string[];
  readonly seconds: number;
  /** The time after which clients should be warned that the token is stale, in seconds from now. */
  readonly warnAfter?: number | undefined;
  readonly pod?: Bound | undefined;
  readonly node?: Bound | undefined;
  readonly secret?: Bound | undefined;
  readonly id: string;
}

interface Bound {
  readonly name: string;
  readonly uid: string;
}

function encodeJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

export class ServiceAccountTokens {
  readonly #key = randomBytes(32);

  issue({ namespace, account, audiences, seconds, warnAfter, pod, node, secret, id }: Claims, now: number): string {
    const iat = Math.floor(now / SECOND_MS);
    const payload = encodeJson({
      aud: audiences,
      exp: iat + seconds,
      iat,
      iss: ISSUER,
      jti: id,
      'kubernetes.io': {
        namespace,
        ...(node === undefined ? {} : { node }),
        ...(pod === undefined ? {} : { pod }),
        ...(secret === undefined ? {} : { secret }),
        serviceaccount: account,
        ...(warnAfter === undefined ? {} : { warnafter: iat + warnAfter }),
      },
      nbf: iat,
      sub: `system:serviceaccount:${namespace}:${account.name}`,
    });
    const signed = `${HEADER}.${payload}`;
    return `${signed}.${this.#signature(signed)}`;
  }

  /** Returns the user of a token for one of the audiences, or why the token is invalid. */
  review(token: string, audiences: readonly string[], store: Store, now: number): Verdict {
    const claims = this.#claimsOf(token);
    if (claims === undefined) return { error: UNKNOWN };
    const own = lookUp(claims, 'aud');
    const ownAudiences = isList(own) ? own.filter((each) => typeof each === 'string') : [];
    const matching = ownAudiences.filter((each) => audiences.includes(each));
    const [has, wanted] = [ownAudiences, audiences].map(
      (each) => `[${each.map((name) => JSON.stringify(name)).join(' ')}]`,
    );
    if (matching.length === 0)
      return { error: `[${UNKNOWN}, token audiences ${has} is invalid for the target audiences ${wanted}]` };
    if (!isValidAt(claims, now)) return { error: `[${UNKNOWN}, service account token has expired]` };
    const user = userIn(claims, store, now);
    return user === undefined
      ? { error: `[${UNKNOWN}, service account token has been invalidated]` }
      : { user, audiences: matching };
  }

  #claimsOf(token: string): JsonObject | undefined {
    const [header = '', payload = '', signature = '', ...more] = token.split('.');
    const [actual, expected] = [signature, this.#signature(`${header}.${payload}`)].map((each) => Buffer.from(each));
    if (more.length > 0 || actual?.length !== expected?.length || !actual || !expected) return undefined;
    if (!timingSafeEqual(actual, expected)) return undefined;
    const claims: Json = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return isObject(claims) ? claims : undefined;
  }

  #signature(signed: string): string {
    return createHmac('sha256', this.#key).update(signed).digest('base64url');
  }
}

function isValidAt(claims: JsonObject, now: number): boolean {
  const [begins, ends] = ['nbf', 'exp'].map((name) => (numberAt(claims, name) ?? 0) * SECOND_MS);
  return now + LEEWAY_MS >= (begins ?? 0) && now - LEEWAY_MS <= (ends ?? 0);
}

/** Whether the object in a claim of a token still exists. True if the token has no such claim. */
function boundObjectExists(
  store: Store,
  at: ResourceName,
  namespace: string | undefined,
  claim: JsonObject | undefined,
  now: number,
): boolean {
  if (claim === undefined) return true;
  const found = store.get(at, namespace, textAt(claim, 'name'));
  if (found === undefined) return false;
  const { uid, deletionTimestamp } = metadataOf(found);
  return uid === textAt(claim, 'uid') && !(Date.parse(deletionTimestamp ?? '') < now - LEEWAY_MS);
}

/** Returns the user of a token, or undefined if an object that the token is bound to no longer exists. */
function userIn(claims: JsonObject, store: Store, now: number): User | undefined {
  const own = objectAt(claims, 'kubernetes.io');
  const namespace = textAt(own, 'namespace');
  const claimed = (name: string) => (lookUp(own, name) === undefined ? undefined : objectAt(own, name));
  const [account, pod, node, secret] = [objectAt(own, 'serviceaccount'), ...['pod', 'node', 'secret'].map(claimed)];
  const name = textAt(account ?? {}, 'name');
  const areThere =
    boundObjectExists(store, '/serviceaccounts', namespace, account, now) &&
    boundObjectExists(store, '/pods', namespace, pod, now) &&
    boundObjectExists(store, '/secrets', namespace, secret, now) &&
    // If the token is bound to a pod, its node is informational only.
    (pod !== undefined || boundObjectExists(store, '/nodes', undefined, node, now));
  if (!areThere) return undefined;
  const extra = [
    ['credential-id', `JTI=${textAt(claims, 'jti')}`],
    ['node-name', textAt(node ?? {}, 'name')] as const,
    ['node-uid', textAt(node ?? {}, 'uid')] as const,
    ['pod-name', textAt(pod ?? {}, 'name')] as const,
    ['pod-uid', textAt(pod ?? {}, 'uid')] as const,
  ] as const;
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid: textAt(account ?? {}, 'uid'),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra: new Map(
      extra.flatMap(([key, value]) =>
        value === '' ? [] : [[`authentication.kubernetes.io/${key}`, [value]] as const],
      ),
    ),
  };
}
