import { expect, test } from '@jest/globals';
import { run } from '../../../cri/managed/program.ts';

const { signal } = new AbortController();

test('returns the output of the program', async () => {
  expect(await run('tr', ['a-z', 'A-Z'], { signal, input: 'text' })).toBe('TEXT');
});

test('reports a failure with the command line as a failure of the runtime', async () => {
  await expect(run('sh', ['-c', 'echo no room >&2; exit 3'], { signal })).rejects.toMatchObject({
    reason: 'RuntimeUnavailable',
    message: 'sh -c echo no room >&2; exit 3: no room',
  });
});

test('rejects with the reason of an aborted signal', async () => {
  const ending = new AbortController();
  const ended = run('sleep', ['1000'], { signal: ending.signal });
  ending.abort(new Error('Ctrl-C'));
  await expect(ended).rejects.toThrow(/^Ctrl-C$/);
});
