import { expect, test } from '@jest/globals';
import { LastGood } from '../../../node/credentials/lastGood.ts';

test('the last valid version is used while reads fail, which is reported once until it is over', async () => {
  const problems: string[] = [];
  const good = new LastGood<string>((problem) => problems.push(problem));
  const broken = (why: string) => good.read(() => Promise.reject(new Error(why)));
  await expect(broken('none yet')).rejects.toThrow('none yet');
  expect(await good.read(async () => 'first')).toBe('first');
  expect([await broken('torn'), await broken('torn'), await broken('gone')]).toEqual(['first', 'first', 'first']);
  expect(await good.read(async () => 'second')).toBe('second');
  expect(await broken('gone')).toBe('second');
  const rest = '; the previous version is used until this is fixed';
  expect(problems).toEqual([`torn${rest}`, `gone${rest}`, `gone${rest}`]);
});
