import { dirname, isAbsolute, resolve } from 'node:path';
import { MAX_FILE_BYTES, readTextFile } from '../../actors/sources/yaml/textFile.ts';
import { messageOf } from '../../base/failure.ts';
import { lookUp } from '../../base/lookUp.ts';
import { hostFiles } from '../../host/files/fileSystem.ts';
import { parseBounded } from '../../kubernetes/yaml/boundedYaml.ts';
import { ConfigError, describeIssues } from './configError.ts';
import { gatesIgnored } from './featureGates.ts';
import { withoutNulls } from './goNulls.ts';
import { type KubeletConfiguration, kubeletConfiguration } from './kubeletConfiguration.ts';
import { allSettings } from './settings/allSettings.ts';
import { isGroup, type Settings } from './settings/setting.ts';
import { asFields } from './settings/settingValues.ts';

/** A parsed KubeletConfiguration, with those of its fields that have no effect in this version. */
export interface ConfigFile {
  readonly path: string;
  readonly config: KubeletConfiguration;
  readonly ignored: readonly string[];
  /** The fields as written in the file, without null values. */
  readonly written?: Readonly<Record<string, unknown>>;
}

/** Resolves relative paths against the directory of the file, as a kubelet does. */
function resolvedFrom(directory: string, fields: object, settings: Settings): object {
  const resolved = Object.entries(fields).map(([name, value]): readonly [string, unknown] => {
    const entry = lookUp(settings, name);
    if (entry === undefined) return [name, value];
    if (isGroup(entry)) return [name, resolvedFrom(directory, asFields(value), entry.fields)];
    const isRelative = entry.isPath && typeof value === 'string' && value !== '' && !isAbsolute(value);
    return [name, isRelative ? resolve(directory, value) : value];
  });
  return Object.fromEntries(resolved);
}

/** Whether a field has no effect in this version. */
const isIgnored = (name: string, settings: Settings): boolean => lookUp(settings, name)?.ignored !== undefined;

const limits = { tokens: 100_000, values: 10_000, characters: MAX_FILE_BYTES };

/** Parses a configuration file in YAML or JSON. Throws a `ConfigError` that lists all errors. */
export function parseConfigFile(path: string, text: string): ConfigFile {
  const parsed = parseBounded(text, limits);
  if ('problem' in parsed) throw new ConfigError(`${path}: ${parsed.problem}`);
  if ('beyond' in parsed) throw new ConfigError(`${path}: has ${parsed.beyond}`);
  if (parsed.values.length > 1)
    throw new ConfigError(`${path}: expected one KubeletConfiguration, got several documents`);
  const schema = kubeletConfiguration();
  const input = withoutNulls(schema, parsed.values[0] ?? {});
  const read = schema.safeParse(input);
  if (!read.success) {
    const mistakes = describeIssues(read.error.issues, input, parsed.values[0]).map((mistake) => `${path}: ${mistake}`);
    throw new ConfigError(mistakes.join('\n'));
  }
  const settings = allSettings();
  return {
    path,
    // The cast holds, because only strings have been replaced by strings.
    config: resolvedFrom(dirname(resolve(path)), read.data, settings) as KubeletConfiguration,
    // The cast holds, because the schema has accepted a map of fields.
    written: input as Readonly<Record<string, unknown>>,
    ignored: [
      ...Object.keys(read.data).filter((name) => isIgnored(name, settings)),
      ...gatesIgnored(read.data).map((gate) => `featureGates.${gate}`),
    ],
  };
}

/** Reads the file that `--config` names. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const found = await readTextFile(hostFiles, path).catch((cause: unknown) => {
    throw new ConfigError(`--config: ${messageOf(cause)}`, { cause });
  });
  if (found === undefined) throw new ConfigError(`--config: ${path}: no such file`);
  if ('noFile' in found) throw new ConfigError(`--config: ${path}: ${found.noFile}`);
  return parseConfigFile(path, found.text);
}
