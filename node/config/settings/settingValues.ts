/**
 * Computes the effective values of all settings. Flags take precedence over the configuration file, and the file takes
 * precedence over the defaults.
 */

import * as z from 'zod/mini';
import { lookUp } from '../../../base/values/lookUp.ts';
import { parseDuration } from '../../../kubernetes/api/values/parseDuration.ts';
import { isDurationSchema } from '../fields/fields.ts';
import { type AllSettings, allSettings, type Flags, type KubeletFields } from './allSettings.ts';
import { isGroup, type SettingDefinition, type Settings, type ValuesOf } from './setting.ts';

export interface SettingValues extends ValuesOf<AllSettings> {}

type SettingMap = Readonly<Record<string, unknown>>;

/** The values that the user has set, before any defaults. */
interface ConfiguredValues {
  readonly flags: SettingMap;
  /** The fields of the configuration file or, for a group of settings, those of the group's section of the file. */
  readonly fields: SettingMap;
}

/**
 * Returns the value of every setting, with durations in milliseconds. `defaults` contains the defaults of the command,
 * which take precedence over those of the settings.
 */
export function settingValues({
  flags,
  file = {},
  defaults = {},
}: {
  readonly flags: Flags;
  readonly file?: Partial<KubeletFields> | undefined;
  readonly defaults?: Partial<SettingValues>;
}): SettingValues {
  // Safe cast: each value has the type of its setting.
  return compileGroup(allSettings(), { flags, fields: file }, defaults) as SettingValues;
}

function compileGroup(settings: Settings, configured: ConfiguredValues, defaults: SettingMap): SettingMap {
  const { flags, fields } = configured;
  const entries = Object.entries(settings).map(([name, entry]) => {
    if (isGroup(entry))
      return [name, compileGroup(entry.fields, { flags, fields: asFields(lookUp(fields, name)) }, {})];
    const value = configuredValue(name, entry, configured) ?? lookUp(defaults, name);
    return [name, value ?? defaultValue(entry, isStandalone(flags))];
  });
  return Object.fromEntries(entries);
}

/** Returns the fields of a group of settings, or no fields if the configuration file does not set the group. */
export const asFields = (value: unknown): SettingMap =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

/** Returns the value that a flag or the configuration file sets, or undefined if neither sets one. */
export function configuredValue(
  name: string,
  setting: SettingDefinition,
  { flags, fields }: ConfiguredValues,
): unknown {
  const { flag, defaultFrom: defaultField } = setting;
  const flagValue = flag && lookUp(flags, flag.name ?? name);
  if (flagValue !== undefined && !(flag?.emptyIsUnset && flagValue === '')) return flagValue;
  const candidateValues = [lookUp(fields, name), defaultField === undefined ? undefined : lookUp(fields, defaultField)];
  return candidateValues.find(
    (value) => value !== undefined && (setting.allowsZeroValue || !isGoZeroValue(value, setting)),
  );
}

/**
 * Whether a value from the configuration file, raw or parsed, is Go's zero value. Empty lists and maps are not zero
 * values.
 */
const isGoZeroValue = (value: unknown, { type }: SettingDefinition): boolean =>
  value === 0 || value === '' || (typeof value === 'string' && isDurationSchema(type) && parseDuration(value) === 0);

export const isStandalone = (flags: SettingMap): boolean => flags['--kubeconfig'] === undefined;

/**
 * Returns a setting's default as it would be written in a configuration file. A standalone node may have a different
 * default.
 */
export const defaultInFile = (
  { default: inCluster, standaloneDefault }: SettingDefinition,
  standalone: boolean,
): unknown => (standalone && standaloneDefault !== undefined ? standaloneDefault : inCluster);

/** Returns the default as parsed by the schema of the setting. */
export function defaultValue(setting: SettingDefinition, standalone: boolean): unknown {
  const unparsedDefault = defaultInFile(setting, standalone);
  return unparsedDefault === undefined ? undefined : z.parse(setting.type, unparsedDefault);
}
