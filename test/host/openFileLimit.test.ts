import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from '@jest/globals';
import { setOpenFileLimit } from '../../host/openFileLimit.ts';

const sleeper = spawn('sleep', ['600']);
afterAll(() => void sleeper.kill('SIGKILL'));
const pid = sleeper.pid ?? 0;
const limits = () => /^Max open files +(\d+) +(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.slice(1);

describe('the limit of open files of a process', () => {
  test('is set, hard and soft', async () => {
    expect(await setOpenFileLimit(777, pid)).toBeUndefined();
    expect(limits()).toEqual(['777', '777']);
    // The second call has nothing left to do.
    expect(await setOpenFileLimit(777, pid)).toBeUndefined();
  });

  test('stays if the kernel refuses it, with a message that names both values', async () => {
    const before = limits();
    // No kernel permits such a limit.
    const message = await setOpenFileLimit(2 ** 40, pid);
    expect(message).toMatch(
      new RegExp(
        `^the agent's limit of open files stays ${before?.join(' \\(soft\\) and ')}, because it cannot be set to 1099511627776: .+`,
      ),
    );
    expect(limits()).toEqual(before);
  });
});
