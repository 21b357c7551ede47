import { expect, test } from '@jest/globals';
import { buildCatalogue, findDrawing } from '../../../../web/model/chart/catalogue.ts';
import { drawn } from '../../support/drawn.ts';

const { region: _, ...whole } = drawn;
const pod = { ...whole, machine: 'pod', regions: [], summary: 'One pod.' };
const catalogue = buildCatalogue([drawn, whole, pod]);

test('machines are listed from the node inward, each with its regions before the whole chart', () => {
  expect(catalogue.map(({ machine, summary }) => [machine, summary])).toEqual([
    ['pod', 'One pod.'],
    ['container', 'One container.'],
  ]);
  expect(catalogue[1]?.drawings.map(({ key }) => key)).toEqual(['container.run', 'container']);
});

test('the URL selects a drawing, by default one of the container', () => {
  expect(findDrawing(catalogue, 'pod')).toBe(pod);
  expect(findDrawing(catalogue, 'nothing')).toBe(drawn);
  expect(findDrawing([], '')).toBeUndefined();
});
