/** The choice of where a manifest is read, and the lifecycle of the thread that reads large ones. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../actors/simulated/simulatedClock.ts';
import type { ManifestOrigin } from '../../../../actors/sources/manifest/manifestFile.ts';
import { createManifestReader, type ReadManifests } from '../../../../actors/sources/manifest/manifestReader.ts';
import type { ManifestText, TextKind } from '../../../../actors/sources/manifest/manifestText.ts';
import { ManifestThread } from '../../../../actors/sources/manifest/manifestThread.ts';
import { readFileText } from '../../../fakes/manifests.ts';

const origin: ManifestOrigin = {
  source: 'file',
  origin: '/pods/a.yaml',
  nodeName: 'node',
  firstSeenAt: 0,
  classes: new Map(),
  admittedPods: new Map(),
  isLenient: false,
};
const asText = (text: string, kind: TextKind = 'file'): ManifestText => ({ text, kind, origin });
const podWith = (args: number, name = 'web') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image: 'a', args: Array.from({ length: args }, (_, i) => `a${i}`) }] },
});
const large = asText(JSON.stringify(podWith(5_000)));

let stop: AbortController;
beforeEach(() => {
  stop = new AbortController();
});
afterEach(() => stop.abort());

describe('the manifest reader thread', () => {
  let started: { texts: string[]; isAlive: boolean; ended: boolean }[];
  let clock: SimulatedClock;
  let read: ReadManifests;

  beforeEach(() => {
    [started, clock] = [[], new SimulatedClock()];
    const startThread = () => {
      const thread = { texts: [] as string[], isAlive: true, ended: false };
      started.push(thread);
      return {
        read: async ({ text }: ManifestText) => {
          thread.texts.push(text);
          return [];
        },
        get isAlive() {
          return thread.isAlive;
        },
        terminate: () => {
          thread.ended = true;
        },
      };
    };
    read = createManifestReader({ clock, signal: stop.signal, startThread });
  });

  test('reads only texts that are large or have many values', async () => {
    await read(asText(JSON.stringify(podWith(100))));
    await read(asText('['));
    await read(asText(''));
    expect(started).toEqual([]);
    const many = asText(`{a: &a [${'1,'.repeat(50)}], b: [${'*a,'.repeat(50)}]}`);
    for (const each of [large, many]) await read(each);
    expect(started.map(({ texts }) => texts)).toEqual([[large.text, many.text]]);
  });

  test('is shared by simultaneous texts and by those that follow within 5 s', async () => {
    await Promise.all([read(large), read(large)]);
    await clock.advance(4_999);
    await read(large);
    await clock.advance(4_999);
    expect(started).toMatchObject([{ texts: [large.text, large.text, large.text], ended: false }]);
    await clock.advance(1);
    expect(started).toMatchObject([{ ended: true }]);
    await read(large);
    expect(started).toMatchObject([{ ended: true }, { ended: false }]);
  });

  test('is replaced when it has died', async () => {
    await read(large);
    for (const thread of started) thread.isAlive = false;
    await read(large);
    expect(started).toMatchObject([{}, { texts: [large.text] }]);
  });

  test('stops with the agent', async () => {
    await read(large);
    stop.abort();
    expect(started).toMatchObject([{ ended: true }]);
    await expect(read(large)).rejects.toThrow();
  });
});

test('a large text is read as on the event loop: the complete pod with defaults and validation', async () => {
  const read = createManifestReader({ clock: new SimulatedClock(), signal: stop.signal });
  const comment = `# ${'x'.repeat(10_000)}\n`;
  for (const spec of ['restartPolcy: Never, ', 'restartPolicy: Sometimes, ', '']) {
    const small = `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {${spec}containers: [{name: a, image: b}]}}`;
    const [manifest] = await read(asText(`${comment}${small}`));
    expect(manifest).toEqual({ key: 'Pod/default/web-node', path: '', manifest: readFileText(small) });
  }
});

test('pods are delivered a few at a time, so the event loop stays responsive', async () => {
  const pods = Array.from({ length: 20 }, (_, index) => podWith(4_000, `web-${index}`));
  const read = createManifestReader({ clock: new SimulatedClock(), signal: stop.signal });
  let [turns, isOver] = [0, false];
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  const reading = read(asText(JSON.stringify({ kind: 'PodList', items: pods }), 'response'));
  await new Promise(setImmediate);
  turn();
  const manifests = await reading;
  isOver = true;
  expect(manifests.map(({ path }) => path)).toEqual(pods.map((_, index) => `items[${index}]`));
  expect(turns).toBeGreaterThan(pods.length);
});

describe('a text that overloads the thread', () => {
  /** Within all limits, but much work to read. */
  const heavy = asText(`{${Array.from({ length: 15_000 }, (_, i) => `a${i}: ${i}`).join(', ')}}`);

  test('is retried later if reading it takes longer than 30 s, and the thread is abandoned', async () => {
    const clock = new SimulatedClock();
    const thread = new ManifestThread(clock);
    await thread.read(large);
    const reading = thread.read(heavy);
    // Prevents an unhandled rejection. The error is checked below.
    reading.catch(() => {});
    await clock.advance(30_000);
    await expect(reading).rejects.toThrow('reading it takes longer than 30 s');
    expect(thread.isAlive).toBe(false);
  });

  test.each(['EMFILE', 'ENOMEM', 'EIO'])(
    'fails with the error of the host if the thread cannot run: %s',
    async (code) => {
      const script = `throw Object.assign(new Error('${code}: no more'), { code: '${code}' })`;
      const thread = new ManifestThread(
        new SimulatedClock(),
        64,
        new URL(`data:text/javascript,${encodeURIComponent(script)}`),
      );
      await expect(thread.read(heavy)).rejects.toThrow(`${code}: no more`);
      expect(thread.isAlive).toBe(false);
    },
  );

  test('is rejected if reading it takes more memory than the thread may use', async () => {
    const thread = new ManifestThread(new SimulatedClock(), 16);
    const message = 'cannot be read: reading it takes more than 16 MiB of memory';
    expect(await thread.read(heavy)).toEqual([{ path: '', manifest: { problems: [{ path: '', message }] } }]);
    expect(thread.isAlive).toBe(false);
  });
});
