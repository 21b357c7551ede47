import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { inspectRecording } from '../../../../cli/commands/record/inspectRecording.ts';
import { replay } from '../../../../cli/commands/record/replay.ts';
import { ConfigError } from '../../../../node/config/configError.ts';
import { machinesDigest } from '../../../../node/start/observation/machinesDigest.ts';
import { podWith } from '../../../fakes/pods.ts';
import { ask, until } from '../../../inspect/support/served.ts';
import { recordedNode } from '../../../recording/recorded.ts';

const nothing = () => {
  throw new Error('nothing is served');
};

test('a recording is served until the command receives a signal', async () => {
  const recorded = await recordedNode({ pods: [podWith('web')], machines: machinesDigest() });
  await recorded.live(1);
  let said = '';
  const serving = inspectRecording(recorded.directory, {}, (text) => {
    said += text;
  });
  await until(() => said !== '');
  expect(said).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}\nPress Ctrl-C to stop\.\n$/);
  const link = new URL(said.split('\n')[0] ?? '');
  const port = Number(link.port);
  // Every local user can connect to the address, so a request without the token must be rejected.
  for (const path of ['/', '/api/snapshot', '/api/stream'])
    expect([path, (await ask(port, path)).code]).toEqual([path, 401]);
  const { headers } = await ask(port, `/${link.search}`);
  const [cookie = ''] = headers['set-cookie']?.[0]?.split(';') ?? [];
  const { body } = await ask(port, '/api/snapshot', { headers: { cookie } });
  expect(JSON.parse(body)).toMatchObject({ mode: 'file', pods: [{ name: 'web', phase: 'Running' }] });
  expect((await ask(port, '/api/stream', { headers: { cookie } })).code).toBe(400);
  process.emit('SIGTERM');
  await serving;
  await expect(ask(port, '/')).rejects.toThrow('ECONNREFUSED');
});

test('replay --open serves the recording at the time of --until', async () => {
  const recorded = await recordedNode({ pods: [podWith('web')], machines: machinesDigest() });
  await recorded.live(1);
  // Without a display, `replay` opens no browser.
  for (const name of ['DISPLAY', 'WAYLAND_DISPLAY']) delete process.env[name];
  let said = '';
  const serving = replay(recorded.directory, { open: true, until: '0s' }, (text) => {
    said += text;
  });
  await until(() => said !== '');
  const [, at = ''] = /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{32}&at=(\S+)\n/.exec(said) ?? [];
  expect(new Date(at).toISOString()).toBe(at);
  process.emit('SIGTERM');
  await serving;
  const refused = replay(recorded.directory, { open: true, story: true }, nothing);
  await expect(refused).rejects.toThrow('--open cannot be combined with --check, --story');
});

test('a recording that cannot be served is a user error with the reason', async () => {
  const recorded = await recordedNode({ pods: [podWith('web')] });
  await recorded.live(1);
  const empty = await mkdtemp(join(tmpdir(), 'statelet-inspect-'));
  for (const [path, options, message] of [
    ['/nothing/here', {}, /^no recording can be read: \/nothing\/here: there is no such recording/],
    [empty, {}, `${empty}: nothing in it can be replayed`],
    [recorded.directory, {}, /^recorded by statelet 0\.1\.0, whose state machines differ from this version's/],
    [empty, { address: 'evil.example:1' }, /^--address evil\.example:1: expected an IP address and a port/],
    [empty, { address: '0.0.0.0:80' }, '--address 0.0.0.0:80: a recording is shown on this host only'],
  ] as const) {
    const served = inspectRecording(path, options, nothing);
    await expect(served).rejects.toThrow(ConfigError);
    await expect(served).rejects.toThrow(message);
  }
  await rm(empty, { recursive: true });
});
