/** Defines the protocol between a node and credential provider plugins (`credentialprovider.kubelet.k8s.io`). */
import * as z from 'zod/mini';
import { parseJson } from '../../base/values/parseJson.ts';
import { parseDuration } from '../api/values/parseDuration.ts';
import type { CredentialSource, Keyring } from './keyring.ts';
import { keyringOf, matchesLocation } from './keyring.ts';

const API_GROUP = 'credentialprovider.kubelet.k8s.io';

/** Versions of the protocol. Only the last one supports service account tokens. */
export const PROVIDER_VERSIONS = [`${API_GROUP}/v1alpha1`, `${API_GROUP}/v1beta1`, `${API_GROUP}/v1`] as const;
export const TOKEN_VERSION = PROVIDER_VERSIONS[2];

/** The configuration of a plugin. */
export interface CredentialProvider {
  /** Name of the plugin's executable. */
  readonly name: string;
  readonly apiVersion: (typeof PROVIDER_VERSIONS)[number];
  /** Patterns of the images for which the plugin provides credentials, in the format of keyring locations. */
  readonly matchImages: readonly string[];
  /** Cache duration in milliseconds for responses that do not specify one. */
  readonly defaultCacheMs: number;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** Service account data to send to the plugin. Undefined if the plugin does not receive a service account token. */
  readonly token?: TokenAttributes;
}

/** Service account data of a pod that a plugin receives. */
export interface TokenAttributes {
  readonly audience: string;
  /** Identity to which a cached response applies, i.e. one token or a whole service account. */
  readonly cacheType: 'Token' | 'ServiceAccount';
  /** Whether the plugin is skipped for pods without a service account. */
  readonly isRequired: boolean;
  /** Annotations that the service account must have. The plugin is skipped if one is missing. */
  readonly requiredAnnotations: readonly string[];
  readonly optionalAnnotations: readonly string[];
}

/** Whether the plugin provides credentials for the images of a repository. */
export const providesCredentialsFor = ({ matchImages }: CredentialProvider, repository: string): boolean =>
  matchImages.some((pattern) => matchesLocation(pattern, repository));

export interface ProviderRequest {
  readonly repository: string;
  readonly token?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function formatRequest(
  { apiVersion }: CredentialProvider,
  { repository, token, annotations }: ProviderRequest,
): string {
  const accountFields = {
    ...(token ? { serviceAccountToken: token } : {}),
    ...(annotations && Object.keys(annotations).length > 0 ? { serviceAccountAnnotations: annotations } : {}),
  };
  return `${JSON.stringify({ kind: 'CredentialProviderRequest', apiVersion, image: repository, ...accountFields })}\n`;
}

/** Scope of a cached response: the image, its registry, or all images. */
type CacheKeyType = 'Image' | 'Registry' | 'Global';

export interface ProviderResponse {
  readonly cacheKeyType: CacheKeyType;
  /** Cache duration in milliseconds. Undefined if the configured default applies. */
  readonly cacheMs?: number;
  readonly keyring: Keyring;
}

const userSchema = z.strictObject({
  username: z._default(z.string(), ''),
  password: z._default(z.string(), ''),
});
const responseSchema = z.strictObject({
  kind: z.literal('CredentialProviderResponse'),
  apiVersion: z.string(),
  cacheKeyType: z.enum(['Image', 'Registry', 'Global']),
  cacheDuration: z._default(z.nullable(z.string()), null),
  auth: z._default(z.nullable(z.record(z.string(), userSchema)), null),
});

/** Parses the response of a plugin. The refusal never quotes the plugin's output, which could contain a secret. */
export function readResponse(
  text: string,
  { apiVersion }: CredentialProvider,
): ProviderResponse | { readonly refusal: string } {
  const result = z.safeParse(responseSchema, parseJson(text));
  if (!result.success) return { refusal: 'its answer is no CredentialProviderResponse' };
  const { cacheKeyType, cacheDuration, auth } = result.data;
  if (result.data.apiVersion !== apiVersion) return { refusal: `its answer is not of apiVersion ${apiVersion}` };
  const cacheMs = cacheDuration === null ? undefined : parseDuration(cacheDuration);
  if (cacheDuration !== null && cacheMs === undefined) return { refusal: 'its answer has no valid cacheDuration' };
  const keyring = keyringOf(Object.entries(auth ?? {}));
  return { cacheKeyType, keyring, ...(cacheMs === undefined ? {} : { cacheMs }) };
}

/** Returns the credentials with the given service account as their source. */
export const keyringOfAccount = (keyring: Keyring, source: CredentialSource): Keyring =>
  keyring.map(([location, credential]) => [location, { ...credential, source }]);
