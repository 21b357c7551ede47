/**
 * Requests registry credentials from credential provider plugins, which are programs that return credentials for
 * certain images. Caches their responses.
 */
import { createHash } from 'node:crypto';
import { unlessAborted } from '../../base/async/unlessAborted.ts';
import { messageOf } from '../../base/failure.ts';
import { truncate } from '../../base/text/shortText.ts';
import type { Clock } from '../../base/time/clock.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import {
  type CredentialProvider,
  formatRequest,
  keyringOfAccount,
  type ProviderRequest,
  type ProviderResponse,
  providesCredentialsFor,
  readResponse,
  type TokenAttributes,
} from '../../kubernetes/images/credentialProvider.ts';
import { type CredentialSource, credentialsFor, type Keyring, mergeKeyrings } from '../../kubernetes/images/keyring.ts';
import type { CredentialQuery, FindCredentials } from '../services/images/nodeCredentials.ts';

interface CredentialPluginDependencies {
  readonly providers: readonly CredentialProvider[];
  /** Runs a plugin with a request as its input and returns its output. */
  readonly run: (provider: CredentialProvider, request: string) => Promise<string>;
  readonly clock: Clock;
  /** Called with the reason if a plugin fails to return credentials. The pull continues without them. */
  readonly onProblem: (provider: string, why: string) => void;
}

/** Returns a function that queries all plugins that match an image, in their configured order. */
export function credentialPlugins({ providers, ...parts }: CredentialPluginDependencies): FindCredentials {
  const plugins = providers.map((provider) => new CredentialPlugin(provider, parts));
  return async (query) => {
    const keyrings = await Promise.all(plugins.map((plugin) => plugin.find(query)));
    return credentialsFor(query.repository, mergeKeyrings(keyrings));
  };
}

/** The service account data for a plugin, and the cache key for the plugin's response. */
interface PluginAccount {
  readonly request: Omit<ProviderRequest, 'repository'>;
  /** Empty if the plugin receives no service account data. */
  readonly key: string;
  readonly source?: CredentialSource;
}

const MAX_MESSAGE_LENGTH = 500;

class CredentialPlugin {
  readonly #provider: CredentialProvider;
  readonly #dependencies: Omit<CredentialPluginDependencies, 'providers'>;
  /** Responses with their expiration time in milliseconds since the epoch. */
  readonly #cache = new Map<string, { readonly keyring: Keyring; readonly until: number }>();
  /** Requests in flight, shared by identical queries. */
  readonly #inFlight = new Map<string, Promise<Keyring>>();

  constructor(provider: CredentialProvider, dependencies: Omit<CredentialPluginDependencies, 'providers'>) {
    this.#provider = provider;
    this.#dependencies = dependencies;
  }

  async find(query: CredentialQuery): Promise<Keyring> {
    const { signal, repository } = query;
    if (!providesCredentialsFor(this.#provider, repository)) return [];
    let account: PluginAccount | undefined;
    try {
      account = await this.#resolveAccount(query);
      if (account === undefined) return [];
      const keyring =
        this.#findCached(repository, account) ?? (await unlessAborted(this.#fetch(repository, account), signal));
      return account.source === undefined ? keyring : keyringOfAccount(keyring, account.source);
    } catch (error) {
      signal.throwIfAborted();
      const secrets = [account?.request.token ?? '', ...this.#provider.env.map(({ value }) => value)];
      this.#dependencies.onProblem(this.#provider.name, redactedLine(secrets, messageOf(error)));
      return [];
    }
  }

  /** Returns the service account data for the plugin, or undefined if the plugin must not be run for this pod. */
  async #resolveAccount({
    pod,
    signal,
    tokens,
    findServiceAccount,
  }: CredentialQuery): Promise<PluginAccount | undefined> {
    const tokenAttributes = this.#provider.token;
    if (tokenAttributes === undefined) return { request: {}, key: '' };
    const name = pod?.spec.serviceAccountName;
    if (pod === undefined || !name) return tokenAttributes.isRequired ? undefined : { request: {}, key: '' };
    const { namespace } = pod.metadata;
    if (tokens === undefined || findServiceAccount === undefined) {
      throw new Error(`there is no cluster to request a token from for service account ${namespace}/${name}`);
    }
    const { uid, annotations } = await findServiceAccount({ namespace, name }, { signal });
    const passedAnnotations = selectAnnotations(tokenAttributes, annotations);
    if (passedAnnotations === undefined) return undefined;
    // Request the token for the UID of the account whose annotations the plugin receives
    // (`pkg/credentialprovider/plugin`).
    const { token } = await tokens.get(pod, { audience: tokenAttributes.audience, accountUid: uid }, { signal });
    const annotationEntries = Object.entries(passedAnnotations).sort();
    const tokenHash = tokenAttributes.cacheType === 'Token' ? [createHash('sha256').update(token).digest('hex')] : [];
    return {
      request: { token, annotations: passedAnnotations },
      key: JSON.stringify([namespace, name, uid, annotationEntries, ...tokenHash]),
      source: { kind: 'serviceAccount', uid, namespace, name },
    };
  }

  #findCached(repository: string, { key }: PluginAccount): Keyring | undefined {
    for (const type of ['Image', 'Registry', 'Global'] as const) {
      const cacheEntry = this.#cache.get(cacheKey(type, repository, key));
      if (cacheEntry !== undefined && this.#dependencies.clock.now() <= cacheEntry.until) return cacheEntry.keyring;
    }
    return undefined;
  }

  #fetch(repository: string, account: PluginAccount): Promise<Keyring> {
    const inFlightKey = JSON.stringify([repository, account.request]);
    const existing = this.#inFlight.get(inFlightKey);
    if (existing !== undefined) return existing;
    const response = this.#runPlugin(repository, account).finally(() => this.#inFlight.delete(inFlightKey));
    this.#inFlight.set(inFlightKey, response);
    return response;
  }

  async #runPlugin(repository: string, { request, key }: PluginAccount): Promise<Keyring> {
    const input = formatRequest(this.#provider, { repository, ...request });
    const response = readResponse(await this.#dependencies.run(this.#provider, input), this.#provider);
    if ('refusal' in response) throw new Error(response.refusal);
    const isTokenEchoed = response.keyring.some(([, { password }]) => password === request.token);
    if (isTokenEchoed && this.#provider.token?.cacheType !== 'Token') {
      throw new Error('the response contains the token itself, which requires the cacheType "Token"');
    }
    this.#cacheResponse(repository, key, response);
    return response.keyring;
  }

  #cacheResponse(repository: string, key: string, { cacheKeyType, cacheMs, keyring }: ProviderResponse): void {
    const now = this.#dependencies.clock.now();
    for (const [cachedKey, { until }] of this.#cache) if (until < now) this.#cache.delete(cachedKey);
    const ms = cacheMs ?? this.#provider.defaultCacheMs;
    if (ms > 0) this.#cache.set(cacheKey(cacheKeyType, repository, key), { keyring, until: now + ms });
  }
}

function cacheKey(type: ProviderResponse['cacheKeyType'], repository: string, account: string): string {
  const [registry] = repository.split('/', 1);
  return JSON.stringify([type, { Image: repository, Registry: registry, Global: '' }[type], account]);
}

/** Returns the annotations to pass to a plugin, or undefined if a required one is missing. */
function selectAnnotations(
  { requiredAnnotations, optionalAnnotations }: TokenAttributes,
  annotations: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  if (!requiredAnnotations.every((key) => Object.hasOwn(annotations, key))) return undefined;
  const annotationKeys = [...requiredAnnotations, ...optionalAnnotations];
  return Object.fromEntries(
    annotationKeys.flatMap((key) => {
      const value = lookUp(annotations, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** Minimum length of a value to redact. Shorter values also occur in ordinary text. */
const MIN_SECRET_LENGTH = 6;

/** Returns the program's output as a single line, with its secret inputs redacted. */
function redactedLine(values: readonly string[], text: string): string {
  const secrets = values.filter(({ length }) => length >= MIN_SECRET_LENGTH);
  const redactedText = secrets.reduce((remaining, secret) => remaining.replaceAll(secret, '…'), text);
  return truncate(redactedText.replace(/\s+/g, ' '), MAX_MESSAGE_LENGTH);
}
