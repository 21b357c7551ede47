import { Document, visit } from 'yaml';
import { escapeUnsafeCharacters, isPrintable } from '../../base/text/printable.ts';
import { needsQuotes } from '../../kubernetes/yaml/resolveScalar.ts';

/**
 * Formats an object as YAML in the style of kubectl, which uses no aliases and prints `apiVersion` and `kind` first.
 * Strings with control characters are double-quoted and escaped.
 */
export function asYaml(value: unknown): string {
  const document = new Document(value, (_key, value: unknown) => withTypeFirst(value), {
    aliasDuplicateObjects: false,
  });
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value !== 'string') return;
      if (!isPrintable(scalar.value) || needsQuotes(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeUnsafeCharacters(document.toString());
}

function withTypeFirst(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('kind' in value) || !('apiVersion' in value)) return value;
  const { apiVersion, kind, ...rest } = value;
  return { apiVersion, kind, ...rest };
}
