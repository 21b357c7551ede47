import { expect, test } from '@jest/globals';
import { createCharts } from '../../../machines/drawing/charts.ts';
import { productFiles } from '../../support/tree.ts';

test('each machine has a chart', () => {
  const ids = productFiles.flatMap(({ text }) => /\.createMachine\(\{\s+id: '(\w+)'/.exec(text)?.[1] ?? []);
  expect(ids).toContain('pod');
  expect(
    createCharts()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(ids.toSorted());
});

test('each chart describes its machine in one sentence', () => {
  for (const { summary } of createCharts()) expect(summary).toMatch(/^[A-Z].*\w\.$/);
});
