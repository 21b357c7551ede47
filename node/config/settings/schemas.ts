/** Creates the schemas of a configuration file and of the command line. */
import * as z from 'zod/mini';
import { sectionSchema } from '../fields/fields.ts';
import { type AllSettings, allSettings, type Flags, fieldEntries, flagSettings } from './allSettings.ts';
import { isGroup, type SettingDefinition, type Settings, type ShapeOf } from './setting.ts';

/** Creates the schema of a configuration file, without the rules that involve several fields. */
export const fileSchema = () => fieldsSchema<AllSettings>(allSettings());

function fieldsSchema<S extends Settings>(settings: S) {
  const fieldSchemas = Object.fromEntries(fieldEntries(settings).map(([name, entry]) => [name, fieldSchema(entry)]));
  // Safe cast: each field has the schema of its setting.
  return sectionSchema(fieldSchemas as ShapeOf<S>);
}

function fieldSchema(entry: Settings[string]): z.ZodMiniType {
  if (isGroup(entry)) return z.optional(fieldsSchema(entry.fields));
  return entry.isRequired ? entry.type : z.optional(entry.type);
}

const flagType = ({ flag, type }: SettingDefinition): z.ZodMiniType => flag?.type ?? type;

/** Creates the schema of the flags of `run` and `up`. */
export function flagSchema(): z.ZodMiniType<Flags> {
  const flagSchemas = flagSettings().map(({ name, setting }) => [name, z.optional(flagType(setting))] as const);
  // Safe cast: each flag has the schema of its setting.
  return sectionSchema(Object.fromEntries(flagSchemas)) as z.ZodMiniType as z.ZodMiniType<Flags>;
}
