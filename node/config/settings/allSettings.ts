/**
 * Defines the table of all settings. Flags, defaults, validation, /configz, /flagz, the help and docs/reference.md are
 * derived from it.
 */
import { clusterSettings } from './clusterSettings.ts';
import { directorySettings, stateDirectorySettings } from './directorySettings.ts';
import { networkSettings } from './networkSettings.ts';
import { admissionSettings, containerSettings, housekeepingSettings } from './podSettings.ts';
import { pressureSettings } from './pressureSettings.ts';
import { observationSettings, processSettings } from './processSettings.ts';
import { resourceSettings } from './resourceSettings.ts';
import { runtimeSettings } from './runtimeSettings.ts';
import { servingSettings } from './servingSettings.ts';
import {
  type FieldsOf,
  type FlagDefinition,
  type FlagsOf,
  isField,
  isGroup,
  type SettingDefinition,
  type Settings,
} from './setting.ts';
import { commandSettings, fileSettings, sourceSettings } from './sourceSettings.ts';

/**
 * Creates the table, in the order in which the help and docs/reference.md list the settings. The table is not cached,
 * because a process needs the schemas in it at most once.
 */
export const allSettings = () => ({
  ...fileSettings(),
  ...sourceSettings(),
  ...clusterSettings(),
  ...servingSettings(),
  ...runtimeSettings(),
  ...directorySettings(),
  ...networkSettings(),
  ...processSettings(),
  ...admissionSettings(),
  ...containerSettings(),
  ...resourceSettings(),
  ...pressureSettings(),
  ...housekeepingSettings(),
  ...observationSettings(),
  ...commandSettings(),
  ...stateDirectorySettings(),
});

export type AllSettings = ReturnType<typeof allSettings>;

/** A configuration whose fields are valid individually, but may violate a rule about several fields. */
export type KubeletFields = FieldsOf<AllSettings>;

/** The parsed flags of `run` and `up`, by their full names. */
export interface Flags extends FlagsOf<AllSettings> {}

/** A flag, with the setting whose value it determines. */
export interface FlagSetting {
  readonly name: string;
  readonly flag: FlagDefinition;
  readonly setting: SettingDefinition;
}

/** Returns all flags, including those of nested fields. */
export const flagSettings = (settings: Settings = allSettings()): readonly FlagSetting[] =>
  Object.entries(settings).flatMap(([name, entry]) => {
    if (isGroup(entry)) return flagSettings(entry.fields);
    return entry.flag ? [{ name: entry.flag.name ?? name, flag: entry.flag, setting: entry }] : [];
  });

/** Returns the settings that are fields of a KubeletConfiguration, i.e. all except those that are only flags. */
export const fieldEntries = (settings: Settings = allSettings()) =>
  Object.entries(settings).filter(([name]) => isField(name));

/** Returns the names of the fields and flags whose values may contain a password or a token. */
export const secretNames = (): readonly string[] =>
  Object.entries(allSettings()).flatMap(([name, entry]: [string, Settings[string]]) =>
    !isGroup(entry) && entry.isSecret ? [name, entry.flag?.name ?? name] : [],
  );
