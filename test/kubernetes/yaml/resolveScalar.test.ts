import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { asYaml } from '../../../cli/output/asYaml.ts';
import { parseBounded } from '../../../kubernetes/yaml/boundedYaml.ts';

const limits = { tokens: 100_000, values: 100_000, characters: 1_000_000 };

test('any string that was written as YAML is read back', () => {
  const word = fc.constantFrom(
    'yes',
    'n',
    'Off',
    '~',
    'null',
    '0o644',
    '0X1F',
    '0b-1',
    '1_000',
    '.5_5',
    '.inf',
    '<<',
    '08',
    '1e3',
  );
  const piece = fc.constantFrom(...'0123456789+-._eExXoObBnNyY~:#', ' ');
  const text = fc.oneof(
    word,
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
  );
  fc.assert(
    fc.property(
      fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 })), { noNullPrototype: true }),
      (value) => {
        expect(parseBounded(asYaml(value), limits)).toEqual({ values: [value] });
      },
    ),
    { numRuns: 500 },
  );
});
