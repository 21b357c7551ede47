import { PassThrough, Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { parseCommandStatus } from '../../../cri/streaming/commandStatus.ts';
import {
  COMMAND_PROTOCOLS,
  type CommandStreams,
  runRemoteCommand,
  type TerminalSize,
} from '../../../cri/streaming/remoteCommand.ts';
import { parseStreamingUrl } from '../../../cri/streaming/streamingUrl.ts';
import { dialSpdy } from '../../../cri/streaming/upgrade.ts';
import { endedWith, streamingServer } from '../../fakes/streamingServer.ts';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

type Behaviour = NonNullable<Parameters<typeof streamingServer>[0]['run']>;

/** Runs a command with this behavior and these streams. */
async function run(streams: CommandStreams, behaviour: Behaviour, signal = new AbortController().signal) {
  const { stdin, stdout, stderr, tty } = streams;
  const count = 1 + [stdin, stdout, stderr, tty].filter(Boolean).length;
  const server = await streamingServer({ count, run: behaviour });
  ends.push(server.close);
  const { connection } = await dialSpdy(new URL(server.url), {
    protocols: COMMAND_PROTOCOLS,
    timeoutMs: 30_000,
    signal,
  });
  return runRemoteCommand(connection, streams, signal);
}

function collector() {
  const output = new PassThrough();
  return { output, all: () => text(output) };
}

test('output arrives on the stream that it was written to, followed by the exit code', async () => {
  const [out, err] = [collector(), collector()];
  const code = await run({ stdout: out.output, stderr: err.output }, (streams) => {
    streams.get('stdout')?.end('out');
    streams.get('stderr')?.end('err');
    streams.get('error')?.end(endedWith(3));
  });
  expect([code, await out.all(), await err.all()]).toEqual([3, 'out', 'err']);
});

test('a command receives EOF at the end of its input', async () => {
  const out = collector();
  const streams = { stdin: Readable.from([Buffer.from('Hello '), Buffer.from('world')]), stdout: out.output };
  const code = await run(streams, async (opened) => {
    const [stdin, stdout] = [opened.get('stdin'), opened.get('stdout')];
    if (stdin && stdout) for await (const chunk of stdin) stdout.write(chunk);
    opened.get('error')?.write(endedWith(0));
  });
  expect([code, await out.all()]).toEqual([0, 'Hello world']);
});

test('a command that exits before reading all its input is not delayed', async () => {
  const stdin = new PassThrough();
  stdin.write('more is to come');
  expect(await run({ stdin }, (opened) => opened.get('error')?.write(endedWith(7)))).toBe(7);
  expect(stdin.destroyed).toBe(true);
});

test('a server that sends the Status without closing the streams causes no delay', async () => {
  const out = collector();
  const code = await run({ stdout: out.output }, async (opened) => {
    opened.get('stdout')?.write('all of it');
    const status = endedWith(5);
    opened.get('error')?.write(status.slice(0, 30));
    opened.get('error')?.write(status.slice(30));
    await new Promise(() => {});
  });
  expect([code, await out.all()]).toEqual([5, 'all of it']);
});

test("terminal sizes are sent in the kubelet's format, and stderr arrives on stdout", async () => {
  const sizes: TerminalSize[] = [
    { Width: 80, Height: 24 },
    { Width: 100, Height: 30 },
  ];
  let isFollowed = true;
  const tty = {
    followSize: (tell: (size: TerminalSize) => void) => {
      for (const size of sizes) tell(size);
      return () => {
        isFollowed = false;
      };
    },
  };
  const out = collector();
  let told = '';
  const code = await run({ stdout: out.output, tty }, async (opened) => {
    for await (const chunk of opened.get('resize') ?? []) {
      told += chunk;
      if (told.endsWith('30}\n')) break;
    }
    expect(opened.has('stderr')).toBe(false);
    opened.get('error')?.write(endedWith(0));
  });
  expect([code, told, isFollowed]).toEqual([0, '{"Width":80,"Height":24}\n{"Width":100,"Height":30}\n', false]);
});

test('a closed reader does not hide the exit code', async () => {
  const stdout = new Writable({ write: (_, __, done) => done(new Error('EPIPE')) });
  const code = await run({ stdout }, (opened) => {
    opened.get('stdout')?.end(Buffer.alloc(1024 * 1024));
    opened.get('error')?.end(endedWith(4));
  });
  expect(code).toBe(4);
});

test("a command that could not run is reported with the runtime's message", async () => {
  const words = 'failed to exec in container: exec: "nope": executable file not found in $PATH';
  const running = run({ stdout: collector().output }, (opened) =>
    opened.get('error')?.write(JSON.stringify({ status: 'Failure', message: words, code: 500 })),
  );
  await expect(running).rejects.toMatchObject({ reason: 'RuntimeError', message: words });
});

test('a connection that closes before the Status is a failure', async () => {
  await expect(run({ stdout: collector().output }, () => {})).rejects.toThrow(
    'the streaming connection has ended: it was not told how the command has ended',
  );
});

test('a command that the caller cancels is reported as cancelled', async () => {
  const controller = new AbortController();
  const running = run(
    { stdout: collector().output },
    () => {
      controller.abort();
      return new Promise(() => {});
    },
    controller.signal,
  );
  await expect(running).rejects.toMatchObject({ reason: 'Cancelled', message: 'the command was left' });
});

describe('a Status', () => {
  const failure = (details: unknown) =>
    JSON.stringify({ status: 'Failure', reason: 'NonZeroExitCode', message: 'm', details });
  const exit = (message: string) => failure({ causes: [{ reason: 'Other' }, { reason: 'ExitCode', message }] });

  test('is parsed for success and for an exit', () => {
    expect([parseCommandStatus(endedWith(0)), parseCommandStatus(endedWith(137))]).toEqual([0, 137]);
  });

  test.each([
    ['no JSON', 'oops', 'error stream protocol error: expected a Status, got "oops"'],
    ['of nothing', '{}', 'error stream protocol error: unknown error'],
    ['without a cause', failure(undefined), 'error stream protocol error: no ExitCode cause given'],
    ['of an odd code', exit('x'), 'error stream protocol error: invalid exit code value "x"'],
    ['of a large code', exit('256'), 'error stream protocol error: invalid exit code value "256"'],
    ['of another failure', '{"status":"Failure","message":"no such container"}', 'no such container'],
  ])('is reported as an error: %s', (_, status, message) => {
    expect(() => parseCommandStatus(status)).toThrow(message);
  });
});

describe('the URL of a streaming server', () => {
  test.each([
    'http://127.0.0.1:10010/exec/abc',
    'http://[::1]:1/attach/x',
    'http://localhost:8080/',
    'http://127.1.2.3/',
  ])('may be %s', (url) => {
    expect(parseStreamingUrl(url).href).toBe(url);
  });

  test.each([
    ['https://127.0.0.1:10010/exec/abc', 'its scheme is https, expected http'],
    ['http://10.0.0.1:10010/exec/abc', 'it is not at a loopback address, such as 127.0.0.1'],
    ['http://127.0.0.1.example.com/', 'it is not at a loopback address, such as 127.0.0.1'],
    ['http://[::]:10010/exec/abc', 'it is not at a loopback address, such as 127.0.0.1'],
    ['/exec/abc', 'it is not a URL'],
  ])('must not be %s', (url, why) => {
    expect(() => parseStreamingUrl(url)).toThrow(`the runtime serves this at ${url}, which cannot be used: ${why}`);
  });
});
