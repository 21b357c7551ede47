import { getEventListeners } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { run } from '../../../cri/managed/program.ts';

const { signal } = new AbortController();
const shell = (script: string, options: { signal?: AbortSignal; input?: string } = {}) =>
  run('sh', ['-c', script], { signal, ...options });

describe('a program that runs for us', () => {
  test('gives what it has written, of what it was given', async () => {
    expect(await shell('tr a-z A-Z', { input: 'text' })).toBe('TEXT');
  });

  test('has a session of its own, which no Ctrl-C of a terminal reaches', async () => {
    // The process, its group and its session are one.
    const [pid, group, session] = (await shell('echo $$; cut -d" " -f5,6 /proc/$$/stat | tr " " "\\n"')).split('\n');
    expect([group, session]).toEqual([pid, pid]);
  });

  test.each([
    ['what it wrote on standard error', 'echo no room >&2; exit 3', /^sh -c .*: no room$/],
    ['its exit code where it wrote nothing', 'exit 3', /: failed with exit code 3$/],
    ['the signal that ended it', 'kill -KILL $$', /: ended by SIGKILL$/],
  ])('fails with %s', async (_, script, message) => {
    await expect(shell(script)).rejects.toMatchObject({
      reason: 'RuntimeUnavailable',
      message: expect.stringMatching(message),
    });
  });

  test('one that is not there fails with its name', async () => {
    await expect(run('no-such-program', [], { signal })).rejects.toMatchObject({
      message: expect.stringContaining('no-such-program'),
    });
  });

  test('is ended when it is not wanted any more', async () => {
    const ending = new AbortController();
    const ended = shell('echo $$; exec sleep 1000', { signal: ending.signal });
    ending.abort('SIGINT');
    await expect(ended).rejects.toMatchObject({ reason: 'RuntimeUnavailable' });
    expect(getEventListeners(ending.signal, 'abort')).toEqual([]);
  });
});
