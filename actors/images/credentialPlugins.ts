/** Credentials from plugins: programs that are asked for the images that they know of, and whose answers hold for a while. */
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/failure.ts';
import { lookUp } from '../../base/lookUp.ts';
import { truncate } from '../../base/shortText.ts';
import { unlessAborted } from '../../base/unlessAborted.ts';
import {
  type CredentialProvider,
  formatRequest,
  keyringOfAccount,
  type ProviderRequest,
  type ProviderResponse,
  providesFor,
  readResponse,
  type TokenAttributes,
} from '../../kubernetes/images/credentialProvider.ts';
import { type CredentialSource, credentialsFor, type Keyring, mergeKeyrings } from '../../kubernetes/images/keyring.ts';
import type { CredentialQuery, FindCredentials } from '../services/images/nodeCredentials.ts';

interface PluginParts {
  readonly providers: readonly CredentialProvider[];
  /** Runs the program of a plugin with a request as its input; what it gives is what the program has written. */
  readonly run: (provider: CredentialProvider, request: string) => Promise<string>;
  readonly clock: Clock;
  /** Told why a plugin has given nothing; the pull goes on. */
  readonly onProblem: (provider: string, why: string) => void;
}

/** Asks all plugins that know of the image, each in its order of the configuration. */
export function credentialPlugins({ providers, ...parts }: PluginParts): FindCredentials {
  const plugins = providers.map((provider) => new CredentialPlugin(provider, parts));
  return async (asked) => {
    const known = await Promise.all(plugins.map((plugin) => plugin.find(asked)));
    return credentialsFor(asked.repository, mergeKeyrings(known));
  };
}

/** What a plugin is told of a pod, and what its answers hold for. */
interface Account {
  readonly request: Omit<ProviderRequest, 'repository'>;
  /** Empty where it is told nothing. */
  readonly key: string;
  readonly source?: CredentialSource;
}

const LONGEST_SHOWN = 500;

class CredentialPlugin {
  readonly #provider: CredentialProvider;
  readonly #parts: Omit<PluginParts, 'providers'>;
  /** Until when each answer holds, in milliseconds since the epoch. */
  readonly #cache = new Map<string, { readonly keyring: Keyring; readonly until: number }>();
  /** Who asks the same meanwhile shares the answer. */
  readonly #underWay = new Map<string, Promise<Keyring>>();

  constructor(provider: CredentialProvider, parts: Omit<PluginParts, 'providers'>) {
    this.#provider = provider;
    this.#parts = parts;
  }

  async find(asked: CredentialQuery): Promise<Keyring> {
    const { signal, repository } = asked;
    if (!providesFor(this.#provider, repository)) return [];
    let account: Account | undefined;
    try {
      account = await this.#accountOf(asked);
      if (account === undefined) return [];
      const keyring =
        this.#cached(repository, account) ?? (await unlessAborted(this.#ask(repository, account), signal));
      return account.source === undefined ? keyring : keyringOfAccount(keyring, account.source);
    } catch (error) {
      signal.throwIfAborted();
      const given = [account?.request.token ?? '', ...this.#provider.env.map(({ value }) => value)];
      this.#parts.onProblem(this.#provider.name, without(given, messageOf(error)));
      return [];
    }
  }

  /** Undefined where the plugin is not to be asked for this pod. */
  async #accountOf({ pod, signal, tokens, findServiceAccount }: CredentialQuery): Promise<Account | undefined> {
    const attributes = this.#provider.token;
    if (attributes === undefined) return { request: {}, key: '' };
    const name = pod?.spec.serviceAccountName;
    if (pod === undefined || !name) return attributes.isRequired ? undefined : { request: {}, key: '' };
    const { namespace } = pod.metadata;
    if (tokens === undefined || findServiceAccount === undefined) {
      throw new Error(`there is no cluster to ask for a token of service account ${namespace}/${name}`);
    }
    const { uid, annotations } = await findServiceAccount({ namespace, name }, { signal });
    const shown = annotationsFor(attributes, annotations);
    if (shown === undefined) return undefined;
    // Of the account whose annotations the plugin is told, or none (`pkg/credentialprovider/plugin`).
    const { token } = await tokens.get(pod, { audience: attributes.audience, accountUid: uid }, { signal });
    const entries = Object.entries(shown).sort();
    const hash = attributes.cacheType === 'Token' ? [createHash('sha256').update(token).digest('hex')] : [];
    return {
      request: { token, annotations: shown },
      key: JSON.stringify([namespace, name, uid, entries, ...hash]),
      source: { kind: 'serviceAccount', uid, namespace, name },
    };
  }

  #cached(repository: string, { key }: Account): Keyring | undefined {
    for (const type of ['Image', 'Registry', 'Global'] as const) {
      const found = this.#cache.get(cacheKey(type, repository, key));
      if (found !== undefined && this.#parts.clock.now() <= found.until) return found.keyring;
    }
    return undefined;
  }

  #ask(repository: string, account: Account): Promise<Keyring> {
    const flight = JSON.stringify([repository, account.request]);
    const before = this.#underWay.get(flight);
    if (before !== undefined) return before;
    const asking = this.#answer(repository, account).finally(() => this.#underWay.delete(flight));
    this.#underWay.set(flight, asking);
    return asking;
  }

  async #answer(repository: string, { request, key }: Account): Promise<Keyring> {
    const text = formatRequest(this.#provider, { repository, ...request });
    const answer = readResponse(await this.#parts.run(this.#provider, text), this.#provider);
    if ('refusal' in answer) throw new Error(answer.refusal);
    const isEcho = answer.keyring.some(([, { password }]) => password === request.token);
    if (isEcho && this.#provider.token?.cacheType !== 'Token') {
      throw new Error('it answers with the token itself, which needs the cacheType "Token"');
    }
    this.#keep(repository, key, answer);
    return answer.keyring;
  }

  #keep(repository: string, key: string, { cacheKeyType, cacheMs, keyring }: ProviderResponse): void {
    const now = this.#parts.clock.now();
    for (const [each, { until }] of this.#cache) if (until < now) this.#cache.delete(each);
    const ms = cacheMs ?? this.#provider.defaultCacheMs;
    if (ms > 0) this.#cache.set(cacheKey(cacheKeyType, repository, key), { keyring, until: now + ms });
  }
}

function cacheKey(type: ProviderResponse['cacheKeyType'], repository: string, account: string): string {
  const [registry] = repository.split('/', 1);
  return JSON.stringify([type, { Image: repository, Registry: registry, Global: '' }[type], account]);
}

/** Undefined where one that it must have is missing. */
function annotationsFor(
  { requiredAnnotations, optionalAnnotations }: TokenAttributes,
  annotations: Readonly<Record<string, string>>,
): Record<string, string> | undefined {
  if (!requiredAnnotations.every((key) => Object.hasOwn(annotations, key))) return undefined;
  const keys = [...requiredAnnotations, ...optionalAnnotations];
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = lookUp(annotations, key);
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** What is shorter is no secret, and stands in many a text. */
const SHORTEST_SECRET = 6;

/** What a program has written is told, but for what may be secret of that which it was given. */
function without(given: readonly string[], text: string): string {
  const secrets = given.filter(({ length }) => length >= SHORTEST_SECRET);
  const rest = secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text);
  return truncate(rest.replace(/\s+/g, ' '), LONGEST_SHOWN);
}
