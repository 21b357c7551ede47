/** Computes the effective values of all settings: those of the flags, else of the file, else the defaults. */

import * as z from 'zod/mini';
import { lookUp } from '../../../base/lookUp.ts';
import { parseDuration } from '../../../kubernetes/api/parseDuration.ts';
import { isDuration } from '../fields.ts';
import { type AllSettings, allSettings, type Flags, type KubeletFields } from './allSettings.ts';
import { isGroup, type Setting, type Settings, type ValuesOf } from './setting.ts';

export interface SettingValues extends ValuesOf<AllSettings> {}

type Values = Readonly<Record<string, unknown>>;

/** The user's configuration. */
interface Configured {
  readonly flags: Values;
  /** The fields of the file, or of the section of the file that corresponds to a group. */
  readonly fields: Values;
}

/**
 * Returns the value of every setting, with durations in milliseconds. `defaults` contains the defaults of the command,
 * which take precedence over those in the table.
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
  // Safe cast: each value is one that the type of the setting has returned.
  return valuesIn(allSettings(), { flags, fields: file }, defaults) as SettingValues;
}

function valuesIn(settings: Settings, configured: Configured, defaults: Values): Values {
  const { flags, fields } = configured;
  const entries = Object.entries(settings).map(([name, entry]) => {
    if (isGroup(entry)) return [name, valuesIn(entry.fields, { flags, fields: asFields(lookUp(fields, name)) }, {})];
    const value = configuredValue(name, entry, configured) ?? lookUp(defaults, name);
    return [name, value ?? defaultValue(entry, isStandalone(flags))];
  });
  return Object.fromEntries(entries);
}

/** Returns the fields of a group, or no fields if the file does not set the group. */
export const asFields = (value: unknown): Values =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};

/** Returns the value that a flag or the file sets, or undefined if neither sets one. */
export function configuredValue(name: string, setting: Setting, { flags, fields }: Configured): unknown {
  const { flag, defaultFrom } = setting;
  const flagged = flag && lookUp(flags, flag.name ?? name);
  if (flagged !== undefined && !(flag?.emptyIsUnset && flagged === '')) return flagged;
  const candidates = [lookUp(fields, name), defaultFrom === undefined ? undefined : lookUp(fields, defaultFrom)];
  return candidates.find((value) => value !== undefined && (setting.keepsZero || !isZero(value, setting)));
}

/** Whether a value of the file is Go's zero value, written or parsed. An empty list or map is not a zero value. */
const isZero = (value: unknown, { type }: Setting): boolean =>
  value === 0 || value === '' || (typeof value === 'string' && isDuration(type) && parseDuration(value) === 0);

export const isStandalone = (flags: Values): boolean => flags['--kubeconfig'] === undefined;

/** Returns the default as written in a file, on a node with or without a cluster. */
export const writtenDefault = ({ default: inCluster, standaloneDefault }: Setting, standalone: boolean): unknown =>
  standalone && standaloneDefault !== undefined ? standaloneDefault : inCluster;

/** Returns the default as the type of the setting parses it. */
export function defaultValue(setting: Setting, standalone: boolean): unknown {
  const written = writtenDefault(setting, standalone);
  return written === undefined ? undefined : z.parse(setting.type, written);
}
