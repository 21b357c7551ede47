/** Parses registry credentials in Docker's formats, and selects the credentials for an image. */
import * as z from 'zod/mini';
import { parseJson } from '../../base/values/parseJson.ts';

/** Credentials of a user of a registry. Must never be displayed or logged. */
export interface Credential {
  readonly username: string;
  readonly password: string;
  /** Email address, which only old formats contain. It is used only to distinguish credentials. */
  readonly email?: string;
  /**
   * Object that contains the credential. Undefined for the node's own credentials, which any pod on the node may use.
   */
  readonly source?: CredentialSource;
}

/** The cluster object that a credential comes from. */
export interface CredentialSource {
  readonly kind: 'secret' | 'serviceAccount';
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Credentials by location, which is a registry with an optional path. */
export type Keyring = readonly (readonly [location: string, credential: Credential])[];

const entrySchema = z.nullable(
  z.looseObject({
    username: z.exactOptional(z.string()),
    password: z.exactOptional(z.string()),
    auth: z.exactOptional(z.string()),
    email: z.exactOptional(z.string()),
  }),
);
const configSchema = z.looseObject({ auths: z.exactOptional(z.nullable(z.record(z.string(), entrySchema))) });

/**
 * Parses a `config.json`, which contains entries in `auths`, or a `.dockercfg`, which contains only the entries.
 * Returns undefined if the text is invalid. Does not return the reason, because it could quote a password.
 */
export function readKeyring(text: string, format: 'config.json' | '.dockercfg'): Keyring | undefined {
  const value = parseJson(text);
  const result = z.safeParse(configSchema, format === 'config.json' ? value : { auths: value });
  if (!result.success) return undefined;
  const entries = Object.entries(result.data.auths ?? {}).map(
    ([location, entry]) => [normalizeLocation(location), toCredential(entry)] as const,
  );
  if (entries.some(([, credential]) => credential === undefined)) return undefined;
  // Skip entries without credentials, which Docker writes if a credential helper stores the credentials.
  const usableEntries = entries.flatMap(([location, credential]) =>
    credential?.username ? [[location, credential] as const] : [],
  );
  return sortBySpecificity(usableEntries);
}

/** Merges keyrings. The order of the keyrings determines the order of credentials for the same location. */
export const mergeKeyrings = (keyrings: readonly Keyring[]): Keyring => sortBySpecificity(keyrings.flat());

/** Creates a keyring with normalized locations. */
export const keyringOf = (entries: readonly (readonly [location: string, credential: Credential])[]): Keyring =>
  sortBySpecificity(entries.map(([location, credential]) => [normalizeLocation(location), credential]));

/** Sorts locations in descending order, which puts a longer location before its prefixes. */
const sortBySpecificity = (keyring: Keyring): Keyring => keyring.toSorted(([a], [b]) => (a === b ? 0 : a < b ? 1 : -1));

function toCredential(entry: z.infer<typeof entrySchema>): Credential | undefined {
  const { username = '', password = '', auth = '', email } = entry ?? {};
  const emailField = email ? { email } : {};
  if (auth === '') return { username, password, ...emailField };
  const decodedAuth = decodeBase64(auth);
  const colonIndex = decodedAuth?.indexOf(':') ?? -1;
  return decodedAuth === undefined || colonIndex < 0
    ? undefined
    : { username: decodedAuth.slice(0, colonIndex), password: decodedAuth.slice(colonIndex + 1), ...emailField };
}

/** Decodes base64 with or without padding. */
function decodeBase64(text: string): string | undefined {
  const base64Digits = text.replace(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64Digits) || (base64Digits.endsWith('=') && base64Digits.length % 4 !== 0))
    return undefined;
  return new TextDecoder().decode(Uint8Array.from(atob(base64Digits), (byte) => byte.charCodeAt(0)));
}

/**
 * Normalizes a location, e.g. `https://host/v1/` to `host`. A path after the protocol version `/v1` or `/v2` is
 * retained, because it is a path in the registry.
 */
function normalizeLocation(location: string): string {
  const [host = '', path] = splitLocation(location.replace(/^https?:\/\//, ''));
  const pathInRegistry = path.replace(/^\/v[12](?=\/)/, '');
  return pathInRegistry === '/' ? host : host + pathInRegistry;
}

/** Splits a location into the host with its port and the path with its leading slash. */
function splitLocation(location: string): [host: string, path: string] {
  const [, host = '', path = ''] = /^([^/?#]*)([^?#]*)/.exec(location) ?? [];
  return [host.slice(host.lastIndexOf('@') + 1), path];
}

const DOCKER_HUB = 'index.docker.io';

/** Returns the credentials to try for a repository such as `registry.example/team/app`, in order (C15). */
export function credentialsFor(repository: string, keyring: Keyring): Credential[] {
  const matchingEntries = keyring.filter(([location]) => matchesLocation(location, repository));
  const candidates =
    matchingEntries.length > 0
      ? matchingEntries
      : keyring.filter(([location]) => location === DOCKER_HUB && isDockerHub(repository));
  return candidates.map(([, credential]) => credential);
}

const isDockerHub = (repository: string): boolean => /^(index\.)?docker\.io\//.test(repository);

/**
 * Whether a location matches a repository: the ports are equal, each label of the host matches its pattern, and the
 * location's path is a prefix.
 */
export function matchesLocation(location: string, repository: string): boolean {
  const [[labelPatterns, locationPort, prefix], [labels, port, path]] = [parseHost(location), parseHost(repository)];
  if (locationPort !== port || labelPatterns.length !== labels.length || !path.startsWith(prefix)) return false;
  return labelPatterns.every((glob, index) => matchesGlob(glob, labels[index] ?? ''));
}

function parseHost(location: string): [labels: string[], port: string, path: string] {
  const [host, path] = splitLocation(location);
  const [, hostname, v6, port = ''] = /^(?:([^:]*)|\[(.*)\]):([0-9]*)$/.exec(host) ?? [];
  return [(hostname ?? v6 ?? host).split('.'), port, path];
}

/** Whether a label matches a pattern with `*`, `[a-z]`, `[^a-z]` and escapes with `\`. */
function matchesGlob(glob: string, label: string): boolean {
  const source = glob.replace(/\\(.)|\[\^?[^\]]+\]|\*|[^\w-]/g, (token, escaped: string | undefined) => {
    if (escaped !== undefined) return escapeRegExp(escaped);
    if (token === '*') return '[^]*';
    return token.length > 1 ? token : escapeRegExp(token);
  });
  try {
    return new RegExp(`^(?:${source})$`).test(label);
  } catch {
    return false;
  }
}

const escapeRegExp = (text: string): string => text.replace(/[^\w]/g, '\\$&');
