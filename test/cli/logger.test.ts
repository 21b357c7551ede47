import { describe, expect, test } from '@jest/globals';
import { createLogger, levelOf } from '../../cli/logger.ts';

test.each([
  [0, 'info'],
  [1, 'info'],
  [2, 'debug'],
  [4, 'debug'],
  [5, 'trace'],
  [10, 'trace'],
])('-v %i is the level %s', (verbosity, level) => {
  expect(levelOf(verbosity)).toBe(level);
});

describe('the form', () => {
  const lineOf = async (format: 'auto' | 'text' | 'json', terminal: boolean, simulated = false) => {
    let text = '';
    const destination = {
      write: (line: string) => {
        text += line;
      },
    };
    const logger = await createLogger({ logging: { format, verbosity: 0 }, terminal, simulated, destination });
    logger.debug('hidden');
    logger.info({ pod: 'web' }, 'shown');
    return text;
  };

  test.each([
    ['json', true],
    ['auto', false],
  ] as const)('%s, terminal %s: JSON', async (format, terminal) => {
    expect(JSON.parse(await lineOf(format, terminal))).toMatchObject({ level: 30, pod: 'web', msg: 'shown' });
  });

  test.each([
    ['text', false],
    ['auto', true],
  ] as const)('%s, terminal %s: for people', async (format, terminal) => {
    const text = await lineOf(format, terminal);
    expect(text).toContain('shown');
    expect(() => JSON.parse(text)).toThrow();
  });

  test('a simulated runtime is in every line', async () => {
    expect(JSON.parse(await lineOf('json', false, true))).toMatchObject({ simulated: true });
    expect(await lineOf('text', false, true)).toContain('simulated: true');
  });
});
