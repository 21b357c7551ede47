/** An invalid recording is rejected before an agent starts, with the invalid field. */
import { expect, test } from '@jest/globals';
import type { RecordedInput } from '../../../actors/boundary.ts';
import { createReplay } from '../../../actors/replay/replay.ts';
import { simulateNode } from '../../../testing/simulation/simulateNode.ts';
import { manifest } from '../../../testing/simulation/stories/manifests.ts';

const unbounded = {
  pullSlots: Number.POSITIVE_INFINITY,
  garbage: { perContainer: 1, total: Number.POSITIVE_INFINITY },
};

/** Returns a recording as it is read from a file. */
async function recorded() {
  const node = await simulateNode({ seed: 1, records: true, config: unbounded });
  node.apply(manifest('web'));
  await node.advance(60_000);
  const recording = node.recording();
  node.kill();
  if (recording === undefined) throw new Error('nothing was recorded');
  return JSON.parse(JSON.stringify(recording));
}

const recording = await recorded();
const [entry] = recording.entries;

test('a recording of a node without limits for pulls and garbage is replayed', async () => {
  const { agent, playEntries } = createReplay(recording.input, recording.entries);
  expect(await playEntries()).toEqual([]);
  expect(agent.input).toMatchObject(unbounded);
  expect(agent.pods().map(({ status }) => status?.phase)).toEqual(['Running']);
});

test.each([
  ['input.nodeName: Required value', {}, []],
  ['input: Required value', undefined, []],
  ['input.nodeName: Required value', recording, []],
  ['input.hostIps: expected array, got string', { ...recording.input, hostIps: 'x' }, []],
  ['input.crashLoop.maxMs: Required value', { ...recording.input, crashLoop: { baseMs: 1 } }, []],
  ['entries: expected array, got string', recording.input, 'x'],
  ['entries: Required value', recording.input, undefined],
  ['entries[1]: expected object, got null', recording.input, [entry, null]],
  ['entries[0]: at: expected number, got string', recording.input, [{ ...entry, at: 'x' }]],
  ['entries[0]: at: expected number, got NaN', recording.input, [{ ...entry, at: Number.NaN }]],
  ['entries[0]: kind: Unsupported value: "constructor"', recording.input, [{ ...entry, kind: 'constructor' }]],
  ['entries[0]: source: expected string, got number', recording.input, [{ ...entry, source: 5 }]],
  ['entries[0]: value: expected object, got null', recording.input, [{ ...entry, value: null }]],
  ['entries[0]: value.type: Required value', recording.input, [{ ...entry, value: {} }]],
])('an invalid recording is rejected with the message: %s', (message, input, entries) => {
  // An untyped program may pass such a recording.
  const untyped = entries as readonly RecordedInput[];
  expect(() => createReplay(input, untyped)).toThrow(`createReplay: ${message}`);
});

test.each([
  [null, 'options: expected object, got null'],
  [{ from: {} }, 'options.from.at: Required value'],
  [{ inspect: 5 }, 'options.inspect: Invalid value: 5: expected a function'],
])('a replay rejects the options %j', (options, message) => {
  // An untyped program may pass such options.
  const untyped = options as Parameters<typeof createReplay>[2];
  expect(() => createReplay(recording.input, recording.entries, untyped)).toThrow(`createReplay: ${message}`);
});
