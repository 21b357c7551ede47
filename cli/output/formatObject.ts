import { escapeUnsafeCharacters } from '../../base/text/printable.ts';

/**
 * Formats an object as kubectl does. Control characters are escaped so that the text still parses to the same object.
 */
export async function formatObject(value: unknown, output: 'json' | 'yaml'): Promise<string> {
  if (output === 'json') return `${escapeUnsafeCharacters(JSON.stringify(value, null, 4))}\n`;
  return (await import('./asYaml.ts')).asYaml(value);
}
