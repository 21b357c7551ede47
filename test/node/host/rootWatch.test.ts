import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Clock } from '../../../base/time/clock.ts';
import type { EventMessage } from '../../../kubernetes/events/recordedEvent.ts';
import { type RootWatch, watchRoot } from '../../../node/host/rootWatch.ts';
import { explainNode, withLostRoot } from '../../../show/explain/explainNode.ts';
import { formatNodeExplanation } from '../../../show/explain/formatExplanation.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { NOW, nodeView } from '../../kubernetes/views.ts';

let directory: string;
let watch: RootWatch;
/** Timers of the watch. Calling one triggers a check. */
let timers: (() => void)[];
let lines: string[];
let notes: EventMessage[];

const clock: Clock = {
  now: () => NOW,
  monotonic: () => NOW,
  setTimeout: (fn) => timers.push(fn),
  clearTimeout: () => {},
};

beforeEach(async () => {
  [timers, lines, notes] = [[], [], []];
  directory = await mkdtemp(join(tmpdir(), 'statelet-root-'));
  await mkdir(join(directory, 'statelet'));
  const log = (line: unknown) => void lines.push(String(line));
  watch = watchRoot({
    rootDirectory: directory,
    clock,
    publish: (note) => void notes.push(note),
    logger: { info: log },
  });
});

afterEach(async () => {
  watch.stop();
  await rm(directory, { recursive: true, force: true });
});

const look = () => timers.shift()?.();

const awaitReports = (count: number) =>
  eventually(`it is told ${count} times`, () => notes.length + lines.length === count || undefined);

test('a root directory that is removed is reported once in the log and as an event, and again once when it is restored', async () => {
  await rename(directory, `${directory}-away`);
  look();
  await awaitReports(1);
  const line = notes[0]?.message ?? '';
  expect(line).toContain(`${directory}/statelet has been removed while the agent is running: `);
  expect(notes).toEqual([{ eventType: 'Warning', reason: 'RootDirectoryUnusable', message: line }]);
  expect(watch.findLostRoot()).toEqual({ message: line, since: NOW, retryAt: NOW + 10_000 });
  look();
  await rename(`${directory}-away`, directory);
  look();
  await awaitReports(2);
  expect(lines[0]).toBe(`${directory}/statelet is usable again`);
  expect(watch.findLostRoot()).toBeUndefined();
});

test('no check starts while another one hangs, and a check that finishes after the watch was closed reports nothing', async () => {
  const asked: PromiseWithResolvers<string | undefined>[] = [];
  const hanging = watchRoot({
    rootDirectory: directory,
    clock,
    publish: (note) => void notes.push(note),
    logger: { info: () => {} },
    findProblem: () => {
      const answer = Promise.withResolvers<string | undefined>();
      asked.push(answer);
      return answer.promise;
    },
  });
  const lookThere = async () => {
    timers.pop()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  await lookThere();
  await lookThere();
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(undefined);
  await lookThere();
  await lookThere();
  expect(asked).toHaveLength(2);
  hanging.stop();
  asked[1]?.resolve('has been removed');
  await new Promise((resolve) => setImmediate(resolve));
  expect(notes).toEqual([]);
});

test('a file in place of the directory is reported', async () => {
  await rm(join(directory, 'statelet'), { recursive: true });
  await writeFile(join(directory, 'statelet'), '');
  look();
  await awaitReports(1);
  expect(notes[0]?.message).toContain('/statelet is no longer a directory while the agent is running');
});

test('the explanation of the node contains the lost root directory', () => {
  const lost = { message: '/root/statelet has been removed', since: NOW - 5_000, retryAt: NOW + 3_000 };
  const text = formatNodeExplanation(withLostRoot(explainNode(nodeView('host'), NOW), lost));
  expect(text).toContain('  node host is running 0 pods; /root/statelet has been removed\n');
  expect(text).toMatch(/└─ root directory +lost +5s\n +waiting for the directory to be restored until \S+ \(in 3s\)/);
});
