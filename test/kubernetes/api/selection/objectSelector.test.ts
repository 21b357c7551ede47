import { expect, test } from '@jest/globals';
import { isSelected } from '../../../../kubernetes/api/selection/objectSelector.ts';

const labels = { app: 'web', tier: 'front' };
const by = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', key: string, values?: string[]) => ({
  matchExpressions: [{ key, operator, ...(values ? { values } : {}) }],
});

test.each([
  ['none at all selects nothing', undefined, false],
  ['an empty one selects everything', {}, true],
  ['labels that are so', { matchLabels: { app: 'web' } }, true],
  ['labels that are otherwise', { matchLabels: { app: 'web', tier: 'back' } }, false],
  ['a label that is not there', { matchLabels: { zone: 'a' } }, false],
  ['a label by the name of something else', { matchLabels: { constructor: 'x' } }, false],
  ['In', by('In', 'app', ['db', 'web']), true],
  ['In, of others', by('In', 'app', ['db']), false],
  ['In, of what is not there', by('In', 'zone', ['a']), false],
  ['NotIn', by('NotIn', 'app', ['db']), true],
  ['NotIn, of what is not there', by('NotIn', 'zone', ['a']), true],
  ['NotIn, of its own', by('NotIn', 'app', ['web']), false],
  ['Exists', by('Exists', 'app'), true],
  ['Exists, of what is not there', by('Exists', 'constructor'), false],
  ['DoesNotExist', by('DoesNotExist', 'zone'), true],
  ['DoesNotExist, of what is there', by('DoesNotExist', 'app'), false],
  ['both have to hold', { matchLabels: { app: 'web' }, ...by('Exists', 'zone') }, false],
])('%s', (_, selector, expected) => {
  expect(isSelected(selector, labels)).toBe(expected);
});
