/** Tests the page about the hosts on which the node is tested. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { HOSTS_PAGE, hostsPage, listVmTests, parseHostResults, RESULTS_FILE } from '../../scripts/hostsPage.ts';
import { root } from '../support/root.ts';

const results = parseHostResults(readFileSync(join(root, RESULTS_FILE), 'utf8'));

test('the page of tested hosts is current: `npm run vm` writes it', () => {
  expect(readFileSync(join(root, HOSTS_PAGE), 'utf8')).toBe(hostsPage(results, listVmTests(root)));
});

test('the page of tested hosts has results of existing test files only', () => {
  expect(listVmTests(root)).toEqual(expect.arrayContaining(results.files.map(({ file }) => file)));
  expect(results.files.filter(({ tests }) => tests.length === 0)).toEqual([]);
});
