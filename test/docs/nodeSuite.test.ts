/** The page about the node suite of Kubernetes, beside the tests of this repository. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  allSpecs,
  findTest,
  listTests,
  NODE_SUITE_PAGE,
  namedTests,
  nodeSuitePage,
} from '../../scripts/nodeSuite/page.ts';
import { NODE_SUITE } from '../../scripts/nodeSuite/specs.ts';
import { root } from '../support/root.ts';

test('docs/reference/node-suite.md is current: `npm run docs` writes it', () => {
  expect(readFileSync(join(root, NODE_SUITE_PAGE), 'utf8')).toBe(nodeSuitePage());
});

test('each test that the page names exists, with the row of its table', () => {
  expect(namedTests().length).toBeGreaterThan(350);
  expect(namedTests().filter((each) => findTest(each) === undefined)).toEqual([]);
});

test('each spec has a test or the reason why there is none', () => {
  const isEmpty = ({ spec, tests, remark = '' }: ReturnType<typeof allSpecs>[number]) =>
    spec === '' || (tests === undefined && !remark.endsWith('.'));
  expect(allSpecs().filter(isEmpty)).toEqual([]);
});

test('no spec is listed twice', () => {
  const names = NODE_SUITE.flatMap(({ file, contexts }) =>
    contexts.flatMap(({ context = '', specs }) => specs.map(({ spec }) => `${file} ${context} ${spec}`)),
  );
  expect(names.length).toBeGreaterThan(300);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test('tests are read from the source of a test file with the titles of their groups', () => {
  const source = `
test('one', () => {});
describe("a node's pods", () => {
  test.each([[1, 2]])('have %s', (count) => {});
  test.each([
    ['row', 1],
  ])(
    'are long',
    check,
  );
  describe('that wait', () => {
    asRoot('start', async () => {
      expect('no title').toBe('no title');
    });
  });
  test('stop', async () => {});
});
test(\`last \\\`one\\\`\`, () => {});
`;
  expect(listTests(source)).toEqual([
    { title: 'one', groups: [] },
    { title: 'have %s', groups: ["a node's pods"] },
    { title: 'are long', groups: ["a node's pods"] },
    { title: 'start', groups: ["a node's pods", 'that wait'] },
    { title: 'stop', groups: ["a node's pods"] },
    { title: 'last `one`', groups: [] },
  ]);
});
