/** Reads the configuration of image credential provider plugins, in the kubelet's format. */
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { MAX_FILE_BYTES, readTextFile } from '../../actors/sources/yaml/textFile.ts';
import { messageOf } from '../../base/failure.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { findFirstExecutable } from '../../host/program.ts';
import {
  type CredentialProvider,
  PROVIDER_VERSIONS,
  TOKEN_VERSION,
} from '../../kubernetes/images/credentialProvider.ts';
import { parseBounded } from '../../kubernetes/yaml/boundedYaml.ts';
import { ConfigError, describeIssues } from '../config/configError.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  listSchema,
  matchingStringSchema,
  sectionSchema,
  stringSchema,
} from '../config/fields/fields.ts';
import { decodeConfig } from '../config/files/decodeConfig.ts';

export interface ProviderPaths {
  /** Path of the configuration, which is a file or a directory of files. */
  readonly config: string;
  /** Directory of the plugins' executables. */
  readonly binDir: string;
}

const CONFIG_FLAG = '--image-credential-provider-config';
const BIN_FLAG = '--image-credential-provider-bin-dir';

const isProgramName = (name: string) => name !== '' && name !== '.' && name !== '..' && !/[/ \0]/.test(name);
const isImagePattern = (pattern: string) => pattern !== '' && URL.canParse(`https://${pattern.replaceAll('*', 'x')}`);
const isAnnotationKey = (key: string) =>
  /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[a-z0-9](?:[-_.a-z0-9]{0,61}[a-z0-9])?$/.test(key.toLowerCase());

const nonEmptyListSchema = <T extends z.ZodMiniType>(items: z.ZodMiniArray<T>) =>
  items.check(z.minLength(1, { error: 'needs at least one entry' }));
const annotations = listSchema(matchingStringSchema('the key of an annotation', isAnnotationKey));

const tokenAttributes = sectionSchema({
  serviceAccountTokenAudience: matchingStringSchema('an audience', (audience) => audience !== ''),
  cacheType: enumSchema('Token', 'ServiceAccount'),
  requireServiceAccount: booleanSchema,
  requiredServiceAccountAnnotationKeys: z.optional(annotations),
  optionalServiceAccountAnnotationKeys: z.optional(annotations),
});

const providerSchema = sectionSchema({
  name: matchingStringSchema('the name of a program in the directory of plugins', isProgramName),
  apiVersion: enumSchema(...PROVIDER_VERSIONS),
  matchImages: nonEmptyListSchema(
    listSchema(matchingStringSchema('an image such as "*.registry.example/team"', isImagePattern)),
  ),
  defaultCacheDuration: durationSchema(),
  args: z.optional(listSchema(stringSchema)),
  env: z.optional(listSchema(sectionSchema({ name: stringSchema, value: stringSchema }))),
  tokenAttributes: z.optional(tokenAttributes),
});

const schema = sectionSchema({
  apiVersion: enumSchema('kubelet.config.k8s.io/v1', 'kubelet.config.k8s.io/v1beta1', 'kubelet.config.k8s.io/v1alpha1'),
  kind: enumSchema('CredentialProviderConfig'),
  providers: nonEmptyListSchema(listSchema(providerSchema)),
});

type ProviderFields = z.output<typeof providerSchema>;

interface ProviderConfig {
  readonly providers: readonly CredentialProvider[];
  /**
   * `sha256:` followed by a hash of the files and their lengths, in the form that the kubelet reports
   * (`plugin/config.go`).
   */
  readonly hash: string;
}

/** Reads the configuration and checks that the plugins exist. Throws a `ConfigError` that lists all errors. */
export async function readCredentialProviders(paths: ProviderPaths): Promise<readonly CredentialProvider[]> {
  return (await readProviderConfig(paths)).providers;
}

/** Reads the providers like `readCredentialProviders`, and computes the hash of the configuration. */
export async function readProviderConfig({ config, binDir }: ProviderPaths): Promise<ProviderConfig> {
  if (config === '') throw new ConfigError(`${BIN_FLAG}: needs ${CONFIG_FLAG}`);
  if (binDir === '') throw new ConfigError(`${CONFIG_FLAG}: needs ${BIN_FLAG}`);
  const files = await listConfigFiles(config);
  const providerConfigs = await Promise.all(files.map(readProviders));
  const providers = providerConfigs.flatMap((each) => each.providers);
  const names = providers.map(({ name }) => name);
  const duplicateName = names.find((name, index) => names.indexOf(name) < index);
  if (duplicateName !== undefined) throw new ConfigError(`${config}: duplicate provider "${duplicateName}"`);
  for (const name of names) {
    const programPath = join(binDir, name);
    if (!(await findFirstExecutable([programPath])))
      throw new ConfigError(`${BIN_FLAG}: ${programPath} is not an executable file`);
  }
  return { providers, hash: hashFiles(providerConfigs.map(({ text }) => text)) };
}

function hashFiles(texts: readonly string[]): string {
  const sha256Hash = createHash('sha256');
  for (const text of texts) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)));
    sha256Hash.update(length).update(text);
  }
  return `sha256:${sha256Hash.digest('hex')}`;
}

async function listConfigFiles(config: string): Promise<string[]> {
  try {
    if (!(await stat(config)).isDirectory()) return [config];
    const names = (await readdir(config)).filter((name) => /\.(json|yaml|yml)$/.test(name)).sort();
    if (names.length > 0) return names.map((name) => join(config, name));
  } catch (cause) {
    throw new ConfigError(`${CONFIG_FLAG}: ${messageOf(cause)}`, { cause });
  }
  throw new ConfigError(`${CONFIG_FLAG}: no configuration in ${config}`);
}

async function readProviders(
  file: string,
): Promise<{ readonly providers: readonly CredentialProvider[]; readonly text: string }> {
  const content = await readTextFile(hostFiles, file);
  if (content === undefined || 'noFile' in content)
    throw new ConfigError(`${CONFIG_FLAG}: ${file}: ${content?.noFile ?? 'is gone'}`);
  const parsedFile = parseBounded(content.text, { tokens: 100_000, values: 10_000, characters: MAX_FILE_BYTES });
  if (!('values' in parsedFile))
    throw new ConfigError(`${file}: ${'problem' in parsedFile ? parsedFile.problem : parsedFile.beyond}`);
  const [source] = parsedFile.values;
  const input = decodeConfig(schema, source);
  const parseResult = schema.safeParse(input);
  const errorLines = parseResult.success
    ? parseResult.data.providers.flatMap((each, index) =>
        findConflicts(each).map((why) => `providers[${index}].${why}`),
      )
    : describeIssues(parseResult.error.issues, maskSecretValues(input), source);
  if (errorLines.length > 0) throw new ConfigError(errorLines.map((mistake) => `${file}: ${mistake}`).join('\n'));
  return { providers: parseResult.success ? parseResult.data.providers.map(compileProvider) : [], text: content.text };
}

/** Returns the errors that involve several fields. */
function findConflicts({ apiVersion, tokenAttributes: token }: ProviderFields): string[] {
  if (token === undefined) return [];
  const requiredKeys = token.requiredServiceAccountAnnotationKeys ?? [];
  const optionalKeys = token.optionalServiceAccountAnnotationKeys ?? [];
  const annotationKeys = [...requiredKeys, ...optionalKeys];
  return [
    ...(apiVersion === TOKEN_VERSION ? [] : [`tokenAttributes: needs apiVersion ${TOKEN_VERSION}`]),
    ...(token.requireServiceAccount || requiredKeys.length === 0
      ? []
      : ['tokenAttributes.requiredServiceAccountAnnotationKeys: needs requireServiceAccount']),
    ...(new Set(annotationKeys).size === annotationKeys.length
      ? []
      : ['tokenAttributes: must not name an annotation twice']),
  ];
}

function compileProvider(provider: ProviderFields): CredentialProvider {
  const { name, apiVersion, matchImages, defaultCacheDuration: defaultCacheMs, args = [], env = [] } = provider;
  const token = provider.tokenAttributes;
  return {
    name,
    apiVersion,
    matchImages,
    defaultCacheMs,
    args,
    env,
    ...(token === undefined
      ? {}
      : {
          token: {
            audience: token.serviceAccountTokenAudience,
            cacheType: token.cacheType,
            isRequired: token.requireServiceAccount,
            requiredAnnotations: token.requiredServiceAccountAnnotationKeys ?? [],
            optionalAnnotations: token.optionalServiceAccountAnnotationKeys ?? [],
          },
        }),
  };
}

/** Masks the environment and arguments of plugins, so that error messages contain no secrets. */
function maskSecretValues(input: unknown): unknown {
  return JSON.parse(
    JSON.stringify(input ?? null, (key, value) => {
      if (key === 'value' || key === 'args' || key === 'env') return '…';
      return typeof value === 'bigint' ? Number(value) : value;
    }),
  );
}
