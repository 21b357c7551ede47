import { Document, visit } from 'yaml';
import { isPrintable, printableQuoted } from '../../base/printable.ts';
import { needsQuotes } from '../../kubernetes/yaml/resolveScalar.ts';

/**
 * An object as YAML, every part of it written out, what it is first, as kubectl has it; characters that a terminal may
 * not have are escaped in double quotes.
 */
export function asYaml(value: unknown): string {
  const document = new Document(value, (_key, part: unknown) => typeFirst(part), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value !== 'string') return;
      if (!isPrintable(scalar.value) || needsQuotes(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return printableQuoted(document.toString());
}

function typeFirst(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || !('kind' in part) || !('apiVersion' in part)) return part;
  const { apiVersion, kind, ...rest } = part;
  return { apiVersion, kind, ...rest };
}
