/** Reads a kubelet's configuration of image credential provider plugins. */
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { MAX_FILE_BYTES, readTextFile } from '../../actors/sources/yaml/textFile.ts';
import { messageOf } from '../../base/failure.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { firstExecutable } from '../../host/program.ts';
import {
  type CredentialProvider,
  PROVIDER_VERSIONS,
  TOKEN_VERSION,
} from '../../kubernetes/images/credentialProvider.ts';
import { parseBounded } from '../../kubernetes/yaml/boundedYaml.ts';
import { ConfigError, describeIssues } from '../config/configError.ts';
import { boolean, duration, list, oneOf, section, text, textLike } from '../config/fields.ts';
import { withoutNulls } from '../config/goNulls.ts';

/** The paths of the configuration and the plugins. */
export interface ProviderPaths {
  /** Path of the configuration, which is a file or a directory of files. */
  readonly config: string;
  /** The directory of the plugins. */
  readonly binDir: string;
}

const FLAG = '--image-credential-provider-config';
const BIN_FLAG = '--image-credential-provider-bin-dir';

const isProgram = (name: string) => name !== '' && name !== '.' && name !== '..' && !/[/ \0]/.test(name);
const isPlace = (place: string) => place !== '' && URL.canParse(`https://${place.replaceAll('*', 'x')}`);
const isAnnotation = (key: string) =>
  /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[a-z0-9](?:[-_.a-z0-9]{0,61}[a-z0-9])?$/.test(key.toLowerCase());

const needed = <T extends z.ZodMiniType>(items: z.ZodMiniArray<T>) =>
  items.check(z.minLength(1, { error: 'needs at least one entry' }));
const annotations = list(textLike('the key of an annotation', isAnnotation));

const tokenAttributes = section({
  serviceAccountTokenAudience: textLike('an audience', (audience) => audience !== ''),
  cacheType: oneOf('Token', 'ServiceAccount'),
  requireServiceAccount: boolean,
  requiredServiceAccountAnnotationKeys: z.optional(annotations),
  optionalServiceAccountAnnotationKeys: z.optional(annotations),
});

const provider = section({
  name: textLike('the name of a program in the directory of plugins', isProgram),
  apiVersion: oneOf(...PROVIDER_VERSIONS),
  matchImages: needed(list(textLike('an image such as "*.registry.example/team"', isPlace))),
  defaultCacheDuration: duration(),
  args: z.optional(list(text)),
  env: z.optional(list(section({ name: text, value: text }))),
  tokenAttributes: z.optional(tokenAttributes),
});

const schema = section({
  apiVersion: oneOf('kubelet.config.k8s.io/v1', 'kubelet.config.k8s.io/v1beta1', 'kubelet.config.k8s.io/v1alpha1'),
  kind: oneOf('CredentialProviderConfig'),
  providers: needed(list(provider)),
});

type Provider = z.output<typeof provider>;

interface ProviderConfig {
  readonly providers: readonly CredentialProvider[];
  /**
   * `sha256:` followed by the hash of the files with their lengths, in the form that a kubelet reports
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
  if (config === '') throw new ConfigError(`${BIN_FLAG}: needs ${FLAG}`);
  if (binDir === '') throw new ConfigError(`${FLAG}: needs ${BIN_FLAG}`);
  const files = await listConfigFiles(config);
  const configs = await Promise.all(files.map(readProviders));
  const providers = configs.flatMap((each) => each.providers);
  const names = providers.map(({ name }) => name);
  const duplicate = names.find((name, index) => names.indexOf(name) < index);
  if (duplicate !== undefined) throw new ConfigError(`${config}: duplicate provider "${duplicate}"`);
  for (const name of names) {
    const program = join(binDir, name);
    if (!(await firstExecutable([program]))) throw new ConfigError(`${BIN_FLAG}: ${program} is not an executable file`);
  }
  return { providers, hash: hashOf(configs.map(({ text }) => text)) };
}

function hashOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(text)));
    hash.update(length).update(text);
  }
  return `sha256:${hash.digest('hex')}`;
}

async function listConfigFiles(config: string): Promise<string[]> {
  try {
    if (!(await stat(config)).isDirectory()) return [config];
    const names = (await readdir(config)).filter((name) => /\.(json|yaml|yml)$/.test(name)).sort();
    if (names.length > 0) return names.map((name) => join(config, name));
  } catch (cause) {
    throw new ConfigError(`${FLAG}: ${messageOf(cause)}`, { cause });
  }
  throw new ConfigError(`${FLAG}: no configuration in ${config}`);
}

async function readProviders(
  file: string,
): Promise<{ readonly providers: readonly CredentialProvider[]; readonly text: string }> {
  const content = await readTextFile(hostFiles, file);
  if (content === undefined || 'noFile' in content)
    throw new ConfigError(`${FLAG}: ${file}: ${content?.noFile ?? 'is gone'}`);
  const parsed = parseBounded(content.text, { tokens: 100_000, values: 10_000, characters: MAX_FILE_BYTES });
  if (!('values' in parsed)) throw new ConfigError(`${file}: ${'problem' in parsed ? parsed.problem : parsed.beyond}`);
  const [source] = parsed.values;
  const input = withoutNulls(schema, source);
  const read = schema.safeParse(input);
  const mistakes = read.success
    ? read.data.providers.flatMap((each, index) => mistakesOf(each).map((why) => `providers[${index}].${why}`))
    : describeIssues(read.error.issues, withoutValues(input), source);
  if (mistakes.length > 0) throw new ConfigError(mistakes.map((mistake) => `${file}: ${mistake}`).join('\n'));
  return { providers: read.success ? read.data.providers.map(compileProvider) : [], text: content.text };
}

/** Returns the errors that involve several fields. */
function mistakesOf({ apiVersion, tokenAttributes: token }: Provider): string[] {
  if (token === undefined) return [];
  const required = token.requiredServiceAccountAnnotationKeys ?? [];
  const optional = token.optionalServiceAccountAnnotationKeys ?? [];
  const annotationKeys = [...required, ...optional];
  return [
    ...(apiVersion === TOKEN_VERSION ? [] : [`tokenAttributes: needs apiVersion ${TOKEN_VERSION}`]),
    ...(token.requireServiceAccount || required.length === 0
      ? []
      : ['tokenAttributes.requiredServiceAccountAnnotationKeys: needs requireServiceAccount']),
    ...(new Set(annotationKeys).size === annotationKeys.length
      ? []
      : ['tokenAttributes: must not name an annotation twice']),
  ];
}

function compileProvider(provider: Provider): CredentialProvider {
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
function withoutValues(input: unknown): unknown {
  return JSON.parse(
    JSON.stringify(input ?? null, (key, value) => {
      if (key === 'value' || key === 'args' || key === 'env') return '…';
      return typeof value === 'bigint' ? Number(value) : value;
    }),
  );
}
