/** The daemon as a service of `Type=notify`, and the notifications that it sends to systemd. */
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { notifySocket } from '../support/notifySocket.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { runNode } from './support/node.ts';

const node = await nodeForAllTests(runNode);

test('the agent notifies systemd that it is ready, alive and stopping', async () => {
  const notifications = await notifySocket(`@${node.directory}`);
  const env = { NOTIFY_SOCKET: `@${node.directory}`, WATCHDOG_USEC: '2000000' };
  try {
    node.agent.kill('SIGTERM');
    await node.agent.ended;
    const agent = await node.start({ env });
    await eventually('it has told three times that it is well', () => notifications.words()[3]);
    expect(notifications.words().slice(0, 3)).toEqual(['READY=1', 'WATCHDOG=1', 'WATCHDOG=1']);
    agent.kill('SIGTERM');
    expect(await agent.ended).toBe(0);
    expect(notifications.words().at(-1)).toBe('STOPPING=1');
  } finally {
    await notifications.end();
  }
}, 60_000);

test('the agent does not start with a watchdog interval that is too short', async () => {
  const agent = node.launch({ env: { NOTIFY_SOCKET: join(node.directory, 'n'), WATCHDOG_USEC: '1000000' } });
  expect(await agent.ended).toBe(1);
  expect(agent.err()).toContain('WATCHDOG_USEC: 1s is too short, WatchdogSec has to be more than 1s');
}, 60_000);
