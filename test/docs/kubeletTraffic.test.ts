import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { trafficPage } from '../../scripts/trafficPage.ts';
import { root } from '../support/root.ts';

const page = join(root, 'docs/kubelet-traffic.md');

test('docs/kubelet-traffic.md is current: `npm run docs` writes it', () => {
  expect(readFileSync(page, 'utf8')).toBe(trafficPage());
});
