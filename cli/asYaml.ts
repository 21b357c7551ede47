import { stringify } from 'yaml';

/** An object as YAML, every part of it written out. */
export const asYaml = (value: unknown): string => stringify(value, { aliasDuplicateObjects: false });
