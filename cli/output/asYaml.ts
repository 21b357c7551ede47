import { Document, visit } from 'yaml';
import { isPrintable, printableQuoted } from '../../base/printable.ts';
import { needsQuotes } from '../../kubernetes/yaml/resolveScalar.ts';

/**
 * Formats an object as YAML like kubectl: without aliases, and with `apiVersion` and `kind` first. Control characters
 * are escaped in double quotes.
 */
export function asYaml(value: unknown): string {
  const document = new Document(value, (_key, part: unknown) => withTypeFirst(part), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value !== 'string') return;
      if (!isPrintable(scalar.value) || needsQuotes(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return printableQuoted(document.toString());
}

function withTypeFirst(part: unknown): unknown {
  if (typeof part !== 'object' || part === null || !('kind' in part) || !('apiVersion' in part)) return part;
  const { apiVersion, kind, ...rest } = part;
  return { apiVersion, kind, ...rest };
}
