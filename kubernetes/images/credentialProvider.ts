/** What is said between a node and the plugins that know credentials (`credentialprovider.kubelet.k8s.io`). */
import * as z from 'zod/mini';
import { parsedJson } from '../../base/parsedJson.ts';
import { parseDuration } from '../api/parseDuration.ts';
import type { CredentialSource, Keyring } from './keyring.ts';
import { isFor, keyringOf } from './keyring.ts';

const GROUP = 'credentialprovider.kubelet.k8s.io';

/** The versions of the protocol; tokens are for the last. */
export const PROVIDER_VERSIONS = [`${GROUP}/v1alpha1`, `${GROUP}/v1beta1`, `${GROUP}/v1`] as const;
export const TOKEN_VERSION = PROVIDER_VERSIONS[2];

/** A plugin as the configuration has it. */
export interface CredentialProvider {
  /** Of its program. */
  readonly name: string;
  readonly apiVersion: (typeof PROVIDER_VERSIONS)[number];
  /** Of which images it knows; as the places of a keyring. */
  readonly matchImages: readonly string[];
  /** How long its answers hold that do not say so themselves, in milliseconds. */
  readonly defaultCacheMs: number;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** Absent: it is told nothing of the pod. */
  readonly token?: TokenAttributes;
}

/** What it is told of a pod's service account. */
export interface TokenAttributes {
  readonly audience: string;
  /** Its answers hold for a token, or for all of a service account. */
  readonly cacheType: 'Token' | 'ServiceAccount';
  /** It is not asked for pods without a service account. */
  readonly isRequired: boolean;
  /** It is not asked where one of these is missing. */
  readonly requiredAnnotations: readonly string[];
  readonly optionalAnnotations: readonly string[];
}

/** Whether it knows of the images of this repository. */
export const knowsOf = ({ matchImages }: CredentialProvider, repository: string): boolean =>
  matchImages.some((place) => isFor(place, repository));

export interface ProviderRequest {
  readonly repository: string;
  readonly token?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function requestText(
  { apiVersion }: CredentialProvider,
  { repository, token, annotations }: ProviderRequest,
): string {
  const account = {
    ...(token ? { serviceAccountToken: token } : {}),
    ...(annotations && Object.keys(annotations).length > 0 ? { serviceAccountAnnotations: annotations } : {}),
  };
  return `${JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image: repository, ...account })}\n`;
}

/** What an answer holds for: the image, all of its registry, or all images. */
type CacheKeyType = 'Image' | 'Registry' | 'Global';

export interface ProviderAnswer {
  readonly cacheKeyType: CacheKeyType;
  /** In milliseconds; absent: as the configuration says. */
  readonly cacheMs?: number;
  readonly keyring: Keyring;
}

const user = z.strictObject({
  username: z._default(z.string(), ''),
  password: z._default(z.string(), ''),
});
const answer = z.strictObject({
  kind: z.literal('CredentialProviderResponse'),
  apiVersion: z.string(),
  cacheKeyType: z.enum(['Image', 'Registry', 'Global']),
  cacheDuration: z._default(z.nullable(z.string()), null),
  auth: z._default(z.nullable(z.record(z.string(), user)), null),
});

/** Reads what a plugin has written; of what is wrong it says nothing that could be a secret. */
export function readAnswer(
  text: string,
  { apiVersion }: CredentialProvider,
): ProviderAnswer | { readonly refusal: string } {
  const read = z.safeParse(answer, parsedJson(text));
  if (!read.success) return { refusal: 'its answer is no CredentialProviderResponse' };
  const { cacheKeyType, cacheDuration, auth } = read.data;
  if (read.data.apiVersion !== apiVersion) return { refusal: `its answer is not of apiVersion ${apiVersion}` };
  const cacheMs = cacheDuration === null ? undefined : parseDuration(cacheDuration);
  if (cacheDuration !== null && cacheMs === undefined) return { refusal: 'its answer has no valid cacheDuration' };
  const keyring = keyringOf(Object.entries(auth ?? {}));
  return { cacheKeyType, keyring, ...(cacheMs === undefined ? {} : { cacheMs }) };
}

/** The same credentials as those of a service account. */
export const keyringOfAccount = (keyring: Keyring, source: CredentialSource): Keyring =>
  keyring.map(([place, credential]) => [place, { ...credential, source }]);
