/**
 * The causes that a node reports for failing pods on a real containerd: first the cause itself, then the message of the
 * component that observed it.
 */
import { describe, expect, test } from '@jest/globals';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily } from './support/manifests.ts';
import { containerOf, upNode } from './support/node.ts';
import { statelet } from './support/statelet.ts';

const node = await nodeForAllTests(upNode);

const ask = async (...args: string[]) => (await statelet(...args, '--state-dir', node.directory)).out;
/** Joins wrapped text into one line. */
const joined = (text: string) => text.replace(/\s+/g, ' ');
const inBackOff = (name: string) =>
  node.until('is in back-off', name, (pod) => {
    const { waiting } = containerOf(pod, 'main').state ?? {};
    return waiting?.reason === 'CrashLoopBackOff' && pod;
  });

describe('a failing container', () => {
  test('is shown by explain and describe with its last line in the headline, and with its log lines and file', async () => {
    const script = 'exec 2>&1; echo reading /etc/app.conf; echo no database at db.example:5432; exit 3';
    await node.write('shop', podManifest('shop', [shell('main', script)]));
    await inBackOff('shop');
    const explained = await ask('explain', 'pod/shop');
    const cause = /container main keeps failing: exit code 3 after \d+s: no database at db\.example:5432; restarts at/;
    expect(joined(explained)).toMatch(cause);
    expect(explained.replace(/\n\s*/g, '')).toMatch(/last lines of.*\/default_shop-node_.*\/main\/\d\.log/);
    const lines = /\| reading \/etc\/app\.conf\n +\| no database at db\.example:5432\n/;
    expect(explained).toMatch(lines);
    const described = await ask('describe', 'pod', 'shop');
    expect(described).toMatch(/\/default_shop-node_\S*\/main\/\d\.log/);
    expect(described).toMatch(/reading \/etc\/app\.conf\n.*no database at db\.example:5432\n/);
  });

  test('that cannot start is explained with the message of the runtime', async () => {
    await node.write('nothing', podManifest('nothing', [shell('main', '', { command: ['/no/such/program'] })]));
    await inBackOff('nothing');
    expect(joined(await ask('explain', 'pod/nothing'))).toMatch(
      /container main keeps failing: could not be started: exec: "\/no\/such\/program": stat \/no\/such\/program: no such file or directory;/,
    );
  });
});

test('a node without a cluster DNS reports that once for the node, and not for each pod', async () => {
  await node.write('one', podManifest('one', [shell('main', steadily())]));
  await node.write('two', podManifest('two', [shell('main', steadily())]));
  await node.running('one');
  await node.running('two');
  const events = await eventually('the event', async () => {
    const { items }: { items: { reason: string; count: number; involvedObject: { kind: string } }[] } = JSON.parse(
      await ask('get', 'events', '--all-namespaces', '-o', 'json'),
    );
    const found = items.filter(({ reason }) => reason === 'MissingClusterDNS');
    return found.length > 0 && found;
  });
  expect(events.map(({ involvedObject: { kind }, count }) => `${kind} ${count}`)).toEqual(['Node 1']);
});
