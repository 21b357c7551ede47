import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { limitProblems } from '../../../actors/sources/limitProblems.ts';
import { shortSentence, shortText, truncate } from '../../../base/text/shortText.ts';
import { describeIssues } from '../../../node/config/configError.ts';
import { shortenMessage } from '../../../show/explain/explainText.ts';

const path = `/var/lib/${'directory/'.repeat(400)}data`;
const text = `cannot mount ${path}: it belongs to another pod; expected a path below ${path}`;
const reason = ': it belongs to another pod; expected a path below /var/lib/';

test('returns a short text unchanged, even with long words', () => {
  expect(shortText('a'.repeat(200), 200)).toBe('a'.repeat(200));
});

test('shortens long words in the middle and preserves the message around them', () => {
  const short = shortText(text, 200);
  expect(short).toContain(reason);
  expect(short).toMatch(/^cannot mount \/var\/lib\/directory\/\S*…\S*\/data: it belongs/);
  expect(short.length).toBeLessThan(240);
});

test('preserves the reason wherever a message is shortened', () => {
  expect(shortenMessage(text)).toContain(reason);
  expect(limitProblems([{ path: 'spec.volumes', message: text }])[0]?.message).toContain(reason);
  const issue = { code: 'custom' as const, path: ['staticPodPath'], message: text, input: path };
  expect(describeIssues([issue], {}).join()).toContain(reason);
});

test('truncates a text to the maximum length, including the ellipsis', () => {
  expect(truncate('four', 4)).toBe('four');
  expect(truncate('fifth', 4)).toBe('fif…');
});

const LOGS = `/var/log/pods/default_${'long-'.repeat(45)}node_0123456789abcdef`;
const messages = [
  `${LOGS} cannot be used as a pod directory: it cannot be read: ENAMETOOLONG: name too long, lstat '${LOGS}'`,
  `Failed to create pod sandbox: mkdir ${LOGS}: file name too long`,
  `error making pod data directories: ${LOGS} cannot be used as a pod directory: it is not a directory; ${LOGS} stays`,
];

test('preserves "cannot" and the cause in a shortened message, and never cuts a path', () => {
  for (const message of messages) {
    const short = shortenMessage(message);
    expect(short.replaceAll(LOGS, '').length).toBeLessThanOrEqual(240);
    expect(short.includes('cannot be used')).toBe(message.includes('cannot be used'));
    expect(short).toContain(LOGS);
    expect(short).not.toMatch(/\/\S*…/);
  }
  expect(shortenMessage(messages[1] ?? '')).toBe(messages[1]);
});

test('preserves a path even if the message around it is shortened', () => {
  const file = '/var/lib/statelet/pods/0123456789abcdef0123456789abcdef/volumes/kubernetes.io~secret/token';
  const clauses = Array.from({ length: 20 }, (_, index) => `layer ${index} is not usable`).join(': ');
  const short = shortenMessage(`cannot mount "${file}": ${clauses}: open ${file}: permission denied`);
  expect(short).toMatch(/^cannot mount "/);
  expect(short).toMatch(/permission denied$/);
  expect(short.match(/\/[^\s":…]*/g)).toEqual([file, file]);
});

test('leaves out clauses in the middle of a long message', () => {
  const clauses = Array.from({ length: 40 }, (_, index) => `layer ${index} is not usable`);
  const short = shortenMessage(clauses.join(': '));
  expect(short).toMatch(/^layer 0 is not usable…: layer \d+ is not usable(: layer \d+ is not usable)+$/);
  expect(short).toMatch(/: layer 39 is not usable$/);
  expect(shortenMessage('word '.repeat(100))).toMatch(/^(word )+word…$/);
});

const word = fc.oneof(
  fc.constantFrom('cannot', 'is', 'not', 'a', 'directory'),
  fc.string({ minLength: 1, maxLength: 300, unit: fc.constantFrom('a', 'b', '/') }),
);
const clause = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(' '));

test('bounds the length, and includes a word only together with the previous words of its clause', () => {
  const initials = (text: string) => Array.from(text.split(' '), (each) => each.slice(0, 1).replace('…', '')).join('');
  fc.assert(
    fc.property(fc.array(clause, { minLength: 1, maxLength: 8 }), fc.constantFrom(': ', '; '), (clauses, between) => {
      const short = shortSentence(clauses.join(between), 240);
      expect(short.length).toBeLessThanOrEqual(240);
      const beginnings = clauses.map(initials);
      for (const each of short.split(/…?[:;] /)) {
        const remaining = initials(each);
        expect(beginnings.some((beginning) => beginning.startsWith(remaining))).toBe(true);
      }
    }),
  );
});
