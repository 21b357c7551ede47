/** Control characters from containers and manifests, on a real containerd. None of them reaches a terminal. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { isPrintable, printableText } from '../../base/text/printable.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { seenOn } from '../cli/support/terminal.ts';
import { ESC } from '../support/escape.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests } from './support/forAllTests.ts';
import { type Manifest, podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, upNode } from './support/node.ts';
import { packageNode } from './support/statelet.ts';

/**
 * Clears the scrollback, sets the title, rings the bell, sets a color by an 8-bit CSI, and reverses the text direction.
 */
const HOSTILE = '\x1b[3J\x1b]0;title\x07\x9b31m\u202egpj.exe\x7f';
const SHOWN = printableText(HOSTILE);
/** The same text as an argument of `printf` in a container. */
const PRINTED = String.raw`\033[3J\033]0;title\007\302\23331m\342\200\256gpj.exe\177`;

/** The control sequences of the live table itself, without colors. */
const OWN_SEQUENCES = new RegExp(`${ESC}\\[(?:\\?(?:1049|2026|25|7)[hl]|2[JK]|\\d+;1H)`, 'g');

/**
 * A minimal environment for commands on a terminal. Besides TERM, no variable describes the capabilities of the
 * terminal.
 */
const env = { PATH: process.env.PATH, TERM: 'xterm-256color', NO_COLOR: '1' };

const commandLine = (words: readonly string[]) => [...packageNode, ...words].join(' ');

/** Removes the carriage returns that the terminal adds to line ends. */
const withoutReturns = (text: string) => text.replaceAll('\r\n', '\n');

/** Runs a command on a new terminal, and returns its output once it has exited. */
async function onTerminal(...words: string[]): Promise<string> {
  const args = ['-qec', `stty cols 400; ${commandLine(words)}`, '/dev/null'];
  const running = promisify(execFile)('script', args, { env, maxBuffer: 2 ** 26 });
  running.child.stdin?.end();
  return withoutReturns((await running).stdout);
}

/** Starts a node whose live table is on a terminal. */
async function nodeOnTerminal() {
  const node = await upNode();
  const own = ['--pod-manifest-path', node.manifests, '--hostname-override', 'node'];
  const line = commandLine(['up', '--state-dir', node.directory, ...own]);
  const terminal: ChildProcess = spawn('script', ['-qec', `stty cols 250 rows 60; ${line}`, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let out = '';
  terminal.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  const over = once(terminal, 'close');
  const type = (keys: string) => terminal.stdin?.write(keys);
  const leave = async () => {
    if (terminal.exitCode === null) type('\x03');
    await over;
  };
  const end = async () => {
    await leave();
    await node.end();
  };
  try {
    await eventually('the agent answers', () => node.ask('/node'));
  } catch (error) {
    await end();
    throw error;
  }
  return { ...node, written: () => out, type, leave, end };
}

const node = await forAllTests(nodeOnTerminal);

const screen = () => (seenOn(node.written()).other ?? []).join('\n');

const ask = (...words: string[]) => onTerminal(...words, '--state-dir', node.directory);

/** Returns a pod with such characters in every field that accepts arbitrary text. */
function hostilePod(name: string, container: ReturnType<typeof shell>): Manifest {
  const manifest = podManifest(name, [
    { ...container, env: [{ name: 'SAID', value: `set: ${HOSTILE}` }], args: [HOSTILE] },
  ]);
  return { ...manifest, metadata: { ...manifest.metadata, annotations: { said: HOSTILE } } };
}

const PODS = {
  /** The text is in the termination message. */
  ended: hostilePod('ended', shell('main', `printf '${PRINTED}' > /dev/termination-log; exit 3`)),
  /** The text is in the last lines of the log. */
  logged: hostilePod('logged', shell('main', `printf '${PRINTED}\\n${PRINTED}\\n' >&2; exit 3`)),
  /** The text is in the command, which the runtime's error quotes. */
  started: hostilePod('started', shell('main', '', { command: [`/no/${HOSTILE}`] })),
  /** The text is in the image name, which the node's error quotes. */
  pulled: hostilePod('pulled', { ...shell('main', ''), image: HOSTILE }),
  /** The text is in the output of the probe. */
  probed: hostilePod(
    'probed',
    shell('main', steadily(), {
      readinessProbe: { periodSeconds: 1, exec: { command: ['sh', '-c', `printf '${PRINTED}'; exit 1`] } },
    }),
  ),
};

/** Writes the manifests, and waits until everything that they cause is reported. */
async function withHostilePods(): Promise<void> {
  for (const [name, manifest] of Object.entries(PODS)) await node.write(name, manifest);
  await node.write('refused', { ...PODS.ended, spec: { ...PODS.ended.spec, hostname: HOSTILE } });
  const odd = podManifest('odd', [shell('main', steadily())]);
  await node.write('odd', JSON.stringify({ ...odd, [HOSTILE]: HOSTILE }));
  for (const name of ['ended', 'logged', 'started']) {
    await node.until('is in back-off', name, (pod) => {
      return containerOf(pod, 'main').state?.waiting?.reason === 'CrashLoopBackOff';
    });
  }
  await node.until('cannot be pulled', 'pulled', (pod) => {
    return containerOf(pod, 'main').state?.waiting?.reason === 'InvalidImageName';
  });
  await eventually('the probe has failed', async () =>
    (await ask('get', 'events', '--all-namespaces')).includes('Unhealthy'),
  );
}

beforeAll(withHostilePods);

describe('hostile text from containers and manifests is escaped on a terminal', () => {
  test.each([
    ['get pods --all-namespaces', 'of the manifest that is refused'],
    ['explain node', 'of both'],
    ['explain pod/odd', 'of a field that nobody knows'],
    ['describe pod odd', 'of a field that nobody knows'],
  ])('by %s, including the text %s', async (words) => {
    const text = await ask(...words.split(' '));
    expect(text).toContain('[3J');
    expect([text, isPrintable(text)]).toEqual([text, true]);
  });

  test.each(Object.keys(PODS))('by explain and describe, which show the text of the pod %s', async (name) => {
    for (const text of [await ask('explain', `pod/${name}`), await ask('describe', 'pod', name)]) {
      expect(text.replace(/\n\s*/g, '')).toContain(name === 'started' ? '\\x1b[3J' : SHOWN);
      expect([text, isPrintable(text)]).toEqual([text, true]);
    }
  });

  test('by get events', async () => {
    const text = await ask('get', 'events', '--all-namespaces');
    expect(text).toContain(SHOWN);
    expect([text, isPrintable(text)]).toEqual([text, true]);
  });

  test.each([
    ['json', (text: string): unknown => JSON.parse(text)],
    ['yaml', (text: string): unknown => parse(text)],
  ])('by get -o %s, which preserves its meaning', async (output, read) => {
    const text = await ask('get', 'pods', '-o', output);
    expect([text, isPrintable(text)]).toEqual([text, true]);
    const { items } = read(text) as { items: Pod[] };
    const ended = items.find(({ metadata }) => metadata.name === 'ended-node');
    expect(ended?.metadata.annotations).toMatchObject({ said: HOSTILE });
    expect(ended?.spec.containers).toMatchObject([{ args: [HOSTILE], env: [{ value: `set: ${HOSTILE}` }] }]);
    expect(ended?.status?.containerStatuses).toMatchObject([{ lastState: { terminated: { message: HOSTILE } } }]);
    const events = await ask('get', 'events', '-o', output);
    expect([events, isPrintable(events)]).toEqual([events, true]);
  });

  test('by the live table, its log and the final output', async () => {
    await eventually('the table shows the words of a container', () => screen().includes(SHOWN));
    node.type('l');
    await eventually('the log is shown', () => screen().includes('Ctrl-C'));
    await node.leave();
    const text = withoutReturns(node.written()).replaceAll(OWN_SEQUENCES, '');
    expect(text).toContain('statelet has stopped');
    expect([text, isPrintable(text)]).toEqual([text, true]);
  });
});
