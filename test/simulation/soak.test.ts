import { expect, jest, test } from '@jest/globals';
import { soak } from '../../simulation/soak.ts';

test('a soak tells which seeds it has used, and what it has come to', async () => {
  const said: string[] = [];
  const log = jest.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
  try {
    expect(await soak({ minutes: 1 / 60_000, seed: 5 })).toBe(true);
  } finally {
    log.mockRestore();
  }
  expect(said).toEqual([
    'seeds from 5',
    expect.stringMatching(
      /^1 stories, 1 of them replayed, \d+ steps, \d+ a second, \d+\.\d hours of node time, no violation with seeds 5 to 5$/,
    ),
  ]);
});
