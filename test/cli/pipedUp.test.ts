/** Output of `statelet up` to a pipe or a file, as a service manager collects it. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { eventually } from '../e2e/support/eventually.ts';
import { root } from '../support/root.ts';

jest.setTimeout(60_000);

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-piped-'));
  await mkdir(join(directory, 'pods'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

/** Writes one manifest that is used with a warning, and one that is rejected. */
async function writeManifests(): Promise<void> {
  // The container ignores SIGTERM, which leaves time to send SIGQUIT.
  const command = ['sh', '-c', "trap '' TERM; sleep 1000"];
  const container = { name: 'app', image: 'app:1', command };
  const pod = (name: string, spec: object) =>
    JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [container], ...spec } });
  await writeFile(join(directory, 'pods', 'web.yaml'), pod('web', { unknownField: 1 }));
  await writeFile(join(directory, 'pods', 'bad.yaml'), pod('bad', { containers: [] }));
}

/** Returns all lines that the command writes to both streams until SIGQUIT, which stops it immediately. */
async function outputOfUp(format: 'text' | 'json'): Promise<string[]> {
  await writeManifests();
  const program = join(root, 'test/cli/support/upOnTerminal.ts');
  const up = spawn(process.execPath, [program, directory, join(directory, 'pods'), format]);
  try {
    let out = '';
    for (const stream of [up.stdout, up.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        out += text;
      });
    }
    const says = (text: string) => eventually(`the command says ${text}`, () => out.includes(text) || undefined);
    const ended = new Promise((resolve) => up.once('close', resolve));
    await says('node ready');
    await says('look at the simulated node on http://');
    up.kill('SIGTERM');
    await says('terminating all pods');
    up.kill('SIGQUIT');
    await ended;
    return out.trimEnd().split('\n');
  } finally {
    up.kill('SIGKILL');
  }
}

test('the piped output of up is a log in the text format of a kubelet, line by line, including the messages of the command', async () => {
  const lines = await outputOfUp('text');
  const logLine = /^[IWE]\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ \S+:\d+\] /;
  expect(lines.filter((line) => !logLine.test(line))).toEqual([]);
  for (const text of ['bad.yaml', 'unknownField', 'pod/web-node', 'node ready', 'statelet has stopped'])
    expect(lines.filter((line) => line.includes(text))).not.toEqual([]);
});

test('the piped output of up is a log of JSON objects with --logging-format json', async () => {
  const lines = await outputOfUp('json');
  const messages = lines.map((line) => JSON.parse(line));
  for (const message of messages) {
    expect(message).toMatchObject({ ts: expect.any(Number), caller: expect.any(String), msg: expect.any(String) });
  }
});
