/** Commands in containers, and attached container processes, through the streaming server of a real containerd. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { type AttachOptions, attach, exec } from '../../cli/commands/stream/exec.ts';
import type { CommandTerminal } from '../../cli/terminal/commandTerminal.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { upNode } from './support/node.ts';
import { packageNode } from './support/statelet.ts';

const node = await nodeForAllTests(upNode);
const here = { rootDir: node.rootDir };

/** Echoes each line that it reads, and exits with 5 after the line `end`. */
const ANSWERS = 'while read -r line; do echo "got $line"; [ "$line" = end ] && exit 5; done';

beforeAll(async () => {
  await node.write('web', podManifest('web', [shell('main', steadily()), shell('side', steadily())]));
  await node.write(
    'talker',
    podManifest('talker', [shell('main', ANSWERS, { stdin: true })], { restartPolicy: 'Never' }),
  );
  await node.write(
    'seen',
    podManifest('seen', [shell('main', 'sh', { stdin: true, tty: true })], {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
    }),
  );
  await node.write('over', podManifest('over', [shell('main', 'exit 0')], { restartPolicy: 'Never' }));
  for (const name of ['web', 'talker', 'seen']) await node.running(name);
  await node.until('has ended', 'over', ({ status }) => status?.phase === 'Succeeded');
});

/** Returns the streams of a command that reads from `input`, and buffers what the command writes. */
function terminal(input: Readable = Readable.from([])) {
  const written = { out: [] as Uint8Array[], err: '', messages: '' };
  const streams: CommandTerminal = {
    input,
    screen: process.stdout,
    writeOut: async (data) => void written.out.push(data),
    writeErr: async (data) => {
      written.err += Buffer.from(data);
    },
    printMessage: (text) => {
      written.messages += text;
    },
  };
  return { streams, written, out: () => Buffer.concat(written.out).toString() };
}

async function run(pod: string, script: string, options: AttachOptions = {}, input?: Readable) {
  const { streams, written, out } = terminal(input);
  const code = await exec([pod], ['sh', '-c', script], { container: 'main', ...here, ...options }, streams);
  return { code, out: out(), err: written.err, messages: written.messages };
}

test('a command returns its exit code, and its two outputs separately', async () => {
  expect(await run('pod/web', 'echo out; echo err >&2; exit 3')).toEqual({
    code: 3,
    out: 'out\n',
    err: 'err\n',
    messages: 'command terminated with exit code 3\n',
  });
});

test('without a container name the first container is used and named', async () => {
  const { streams, written, out } = terminal();
  expect(await exec(['pod/web'], ['hostname'], here, streams)).toBe(0);
  expect([out(), written.messages]).toEqual(['web-node\n', 'Defaulted container "main" out of: main, side\n']);
});

test('the end of the piped input terminates a command', async () => {
  const child = spawn(packageNode[0], [
    packageNode[1],
    'exec',
    '-i',
    'pod/web',
    '-c',
    'main',
    '--root-dir',
    node.rootDir,
    '--',
    'cat',
  ]);
  child.stdin.end('x\n');
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  const [code] = await once(child, 'close');
  expect([code, out]).toEqual([0, 'x\n']);
});

test('10 MB are transferred in both directions at the pace of a slow reader', async () => {
  const size = 10 * 1024 * 1024;
  const part = Buffer.alloc(64 * 1024, 'x');
  let [waiting, most, read] = [0, 0, 0];
  const { streams } = terminal(Readable.from(Array.from({ length: size / part.length }, () => part)));
  const slow = {
    ...streams,
    writeOut: async (data: Uint8Array) => {
      most = Math.max(most, ++waiting);
      await turn();
      read += data.length;
      waiting--;
    },
  };
  expect(await exec(['pod/web'], ['cat'], { container: 'main', stdin: true, ...here }, slow)).toBe(0);
  expect([read, most]).toEqual([size, 1]);
});

test('a command that cannot run is reported with the message of the runtime', async () => {
  const { streams } = terminal();
  await expect(exec(['pod/web'], ['nope'], { container: 'main', ...here }, streams)).rejects.toThrow(
    /exec: "nope": executable file not found in \$PATH/,
  );
});

test.each([
  ['pod/over', 'main', 'cannot exec into a container in a completed pod; current phase is Succeeded'],
  ['pod/web', 'nope', 'container nope is not valid for pod web-node'],
  ['pod/nope', 'main', 'pods "nope" not found'],
])('exec into %s with container %s is rejected', async (pod, container, message) => {
  await expect(run(pod, ':', { container })).rejects.toThrow(message);
});

test('a requested TTY is not used without a terminal', async () => {
  const { messages, out } = await run('pod/web', 'tty', { stdin: true, tty: true });
  expect(messages).toContain('Unable to use a TTY - input is not a terminal or the right kind of file\n');
  expect(out).toBe('not a tty\n');
});

/** Returns functions that wait for the terminal's output, return it, and type keys. */
function watchTerminal(child: ChildProcess) {
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  return {
    says: (words: string | RegExp) =>
      eventually(`the terminal shows ${words}, it has ${JSON.stringify(text)}`, () =>
        typeof words === 'string' ? text.includes(words) : words.test(text),
      ),
    text: () => text,
    type: (keys: string) => child.stdin?.write(keys),
  };
}

test('a command has the terminal of the user with its size and Ctrl-C, and the terminal is restored afterwards', async () => {
  const sizes = 'last=; while :; do s=$(stty size); [ "$s" = "$last" ] || echo "size $s."; last=$s; sleep 0.05; done';
  const ttyFile = join(node.directory, 'tty');
  const command = [...packageNode, 'exec', '-it', 'pod/web', '-c', 'main', '--root-dir', node.rootDir, '--'].join(' ');
  const line = `stty cols 80 rows 24; tty > ${ttyFile}; ${command} sh -c '${sizes}'; echo "ended with $?"; stty -a`;
  const script = spawn('script', ['-qec', line, '/dev/null']);
  // The script may exit before the test awaits its exit.
  const closed = once(script, 'close');
  const { says, type, text } = watchTerminal(script);
  await says('size 24 80.');
  const tty = (await readFile(ttyFile, 'utf8')).trim();
  await promisify(execFile)('stty', ['-F', tty, 'cols', '132', 'rows', '40']);
  await says('size 40 132.');
  type('\x03');
  await says('command terminated with exit code 130');
  await closed;
  expect(text()).toContain('ended with 130');
  expect(text()).toMatch(/[^-]icanon/);
  expect(text()).toMatch(/[^-]echo\b/);
});

test('attach reads and writes a container until it exits', async () => {
  const input = new PassThrough();
  const { streams, written, out } = terminal(input);
  const attached = attach(['pod/talker'], { stdin: true, ...here }, streams);
  input.write('hello\n');
  await eventually('it answers', () => out() === 'got hello\n');
  input.write('end\n');
  expect(await attached).toBe(0);
  expect(out()).toBe('got hello\ngot end\n');
  expect(written.messages).toContain("If you don't see a command prompt, try pressing enter.\n");
  await node.until('has ended', 'talker', ({ status }) => status?.phase === 'Failed');
});

test('attach passes the keys of a terminal to a shell, and redraws its screen by a resize', async () => {
  const command = [...packageNode, 'attach', '-it', 'pod/seen', '--root-dir', node.rootDir].join(' ');
  const script = spawn('script', ['-qec', `stty cols 80 rows 24; ${command}; echo "ended with $?"`, '/dev/null']);
  // The script may exit before the test awaits its exit.
  const closed = once(script, 'close');
  const { says, type } = watchTerminal(script);
  await says('try pressing enter.');
  type('stty size\r');
  await says('24 80');
  type('exit\r');
  await says("Session ended, resume using 'statelet attach pod/seen-node -c main -n default -i -t' command");
  await closed;
});
