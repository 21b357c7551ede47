import { expect, test } from '@jest/globals';
import { run } from '../../../cri/managed/program.ts';

const { signal } = new AbortController();

test('gives what the program has written', async () => {
  expect(await run('tr', ['a-z', 'A-Z'], { signal, input: 'text' })).toBe('TEXT');
});

test('what fails is named with its arguments, as a failure of the runtime', async () => {
  await expect(run('sh', ['-c', 'echo no room >&2; exit 3'], { signal })).rejects.toMatchObject({
    reason: 'RuntimeUnavailable',
    message: 'sh -c echo no room >&2; exit 3: no room',
  });
});

test('what is not wanted any more rejects with the reason', async () => {
  const ending = new AbortController();
  const ended = run('sleep', ['1000'], { signal: ending.signal });
  ending.abort(new Error('Ctrl-C'));
  await expect(ended).rejects.toThrow(/^Ctrl-C$/);
});
