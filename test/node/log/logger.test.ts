import { describe, expect, test } from '@jest/globals';
import { isPrintable } from '../../../base/text/printable.ts';
import { createLogger, toPinoLevel } from '../../../node/log/logger.ts';

test.each([
  [0, 'info'],
  [1, 'info'],
  [2, 'debug'],
  [4, 'debug'],
  [5, 'trace'],
  [10, 'trace'],
])('-v %i is the level %s', (verbosity, level) => {
  expect(toPinoLevel(verbosity)).toBe(level);
});

describe('the log format', () => {
  const lineOf = async (
    format: 'text' | 'json',
    usesShortFormat: boolean,
    { simulated: isSimulated = false, message = 'shown' } = {},
  ) => {
    let text = '';
    const destination = {
      write: (line: string) => {
        text += line;
      },
    };
    const { logger } = await createLogger({
      logging: { format, verbosity: 0 },
      usesShortFormat,
      isSimulated,
      destination,
    });
    logger.debug('hidden');
    logger.info({ pod: 'web' }, message);
    return text;
  };

  test.each([
    ['json', true],
    ['json', false],
  ] as const)('is JSON with the format %s (on a terminal: %s)', async (format, terminal) => {
    const line = await lineOf(format, terminal);
    expect(line).toMatch(/^\{"ts":\d{13},"caller":"logger\.test\.ts:\d+","msg":"shown","v":0,"pod":"web"\}\n$/);
  });

  test('has a message, a stack and no verbosity for an error in JSON, like that of a kubelet', async () => {
    const lines: unknown[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const logging = { format: 'json', verbosity: 5 } as const;
    const { logger } = await createLogger({ logging, isSimulated: false, destination });
    logger.error({ err: new Error('no room'), file: '/x' }, 'failed');
    logger.warn('careful');
    logger.debug('detail');
    logger.trace('all');
    const head = { ts: expect.any(Number), caller: expect.stringMatching(/^logger\.test\.ts:\d+$/) };
    const errVerbose = expect.stringMatching(/^Error: no room\n {4}at /);
    expect(lines).toEqual([
      { ...head, msg: 'failed', file: '/x', err: 'no room', errVerbose },
      { ...head, msg: 'careful', v: 0 },
      { ...head, msg: 'detail', v: 2 },
      { ...head, msg: 'all', v: 5 },
    ]);
  });

  test.each([false, true])('contains no control characters in JSON (on a terminal: %s)', async (terminal) => {
    const message = 'said \x9b2J \x1b[2J \u202eback \x7f';
    const line = await lineOf('json', terminal, { message });
    expect(line).toContain('said \\u009b2J \\u001b[2J \\u202eback \\u007f');
    expect(isPrintable(line)).toBe(true);
    expect(JSON.parse(line)).toMatchObject({ msg: message });
  });

  test.each([
    ['the time of day beside the live table', true, /^\[\d\d:\d\d:\d\d\] INFO: shown, with its cause\n$/],
    [
      "a kubelet's header and the fields elsewhere",
      false,
      /^I\d{4} \d\d:\d\d:\d\d\.\d{6} {1,7}\d+ logger\.test\.ts:\d+\] "shown, with its cause" pod="web"\n$/,
    ],
  ])('has one line per message in text, with %s', async (_, isShort, line) => {
    expect(await lineOf('text', isShort, { message: 'shown,\n  with its cause\n' })).toMatch(line);
  });

  test('marks every line of a simulated runtime', async () => {
    expect(JSON.parse(await lineOf('json', false, { simulated: true }))).toMatchObject({ simulated: true });
    expect(await lineOf('text', false, { simulated: true })).toContain('[simulated] shown');
  });
});
