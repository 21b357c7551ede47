/** `exec` and similar commands against an agent and a streaming server in this process. */
import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { attach, exec } from '../../../../cli/commands/stream/exec.ts';
import type { CommandTerminal } from '../../../../cli/terminal/commandTerminal.ts';
import type { StreamRequest } from '../../../../socket/agent.ts';
import { type AgentSocket, serveSocket } from '../../../../socket/socket.ts';
import { socketPath } from '../../../../socket/socketPath.ts';
import { fakeAgent } from '../../../fakes/agent.ts';
import { endedWith, streamingServer } from '../../../fakes/streamingServer.ts';
import { exited, NOW, podView, running } from '../../../kubernetes/views.ts';

let rootDir: string;
let socket: AgentSocket;
let asked: StreamRequest[];
let url: string;
const ends: (() => unknown)[] = [];

const web = podView({
  main: { web: running(), side: running() },
  meta: { name: 'web-host', uid: 'uid-web' },
  spec: { nodeName: 'host' },
});
const over = podView({
  main: { web: exited(1) },
  meta: { name: 'over', uid: 'uid-over' },
  spec: { restartPolicy: 'Never' },
});
const containers = web.pod.spec.containers.map((each) => ({ ...each, tty: true }));
const withTerminal = { ...web, pod: { ...web.pod, spec: { ...web.pod.spec, containers } } };

beforeEach(async () => {
  asked = [];
  rootDir = await mkdtemp(join(tmpdir(), 'statelet-exec-'));
  await serve(web);
});

async function serve(shown: typeof web) {
  const agent = fakeAgent({
    now: NOW,
    views: [shown, over],
    stream: (request) => {
      asked.push(request);
      const { stdin, stdout, stderr, tty } = request;
      return { url, stdin, stdout, stderr, tty };
    },
  });
  const { pods } = agent;
  agent.pods = () =>
    pods().map((pod) => (pod.metadata.name === 'over' ? { ...pod, status: { ...pod.status, phase: 'Failed' } } : pod));
  socket = await serveSocket({ path: socketPath(rootDir), agent });
}

afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await socket.close();
  await rm(rootDir, { recursive: true });
});

/** Starts a streaming server whose commands behave in this way. */
async function runtime(...behaviour: Parameters<typeof streamingServer>) {
  const server = await streamingServer(...behaviour);
  ends.push(server.close);
  url = server.url;
}

/** Returns the standard streams of the command, with a terminal of this size if one is passed. */
function terminal(input: Readable = Readable.from([]), size?: { columns: number; rows: number }) {
  const seen = { out: '', err: '', said: '', raw: [] as boolean[] };
  const keys = Object.assign(input, {
    isTTY: size !== undefined,
    setRawMode: (isRaw: boolean) => seen.raw.push(isRaw),
  });
  const screen = Object.assign(new EventEmitter(), { isTTY: size !== undefined, ...size });
  const streams: CommandTerminal = {
    input: keys,
    screen,
    writeOut: async (data) => {
      seen.out += Buffer.from(data);
    },
    writeErr: async (data) => {
      seen.err += Buffer.from(data);
    },
    printMessage: (text) => {
      seen.said += text;
    },
  };
  const resize = (columns: number, rows: number) => Object.assign(screen, { columns, rows }).emit('resize');
  return { streams, seen, resize };
}

describe('exec', () => {
  test('passes on the output and exit code of a command, and names the default container', async () => {
    await runtime({
      run: (streams) => {
        streams.get('stdout')?.end('out\n');
        streams.get('stderr')?.end('err\n');
        streams.get('error')?.end(endedWith(3));
      },
    });
    const { streams, seen } = terminal();
    expect(await exec(['pod/web'], ['ls', '-l'], { rootDir }, streams)).toBe(3);
    expect(seen).toEqual({
      out: 'out\n',
      err: 'err\n',
      said: 'Defaulted container "web" out of: web, side\ncommand terminated with exit code 3\n',
      raw: [],
    });
    expect(asked).toEqual([
      {
        uid: 'uid-web',
        container: 'web',
        command: ['ls', '-l'],
        stdin: false,
        stdout: true,
        stderr: true,
        tty: false,
      },
    ]);
  });

  test('forwards each key and the size of the terminal, and restores the terminal afterwards', async () => {
    const told: string[] = [];
    const { streams, seen, resize } = terminal(Readable.from(['\x03']), { columns: 80, rows: 24 });
    await runtime({
      count: 4,
      run: async (opened) => {
        for await (const key of opened.get('stdin') ?? []) told.push(String(key));
        let sizes = '';
        for await (const size of opened.get('resize') ?? []) {
          sizes += size;
          if (sizes === '{"Width":80,"Height":24}\n') resize(100, 30);
          if (sizes.endsWith('30}\n')) break;
        }
        told.push(sizes);
        opened.get('error')?.end(endedWith(130));
      },
    });
    const options = { rootDir, container: 'side', stdin: true, tty: true };
    expect(await exec(['pod/web'], ['sh'], options, streams)).toBe(130);
    expect(told).toEqual(['\x03', '{"Width":80,"Height":24}\n{"Width":100,"Height":30}\n']);
    expect(asked[0]).toMatchObject({ container: 'side', stdin: true, stderr: false, tty: true });
    expect([seen.raw[0], seen.raw.at(-1)]).toEqual([true, false]);
    expect(process.listenerCount('SIGTSTP')).toBe(0);
  });

  test('restores the terminal when the runtime fails and when a signal stops the command', async () => {
    await runtime({ count: 4, run: () => {} });
    const failing = terminal(new PassThrough(), { columns: 80, rows: 24 });
    const options = { rootDir, container: 'web', stdin: true, tty: true };
    await expect(exec(['pod/web'], ['sh'], options, failing.streams)).rejects.toThrow(
      'the streaming connection has ended',
    );
    expect(failing.seen.raw.at(-1)).toBe(false);
    await runtime({
      count: 4,
      run: () => {
        process.emit('SIGTERM', 'SIGTERM');
        return new Promise(() => {});
      },
    });
    const ended = terminal(new PassThrough(), { columns: 80, rows: 24 });
    expect(await exec(['pod/web'], ['sh'], options, ended.streams)).toBe(143);
    expect(ended.seen.raw.at(-1)).toBe(false);
  });

  test.each([
    [['pod/over'], {}, 'cannot exec into a container in a completed pod; current phase is Failed'],
    [['pod/web'], { container: 'x' }, 'container x is not valid for pod web-host'],
    [['pod/nope'], {}, 'pods "nope" not found'],
  ])('rejects the pod %j with the options %j', async (words, options, message) => {
    await expect(exec(words, ['ls'], { rootDir, ...options }, terminal().streams)).rejects.toThrow(message);
    expect(asked).toEqual([]);
  });

  test('requests no TTY without stdin, and reports a stdin that is not a terminal', async () => {
    await runtime({ run: (opened) => opened.get('error')?.end(endedWith(0)) });
    const { streams, seen } = terminal();
    await exec(['pod/web'], ['ls'], { rootDir, quiet: true, tty: true }, streams);
    await runtime({ count: 4, run: (opened) => opened.get('error')?.end(endedWith(0)) });
    await exec(['pod/web'], ['ls'], { rootDir, container: 'web', tty: true, stdin: true }, streams);
    expect(seen.said).toBe('Unable to use a TTY - input is not a terminal or the right kind of file\n');
    expect(asked.map(({ tty, stderr }) => [tty, stderr])).toEqual([
      [false, true],
      [false, true],
    ]);
  });

  test('does not connect to a streaming server outside the loopback interface', async () => {
    url = 'http://192.0.2.1/exec/token';
    await expect(exec(['pod/web'], ['ls'], { rootDir, quiet: true }, terminal().streams)).rejects.toThrow(
      'it is not at a loopback address',
    );
  });
});

describe('attach', () => {
  test('streams the output of a container until it exits, and prints a hint for the start', async () => {
    await runtime({
      run: (opened) => {
        opened.get('stdout')?.end('said\n');
        opened.get('error')?.end(endedWith(0));
      },
    });
    const { streams, seen } = terminal();
    expect(await attach(['pod/web'], { rootDir, container: 'web', tty: true }, streams)).toBe(0);
    expect(seen.out).toBe('said\n');
    expect(seen.said.split('\n')).toEqual([
      'error: Unable to use a TTY - container web did not allocate one',
      expect.stringMatching(/^All commands and output/),
      "If you don't see a command prompt, try pressing enter.",
      '',
    ]);
    expect(asked).toEqual([{ uid: 'uid-web', container: 'web', stdin: false, stdout: true, stderr: true, tty: false }]);
  });

  test('resizes a TTY container first so that it redraws its screen', async () => {
    await socket.close();
    await serve(withTerminal);
    let sizes = '';
    await runtime({
      count: 4,
      run: async (opened) => {
        for await (const size of opened.get('resize') ?? []) {
          sizes += size;
          if (sizes.endsWith('24}\n')) break;
        }
        opened.get('error')?.end(endedWith(0));
      },
    });
    const { streams, seen } = terminal(new PassThrough(), { columns: 80, rows: 24 });
    expect(await attach(['pod/web'], { rootDir, container: 'web', stdin: true, tty: true }, streams)).toBe(0);
    expect(sizes).toBe('{"Width":81,"Height":25}\n{"Width":80,"Height":24}\n');
    expect(seen.raw).toContain(true);
    expect(seen.said).toContain("Session ended, resume using 'statelet attach pod/web-host -c web -n ");
  });

  test('rejects a missing container', async () => {
    const refused = attach(['pod/web'], { rootDir, container: 'x' }, terminal().streams);
    await expect(refused).rejects.toThrow('cannot attach to the container: container x not found in pod web-host');
  });
});
