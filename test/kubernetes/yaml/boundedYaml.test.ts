/** YAML is read exactly as by the kubelet, which uses sigs.k8s.io/yaml with goyaml.v2. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseBounded, parseDocuments } from '../../../kubernetes/yaml/boundedYaml.ts';
import { root } from '../../support/root.ts';

const limits = { tokens: 100_000, values: 100_000, characters: 1_000_000 };

/** Reads the documents of a text, each as its value or its error message. */
function read(text: string): unknown[] {
  const documents = parseDocuments(text, limits);
  if (!Array.isArray(documents)) throw new Error(JSON.stringify(documents));
  return documents.map((document) => ('value' in document ? document.value : Object.values(document)[0]));
}

/** Texts with the value that `YAMLToJSON` of sigs.k8s.io/yaml returns, or without one if it returns an error. */
const recorded = (file: string): [text: string, value?: unknown][] =>
  readFileSync(join(root, 'test/recorded/yaml', file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) =>
      JSON.parse(line, (_key, value) => {
        const integer: unknown = typeof value === 'object' && value !== null ? value.$integer : undefined;
        return typeof integer === 'string' ? BigInt(integer) : value;
      }),
    );

describe('each recorded text is read as by the kubelet', () => {
  test.each(['scalars.jsonl', 'documents.jsonl'])('%s', (file) => {
    const rows = recorded(file);
    expect(rows.length).toBeGreaterThan(1_000);
    const differing = rows.flatMap(([text, ...expected]) => {
      const documents = parseDocuments(text, limits);
      const [first = { value: null }] = Array.isArray(documents) ? documents : [documents];
      const actual = 'value' in first ? [first.value] : [];
      return isEqual(actual, expected) ? [] : [{ text, actual, expected }];
    });
    expect(differing).toEqual([]);
  });
});

function isEqual(actual: unknown, expected: unknown): boolean {
  try {
    expect(actual).toEqual(expected);
    return true;
  } catch {
    return false;
  }
}

describe('indentation matters only between block collections', () => {
  test('accepts the continuation of a quoted value at any column', () => {
    expect(read('a:\n  cfg: \'{\n  "x": 1\n}\'\nb: "c\nd"\n')).toEqual([{ a: { cfg: '{ "x": 1 }' }, b: 'c d' }]);
  });

  test('accepts a closing bracket at or before the column of its key', () => {
    expect(read('a:\n  command: [\n    sh,\n  ]\nb: ["c",\n"d"\n]\n')).toEqual([
      { a: { command: ['sh'] }, b: ['c', 'd'] },
    ]);
  });

  test('treats a dash before a bracket as text', () => {
    expect(read('[echo, -]')).toEqual([['echo', '-']]);
  });
});

describe('a block scalar at the end of a file', () => {
  test.each([
    ['a: |\n  x', 'x'],
    ['a: |\n  x\n', 'x\n'],
    ['a: |\n  x\n\n', 'x\n'],
    ['a: |+\n  x\n\n', 'x\n\n'],
    ['a: |-\n  x\n', 'x'],
    ['a: >\n  x\n  y', 'x y'],
  ])('%j', (text, value) => {
    expect(read(text)).toEqual([{ a: value }]);
    expect(read(`${text}\n---\nb: 1\n`).at(-1)).toEqual({ b: 1 });
  });
});

describe('the version of YAML is 1.1', () => {
  test('rejects the document with %YAML 1.2, but not the others', () => {
    expect(read('%YAML 1.2\n---\na: yes\n---\nb: yes\n')).toEqual([
      'found incompatible YAML document: %YAML 1.2; Kubernetes reads %YAML 1.1 at line 1, column 1',
      { b: true },
    ]);
    expect(read('b: yes\n\n# comment\n%YAML 1.2\n# another\n---\na: yes\n')).toEqual([
      { b: true },
      expect.stringMatching(/^found incompatible YAML document.* at line 4, column 1$/),
    ]);
  });

  test('accepts %YAML 1.1', () => {
    expect(read('%YAML 1.1\n---\na: yes\n')).toEqual([{ a: true }]);
  });
});

describe('an error rejects only its own document', () => {
  const broken = {
    'an open bracket': 'a: [b\n',
    'an open quotation mark': 'a: "b\n',
    'a repeated key': 'a: 1\na: 2\n',
    'indentation that fits nowhere': 'a:\n    b: 1\n  c: 2\n',
    'a tab': 'a:\n\tb: 1\n',
    'an alias without its anchor': 'a: *b\n',
    'a control character': 'a: \u0007\n',
    'a number without a value in JSON': 'a: .inf\n',
    'text after the end of a document': 'a: 1\n...\nb: 2\n',
  };
  test.each(Object.entries(broken))('%s', (_what, text) => {
    const documents = parseDocuments(`first: 1\n---\n${text}---\nlast: 1\n`, limits);
    if (!Array.isArray(documents)) throw new Error(JSON.stringify(documents));
    expect(documents[0]).toEqual({ value: { first: 1 } });
    expect(documents.at(-1)).toEqual({ value: { last: 1 } });
    const problems = documents.flatMap((document) => ('problem' in document ? [document.problem] : []));
    expect(problems).toEqual([expect.stringMatching(/ at line [3-6], column \d+$/)]);
  });
});

test('lines are counted from the start of the file, for any line break', () => {
  for (const end of ['\n', '\r\n', '\r', '\u0085', '\u2028']) {
    const [, problem] = read(['a: 1', '---', 'b: 1', 'b: 2', ''].join(end));
    expect(problem).toBe('key "b" is already set in this mapping at line 4, column 1');
  }
});

test('a duplicate key is named, even if it has a different type', () => {
  expect(read('labels: {a: b}\nlabels: {a: c}\n')).toEqual([
    'key "labels" is already set in this mapping at line 2, column 1',
  ]);
  expect(read('1: a\n"1": b\n')).toEqual(['key "1" is already set in this mapping at line 2, column 1']);
});

test('an error quotes the source text and suggests quotation marks', () => {
  expect(read('a:\n  b: .inf\n')).toEqual([
    'unsupported value: +Inf, written .inf; quote it if it is text at line 2, column 6',
  ]);
  expect(read('a: !!int x')).toEqual(['cannot decode !!str `x` as a !!int at line 1, column 10']);
  expect(read('~: a')).toEqual(['~ cannot be a key; quote it if it is text at line 1, column 1']);
  expect(read('a: @b')).toEqual(['a value cannot start with @; quote it if it is text at line 1, column 4']);
  expect(read('a: *b')).toEqual(['unknown anchor; quote the value if its * is text at line 1, column 4']);
  expect(read('a: b: c')).toEqual([
    "a mapping cannot start here; quote the value if its ': ' is text at line 1, column 5",
  ]);
});

test('all digits of an integer beyond 2^53 are preserved, in YAML and in JSON', () => {
  const value = { a: 9007199254740993n, b: [-9223372036854775808n] };
  expect(read('a: 9007199254740993\nb: [-0x8000000000000000]')).toEqual([value]);
  expect(read('{"a": 9007199254740993, "b":[-9223372036854775808]}')).toEqual([value]);
  expect(read('{"a": 9007199254740993, "b": "\\/"}')).toEqual([{ a: 9007199254740992, b: '/' }]);
});

test('a byte order mark before the first document is ignored', () => {
  expect(read('\ufeffa: 1\n')).toEqual([{ a: 1 }]);
});

test('a key named __proto__ is read as a field', () => {
  const [value] = read('__proto__: {a: 1}\n');
  expect(Object.entries(value ?? {})).toEqual([['__proto__', { a: 1 }]]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test('any text results in a value or an error in linear time', () => {
  const piece = fc.constantFrom(
    ...' \n\t:-?[]{},"\'#&*!|>%@`~.01aeExX_',
    '- ',
    ': ',
    '---\n',
    '...\n',
    '<<: ',
    '&a ',
    '*a',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const parsed = parseBounded(pieces.join(''), limits);
      expect('values' in parsed || 'problem' in parsed).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});
