import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { deflate } from '../../recording/deflate.ts';
import { formatStory } from '../../recording/formatStory.ts';
import type { RecordingLine } from '../../recording/lines.ts';
import { encodeMember } from '../../recording/member.ts';
import { checkStretch, replayUntil } from '../../recording/play.ts';
import { readForeignHeader, readLine } from '../../recording/readLine.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { findStretches } from '../../recording/stretches.ts';
import { podRunning, podWith } from '../fakes/pods.ts';
import { checkedStretches, MACHINES, type Recorded, recordedNode } from './recorded.ts';

let recorded: Recorded;

beforeEach(async () => {
  recorded = await recordedNode({ pods: [podWith('web'), podRunning('bad', 'exit 1')] });
  await recorded.live(3);
  await recorded.restart();
  await recorded.live(2);
  recorded.node.remove('bad');
  await recorded.live(1);
});

async function opened() {
  const file = await RecordingFile.open(recorded.directory);
  return { file, lives: await findStretches(file) };
}

async function podsAt(until: number) {
  const { file, lives } = await opened();
  const played = await replayUntil(file, lives, { until, machines: MACHINES });
  const shown = played?.agent.pods().map(({ metadata, status }) => `${metadata.name} ${status?.phase}`);
  await played?.agent.stop();
  return { at: played?.at, shown };
}

/** Writes a recording in which all lines are changed in this way, and returns its path. */
async function writeChanged(change: (line: RecordingLine) => RecordingLine | undefined): Promise<string> {
  const { file } = await opened();
  const parts: Buffer[] = [];
  for (const member of file.members) {
    const lines = (await file.lines(member)).flatMap((text) => {
      const line = readLine(text);
      return (line && change(line)) ?? [];
    });
    const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
    parts.push(await encodeMember({ ...member, text }, deflate));
  }
  const path = join(recorded.directory, '..', 'rewritten.gz');
  await writeFile(path, Buffer.concat(parts));
  return path;
}

const differences = async (path: string) =>
  (await checkedStretches(path)).flatMap(({ difference }) => difference ?? []);

describe('the state at a given time', () => {
  test('is that of the run that was active then, whatever followed', async () => {
    const { lives } = await opened();
    expect(lives.map(({ life }) => life)).toEqual(['life 1', 'life 2']);
    const [first, second] = lives.map(({ replayStarts }) => replayStarts[0]?.at ?? 0);
    expect((await podsAt(first ?? 0)).shown).toEqual([]);
    expect(await podsAt((first ?? 0) + 60_000)).toEqual({
      at: (first ?? 0) + 60_000,
      shown: ['bad Running', 'web Running'],
    });
    expect((await podsAt((second ?? 0) + 30_000)).shown).toEqual(['bad Running', 'web Running']);
    expect((await podsAt(Number.POSITIVE_INFINITY)).shown).toEqual(['web Running']);
  });

  test('is empty before the start of the recording', async () => {
    expect((await podsAt(0)).shown).toEqual([]);
  });
});

describe('a check of a recording', () => {
  test('finds no difference in an unchanged recording', async () => {
    expect(await differences(await writeChanged((line) => line))).toEqual([]);
  });

  test('reports the first state that differs', async () => {
    let count = 0;
    const path = await writeChanged((line) => {
      if (line.kind !== 'state' || line.actor !== 'pod/web-uid') return line;
      count += 1;
      return count === 3 ? { ...line, state: 'constructor' } : line;
    });
    expect(await differences(path)).toEqual([
      {
        at: expect.any(Number),
        subject: 'pod/web-uid',
        recorded: 'constructor',
        replayed: expect.stringMatching(/^pod\/web-uid /),
      },
    ]);
  });

  test('reports a state that was not recorded, and one that was not reached', async () => {
    let isLeftOut = false;
    const without = await writeChanged((line) => {
      const isIt = !isLeftOut && line.kind === 'state' && line.actor.startsWith('pod/');
      isLeftOut ||= isIt;
      return isIt ? undefined : line;
    });
    expect(await differences(without)).toHaveLength(1);
    const entries = new Set(['answer', 'failure', 'fact', 'elapsed']);
    expect(await differences(await writeChanged((line) => (entries.has(line.kind) ? undefined : line)))).not.toEqual(
      [],
    );
  });

  test('reports the pod whose status differs', async () => {
    const path = await writeChanged((line) =>
      line.kind === 'status' && line.pod === 'default/web' && line.status?.phase === 'Running'
        ? { ...line, status: { ...line.status, phase: 'Failed' } }
        : line,
    );
    const [difference] = await differences(path);
    expect(difference).toMatchObject({ subject: 'default/web status.phase', recorded: 'Failed', replayed: 'Running' });
  });

  /** Closes the recording normally, and writes a copy without the last line that matches. */
  async function withoutLast(isOne: (line: RecordingLine) => boolean): Promise<string> {
    await recorded.recorder.close();
    const { file } = await opened();
    const texts = (await Promise.all(file.members.map((member) => file.lines(member)))).flat();
    const last = texts.findLastIndex((text) => {
      const line = readLine(text);
      return line !== undefined && isOne(line);
    });
    let index = -1;
    return writeChanged((line) => {
      index += 1;
      return index === last ? undefined : line;
    });
  }

  test('reports what the replay of a completed run has reached beyond the recording', async () => {
    expect(await differences(await withoutLast(() => false))).toEqual([]);
    const [moved] = await differences(await withoutLast(({ kind }) => kind === 'state'));
    expect(moved).toEqual({
      at: expect.any(Number),
      subject: expect.any(String),
      replayed: expect.any(String),
    });
    const [told] = await differences(await withoutLast((line) => line.kind === 'status' && line.pod === 'default/bad'));
    expect(told).toMatchObject({ subject: expect.stringMatching(/^default\/bad status/) });
  });

  test('reports an input for an actor that does not wait for it', async () => {
    let isDone = false;
    const path = await writeChanged((line) => {
      const isIt = !isDone && line.kind === 'answer' && line.source === 'startContainer';
      isDone ||= isIt;
      return isIt && line.kind === 'answer' ? { ...line, actor: 'pod/nobody' } : line;
    });
    expect(await differences(path)).toEqual([
      { at: expect.any(Number), subject: 'pod/nobody', recorded: 'answer of startContainer' },
    ]);
  });

  test('ignores what is missing at the end of a run', async () => {
    const { file, lives } = await opened();
    const [life] = lives;
    if (life === undefined) throw new Error('there is no life');
    const cut = { ...life, end: life.end - 1 };
    expect((await checkStretch(file, cut, MACHINES)).difference).toBeUndefined();
  });
});

test('a recording of different machines is not replayed, and its version is reported', async () => {
  const { file, lives } = await opened();
  await expect(replayUntil(file, lives, { until: 0, machines: 'others' })).rejects.toThrow(
    /^recorded by statelet 0\.1\.0, whose state machines differ from this version's/,
  );
});

/** Returns a recording whose second run was written by a different version, in a different format. */
const withForeignLife = () =>
  writeChanged((line) =>
    line.kind === 'began' && line.life === 'life 2'
      ? // A future version of the format.
        ({ ...line, format: 3, versions: { statelet: '7.0.0' } } as unknown as RecordingLine)
      : line,
  );

test('a run in a different format is named in the story, and neither replayed nor mistaken for the end of the previous one', async () => {
  const path = await withForeignLife();
  const file = await RecordingFile.open(path);
  const [first, second, ...others] = await findStretches(file);
  if (first === undefined || second === undefined) throw new Error('there are no two stretches');
  expect(others).toEqual([]);
  const why =
    'recorded by statelet 7.0.0 in format 3, which this version does not read (it reads format 2): use that version';
  const lastly = { until: Number.POSITIVE_INFINITY, machines: MACHINES };
  await expect(replayUntil(file, [first, second], lastly)).rejects.toThrow(why);
  await expect(checkStretch(file, second, MACHINES)).rejects.toThrow(why);
  const { difference, states } = await checkStretch(file, first, MACHINES);
  expect(difference).toBeUndefined();
  expect(states).toBeGreaterThan(10);
  const story: string[] = [];
  for await (const told of formatStory(file, lastly)) story.push(told);
  const [last, before = ''] = story.toReversed();
  expect(last).toBe(`${new Date(second.replayStarts[0]?.at ?? 0).toISOString()}  agent: ${why}`);
  expect(before).not.toContain('format');
});

test('lines that this version does not know are skipped', async () => {
  for (const odd of [
    '{}',
    'no JSON',
    '{"kind":"constructor","at":1}',
    '{"kind":"began","at":1,"format":2}',
    '[]',
    'null',
  ])
    expect(readLine(odd)).toBeUndefined();
  expect((await readdir(recorded.directory)).length).toBe(2);
});

test('a recording of format 1, whose keyframes repeat shared objects, is identified and not taken for damaged', () => {
  const versions = { statelet: '0.1.0', node: '24' };
  const began = { kind: 'began', at: 1, format: 1, machines: MACHINES, versions, life: 'life 1', input: {}, from: {} };
  expect(readForeignHeader(JSON.stringify(began))).toEqual({ at: 1, format: '1', life: 'life 1', statelet: '0.1.0' });
});
