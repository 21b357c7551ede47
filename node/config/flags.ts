import { ConfigError, describeIssues } from './configError.ts';
import type { Flags } from './settings/allSettings.ts';
import { flagSchema } from './settings/schemas.ts';

/** Parses the command-line flags. Throws a `ConfigError` that lists all errors. */
export function readFlags(optionValues: Readonly<Record<string, string | boolean | undefined>>): Flags {
  const set = Object.fromEntries(Object.entries(optionValues).filter(([, value]) => value !== undefined));
  const parseResult = flagSchema().safeParse(set);
  if (!parseResult.success) throw new ConfigError(describeIssues(parseResult.error.issues, set).join('\n'));
  return parseResult.data;
}
