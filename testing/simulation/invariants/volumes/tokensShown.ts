/** Checks the service account tokens in volumes, as the API server that issued them would. */

import { lookUp } from '../../../../base/values/lookUp.ts';
import type { Pod } from '../../../../kubernetes/api/schema/pod.ts';
import type { Volume } from '../../../../kubernetes/api/schema/volume.ts';
import { isObject, type Json, type JsonObject, numberAt, objectAt, textAt } from '../../../apiserver/json.ts';
import type { Watched } from '../invariant.ts';
import { tokensOf, type VolumeToken } from './podNeeds.ts';
import { directoryOf, volumeFiles } from './volumeFiles.ts';

type PodVolume = readonly [Pod, Volume];

const SECOND_MS = 1_000;
const ISSUER = 'https://kubernetes.default.svc';

interface TokenInVolume {
  readonly pod: Pod;
  readonly expected: VolumeToken;
  /** Claims of the token. Empty if there is no token. */
  readonly claims: JsonObject;
}

function claimsIn(token: string | undefined): JsonObject {
  const [, payload = ''] = token?.split('.') ?? [];
  if (payload === '') return {};
  const claims: Json = JSON.parse(Buffer.from(payload, 'base64url').toString());
  return isObject(claims) ? claims : {};
}

const tokensIn = ({ host }: Watched, volumes: readonly PodVolume[]): TokenInVolume[] =>
  volumes.flatMap(([pod, volume]) => {
    const directory = directoryOf(pod, volume);
    const tokens = tokensOf(volume);
    if (directory === undefined || tokens.length === 0) return [];
    const files = volumeFiles(host, directory);
    return tokens.map((expected) => ({ pod, expected, claims: claimsIn(files.get(expected.path)) }));
  });

const expiresAt = (claims: JsonObject): number => (numberAt(claims, 'exp') ?? 0) * SECOND_MS;

/** Returns descriptions of what is wrong with the tokens of a node at rest. */
export const wrongTokens = (watched: Watched, volumes: readonly PodVolume[]): string[] =>
  tokensIn(watched, volumes).flatMap(({ pod, expected, claims }) => {
    const token = `${pod.metadata.name}: its token at ${expected.path}`;
    const own = objectAt(claims, 'kubernetes.io');
    const bound = textAt(objectAt(own, 'pod'), 'uid');
    const account = textAt(objectAt(own, 'serviceaccount'), 'name');
    const audiences = lookUp(claims, 'aud');
    const isMeant = Array.isArray(audiences) && audiences.includes(expected.audience || ISSUER);
    return [
      ...(bound === pod.metadata.uid ? [] : [`${token} is bound to ${bound || 'no pod'}`]),
      ...(account === pod.spec.serviceAccountName ? [] : [`${token} belongs to the account ${account}`]),
      ...(isMeant ? [] : [`${token} is not for the audience ${expected.audience || ISSUER}`]),
      ...(expiresAt(claims) > watched.host.clock.now() ? [] : [`${token} has expired`]),
    ];
  });

/**
 * Returns descriptions of tokens that have expired although there was no disturbance after `since`. A pod that is
 * starting has no tokens yet.
 */
export const expiredTokens = (watched: Watched, volumes: readonly PodVolume[], since: number): string[] =>
  tokensIn(watched, volumes).flatMap(({ pod, expected, claims }) => {
    const { now, elapsed } = watched.host.clock;
    const expired = now() - expiresAt(claims);
    if (expired < 0 || claims.exp === undefined) return [];
    return [
      `${pod.metadata.name}: its token at ${expected.path} expired ${expired} ms ago, although nothing has failed ` +
        `for ${elapsed - since} ms`,
    ];
  });
