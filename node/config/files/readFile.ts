import { dirname, isAbsolute, resolve } from 'node:path';
import { MAX_FILE_BYTES, readTextFile } from '../../../actors/sources/yaml/textFile.ts';
import { messageOf } from '../../../base/failure.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { hostFiles } from '../../../host/files/fileSystem.ts';
import { parseBounded } from '../../../kubernetes/yaml/boundedYaml.ts';
import { ConfigError, describeIssues } from '../configError.ts';
import { listIgnoredGates } from '../featureGates.ts';
import { allSettings } from '../settings/allSettings.ts';
import { isGroup, type Settings } from '../settings/setting.ts';
import { asFields } from '../settings/settingValues.ts';
import { decodeConfig } from './decodeConfig.ts';
import { type KubeletConfiguration, kubeletConfiguration } from './kubeletConfiguration.ts';

/** A parsed KubeletConfiguration, and the names of its fields that have no effect in this version. */
export interface ConfigFile {
  readonly path: string;
  readonly config: KubeletConfiguration;
  readonly ignoredFields: readonly string[];
  /** The fields as written in the file, without null values. */
  readonly writtenFields?: Readonly<Record<string, unknown>>;
}

/** Resolves relative paths against the directory of the file, as the kubelet does. */
function resolvePaths(directory: string, fields: object, settings: Settings): object {
  const resolvedEntries = Object.entries(fields).map(([name, value]): readonly [string, unknown] => {
    const settingEntry = lookUp(settings, name);
    if (settingEntry === undefined) return [name, value];
    if (isGroup(settingEntry)) return [name, resolvePaths(directory, asFields(value), settingEntry.fields)];
    const isRelativePath = settingEntry.isPath && typeof value === 'string' && value !== '' && !isAbsolute(value);
    return [name, isRelativePath ? resolve(directory, value) : value];
  });
  return Object.fromEntries(resolvedEntries);
}

/** Whether a field has no effect in this version. */
const isIgnoredField = (name: string, settings: Settings): boolean =>
  lookUp(settings, name)?.ignoredReason !== undefined;

const YAML_LIMITS = { tokens: 100_000, values: 10_000, characters: MAX_FILE_BYTES };

/** Parses a configuration file in YAML or JSON. Throws a `ConfigError` that lists all errors. */
export function parseConfigFile(path: string, text: string): ConfigFile {
  const parsedFile = parseBounded(text, YAML_LIMITS);
  if ('problem' in parsedFile) throw new ConfigError(`${path}: ${parsedFile.problem}`);
  if ('beyond' in parsedFile) throw new ConfigError(`${path}: has ${parsedFile.beyond}`);
  if (parsedFile.values.length > 1)
    throw new ConfigError(`${path}: expected one KubeletConfiguration, got several documents`);
  const schema = kubeletConfiguration();
  const input = decodeConfig(schema, parsedFile.values[0] ?? {});
  const parseResult = schema.safeParse(input);
  if (!parseResult.success) {
    const errorLines = describeIssues(parseResult.error.issues, input, parsedFile.values[0]).map(
      (mistake) => `${path}: ${mistake}`,
    );
    throw new ConfigError(errorLines.join('\n'));
  }
  const settings = allSettings();
  return {
    path,
    // Safe cast: only strings were replaced, by other strings.
    config: resolvePaths(dirname(resolve(path)), parseResult.data, settings) as KubeletConfiguration,
    // Safe cast: the schema accepts only a map of fields.
    writtenFields: input as Readonly<Record<string, unknown>>,
    ignoredFields: [
      ...Object.keys(parseResult.data).filter((name) => isIgnoredField(name, settings)),
      ...listIgnoredGates(parseResult.data).map((gate) => `featureGates.${gate}`),
    ],
  };
}

/** Reads the file that `--config` names. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const readResult = await readTextFile(hostFiles, path).catch((cause: unknown) => {
    throw new ConfigError(`--config: ${messageOf(cause)}`, { cause });
  });
  if (readResult === undefined) throw new ConfigError(`--config: ${path}: no such file`);
  if ('noFile' in readResult) throw new ConfigError(`--config: ${path}: ${readResult.noFile}`);
  return parseConfigFile(path, readResult.text);
}
