/** Reads a kubeconfig (`tools/clientcmd` of client-go): the cluster and the user of its current context. */
import { dirname, resolve } from 'node:path';
import * as z from 'zod/mini';
import { LARGEST_FILE, orAbsent, readTextFile } from '../../actors/sources/yaml/textFile.ts';
import { messageOf } from '../../base/failure.ts';
import { printableLine } from '../../base/printable.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { parseBounded } from '../../kubernetes/yaml/boundedYaml.ts';
import { ConfigError, describeIssues } from './configError.ts';
import { exec } from './execFields.ts';
import { boolean, list, map, text, textLike } from './fields.ts';
import { proxyUrl } from './proxyField.ts';

const server = textLike('an address such as "https://192.0.2.1:6443"', (address) => {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' || url.hostname === '' || /[?#]/.test(address)) return false;
  // A secret in an address would be shown with it.
  return url.username === '' && url.password === '';
});
const pem = z.pipe(
  textLike('a PEM block in base64', (data) => data === '' || decoded(data).includes('-----BEGIN ')),
  z.transform(decoded),
);
const unsupported = (instead: string) =>
  z.optional(z.custom<never>(() => false, { error: `not supported by a node; use ${instead}` }));

/** A header can bear it. */
const headerText = textLike('text without control characters', (value) => /^[^\p{Cc}]*$/u.test(value));
const fields = { error: 'expected a map of fields' };

const clusterFields = z.looseObject(
  {
    server,
    'certificate-authority': z.optional(text),
    'certificate-authority-data': z.optional(pem),
    'tls-server-name': z.optional(text),
    'insecure-skip-tls-verify': z.optional(boolean),
    'proxy-url': z.optional(proxyUrl),
  },
  fields,
);
const cluster = clusterFields.check(
  z.refine((each) => !(each['insecure-skip-tls-verify'] && has(each, 'certificate-authority')), {
    error: 'insecure-skip-tls-verify: not with a certificate-authority, which would not be looked at',
  }),
);
const userFields = z.looseObject(
  {
    'client-certificate': z.optional(text),
    'client-certificate-data': z.optional(pem),
    'client-key': z.optional(text),
    'client-key-data': z.optional(pem),
    token: z.optional(text),
    tokenFile: z.optional(text),
    exec: z.nullish(exec),
    'auth-provider': unsupported('an exec program'),
    username: z.optional(text),
    password: z.optional(text),
    as: z.optional(headerText),
    'as-uid': z.optional(headerText),
    'as-groups': z.nullish(list(headerText)),
    'as-user-extra': z.nullish(map(list(headerText))),
  },
  fields,
);
/** A user for whom others ask: in full, or not at all. */
const isForSomebody = (each: z.output<typeof userFields>): boolean =>
  Boolean(each.as) ||
  !(each['as-uid'] || each['as-groups']?.length || Object.keys(each['as-user-extra'] ?? {}).length > 0);

const user = userFields.check(
  z.refine((each) => !(each.username && (each.token || each.tokenFile)), {
    error: 'username: not with a token, for a request has one of them',
  }),
  z.refine(isForSomebody, { error: 'as: expected a user, whose groups and fields are given' }),
  z.refine((each) => has(each, 'client-key') || !has(each, 'client-certificate'), {
    error: 'client-key: there is none for the client-certificate',
  }),
  z.refine((each) => has(each, 'client-certificate') || !has(each, 'client-key'), {
    error: 'client-certificate: there is none for the client-key',
  }),
);
/** A list of which none are given may be missing, or null. */
function listOf<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.nullish(list(z.looseObject(shape, fields)));
}

const kubeconfig = z.looseObject(
  {
    'current-context': text,
    contexts: listOf({ name: text, context: z.looseObject({ cluster: text, user: z.optional(text) }, fields) }),
    clusters: listOf({ name: text, cluster: z.unknown() }),
    users: listOf({ name: text, user: z.unknown() }),
  },
  fields,
);

/** The current context of a kubeconfig; its paths are absolute. */
export interface Kubeconfig {
  readonly cluster: z.output<typeof cluster>;
  readonly user: z.output<typeof user>;
  /** What the file calls them; empty for a user that it has none of. */
  readonly names: { readonly context: string; readonly user: string };
  /** Where each of both stands, as what is said of its fields begins. */
  readonly places: { readonly cluster: string; readonly user: string };
}

type Say = (problem: string) => ConfigError;

const limits = { tokens: 100_000, values: 10_000, characters: LARGEST_FILE };

/** Reads the file; throws a `ConfigError` that names it, the field, and what was expected. */
export async function readKubeconfig(path: string, flag = '--kubeconfig'): Promise<Kubeconfig> {
  const found = await readTextFile(hostFiles, path).catch((cause: unknown) => {
    throw new ConfigError(`${flag}: ${path}: ${messageOf(cause)}`, { cause });
  });
  if (found === undefined) throw new ConfigError(`${flag}: ${path}: no such file`);
  if ('noFile' in found) throw new ConfigError(`${flag}: ${path}: ${found.noFile}`);
  return parseKubeconfig(path, found.text, flag);
}

/** Whether there is anything at the path, be it not a file. */
export const isThere = async (path: string): Promise<boolean> =>
  (await orAbsent(() => hostFiles.stat(path))) !== undefined;

/** Reads the text of the file at a path. */
export function parseKubeconfig(path: string, content: string, flag = '--kubeconfig'): Kubeconfig {
  // Names are of any characters, and what is said of them is one line.
  const say: Say = (problem) => new ConfigError(printableLine(`${flag}: ${path}: ${problem}`));
  const parsed = parseBounded(content, limits);
  if ('problem' in parsed) throw say(parsed.problem);
  if ('beyond' in parsed) throw say(`has ${parsed.beyond}`);
  const file = checked(kubeconfig, parsed.values[0] ?? {}, '', say);
  const name = file['current-context'];
  const { context } = byName(file.contexts, name, `current-context: there is no context "${name}"`, say);
  const at = (kind: 'cluster' | 'user') => `contexts: "${name}": there is no ${kind} "${context[kind]}"`;
  const asked = byName(file.clusters, context.cluster, at('cluster'), say);
  const asking = context.user ? byName(file.users, context.user, at('user'), say) : undefined;
  const [clusterAt, userAt] = [`clusters: "${context.cluster}": `, `users: "${context.user ?? ''}": `];
  return {
    cluster: withPaths(checked(cluster, asked.cluster, clusterAt, say), path),
    user: withProgram(withPaths(checked(user, asking?.user ?? {}, userAt, say), path), path),
    names: { context: name, user: context.user ?? '' },
    places: { cluster: say(clusterAt).message, user: say(userAt).message },
  };
}

/** Names are data: two of one name are told apart by their order, the first wins. */
function byName<T extends { readonly name: string }>(
  all: readonly T[] | null | undefined,
  name: string,
  missing: string,
  say: Say,
): T {
  const found = all?.find((each) => each.name === name);
  if (found === undefined) throw say(missing);
  return found;
}

function checked<Schema extends z.core.$ZodType>(schema: Schema, input: unknown, at: string, say: Say) {
  const read = z.safeParse(schema, input);
  if (read.success) return read.data;
  // The input is left out, because a message must not repeat a key or a token.
  const [first = 'cannot be read'] = describeIssues(read.error.issues, undefined, input);
  throw say(at + first.replace(', got nothing', ''));
}

const PATHS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'] as const;

/** Paths that are relative are meant from the file's own directory. */
function withPaths<T extends Partial<Record<(typeof PATHS)[number], unknown>>>(section: T, path: string): T {
  const resolved = PATHS.flatMap((name) => {
    const given: unknown = section[name];
    return typeof given === 'string' && given !== '' ? [[name, resolve(dirname(path), given)]] : [];
  });
  return { ...section, ...Object.fromEntries(resolved) };
}

/** A program by its path is meant from the file's own directory, one by its name is searched for. */
function withProgram(section: z.output<typeof user>, path: string): z.output<typeof user> {
  const { exec: program } = section;
  if (!program?.command.includes('/')) return section;
  return { ...section, exec: { ...program, command: resolve(dirname(path), program.command) } };
}

type PemName = 'certificate-authority' | 'client-certificate' | 'client-key';

/** Whether a section has it, as a file or as it is. */
function has<Name extends PemName>(
  section: { readonly [Each in Name | `${Name}-data`]?: string | undefined },
  name: Name,
): boolean {
  return Boolean(section[name] || section[`${name}-data`]);
}

function decoded(data: string): string {
  return Buffer.from(data, 'base64').toString();
}
