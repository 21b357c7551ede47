import { expect, test } from '@jest/globals';
import { agentClient } from '../../server/client.ts';
import { servedToEachTest } from './served.ts';

const served = servedToEachTest();

const client = () => agentClient(served.socket.path);

test('the recording of an agent that records nothing is not found', async () => {
  await expect(client().bytes('/recording')).rejects.toMatchObject({
    ...{ reason: 'NotFound', message: 'this agent records nothing' },
  });
});

test('a recording comes in parts, as they are', async () => {
  const parts = [Buffer.from([0, 255, 10]), Buffer.alloc(200_000, 7)];
  served.agent.recording = async () => toIterable(parts);
  const got: Uint8Array[] = [];
  for await (const part of await client().bytes('/recording')) got.push(part);
  expect(Buffer.concat(got)).toEqual(Buffer.concat(parts));
});

test('a recording that breaks off is not taken for the whole', async () => {
  served.agent.recording = async () =>
    (async function* () {
      yield Buffer.alloc(10);
      throw new Error('the disk is gone');
    })();
  const read = async () => {
    for await (const _ of await client().bytes('/recording'));
  };
  await expect(read()).rejects.toMatchObject({ reason: 'AgentGone' });
});

async function* toIterable(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}
