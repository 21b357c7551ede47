import { printableQuoted } from '../../base/printable.ts';

/** An object as kubectl prints it; nothing in it moves a terminal, and it can be read again as it was. */
export async function asText(value: unknown, output: 'json' | 'yaml'): Promise<string> {
  if (output === 'json') return `${printableQuoted(JSON.stringify(value, null, 4))}\n`;
  return (await import('./asYaml.ts')).asYaml(value);
}
