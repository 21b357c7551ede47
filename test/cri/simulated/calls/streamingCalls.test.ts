import { expect, test } from '@jest/globals';
import { noAbort, runOne, simulate } from '../support.ts';

const STREAMS = { stdin: true, stdout: true, stderr: false, tty: true };

test('exec fails because a container of the simulated runtime has no process to connect to', async () => {
  const simulation = simulate();
  const { container } = await runOne(simulation);
  const asked = simulation.runtime.call('exec', { containerId: container, cmd: ['sh'], ...STREAMS }, noAbort);
  const refused = expect(asked).rejects.toThrow(
    'the simulated runtime runs no processes, so it has none to connect to',
  );
  await simulation.clock.advance(1_000);
  await refused;
});

test.each([
  ['exec', 'one of stdin, stdout, or stderr must be set'],
  ['attach', 'one of stdin, stdout, and stderr must be set'],
] as const)('%s without a stream is rejected with the message of containerd', async (call, message) => {
  const simulation = simulate();
  const { container } = await runOne(simulation);
  const asked = { containerId: container, cmd: ['sh'], stdin: false, stdout: false, stderr: false, tty: false };
  await expect(simulation.runtime.call(call, asked, noAbort)).rejects.toThrow(message);
});
