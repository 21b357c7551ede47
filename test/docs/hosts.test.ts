/** The page about the hosts on which the node is tested. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { HOSTS_PAGE, hostsPage, parseHostResults, RESULTS_FILE } from '../../scripts/hostsPage.ts';
import { root } from '../support/root.ts';

const results = parseHostResults(readFileSync(join(root, RESULTS_FILE), 'utf8'));

test('the page of tested hosts is current: `npm run vm` writes it', () => {
  expect(readFileSync(join(root, HOSTS_PAGE), 'utf8')).toBe(hostsPage(results));
});

test('the page of tested hosts has a result for each test file of the virtual machine', () => {
  const files = readdirSync(join(root, 'test/vm')).filter((name) => name.endsWith('.test.ts'));
  expect(results.files.map(({ file }) => file)).toEqual(files.toSorted().map((name) => `test/vm/${name}`));
  expect(results.files.filter(({ tests }) => tests.length === 0)).toEqual([]);
});
