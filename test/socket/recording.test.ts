import { expect, test } from '@jest/globals';
import { agentClient } from '../../socket/client.ts';
import { servedToEachTest } from './served.ts';

const served = servedToEachTest();

const client = () => agentClient(served.socket.path);

/** Lets the agent respond with this recording, and whether it is recording now. */
function has(chunks: AsyncIterable<Uint8Array> | undefined, isOn = true): void {
  served.agent.recording = async () => ({ isOn, directory: '/var/lib/recording', chunks });
}

test.each([
  [true, "nothing has been recorded: there is no recording in /var/lib/recording; the agent's log says why"],
  [false, 'this agent records nothing (--record-size 0), and there is no recording of an earlier one in /var/lib/'],
])('a missing recording is reported as NotFound with the reason (agent records: %s)', async (isOn, message) => {
  has(undefined, isOn);
  await expect(client().bytes('/recording')).rejects.toMatchObject({
    reason: 'NotFound',
    message: expect.stringContaining(message),
  });
});

test.each([true, false])('a recording is streamed in unmodified chunks (agent records: %s)', async (isOn) => {
  const sent = [Buffer.from([0, 255, 10]), Buffer.alloc(200_000, 7)];
  has(toIterable(sent), isOn);
  const got: Uint8Array[] = [];
  const { chunks, headers } = await client().bytes('/recording');
  for await (const part of chunks) got.push(part);
  expect(Buffer.concat(got)).toEqual(Buffer.concat(sent));
  // If this agent does not record, the header states that the recording is from earlier agents.
  expect(headers['statelet-recorder']).toBe(isOn ? undefined : 'off');
});

test('a recording that is cut off is an error, not a complete recording', async () => {
  has(
    (async function* () {
      yield Buffer.alloc(10);
      throw new Error('the disk is gone');
    })(),
  );
  const read = async () => {
    for await (const _ of (await client().bytes('/recording')).chunks);
  };
  await expect(read()).rejects.toMatchObject({ reason: 'AgentGone' });
});

async function* toIterable(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
