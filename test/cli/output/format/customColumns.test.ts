import { expect, test } from '@jest/globals';
import { readColumns, readColumnsFile } from '../../../../cli/output/format/customColumns.ts';
import { PathSyntaxError } from '../../../../cli/output/format/pathSyntaxError.ts';

const pod = {
  metadata: { name: 'web', labels: { tier: 'front', app: 'shop' } },
  spec: { containers: [{ image: 'one' }, { image: 'two' }], nothing: null, ports: [80, 443] },
};

test('custom columns accept paths with and without braces and dots, and print values like Go', () => {
  const spec = 'NAME:.metadata.name,LABELS:metadata.labels,IMAGES:{.spec.containers[*].image},PORTS:{spec.ports}';
  const { header, cells } = readColumns(`${spec},NULL:.spec.nothing,NONE:.spec.none,:.kind`);
  expect(header).toEqual(['NAME', 'LABELS', 'IMAGES', 'PORTS', 'NULL', 'NONE', '']);
  expect(cells(pod)).toEqual(['web', 'map[app:shop tier:front]', 'one,two', '[80 443]', '<nil>', '<none>', '<none>']);
});

test('a custom columns file has its headers on the first line and the paths below', () => {
  const { header, cells } = readColumnsFile('NAME   IMAGES\n{.metadata.name}\t.spec.containers[*].image\n');
  expect(header).toEqual(['NAME', 'IMAGES']);
  expect(cells(pod)).toEqual(['web', 'one,two']);
  expect(() => readColumnsFile('A B\n.a')).toThrow("number of headers (2) and field specifications (1) don't match");
  expect(() => readColumnsFile('')).toThrow(PathSyntaxError);
});

test.each([
  ['NAME', 'unexpected custom-columns spec: NAME, expected <header>:<json-path-expr>'],
  ['NAME:', 'unexpected path string'],
  ['NAME:{.a}{.b}', 'unexpected path string'],
  ['NAME:.a[', 'unterminated array'],
])('the custom-columns spec %j is rejected', (spec, problem) => {
  expect(() => readColumns(spec)).toThrow(problem);
  expect(() => readColumns(spec)).toThrow(PathSyntaxError);
});
