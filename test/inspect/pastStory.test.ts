import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { pastStory } from '../../inspect/pastStory.ts';
import { deflate } from '../../recording/deflate.ts';
import { memberOf } from '../../recording/member.ts';
import { RecordingFile } from '../../recording/recordingFile.ts';
import { stretchesOf } from '../../recording/stretches.ts';
import { podWith } from '../fakes/pods.ts';
import { recordedNode } from '../recording/recorded.ts';

const MANY = 45_000;

/** A recording of one actor that moves once in a millisecond. */
async function longRecording(): Promise<RecordingFile> {
  const { directory, recorder } = await recordedNode({ pods: [podWith('web')] });
  await recorder.flush();
  const real = await RecordingFile.open(directory);
  const [first] = real.members;
  const [began = ''] = first ? await real.lines(first) : [];
  const { at } = JSON.parse(began);
  const head = { at, entries: 0, failures: 0 };
  const moves = Array.from({ length: MANY }, (_, index) =>
    JSON.stringify({ kind: 'state', at: at + index, actor: 'pod/web-uid', state: `state-${index}` }),
  );
  const path = join(directory, '..', 'long.gz');
  const parts = [
    await memberOf({ ...head, text: `${began}\n`, begins: 'anew' }, deflate),
    await memberOf({ ...head, text: `${moves.join('\n')}\n`, begins: 'no' }, deflate),
  ];
  await writeFile(path, Buffer.concat(parts));
  return RecordingFile.open(path);
}

test('of what is too much to read the latest is kept, and the rest is counted', async () => {
  const file = await longRecording();
  const stretches = await stretchesOf(file);
  const from = stretches[0]?.beginnings[0]?.at ?? 0;
  const asked = { uid: 'web-uid', from: from + 1_000, to: from + MANY };
  const { before, lines, unsaid } = await pastStory(file, stretches, asked);
  expect(before).toEqual([{ actor: 'pod/web-uid', state: 'state-999', since: from + 999 }]);
  expect([lines.length, unsaid]).toEqual([20_000, MANY - 1_000 - 20_000]);
  expect(lines[0]).toMatchObject({ at: from + MANY - 20_000 });
  expect(lines.at(-1)).toMatchObject({ at: from + MANY - 1 });
  // A span that can be read is told whole.
  const short = await pastStory(file, stretches, { ...asked, to: from + 1_999 });
  expect([short.lines.length, short.unsaid]).toEqual([1_000, undefined]);
});
