import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseUntil, replay } from '../../../../cli/commands/record/replay.ts';

const FROM = Date.UTC(2026, 0, 1);
const TO = FROM + 60_000;

describe('--until', () => {
  test.each([
    [undefined, Number.POSITIVE_INFINITY],
    ['90s', FROM + 90_000],
    ['0', FROM],
    ['-10s', TO - 10_000],
    ['2026-01-01T00:00:30Z', FROM + 30_000],
    ['2026-01-01T02:00:30.5+02:00', FROM + 30_500],
  ])('%s', (until, moment) => {
    expect(parseUntil(until, FROM, TO)).toBe(moment);
  });

  test.each(['', 'now', '10', '--10s', '2026', 'constructor', '2026-13-01T00:00:00Z'])('rejects %j', (until) => {
    expect(() => parseUntil(until, FROM, TO)).toThrow(/^--until: expected a time such as "2026-01-31T12:00:00Z", or /);
  });
});

describe('a file that is not a recording', () => {
  let directory = '';

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'statelet-replay-'));
    await writeFile(join(directory, 'noise'), 'no recording\n'.repeat(100));
  });

  afterAll(() => rm(directory, { recursive: true }));

  test.each([{}, { check: true }, { story: true }, { explain: 'node' }])(
    'is rejected with its path by a replay with the options %j',
    async (options) => {
      for (const path of [join(directory, 'noise'), directory])
        await expect(replay(path, options, () => {})).rejects.toThrow(
          `${path}: expected a recording, as "statelet record dump" writes it, or a directory of one`,
        );
    },
  );

  test('with --container but without --explain causes an error about the option', async () => {
    await expect(replay(join(directory, 'noise'), { container: 'app' }, () => {})).rejects.toThrow(
      '--container and --volume: only with --explain pod/NAME',
    );
  });

  test('is reported as missing if it does not exist', async () => {
    await expect(replay(join(directory, 'none'), {}, () => {})).rejects.toThrow(
      /none: there is no such recording; "statelet record dump FILE" writes one$/,
    );
  });
});
