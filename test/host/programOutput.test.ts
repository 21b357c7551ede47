import { expect, test } from '@jest/globals';
import { streamProgramOutput } from '../../host/programOutput.ts';

const endless = new AbortController().signal;
const sh = (script: string, more: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {}) =>
  streamProgramOutput('/bin/sh', ['-c', script], { signal: endless, timeoutMs: 20_000, ...more });

async function textOf(output: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of output) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

test('yields the output of a program and then its standard error, regardless of the exit code', async () => {
  expect(await textOf(sh('echo why >&2; echo one; echo two; exit 3'))).toBe('one\ntwo\nwhy\n');
});

test('kills a program at the timeout or on cancellation, and yields its output until then', async () => {
  expect(await textOf(sh('echo one; exec sleep 60', { timeoutMs: 2_000 }))).toBe('one\n');
  const cancellation = new AbortController();
  const chunks: string[] = [];
  for await (const chunk of sh('echo one; exec sleep 60', { signal: cancellation.signal })) {
    chunks.push(chunk.toString());
    cancellation.abort();
  }
  expect(chunks).toEqual(['one\n']);
});

test('kills the program if the consumer stops', async () => {
  let pid = 0;
  for await (const chunk of sh('echo $$; exec sleep 60')) {
    pid = Number(chunk);
    break;
  }
  for (const limit = Date.now() + 10_000; isThere(pid); await new Promise((resolve) => setTimeout(resolve, 5)))
    expect(Date.now()).toBeLessThan(limit);
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('rejects for a missing program', async () => {
  await expect(textOf(streamProgramOutput('/none', [], { signal: endless, timeoutMs: 1_000 }))).rejects.toThrow(
    'ENOENT',
  );
});
