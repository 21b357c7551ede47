import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import { stopAgent } from '../../../../cli/commands/run/stopAgent.ts';
import { type AgentSocket, serveSocket } from '../../../../socket/socket.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { type FakeAgent, fakeAgent } from '../../../fakes/agent.ts';
import { NOW, podView, running } from '../../../kubernetes/views.ts';

let root: string;
let process: ChildProcess;
let socket: AgentSocket;
let agent: FakeAgent;
const messages: string[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'statelet-down-'));
  messages.length = 0;
  await mkdir(join(root, 'agents'));
  await startAgent('up');
  const spec = { terminationGracePeriodSeconds: 20 };
  agent = fakeAgent({
    now: NOW,
    views: [podView({ main: { web: running() }, meta: { name: 'web', uid: 'w' }, spec })],
  });
  socket = await serveSocket({ path: join(root, 'statelet.sock'), agent });
});

/**
 * Starts a process that looks like an agent of this command, has claimed the root directory, and logs each SIGTERM that
 * it receives.
 */
async function startAgent(...command: string[]): Promise<void> {
  const script = `trap 'echo TERM >> ${root}/signals' TERM; echo ready; while :; do sleep 0.05; done`;
  process = spawn('sh', ['-c', script, ...command], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(process.stdout ?? process, 'data');
  const stat = await readFile(`/proc/${process.pid}/stat`, 'utf8');
  await writeFile(join(root, 'agents', `${process.pid}-${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`), '');
}

afterEach(async () => {
  process.kill('SIGKILL');
  await socket.close();
  await rm(root, { recursive: true });
});

/** Lets `stopAgent` wait for this time. Returns its result, its error message, or 'waits'. */
async function stopOutcome(clock: SimulatedClock, ms: number, now = false): Promise<unknown> {
  const outcome = stopAgent(root, { write: (text) => messages.push(text), clock, now }).catch(
    (error: Error) => error.message,
  );
  let result: unknown = 'waits';
  outcome.then((value) => {
    result = value;
  });
  // Reading the socket and /proc takes turns of the real event loop.
  for (let left = ms; left >= 0 && result === 'waits'; left -= 1_000) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(1_000);
  }
  return result;
}

const signals = () => readFile(join(root, 'signals'), 'utf8').catch(() => '');

test('a hanging agent is awaited for the grace periods of its pods, and then named in the error', async () => {
  expect(await stopOutcome(new SimulatedClock(), 100_000)).toMatch(
    new RegExp(`^"statelet up" \\(process ${process.pid}\\) did not stop within 65 s: it is suspended or hangs\\.`),
  );
  expect(await signals()).toBe('TERM\n');
  expect(messages).toEqual([
    expect.stringMatching(/^stopping "statelet up" .* its pods terminate gracefully, within 65 s\n$/),
  ]);
});

test('an agent that is already draining gets no second signal, which would make it abandon its pods', async () => {
  agent.become({ state: 'draining' });
  const outcome = stopOutcome(new SimulatedClock(), 60_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await signals()).toBe('');
  process.kill('SIGKILL');
  expect(await outcome).toBe(true);
  expect(messages).toEqual([
    expect.stringMatching(/ is already stopping: waiting for it to terminate its pods, within 65 s\n$/),
  ]);
});

test('with `now` the agent exits at once, even while it is draining', async () => {
  agent.become({ state: 'draining' });
  const clock = new SimulatedClock();
  const waits = stopOutcome(clock, 1_000, true);
  await once(process, 'exit');
  // The socket may still respond for a moment.
  expect(await waits).toBe('waits');
  await socket.close();
  expect(await stopOutcome(clock, 0, true)).toBe(false);
  socket = await serveSocket({ path: join(root, 'statelet.sock'), agent });
  expect(process.signalCode).toBe('SIGQUIT');
  expect(messages).toEqual([`stopping "statelet up" (process ${process.pid}) at once\n`]);
});

test('with `now` an agent that does not exit within two seconds is killed', async () => {
  process.kill('SIGSTOP');
  // If two signals arrive before the process has stopped, the second may be handled first.
  await eventually('it stands still', async () => /\) T /.test(await readFile(`/proc/${process.pid}/stat`, 'utf8')));
  const waits = stopOutcome(new SimulatedClock(), 0, true);
  expect([await waits, process.signalCode]).toEqual(['waits', null]);
  const exit = once(process, 'exit');
  const killed = stopOutcome(new SimulatedClock(), 4_000, true);
  expect(await exit).toEqual([null, 'SIGKILL']);
  await socket.close();
  expect(await killed).toBe(true);
  socket = await serveSocket({ path: join(root, 'statelet.sock'), agent });
});

test('an agent of a different command is left alone, whatever its arguments are', async () => {
  process.kill('SIGKILL');
  await once(process, 'exit');
  await startAgent('run', '--hostname-override', 'up');
  expect(await stopOutcome(new SimulatedClock(), 0)).toBe(
    `process ${process.pid} runs a node on ${root} that was not started by "statelet up": stop it first`,
  );
  expect(await signals()).toBe('');
});
