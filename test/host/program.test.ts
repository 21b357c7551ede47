import { getEventListeners } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ProgramFailure, runProgram } from '../../host/program.ts';
import { findProcess, isRunning } from '../../host/runningProcess.ts';
import { eventually } from '../e2e/support/eventually.ts';

const { signal } = new AbortController();
const limitMs = 60_000;
const shell = (script: string, options: Partial<Parameters<typeof runProgram>[2]> = {}) =>
  runProgram('sh', ['-c', script], { signal, timeoutMs: limitMs, ...options });

describe('a program', () => {
  test('gets its input and returns its output', async () => {
    expect(await shell('tr a-z A-Z', { input: 'text' })).toBe('TEXT');
  });

  test('has its own session, which Ctrl-C in a terminal does not reach', async () => {
    // The PID, the process group and the session ID are equal.
    const [pid, group, session] = (await shell('echo $$; cut -d" " -f5,6 /proc/$$/stat | tr " " "\\n"')).split('\n');
    expect([group, session]).toEqual([pid, pid]);
  });

  test('inherits the passed descriptor', async () => {
    const file = await open(import.meta.filename);
    expect(await shell('cat <&3', { passedFd: file.fd })).toContain('the handle that it is given');
    await file.close();
  });

  test('has a minimal environment and the C locale', async () => {
    process.env.npm_config_secret = 'x';
    const seen = await shell('echo "$npm_config_secret $LC_ALL $OWN"', { environment: { OWN: 'own' } });
    delete process.env.npm_config_secret;
    expect(seen).toBe(' C own\n');
  });

  test.each([
    ['what it wrote on standard error', 'echo no room >&2; exit 3', 'no room'],
    ['its exit code where it wrote nothing', 'exit 3', 'failed with exit code 3'],
    ['the signal that ended it', 'kill -KILL $$', 'killed by SIGKILL'],
  ])('fails with %s', async (_, script, message) => {
    const failure = await shell(script).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProgramFailure);
    expect(failure).toMatchObject({ message, hasTimedOut: false });
  });

  test('has its long standard error truncated to the start', async () => {
    const failure = await shell('yes "no room" | head -c 10000000 >&2; exit 1').catch((error: unknown) => error);
    expect(failure).toMatchObject({ stderr: expect.stringMatching(/^no room\n/) });
    expect((failure as ProgramFailure).stderr.length).toBeLessThan(300_000);
  });

  test('that is missing fails with its name', async () => {
    const failure = runProgram('no-such-program', [], { signal, timeoutMs: limitMs });
    await expect(failure).rejects.toMatchObject({ message: expect.stringContaining('no-such-program') });
  });

  test('is killed at the timeout', async () => {
    const failure = await shell('exec sleep 1000', { timeoutMs: 50 }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: 'timed out after 0.05 s', hasTimedOut: true });
  });

  test('is sent SIGTERM for cleaning up, without waiting for it', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'statelet-program-'));
    const script = `trap 'touch ${directory}/cleaned; kill $!; exit 1' TERM; touch ${directory}/begun; sleep 1000 & wait`;
    const cancellation = new AbortController();
    const options = { signal: cancellation.signal, killSignal: 'SIGTERM' } as const;
    const failure = shell(script, options).catch((error: unknown) => error);
    await eventually('it has begun', async () => (await readdir(directory)).includes('begun'));
    cancellation.abort('SIGINT');
    expect(await failure).toBe('SIGINT');
    await eventually('it has cleaned up', async () => (await readdir(directory)).includes('cleaned'));
    await rm(directory, { recursive: true });
  });

  test('is killed with its child processes on request', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'statelet-program-'));
    const script = `sh -c 'echo $$ > ${directory}/pid; exec sleep 1000' & wait`;
    const cancellation = new AbortController();
    const failure = shell(script, { signal: cancellation.signal, killsChildren: true }).catch(
      (error: unknown) => error,
    );
    const child = await eventually('it has begun', async () => {
      return (await findProcess(Number(await readFile(join(directory, 'pid'), 'utf8')))) ?? false;
    });
    cancellation.abort('SIGINT');
    expect(await failure).toBe('SIGINT');
    await eventually('its child has ended', async () => !(await isRunning(child)));
    await rm(directory, { recursive: true });
  });

  test('completes even if a child process leaves its output open', async () => {
    const left = 'sleep 60 & echo $!';
    const pid = Number(await shell(left, { timeoutMs: 10_000 }));
    // `kill` throws if the process has exited.
    process.kill(pid, 'SIGKILL');
    const failure = await shell(`${left} >&2; exit 3`, { timeoutMs: 10_000 }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ exitCode: 3, hasTimedOut: false });
    process.kill(Number((failure as ProgramFailure).stderr), 'SIGKILL');
  });

  test('is killed when its output exceeds the limit', async () => {
    expect(await shell('printf 12345', { maxOutputBytes: 5 })).toBe('12345');
    const failure = await shell('yes secret', { maxOutputBytes: 1_000 }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: 'wrote more than 1000 bytes', hasTimedOut: false });
  });

  test('is killed on cancellation', async () => {
    const ending = new AbortController();
    const ended = shell('exec sleep 1000', { signal: ending.signal });
    ending.abort('SIGINT');
    await expect(ended).rejects.toBe('SIGINT');
    await expect(shell('exit 0', { signal: ending.signal })).rejects.toBe('SIGINT');
    expect(getEventListeners(ending.signal, 'abort')).toEqual([]);
  });
});
