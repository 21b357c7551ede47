/** Credentials for registries, in the forms that docker has them in, and which of them an image is pulled with. */
import * as z from 'zod/mini';
import { parsedJson } from '../../base/parsedJson.ts';

/** A user of a registry. Nothing of it is ever shown or logged. */
export interface Credential {
  readonly username: string;
  readonly password: string;
  /** Old forms have it; nothing is done with it but that it tells credentials apart. */
  readonly email?: string;
  /** Whose it is; absent: the node's own, which any of its pods may use. */
  readonly source?: CredentialSource;
}

/** The object of a cluster that a credential is from. */
export interface CredentialSource {
  readonly kind: 'secret' | 'serviceAccount';
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Credentials by the registry, and perhaps the path there, that they are for. */
export type Keyring = readonly (readonly [place: string, credential: Credential])[];

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
 * Reads a `config.json` (with `auths`) or, as `.dockercfg` has it, the entries alone; undefined for what is none. Says
 * nothing of why: the words could quote a password.
 */
export function readKeyring(text: string, form: 'config.json' | '.dockercfg'): Keyring | undefined {
  const value = parsedJson(text);
  const read = z.safeParse(configSchema, form === 'config.json' ? value : { auths: value });
  if (!read.success) return undefined;
  const entries = Object.entries(read.data.auths ?? {}).map(
    ([place, entry]) => [placeOf(place), credentialOf(entry)] as const,
  );
  if (entries.some(([, credential]) => credential === undefined)) return undefined;
  // Where a helper keeps them, docker writes an entry without any.
  const known = entries.flatMap(([place, credential]) => (credential?.username ? [[place, credential] as const] : []));
  return specificFirst(known);
}

/** One of several, in whose order those for the same place are tried. */
export const joinedKeyrings = (keyrings: readonly Keyring[]): Keyring => specificFirst(keyrings.flat());

/** Credentials for places as they are written by people. */
export const keyringOf = (entries: readonly (readonly [place: string, credential: Credential])[]): Keyring =>
  specificFirst(entries.map(([place, credential]) => [placeOf(place), credential]));

/** The more specific place of two that begin alike comes first. */
const specificFirst = (keyring: Keyring): Keyring => keyring.toSorted(([a], [b]) => (a === b ? 0 : a < b ? 1 : -1));

function credentialOf(entry: z.infer<typeof entrySchema>): Credential | undefined {
  const { username = '', password = '', auth = '', email } = entry ?? {};
  const more = email ? { email } : {};
  if (auth === '') return { username, password, ...more };
  const decoded = fromBase64(auth);
  const colon = decoded?.indexOf(':') ?? -1;
  return decoded === undefined || colon < 0
    ? undefined
    : { username: decoded.slice(0, colon), password: decoded.slice(colon + 1), ...more };
}

/** Padded or not, as both are found. */
function fromBase64(text: string): string | undefined {
  const plain = text.replace(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(plain) || (plain.endsWith('=') && plain.length % 4 !== 0)) return undefined;
  return new TextDecoder().decode(Uint8Array.from(atob(plain), (byte) => byte.charCodeAt(0)));
}

/** `https://host/v1/` and `host` are one place, a path after the version of the protocol is one within the registry. */
function placeOf(written: string): string {
  const [host = '', path] = split(written.replace(/^https?:\/\//, ''));
  const within = path.replace(/^\/v[12](?=\/)/, '');
  return within === '/' ? host : host + within;
}

/** The host with its port, and the path with its first slash. */
function split(place: string): [host: string, path: string] {
  const [, host = '', path = ''] = /^([^/?#]*)([^?#]*)/.exec(place) ?? [];
  return [host.slice(host.lastIndexOf('@') + 1), path];
}

const DOCKER_HUB = 'index.docker.io';

/** The credentials to try for a repository such as `registry.example/team/app`, one after the other (C15). */
export function credentialsFor(repository: string, keyring: Keyring): Credential[] {
  const matching = keyring.filter(([place]) => isFor(place, repository));
  const found =
    matching.length > 0 ? matching : keyring.filter(([place]) => place === DOCKER_HUB && isHubs(repository));
  return found.map(([, credential]) => credential);
}

const isHubs = (repository: string): boolean => /^(index\.)?docker\.io\//.test(repository);

/** The port is the same, each label of the host matches its pattern, and the path begins alike. */
export function isFor(place: string, repository: string): boolean {
  const [[globs, globPort, prefix], [labels, port, path]] = [hostOf(place), hostOf(repository)];
  if (globPort !== port || globs.length !== labels.length || !path.startsWith(prefix)) return false;
  return globs.every((glob, index) => matches(glob, labels[index] ?? ''));
}

function hostOf(place: string): [labels: string[], port: string, path: string] {
  const [host, path] = split(place);
  const [, plain, v6, port = ''] = /^(?:([^:]*)|\[(.*)\]):([0-9]*)$/.exec(host) ?? [];
  return [(plain ?? v6 ?? host).split('.'), port, path];
}

/** A pattern with `*`, `[a-z]`, `[^a-z]` and `\` before what is meant as it is. */
function matches(glob: string, label: string): boolean {
  const source = glob.replace(/\\(.)|\[\^?[^\]]+\]|\*|[^\w-]/g, (token, escaped: string | undefined) => {
    if (escaped !== undefined) return literal(escaped);
    if (token === '*') return '[^]*';
    return token.length > 1 ? token : literal(token);
  });
  try {
    return new RegExp(`^(?:${source})$`).test(label);
  } catch {
    return false;
  }
}

const literal = (text: string): string => text.replace(/[^\w]/g, '\\$&');
