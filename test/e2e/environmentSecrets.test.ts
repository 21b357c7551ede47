/**
 * Environment values of a manifest do not appear in `explain` or in the daemon's log, whichever component repeats them.
 */
import { expect, test } from '@jest/globals';
import type { Container } from '../../kubernetes/api/schema/container.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { runNode } from './support/node.ts';
import { statelet } from './support/statelet.ts';

const SECRET = 'hunter-two';
const node = await nodeForAllTests(runNode, { args: ['--v', '2'] });
const env = [
  { name: 'PASSWORD', value: SECRET },
  { name: 'URL', value: 'postgres://app:$(PASSWORD)@db' },
];
const printPassword = 'echo "it is $PASSWORD"';
const failing = (name: string, more: Partial<Container>) => shell(name, steadily(), { env, ...more });

async function write(name: string, container: Container): Promise<void> {
  const pod = podManifest(name, [container]);
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(pod), note: `is ${SECRET}` };
  await node.write(name, { ...pod, metadata: { ...pod.metadata, annotations } });
}

/** Returns everything that the daemon reports about a pod. */
async function reportsOf(name: string): Promise<string> {
  const commands = [
    ['explain', name, '--output', 'json'],
    ['explain', name],
    ['explain', 'node'],
    ['get', 'pods'],
  ];
  const results = await Promise.all(commands.map((words) => statelet(...words, '--root-dir', node.rootDir)));
  return results.map(({ out, err }) => out + err).join('\n');
}

/** Output of the container itself does not appear in the log. */
const ONLY_EXPLAINED = ['dying', 'telling'];

const log = () => node.agent.out() + node.agent.err();

test.each<[string, string, Container, RegExp]>([
  [
    'a command of it that the runtime cannot run',
    'expanded',
    failing('main', { command: ['$(URL)'] }),
    /exec: .*redacted-/,
  ],
  ['a path of it', 'placed', failing('main', { command: ['/bin/$(PASSWORD)'], args: ['$(URL)'] }), /redacted-/],
  [
    'a termination message',
    'dying',
    failing('main', { command: ['sh', '-c', `${printPassword} > /dev/termination-log; exit 1`] }),
    /it is redacted-/,
  ],
  ['a log', 'telling', failing('main', { command: ['sh', '-c', `${printPassword}; exit 1`] }), /it is redacted-/],
  [
    'the output of a probe',
    'probed',
    failing('main', {
      livenessProbe: {
        exec: { command: ['sh', '-c', `${printPassword}; exit 1`] },
        periodSeconds: 1,
        failureThreshold: 1,
      },
    }),
    /it is redacted-/,
  ],
  [
    'the output of a hook',
    'hooked',
    failing('main', { lifecycle: { postStart: { exec: { command: ['sh', '-c', `${printPassword}; exit 1`] } } } }),
    /redacted-/,
  ],
])('%s is reported without the secret value', async (_what, name, container, told) => {
  await write(name, container);
  const explained = await eventually(`${name} is explained`, async () => {
    const text = await reportsOf(name);
    return told.test(text) && text;
  });
  expect(explained).not.toContain(SECRET);
  if (!ONLY_EXPLAINED.includes(name))
    await eventually('the log tells of it', () => new RegExp(`${name}.*redacted-`).test(log()));
  expect(log()).not.toContain(SECRET);
  await node.remove(name);
  await node.gone(name);
  expect(log()).not.toContain(SECRET);
});

test.each([
  ['an alias', `*${SECRET}`, 'unknown anchor'],
  ['a block', `|${SECRET}`, 'block scalar'],
  ['no text', '{hunter-two: 1}', 'env[0].value'],
])('an unreadable manifest whose value is %s is reported without the value', async (_what, value, told) => {
  const spec = `spec:\n  containers:\n  - name: main\n    image: a\n    env:\n    - name: PASSWORD\n      value: ${value}\n`;
  await node.write('odd', `apiVersion: v1\nkind: Pod\nmetadata:\n  name: odd\n${spec}`);
  await eventually('the log tells of it', () => log().includes(told));
  const text = await eventually('the node tells of it', async () => {
    const reports = await reportsOf('odd');
    return reports.includes(told) && reports;
  });
  expect(text + log()).not.toContain(SECRET);
  await node.remove('odd');
});
