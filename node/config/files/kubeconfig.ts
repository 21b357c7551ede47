/** Reads the cluster and the user of a kubeconfig's current context, as `tools/clientcmd` of client-go does. */
import { dirname, resolve } from 'node:path';
import * as z from 'zod/mini';
import { MAX_FILE_BYTES, readTextFile, undefinedIfMissing } from '../../../actors/sources/yaml/textFile.ts';
import { messageOf } from '../../../base/failure.ts';
import { printableLine } from '../../../base/text/printable.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { base64Digits } from '../../../kubernetes/api/values/base64.ts';
import { parseBounded } from '../../../kubernetes/yaml/boundedYaml.ts';
import { ConfigError, describeIssues } from '../configError.ts';
import { booleanSchema, listSchema, mapSchema, matchingStringSchema, stringSchema } from '../fields/fields.ts';
import { decodeConfig } from './decodeConfig.ts';
import { execSchema } from './execFields.ts';
import { proxyUrl } from './proxyField.ts';

const serverSchema = matchingStringSchema('an address such as "https://192.0.2.1:6443"', (address) => {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:' || url.hostname === '' || /[?#]/.test(address)) return false;
  // The address is displayed to users, so it must not contain a password.
  return url.username === '' && url.password === '';
});
const pemSchema = z.pipe(
  matchingStringSchema('a PEM block in base64', (data) => data === '' || decodeBase64(data).includes('-----BEGIN ')),
  z.transform(decodeBase64),
);
const unsupportedSchema = (alternative: string) =>
  z.optional(z.custom<never>(() => false, { error: `not supported by a node; use ${alternative}` }));

/** Schema of a value that can be sent in a header. */
const headerValueSchema = matchingStringSchema('text without control characters', (value) =>
  /^[^\p{Cc}]*$/u.test(value),
);
const fields = { error: 'expected a map of fields' };

const clusterFields = z.looseObject(
  {
    server: serverSchema,
    'certificate-authority': z.optional(stringSchema),
    'certificate-authority-data': z.optional(pemSchema),
    'tls-server-name': z.optional(stringSchema),
    'insecure-skip-tls-verify': z.optional(booleanSchema),
    'proxy-url': z.optional(proxyUrl),
  },
  fields,
);
const clusterSchema = clusterFields.check(
  z.refine((each) => !(each['insecure-skip-tls-verify'] && hasPem(each, 'certificate-authority')), {
    error: 'insecure-skip-tls-verify: must not be set together with certificate-authority, which would be ignored',
  }),
);
const userFields = z.looseObject(
  {
    'client-certificate': z.optional(stringSchema),
    'client-certificate-data': z.optional(pemSchema),
    'client-key': z.optional(stringSchema),
    'client-key-data': z.optional(pemSchema),
    token: z.optional(stringSchema),
    tokenFile: z.optional(stringSchema),
    exec: z.nullish(execSchema),
    'auth-provider': unsupportedSchema('an exec program'),
    username: z.optional(stringSchema),
    password: z.optional(stringSchema),
    as: z.optional(headerValueSchema),
    'as-uid': z.optional(headerValueSchema),
    'as-groups': z.nullish(listSchema(headerValueSchema)),
    'as-user-extra': z.nullish(mapSchema(listSchema(headerValueSchema))),
  },
  fields,
);
/** Whether the impersonation fields include the user's name or are all unset. */
const hasCompleteImpersonation = (each: z.output<typeof userFields>): boolean =>
  Boolean(each.as) ||
  !(each['as-uid'] || each['as-groups']?.length || Object.keys(each['as-user-extra'] ?? {}).length > 0);

const userSchema = userFields.check(
  z.refine((each) => !(each.username && (each.token || each.tokenFile)), {
    error: 'username: must not be set together with a token',
  }),
  z.refine(hasCompleteImpersonation, {
    error: 'as: expected a user name, because as-uid, as-groups or as-user-extra is set',
  }),
  z.refine((each) => hasPem(each, 'client-key') || !hasPem(each, 'client-certificate'), {
    error: 'client-key: required with client-certificate',
  }),
  z.refine((each) => hasPem(each, 'client-certificate') || !hasPem(each, 'client-key'), {
    error: 'client-certificate: required with client-key',
  }),
);
/** Creates the schema of a list that may be missing or null. */
function nullableListSchema<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.nullish(listSchema(z.looseObject(shape, fields)));
}

const kubeconfig = z.looseObject(
  {
    'current-context': matchingStringSchema('the name of a context', (name) => name !== ''),
    contexts: nullableListSchema({
      name: stringSchema,
      context: z.looseObject({ cluster: stringSchema, user: z.optional(stringSchema) }, fields),
    }),
    clusters: nullableListSchema({ name: stringSchema, cluster: z.unknown() }),
    users: nullableListSchema({ name: stringSchema, user: z.unknown() }),
  },
  fields,
);

/** The current context of a kubeconfig, with absolute paths. */
export interface Kubeconfig {
  readonly cluster: z.output<typeof clusterSchema>;
  readonly user: z.output<typeof userSchema>;
  /** Names of the context and of its user. The user's name is empty if the context has none. */
  readonly names: { readonly context: string; readonly user: string };
  /** Prefixes of error messages about the fields of the cluster and of the user. */
  readonly errorPrefixes: { readonly cluster: string; readonly user: string };
}

type CreateError = (problem: string) => ConfigError;

const KUBECONFIG_LIMITS = { tokens: 100_000, values: 10_000, characters: MAX_FILE_BYTES };

/** Reads a kubeconfig. Throws a `ConfigError` that names the file, the field, and the expected value. */
export async function readKubeconfig(path: string, flag = '--kubeconfig'): Promise<Kubeconfig> {
  const readResult = await readTextFile(hostFiles, path).catch((cause: unknown) => {
    throw new ConfigError(`${flag}: ${path}: ${messageOf(cause)}`, { cause });
  });
  if (readResult === undefined) throw new ConfigError(`${flag}: ${path}: no such file`);
  if ('noFile' in readResult) throw new ConfigError(`${flag}: ${path}: ${readResult.noFile}`);
  return parseKubeconfig(path, readResult.text, flag);
}

/** Whether the path exists, even if it is not a regular file. */
export const pathExists = async (path: string): Promise<boolean> =>
  (await undefinedIfMissing(() => hostFiles.stat(path))) !== undefined;

/**
 * Parses the content of a kubeconfig. Relative paths in it are resolved against the directory of `path`, which error
 * messages mention together with `flag`.
 */
export function parseKubeconfig(path: string, content: string, flag = '--kubeconfig'): Kubeconfig {
  // Escape the message, because names may contain control characters and an error message must be a single printable
  // line.
  const createError: CreateError = (problem) => new ConfigError(printableLine(`${flag}: ${path}: ${problem}`));
  const parsedFile = parseBounded(content, KUBECONFIG_LIMITS);
  if ('problem' in parsedFile) throw createError(parsedFile.problem);
  if ('beyond' in parsedFile) throw createError(`has ${parsedFile.beyond}`);
  const file = parseSection(kubeconfig, parsedFile.values[0] ?? {}, '', createError);
  const name = file['current-context'];
  const { context } = findByName(file.contexts, name, `current-context: there is no context "${name}"`, createError);
  const at = (kind: 'cluster' | 'user') => `contexts: "${name}": there is no ${kind} "${context[kind]}"`;
  const clusterEntry = findByName(file.clusters, context.cluster, at('cluster'), createError);
  const userEntry = context.user ? findByName(file.users, context.user, at('user'), createError) : undefined;
  const [clusterAt, userAt] = [`clusters: "${context.cluster}": `, `users: "${context.user ?? ''}": `];
  return {
    cluster: withResolvedPaths(parseSection(clusterSchema, clusterEntry.cluster, clusterAt, createError), path),
    user: withResolvedProgram(
      withResolvedPaths(parseSection(userSchema, userEntry?.user ?? {}, userAt, createError), path),
      path,
    ),
    names: { context: name, user: context.user ?? '' },
    errorPrefixes: { cluster: createError(clusterAt).message, user: createError(userAt).message },
  };
}

/** Finds an entry by its name. If several entries have the same name, the first one wins. */
function findByName<T extends { readonly name: string }>(
  entries: readonly T[] | null | undefined,
  name: string,
  missingMessage: string,
  createError: CreateError,
): T {
  const namedEntry = entries?.find((each) => each.name === name);
  if (namedEntry === undefined) throw createError(missingMessage);
  return namedEntry;
}

function parseSection<Schema extends z.core.$ZodType>(
  schema: Schema,
  input: unknown,
  at: string,
  createError: CreateError,
) {
  const parseResult = z.safeParse(schema, decodeConfig(schema, input));
  if (parseResult.success) return parseResult.data;
  // Omit the input, because error messages must not contain keys or tokens.
  const [first = 'cannot be read'] = describeIssues(parseResult.error.issues, undefined, input);
  throw createError(at + first.replace(', got nothing', ''));
}

const PATH_FIELDS = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'] as const;

/** Resolves relative paths against the directory of the kubeconfig. */
function withResolvedPaths<T extends Partial<Record<(typeof PATH_FIELDS)[number], unknown>>>(
  section: T,
  path: string,
): T {
  const resolvedPaths = PATH_FIELDS.flatMap((name) => {
    const value: unknown = section[name];
    return typeof value === 'string' && value !== '' ? [[name, resolve(dirname(path), value)]] : [];
  });
  return { ...section, ...Object.fromEntries(resolvedPaths) };
}

/** Resolves the path of a program against the directory of the kubeconfig. A bare name is looked up in PATH. */
function withResolvedProgram(section: z.output<typeof userSchema>, path: string): z.output<typeof userSchema> {
  const { exec: program } = section;
  if (!program?.command.includes('/')) return section;
  return { ...section, exec: { ...program, command: resolve(dirname(path), program.command) } };
}

type PemName = 'certificate-authority' | 'client-certificate' | 'client-key';

/** Whether a section has a PEM file or inline PEM data. */
function hasPem<Name extends PemName>(
  section: { readonly [Each in Name | `${Name}-data`]?: string | undefined },
  name: Name,
): boolean {
  return Boolean(section[name] || section[`${name}-data`]);
}

/** Returns the text in base64 data, or an empty string if the data is malformed. */
function decodeBase64(data: string): string {
  return Buffer.from(base64Digits(data) ?? '', 'base64').toString();
}
