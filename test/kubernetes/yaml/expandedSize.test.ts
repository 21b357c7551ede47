import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { parseBounded } from '../../../kubernetes/yaml/boundedYaml.ts';
import { expandedSize } from '../../../kubernetes/yaml/expandedSize.ts';
import { parseDocument } from '../../../kubernetes/yaml/parser.ts';

function sizeOf(text: string) {
  const range = { start: 0, end: text.length, line: 0, isAfterEnd: false };
  const node = parseDocument(text, range, { depth: 1_000, onToken: () => {} });
  if (node === undefined) throw new Error('the text holds no document');
  return expandedSize(node);
}

/** Counts the values of a decoded document. */
function valuesIn(value: unknown): number {
  const inner = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return inner.reduce<number>((sum, each) => sum + valuesIn(each), 1);
}

test('the expanded size equals the size of the value without aliases', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      expect(sizeOf(stringify(value)).values).toBe(valuesIn(value));
    }),
    { numRuns: 300 },
  );
});

test('the expanded size equals the size of the value with all aliases expanded', () => {
  // The writer creates an alias for an object that occurs twice.
  const shared = fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(shared, fc.array(fc.nat(2), { maxLength: 8 }), (values, picks) => {
      const value = picks.map((pick) => values[pick % values.length]);
      expect(sizeOf(stringify(value)).values).toBe(valuesIn(value));
    }),
    { numRuns: 300 },
  );
});

test('the expanded size includes the lengths of texts and field names', () => {
  expect(sizeOf('{one: two, list: [three]}').characters).toBe('onetwolistthree'.length);
});

test('a merged mapping is counted in full each time', () => {
  const base = 'a: &a {x: 1, y: 2}\n';
  expect(sizeOf(`${base}b: {<<: *a}`).values).toBe(sizeOf(`${base}b: {c: *a}`).values);
  expect(sizeOf(`${base}b: {<<: [*a, *a]}`).values).toBe(sizeOf(`${base}b: {c: [*a, *a]}`).values);
});

test('the last anchor of a name is used', () => {
  expect(sizeOf('[&a [1, 2, 3], &a 1, *a]').values).toBe(7);
  expect(sizeOf('[&a [&a 1, *a], *a]').values).toBe(5);
});

test('a value that contains itself is rejected', () => {
  expect(() => sizeOf('&a [*a]')).toThrow('anchor a contains itself');
  expect(() => sizeOf('&a {b: {<<: *a}}')).toThrow('anchor a contains itself');
});

test('exponential growth is rejected before decoding, even if it is spread over documents', () => {
  const merges = (count: number) => {
    const maps = Array.from({ length: count }, (_, i) => `a${i + 1}: &a${i + 1} {<<: [${`*a${i},`.repeat(9)}]}`);
    return ['a0: &a0 {k: v}', ...maps].join('\n');
  };
  const limits = { tokens: 20_000, values: 10_000, characters: 100_000 };
  expect(parseBounded(merges(3), limits)).toHaveProperty('values');
  expect(parseBounded(merges(40), limits)).toEqual({ beyond: 'more than 10000 values' });
  const document = `---\na: &a [${'1,'.repeat(90)}]\nb: [${'*a,'.repeat(90)}]\n`;
  expect(parseBounded(document, limits)).toHaveProperty('values');
  expect(parseBounded(document.repeat(3), limits)).toEqual({ beyond: 'more than 10000 values' });
});
