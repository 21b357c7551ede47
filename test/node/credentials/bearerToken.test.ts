import { expect, test } from '@jest/globals';
import type { Secret } from '../../../host/secret.ts';
import { parseToken, tokenFileSource } from '../../../node/credentials/bearerToken.ts';
import { LastGood } from '../../../node/credentials/lastGood.ts';

const PLACE = 'users: "node": tokenFile: /run/token';

/** Returns a token file whose content the test sets. An error makes its reads fail. */
function tokenFile(first: string | Error) {
  const file = { text: first, now: 0, reads: 0 };
  const problems: string[] = [];
  const read = async () => {
    file.reads += 1;
    if (file.text instanceof Error) throw file.text;
    return file.text;
  };
  const lastGoodToken = new LastGood<Secret>((problem) => problems.push(problem));
  const source = tokenFileSource({ file: { read, errorPrefix: PLACE }, lastGoodToken, monotonic: () => file.now });
  return { file, problems, ...source };
}

test('a token is the content of its file without surrounding whitespace and byte order mark', () => {
  for (const text of ['abc', 'abc\n', ' abc\r\n', '\ufeffabc']) expect(parseToken(text, PLACE)).toBe('abc');
});

test.each(['', ' \r\n', '\ufeff'])('an empty token is rejected: %j', (text) => {
  expect(() => parseToken(text, PLACE)).toThrow(`${PLACE}: expected a token, got nothing`);
});

test.each(['SE CRET', 'SECRET\nSECRET', 'SECRET\x1b[2J', 'SECRÉT', '\0\0'])(
  'a token that is invalid in a header is rejected without being quoted: %j',
  (text) => {
    const refused = `${PLACE}: expected a token, got invalid characters`;
    expect(() => parseToken(text, PLACE)).toThrow(new Error(refused));
  },
);

test('a token is read again after a minute', async () => {
  const { file, token } = tokenFile('first');
  expect(await token()).toBe('first');
  file.text = 'second';
  file.now = 59_999;
  expect(await token()).toBe('first');
  file.now = 60_000;
  expect(await token()).toBe('second');
  expect(file.reads).toBe(2);
});

test('the last valid token is used while its file is invalid, which is reported, and the file is read again', async () => {
  const { file, token, problems } = tokenFile('good');
  expect(await token()).toBe('good');
  file.now = 60_000;
  file.text = new Error('away');
  expect([await token(), await token()]).toEqual(['good', 'good']);
  file.text = ' \n';
  expect(await token()).toBe('good');
  file.text = 'next';
  expect(await token()).toBe('next');
  expect(problems).toEqual([
    expect.stringMatching(/^away; /),
    expect.stringMatching(/: expected a token, got nothing; /),
  ]);
});

test('without any valid token, the caller receives the error', async () => {
  await expect(tokenFile(new Error('away')).token()).rejects.toThrow('away');
  await expect(tokenFile('').token()).rejects.toThrow(`${PLACE}: expected a token, got nothing`);
});

test('a rejected token is read again at once, and still used if that fails', async () => {
  const { file, token, handleUnauthorized } = tokenFile('first');
  expect(await token()).toBe('first');
  file.text = 'second';
  handleUnauthorized();
  expect(await token()).toBe('second');
  file.text = new Error('away');
  handleUnauthorized();
  expect(await token()).toBe('second');
});
