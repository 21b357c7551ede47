/** Tokens of service accounts: signed here, and read here again (`pkg/serviceaccount` of kubernetes). */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { lookUp } from '../../pod/lookUp.ts';
import { isList, isObject, type Json, type JsonObject, numberAt, objectAt, textAt } from '../json.ts';
import type { User } from '../request.ts';
import { metadataOf } from '../store/metadata.ts';
import type { Store } from '../store/store.ts';

export const ISSUER = 'https://kubernetes.default.svc';
const SECOND_MS = 1000;
const HEADER = encoded({ alg: 'HS256', typ: 'JWT' });

/** What a token says. */
export interface Claims {
  readonly namespace: string;
  readonly account: { readonly name: string; readonly uid: string };
  readonly audiences: readonly string[];
  readonly seconds: number;
  /** When clients should be told that it gets old, in seconds from now. */
  readonly warnAfter?: number | undefined;
  readonly pod?: { readonly name: string; readonly uid: string } | undefined;
  readonly node?: { readonly name: string; readonly uid: string } | undefined;
  readonly id: string;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

export class ServiceAccountTokens {
  readonly #key = randomBytes(32);

  issue({ namespace, account, audiences, seconds, warnAfter, pod, node, id }: Claims, now: number): string {
    const iat = Math.floor(now / SECOND_MS);
    const payload = encoded({
      ...{ aud: audiences, exp: iat + seconds, iat, iss: ISSUER, jti: id },
      'kubernetes.io': {
        namespace,
        ...(node === undefined ? {} : { node }),
        ...(pod === undefined ? {} : { pod }),
        serviceaccount: account,
        ...(warnAfter === undefined ? {} : { warnafter: iat + warnAfter }),
      },
      ...{ nbf: iat, sub: `system:serviceaccount:${namespace}:${account.name}` },
    });
    const signed = `${HEADER}.${payload}`;
    return `${signed}.${this.#signature(signed)}`;
  }

  /** Whose a token for this server is; undefined for one that is not, or not any more. */
  userOf(token: string, store: Store, now: number): User | undefined {
    const claims = this.#claimsOf(token);
    if (claims === undefined) return undefined;
    const audiences = lookUp(claims, 'aud');
    const isMeant = isList(audiences) && audiences.includes(ISSUER);
    const isOver = (numberAt(claims, 'exp') ?? 0) * SECOND_MS <= now;
    return !isMeant || isOver ? undefined : userIn(claims, store);
  }

  #claimsOf(token: string): JsonObject | undefined {
    const [header = '', payload = '', signature = '', ...more] = token.split('.');
    const [given, right] = [signature, this.#signature(`${header}.${payload}`)].map((each) => Buffer.from(each));
    if (more.length > 0 || given?.length !== right?.length || !given || !right) return undefined;
    if (!timingSafeEqual(given, right)) return undefined;
    const claims: Json = JSON.parse(Buffer.from(payload, 'base64url').toString());
    return isObject(claims) ? claims : undefined;
  }

  #signature(signed: string): string {
    return createHmac('sha256', this.#key).update(signed).digest('base64url');
  }
}

/** Undefined where what the token is bound to is gone. */
function userIn(claims: JsonObject, store: Store): User | undefined {
  const own = objectAt(claims, 'kubernetes.io');
  const namespace = textAt(own, 'namespace');
  const [account, pod, node] = ['serviceaccount', 'pod', 'node'].map((name) => objectAt(own, name));
  const name = textAt(account ?? {}, 'name');
  const isThere = (resource: '/serviceaccounts' | '/pods', bound: JsonObject = {}): boolean => {
    const found = store.get(resource, namespace, textAt(bound, 'name'));
    return found !== undefined && metadataOf(found).uid === textAt(bound, 'uid');
  };
  if (!isThere('/serviceaccounts', account) || (lookUp(own, 'pod') !== undefined && !isThere('/pods', pod)))
    return undefined;
  const extra = [
    ['credential-id', `JTI=${textAt(claims, 'jti')}`],
    ...[['node-name', textAt(node ?? {}, 'name')] as const, ['node-uid', textAt(node ?? {}, 'uid')] as const],
    ...[['pod-name', textAt(pod ?? {}, 'name')] as const, ['pod-uid', textAt(pod ?? {}, 'uid')] as const],
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
