import { Document, visit } from 'yaml';
import { isPrintable, printableQuoted } from '../pod/printable.ts';

/** An object as YAML, every part of it written out; characters that a terminal may not have are escaped in double quotes. */
export function asYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && !isPrintable(scalar.value)) scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return printableQuoted(document.toString());
}
