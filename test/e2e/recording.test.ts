/**
 * The recording of a real node whose runtime and agent are killed. Its replay matches what was observed, and it
 * contains no secrets.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { findContainerd } from '../../cri/managed/containerd/process.ts';
import { layoutOf } from '../../cri/managed/layout.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { hearing, podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, upNode } from './support/node.ts';
import { statelet } from './support/statelet.ts';

const SECRET = 'hunter-two-is-secret';
const node = await nodeForAllTests(upNode);
const recording = join(node.rootDir, 'statelet', 'recording');

const sized = (cpu: string) =>
  podManifest('sized', [hearing('main', { resources: { limits: { cpu, memory: '64Mi' } } })], {
    uid: '7a1c6f60-0000-4000-8000-000000000009',
  });

const replay = (...words: string[]) => statelet('replay', ...words);

test('crashes, probes, resizes and bad edits with a killed runtime and agent are recorded, and replay to the same state', async () => {
  const env = [{ name: 'PASSWORD', value: SECRET }];
  await node.write('bad', podManifest('bad', [shell('main', 'echo "$PASSWORD" >&2; exit 3', { env })]));
  const livenessProbe = { exec: { command: ['false'] }, periodSeconds: 1, failureThreshold: 2 };
  await node.write('ill', podManifest('ill', [shell('main', steadily(), { livenessProbe })]));
  await node.write('sized', sized('100m'));
  await node.running('sized');
  await node.until(
    'waits to be started again',
    'bad',
    (pod) => containerOf(pod).state?.waiting?.reason === 'CrashLoopBackOff',
  );
  await node.write('sized', sized('200m'));
  await node.until('is resized', 'sized', (pod) => containerOf(pod).resources?.limits?.cpu === '200m');
  await node.write('sized', '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "sized"}, "spec": {}}');
  await node.until('was ended by its probe', 'ill', (pod) => containerOf(pod).restartCount > 0);
  const containerd = await findContainerd(layoutOf(node.containerdDirectory));
  process.kill(containerd?.pid ?? 0, 'SIGKILL');
  await node.until('is started again after that', 'ill', (pod) => containerOf(pod).restartCount > 1);
  node.agent.kill('SIGKILL');
  await node.agent.ended;
  const agent = await node.start();
  await node.write('sized', sized('200m'));
  await node.running('sized');
  await node.remove('ill');
  await node.gone('ill');

  const dump = join(node.directory, 'recording.gz');
  const dumped = await statelet('record', 'dump', dump, '--root-dir', node.rootDir);
  expect(dumped).toMatchObject({ code: 0, err: '' });
  const checked = await replay(dump, '--check');
  expect(checked).toMatchObject({ code: 0, err: '' });
  expect(checked.out).toMatch(/^2 lives, \d{2,} entries, \d{3,} states, \d{2,} statuses: no difference\n$/);

  // Replays the recording at its end, at its beginning, and just before the agent was killed.
  expect((await replay(dump)).out).toMatch(/ {3}sized-node +1\/1 +Running /);
  const explained = await replay(dump, '--explain', 'pod/bad');
  expect(explained.out).toMatch(/^default\/bad-node {2}CrashLoopBackOff/);
  const part = await replay(dump, '--explain', 'pod/bad', '-c', 'main');
  expect(part.out).toMatch(/^default\/bad-node container main {2}CrashLoopBackOff/);
  expect((await replay(dump, '--until', '0s')).out).not.toMatch(/sized-node +1\/1/);
  const { out: story } = await replay(dump, '--story');
  expect(story.match(/ {2}agent: started, /g)).toHaveLength(2);
  for (const output of [
    'default/ill-node: Warning Unhealthy',
    'default/bad-node/container/main: -> ended.backingOff',
    'node: Warning MissingClusterDNS',
  ])
    expect(story).toContain(output);

  // No part of the recording or of its replay contains a value of the environment.
  const texts = [gunzipSync(await readFile(dump)).toString(), story, explained.out];
  for (const name of await readdir(recording)) texts.push(gunzipSync(await readFile(join(recording, name))).toString());
  expect(texts[0]).toContain('PASSWORD');
  expect(texts.filter((text) => text.includes(SECRET))).toEqual([]);
  agent.kill('SIGTERM');
  await agent.ended;

  // The agent need not be running. Its last record is that it was stopped.
  const later = join(node.directory, 'later.gz');
  expect(await statelet('record', 'dump', later, '--root-dir', node.rootDir)).toMatchObject({ code: 0 });
  expect((await replay(later, '--story')).out.trimEnd()).toMatch(/agent: stopped$/);
  // An agent that does not record still has the recording of earlier agents.
  const silent = await node.start({ args: ['--record-size', '0'] });
  const earlier = join(node.directory, 'earlier.gz');
  expect(await statelet('record', 'dump', earlier, '--root-dir', node.rootDir)).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringMatching(
      /: \d+ bytes, all from earlier agents: the running agent does not record \(--record-size 0\)\n$/,
    ),
  });
  expect(await readFile(earlier)).toEqual(await readFile(later));
  silent.kill('SIGTERM');
  await silent.ended;
  expect(await statelet('record', 'dump', later, '--root-dir', node.rootDir)).toMatchObject({
    code: 1,
    out: '',
    err: `statelet: ${later} exists: expected the name of a new file\n`,
  });
});
