import { expect, test } from '@jest/globals';
import { createSystemTurnLimiter } from '../../base/time/clock.ts';
import { ResponseTooLong, readBody, readErrorBody, readJsonLines } from '../../kubeclient/body.ts';
import { follow } from '../fakes/followed.ts';
import { answered } from '../fakes/toldTransport.ts';

const MIB = 2 ** 20;

/** Returns a body in pieces, with the number of pieces that were read. */
function body(...pieces: readonly string[]) {
  const read = { pieces: 0 };
  async function* each() {
    for (const piece of pieces) {
      read.pieces += 1;
      yield piece;
    }
  }
  return { read, of: each() };
}
const mebibytes = (count: number) => new Array<string>(count).fill('x'.repeat(MIB));

async function all(lines: AsyncIterable<unknown>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const line of lines) found.push(line);
  return found;
}

test('reads a body of 64 MiB and rejects a longer one', async () => {
  expect(await readBody(body(...mebibytes(64)).of)).toHaveLength(64 * MIB);
  const { read, of } = body(...mebibytes(70));
  await expect(readBody(of)).rejects.toThrow(new ResponseTooLong('the answer is longer than 64 MiB'));
  expect(read.pieces).toBe(65);
});

test('reads only the start of an error response', async () => {
  expect(await readErrorBody(body('Bad', ' Gateway').of)).toBe('Bad Gateway');
  const { read, of } = body('a', ...mebibytes(5));
  expect(await readErrorBody(of)).toBe(`a${'x'.repeat(MIB - 1)}`);
  expect(read.pieces).toBe(2);
});

test('spreads a burst of lines over turns of the event loop, by the time that their handling takes', async () => {
  let turn = 0;
  const counter = setInterval(() => {
    turn += 1;
  }, 0);
  const turns: number[] = [];
  for await (const _ of readJsonLines(body('1\n', '2\n', '3\n', '4\n').of, '', createSystemTurnLimiter())) {
    turns.push(turn);
    // Takes longer than the share of a turn.
    const end = performance.now() + 20;
    while (performance.now() < end);
  }
  clearInterval(counter);
  // The second line may be handled before the timers of the first turn.
  expect(new Set(turns).size).toBeGreaterThanOrEqual(turns.length - 1);
});

test('yields lines that arrive together in one turn if time is simulated', async () => {
  let turn = 0;
  const counter = setInterval(() => {
    turn += 1;
  }, 0);
  for await (const _ of readJsonLines(body('1\n2\n', '3\n', '4\n').of, '')) {
    const end = performance.now() + 20;
    while (performance.now() < end);
  }
  clearInterval(counter);
  expect(turn).toBe(0);
});

test('yields lines once they are complete, regardless of the chunks, and rejects those above 8 MiB', async () => {
  expect(await all(readJsonLines(body('{"a":', '1', '}\n{"b":2}\n\n{"c"', ':3}\n', '{"d"').of, ''))).toEqual([
    { a: 1 },
    { b: 2 },
    { c: 3 },
  ]);
  const long = readJsonLines(body('{"a":1}\n"', ...mebibytes(8), '"\n{"b":2}\n').of, '');
  expect(await long.next()).toEqual({ value: { a: 1 }, done: false });
  await expect(long.next()).rejects.toThrow(new ResponseTooLong('a line of the watch is longer than 8 MiB'));
});

test('a watch with an invalid line fails with the request in the message', async () => {
  const { steps } = await follow(answered(200, 'x'.repeat(9 * MIB)));
  expect(steps.at(-1)).toMatchObject({ state: 'failing', failure: 'a line of the watch is longer than 8 MiB' });
});

test('a watch fails after 64 KiB of blank lines unless events come in between', async () => {
  const blank = '\n'.repeat(40 * 1024);
  expect(await all(readJsonLines(body(blank, '{"a":1}\n', blank, '{"b":2}\n').of, ''))).toEqual([{ a: 1 }, { b: 2 }]);
  const { read, of } = body(...new Array<string>(100).fill(blank));
  await expect(all(readJsonLines(of, 'GET /api/v1/pods'))).rejects.toThrow(
    new ResponseTooLong('GET /api/v1/pods: the server sends blank lines instead of events'),
  );
  expect(read.pieces).toBe(2);
});
