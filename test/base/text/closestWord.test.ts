import { expect, test } from '@jest/globals';
import { closestWord } from '../../../base/text/closestWord.ts';

const known = ['restartPolicy', 'hostname', 'hostNetwork', 'volumes', 'nodes', 'pods', 'po', 'ev', 'no'];

test.each([
  ['restartPolcy', 'restartPolicy'],
  ['RESTARTPOLICY', 'restartPolicy'],
  ['hostNet', undefined],
  ['hostnetwrk', 'hostNetwork'],
  ['volume', 'volumes'],
  ['xyz', undefined],
  ['', undefined],
  ['pdos', 'pods'],
  ['nodse', 'nodes'],
  ['pd', 'po'],
  ['svc', undefined],
  ['cm', undefined],
  ['vol', undefined],
])('the closest word to %s is %s', (word, expected) => {
  expect(closestWord(word, known)).toBe(expected);
});
