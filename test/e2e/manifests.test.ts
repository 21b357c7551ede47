import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PAUSE_IMAGE } from '../../cri/managed/images/images.ts';
import type { Pod } from '../../kubernetes/api/schema/pod.ts';
import { eventually } from './support/eventually.ts';
import { nodeForAllTests } from './support/forAllTests.ts';
import { podManifest, shell, steadily, stubbornly } from './support/manifests.ts';
import { allRun, identitiesOf, upNode } from './support/node.ts';

const node = await nodeForAllTests(upNode);
let { agent } = node;

const data = [{ name: 'shared', mountPath: '/shared' }];

/** A volume that is shared with the test. The pods write lines into its files. */
const sharing = () => ({ volumes: [{ name: 'shared', hostPath: { path: node.shared } }] });

const readLines = async (file: string) => (await readFile(join(node.shared, file), 'utf8')).trim().split('\n');

const appendLine = (text: string, file: string) => `echo ${text} >> /shared/${file}`;

describe('an edited manifest', () => {
  /** The container takes a second to stop, so that the lines show which pod waits for which. */
  const version = (name: string) =>
    podManifest(
      'edited',
      [
        shell(
          'main',
          steadily(appendLine(`${name}-starts`, 'edits'), `sleep 1; ${appendLine(`${name}-ends`, 'edits')}`),
          {
            volumeMounts: data,
          },
        ),
      ],
      sharing(),
    );

  test('without a UID defines a new pod, which starts under the same name after the old pod has terminated', async () => {
    await node.write('edited', version('first'));
    const first = await node.running('edited');
    await eventually('the first has started', async () => (await readLines('edits')).includes('first-starts'));
    await node.write('edited', version('second'));
    const second = await node.until('is another', 'edited', (pod) =>
      pod.metadata.uid !== first.metadata.uid && allRun(pod) ? pod : undefined,
    );
    expect(second.metadata.name).toBe(first.metadata.name);
    await eventually('the second has started', async () => (await readLines('edits')).includes('second-starts'));
    expect(await readLines('edits')).toEqual(['first-starts', 'first-ends', 'second-starts']);
    await node.remove('edited');
    await node.gone('edited');
  });

  test('C6: with a UID recreates only containers whose image or name has changed', async () => {
    const uid = 'in-place';
    const steady = shell('steady', steadily());
    await node.write('kept', podManifest('kept', [steady, shell('moving', steadily())], { uid }));
    const before = identitiesOf(await node.running('kept'));
    const edited = [
      { ...steady, command: ['sh', '-c', steadily('true')] },
      { name: 'moving', image: PAUSE_IMAGE },
    ];
    await node.write('kept', podManifest('kept', edited, { uid }));
    const after = await node.until('has another container', 'kept', (pod) =>
      allRun(pod) && identitiesOf(pod).moving?.id !== before.moving?.id ? identitiesOf(pod) : undefined,
    );
    expect(after.steady).toEqual(before.steady);
    expect(after.moving?.restarts).toBe(1);
    await node.write('kept', podManifest('kept', [steady, { name: 'renamed', image: PAUSE_IMAGE }], { uid }));
    const renamed = await node.until('has a container of the new name', 'kept', (pod) =>
      allRun(pod) && 'renamed' in identitiesOf(pod) ? identitiesOf(pod) : undefined,
    );
    expect(Object.keys(renamed).sort()).toEqual(['renamed', 'steady']);
    expect(renamed.steady).toEqual(before.steady);
  });
});

describe('an invalid manifest', () => {
  test('is reported with file and field, and its last good version continues to run, even across an agent restart', async () => {
    const good = podManifest('sound', [shell('main', steadily())]);
    const file = await node.write('sound', good);
    const before = await node.running('sound');
    const wrong = { ...shell('main', steadily()), imagePullPolicy: 'Sometimes' };
    await node.write('sound', JSON.stringify({ ...good, spec: { containers: [wrong] } }));
    const complaint = `${file}: spec.containers[0].imagePullPolicy: `;
    await agent.says(complaint);
    await node.write('beside', podManifest('beside', [shell('main', steadily())]));
    await node.running('beside');
    expect(identitiesOf(await node.running('sound'))).toEqual(identitiesOf(before));

    agent.kill('SIGKILL');
    await agent.ended;
    agent = await node.start();
    await agent.says(complaint);
    const after = await node.running('sound');
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(identitiesOf(after)).toEqual(identitiesOf(before));
  });

  test('that is half-written changes nothing, and is applied once it is complete', async () => {
    const before = await node.running('sound');
    const whole = JSON.stringify(podManifest('sound', [shell('main', steadily('sleep 0'))]), null, 2);
    const file = join(node.manifests, 'sound.yaml');
    // The file is written in place, as by an editor or `cp`.
    await writeFile(file, whole.slice(0, whole.length / 2));
    await agent.says(new RegExp(`${file}: (?!spec)`));
    expect(identitiesOf(await node.running('sound'))).toEqual(identitiesOf(before));
    await writeFile(file, whole);
    const after = await node.until('is the new one', 'sound', (pod) =>
      allRun(pod) && pod.metadata.uid !== before.metadata.uid ? pod : undefined,
    );
    expect(after.spec.containers[0]?.command?.[2]).toContain('sleep 0');
  });
});

describe('a removed manifest', () => {
  test('C10: terminates its pod gracefully: first the preStop hook, then SIGTERM', async () => {
    const lifecycle = { preStop: { exec: { command: ['sh', '-c', appendLine('hook', 'end')] } } };
    const main = shell('main', steadily(appendLine('started', 'end'), appendLine('term', 'end')), {
      lifecycle,
      volumeMounts: data,
    });
    await node.write('polite', podManifest('polite', [main], sharing()));
    await node.running('polite');
    await eventually('it has started', async () => (await readLines('end')).includes('started'));
    await node.remove('polite');
    await node.gone('polite');
    expect(await readLines('end')).toEqual(['started', 'hook', 'term']);
  });

  test('C10: has a container that ignores SIGTERM killed when the grace period is over, not before', async () => {
    const spec = { terminationGracePeriodSeconds: 3 };
    await node.write('stubborn', podManifest('stubborn', [shell('main', stubbornly)], spec));
    await node.running('stubborn');
    const began = performance.now();
    await node.remove('stubborn');
    const ending = await node.until('is ending', 'stubborn', ({ metadata }) =>
      metadata.deletionTimestamp === undefined ? undefined : metadata,
    );
    expect(ending.deletionGracePeriodSeconds).toBe(3);
    await node.gone('stubborn');
    expect(performance.now() - began).toBeGreaterThan(2900);
  });
});

test('a pod whose names are all names of JavaScript object properties restarts, is explained, is adopted and terminates', async () => {
  const uid = 'constructor';
  const once = 'if [ ! -e /constructor/said ]; then echo $__proto__ > /constructor/said; exit 1; fi';
  const main = shell('constructor', `${once}; ${steadily()}`, {
    env: [
      { name: 'toString', value: 'this' },
      { name: '__proto__', value: '$(toString) and that' },
    ],
    ports: [{ name: 'constructor', containerPort: 8080 }],
    volumeMounts: [{ name: 'constructor', mountPath: '/constructor' }],
  });
  const manifest = podManifest('constructor', [main], { volumes: [{ name: 'constructor', emptyDir: {} }] });
  const metadata = { name: 'constructor', uid, labels: { constructor: 'a', toString: 'b' } };
  await node.write('constructor', { ...manifest, metadata });
  const runsAgain = ({ status, ...pod }: Pod) =>
    status?.containerStatuses?.[0]?.restartCount === 1 && allRun({ status, ...pod }) ? pod : undefined;
  const before = await node.until('has restarted', 'constructor', runsAgain);
  expect(before.metadata).toMatchObject({ uid, labels: { constructor: 'a', toString: 'b' } });
  const said = join(node.rootDir, 'pods', uid, 'volumes/kubernetes.io~empty-dir/constructor/said');
  expect(await readFile(said, 'utf8')).toBe('this and that\n');
  expect(await node.ask('/explain/pods/constructor')).toMatchObject({ name: 'constructor-node', phase: 'Running' });
  agent.kill('SIGKILL');
  await agent.ended;
  agent = await node.start();
  await node.until('was adopted', 'constructor', runsAgain);
  await node.remove('constructor');
  await node.gone('constructor');
});
