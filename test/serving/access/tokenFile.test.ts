import { expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../actors/simulated/simulatedClock.ts';
import { tokensIn, tokensOfFile } from '../../../serving/access/tokenFile.ts';

test('each line has a token, whose it is, and the groups of that user', () => {
  const ownerOf = tokensIn(
    '# token,user,uid,groups\n\nt0ken,admin,42,"system:masters, operators"\r\n"a ""b"", c",Jane Doe,,viewers\nplain,bob,\n',
    'tokens.csv',
  );
  expect(ownerOf('t0ken')).toEqual({
    ...{ name: 'admin', uid: '42', groups: ['system:masters', 'operators'], extra: new Map() },
  });
  expect(ownerOf('a "b", c')).toEqual({ name: 'Jane Doe', groups: ['viewers'], extra: new Map() });
  expect(ownerOf('plain')).toEqual({ name: 'bob', groups: [], extra: new Map() });
  for (const other of ['', 't0ke', 'T0KEN', '# token', 'constructor']) expect(ownerOf(other)).toBeUndefined();
});

test.each([
  ['secret', 'line 1 must be token,user,uid'],
  ['ok,user,1\n,user,1', 'line 2 must be token,user,uid'],
  ['secret,,1', 'line 1 must be'],
  ['secret"x,user,1', 'line 1 must be'],
  ['"secret,user,1', 'line 1 must be'],
  ['secret,one,1\nsecret,two,2', 'line 2 has a token that another line has already'],
])('a line that is none is told by its number alone: %j', (text, message) => {
  expect(() => tokensIn(text, 'tokens.csv')).toThrow(`tokens.csv: ${message}`);
  expect(() => tokensIn(text, 'tokens.csv')).not.toThrow(/secret/);
});

test('a file is read again after a minute, by one for all, and known no longer once it cannot be read', async () => {
  const clock = new SimulatedClock();
  let reads = 0;
  let text: string | undefined = 'one,alice,';
  const read = async () => {
    reads += 1;
    if (text === undefined) throw new Error('no such file');
    return text;
  };
  const owner = tokensOfFile({ read, place: 'tokens.csv', clock });
  const { signal } = new AbortController();
  const nameOf = async (token: string) => (await owner(token, signal))?.name;
  expect(await Promise.all(['one', 'two', 'one'].map(nameOf))).toEqual(['alice', undefined, 'alice']);
  text = 'two,bob,';
  await clock.advance(59_999);
  expect([await nameOf('one'), reads]).toEqual(['alice', 1]);
  await clock.advance(1);
  expect([await nameOf('one'), await nameOf('two'), reads]).toEqual([undefined, 'bob', 2]);
  text = undefined;
  await clock.advance(60_000);
  await expect(nameOf('two')).rejects.toThrow('no such file');
  await expect(nameOf('two')).rejects.toThrow('no such file');
  expect(reads).toBe(3);
  text = 'two,bob,';
  await clock.advance(1000);
  expect([await nameOf('two'), reads]).toEqual(['bob', 4]);
});
