import { printableQuoted } from '../pod/show/printable.ts';

/** The forms in which objects are printed. */
export type OutputFormat = 'wide' | 'json' | 'yaml' | 'name';

export async function asText(value: unknown, output: 'json' | 'yaml'): Promise<string> {
  if (output === 'json') return `${printableQuoted(JSON.stringify(value, null, 4))}\n`;
  return (await import('./asYaml.ts')).asYaml(value);
}
