import { expect, test } from '@jest/globals';
import { problemsToTell } from '../../../actors/sources/problemsToTell.ts';
import { describeIssues } from '../../../node/config/configError.ts';
import { shortened } from '../../../pod/show/explainText.ts';
import { beginningOf, shortText } from '../../../pod/show/shortText.ts';

const path = `/var/lib/${'directory/'.repeat(400)}data`;
const text = `cannot mount ${path}: it belongs to another pod; expected a path below ${path}`;
const reason = ': it belongs to another pod; expected a path below /var/lib/';

test('a short text stays as it is, whatever its words are', () => {
  expect(shortText('a'.repeat(200), 200)).toBe('a'.repeat(200));
});

test('of a long text the long words are cut in their middle, and what is said of them stays', () => {
  const short = shortText(text, 200);
  expect(short).toContain(reason);
  expect(short).toMatch(/^cannot mount \/var\/lib\/directory\/\S*…\S*\/data: it belongs/);
  expect(short.length).toBeLessThan(240);
});

test('so it is wherever a message is shortened', () => {
  expect(shortened(text)).toContain(reason);
  expect(problemsToTell([{ path: 'spec.volumes', message: text }])[0]?.message).toContain(reason);
  const issue = { code: 'custom' as const, path: ['staticPodPath'], message: text, input: path };
  expect(describeIssues([issue], {}).join()).toContain(reason);
});

test('the beginning of a text has as many characters as it may have, the ellipsis among them', () => {
  expect(beginningOf('four', 4)).toBe('four');
  expect(beginningOf('fifth', 4)).toBe('fif…');
});
