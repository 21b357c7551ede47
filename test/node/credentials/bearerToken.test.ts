import { expect, test } from '@jest/globals';
import type { Secret } from '../../../host/secret.ts';
import { parseToken, tokenFileSource } from '../../../node/credentials/bearerToken.ts';
import { LastGood } from '../../../node/credentials/lastGood.ts';

const PLACE = 'users: "node": tokenFile: /run/token';

/** A token file whose text a test sets; an error is what its read fails with. */
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

test('a token is what stands in its file, without the space around it or a mark of the byte order', () => {
  for (const text of ['abc', 'abc\n', ' abc\r\n', '\ufeffabc']) expect(parseToken(text, PLACE)).toBe('abc');
});

test.each(['', ' \r\n', '\ufeff'])('nobody asks with a token of nothing: %j', (text) => {
  expect(() => parseToken(text, PLACE)).toThrow(`${PLACE}: expected a token, got nothing`);
});

test.each(['SE CRET', 'SECRET\nSECRET', 'SECRET\x1b[2J', 'SECRÉT', '\0\0'])(
  'what no header can bear is refused, and not repeated: %j',
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

test('a token that is known is borne for as long as its file is not good, which is told, and the file tried again', async () => {
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

test('where none was ever good that is what whoever asks is told', async () => {
  await expect(tokenFile(new Error('away')).token()).rejects.toThrow('away');
  await expect(tokenFile('').token()).rejects.toThrow(`${PLACE}: expected a token, got nothing`);
});

test('a token that is refused is read again at once, and borne on where that fails', async () => {
  const { file, token, handleUnauthorized } = tokenFile('first');
  expect(await token()).toBe('first');
  file.text = 'second';
  handleUnauthorized();
  expect(await token()).toBe('second');
  file.text = new Error('away');
  handleUnauthorized();
  expect(await token()).toBe('second');
});
