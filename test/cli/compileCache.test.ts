import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { root } from '../support/root.ts';

const execute = promisify(execFile);
const compileCache = join(root, 'cli/compileCache.mjs');

let directory = '';
let bundle = '';
const compiled = () => join(directory, 'compiled');

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-kept-'));
  bundle = join(directory, 'bundle.js');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/**
 * Writes a bundle of one build, with a function that is compiled when it is called. The process exits after the compile
 * cache is saved.
 */
const write = (answer: number) =>
  writeFile(
    bundle,
    `(function (exports, require, module, __filename) {
       function answer(of) { return of.map((each) => each + ${answer}); }
       if (process.argv[2] === 'call') console.log(answer([0])[0], require('node:path').basename(__filename));
       setTimeout(() => {}, 200);
     })`,
  );

/** Runs the bundle in a process. `hasCompiled` tells whether the cache spared the compilation. */
async function run(
  ...args: string[]
): Promise<{ out: string; hasCompiled: boolean; isTold: boolean; isSerialized: boolean }> {
  const main = join(directory, 'main.mjs');
  await writeFile(
    main,
    `import { setFlagsFromString } from 'node:v8';
     import { Script } from 'node:vm';
     import { runCompiled } from ${JSON.stringify(compileCache)};
     let isTold = false;
     let isRejected;
     let isSerialized = false;
     const { runInThisContext, createCachedData } = Script.prototype;
     Script.prototype.createCachedData = function () {
       isSerialized = true;
       return createCachedData.call(this);
     };
     Script.prototype.runInThisContext = function (...options) {
       isRejected = this.cachedDataRejected;
       return runInThisContext.apply(this, options);
     };
     const onSaved = () => {
       isTold = true;
       setFlagsFromString('--semi-space-growth-factor=1');
     };
     runCompiled(${JSON.stringify(bundle)}, { directory: ${JSON.stringify(compiled())}, onSaved, afterMs: 20 });
     process.on('exit', () => console.error(JSON.stringify({ hasCompiled: isRejected === false, isTold, isSerialized })));`,
  );
  const { stdout, stderr } = await execute(process.execPath, [main, ...args]);
  const told: unknown = JSON.parse(stderr);
  return { out: stdout.trim(), ...(told as { hasCompiled: boolean; isTold: boolean; isSerialized: boolean }) };
}

const keptFile = async () => join(compiled(), (await readdir(compiled()))[0] ?? 'none');

test('the compile cache of one run is used by the next, and includes the functions that were called', async () => {
  await write(1);
  expect(await run()).toMatchObject({ out: '', hasCompiled: false });
  const { length } = await readFile(await keptFile());
  expect(await run('call')).toMatchObject({ out: '1 bundle.js', hasCompiled: true });
  expect((await readFile(await keptFile())).length).toBeGreaterThan(length);
  expect(await run('call')).toMatchObject({ out: '1 bundle.js', hasCompiled: true });
  expect(await readdir(compiled())).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.\d+$/)]);
});

test('a run that calls no new functions leaves the cached code unchanged', async () => {
  const checksumAndSaves = 33;
  await write(1);
  await run('call');
  const before = (await readFile(await keptFile())).subarray(checksumAndSaves);
  await run();
  expect((await readFile(await keptFile())).subarray(checksumAndSaves).equals(before)).toBe(true);
});

test('the code is saved by the first three runs only, because saving blocks everything else', async () => {
  await write(1);
  const saves: unknown[] = [];
  const times: number[] = [];
  for (let count = 0; count < 5; count += 1) {
    expect(await run()).toMatchObject({ isTold: true, isSerialized: count < 3 });
    const file = await keptFile();
    saves.push((await readFile(file))[32]);
    times.push((await stat(file)).mtimeMs);
  }
  expect(saves).toEqual([1, 2, 3, 3, 3]);
  expect(new Set(times.slice(2)).size).toBe(1);
});

test('the cache of a different build with the same length is not used', async () => {
  await write(1);
  await run('call');
  await write(2);
  expect(await run('call')).toMatchObject({ out: '2 bundle.js', hasCompiled: false });
});

test('a process that exits before the save writes no cache, and does not wait', async () => {
  await writeFile(bundle, '(function () {})');
  expect(await run()).toMatchObject({ isTold: false });
  await expect(readdir(compiled())).rejects.toThrow('ENOENT');
});

test('the cache is readable for everyone who can read the bundle, and writable only for its owner', async () => {
  await write(1);
  await run();
  expect([(await stat(compiled())).mode & 0o777, (await stat(await keptFile())).mode & 0o777]).toEqual([0o755, 0o644]);
});

test.each([
  ['cut short', (whole: Buffer) => whole.subarray(0, 100)],
  ['empty', () => Buffer.alloc(0)],
  ['in which bytes have changed', (whole: Buffer) => whole.fill(0x55, 400, 450)],
])('a damaged cache file is ignored and replaced: %s', async (_how, damage) => {
  await write(1);
  await run('call');
  const file = await keptFile();
  const whole = await readFile(file);
  await writeFile(file, damage(Buffer.from(whole)));
  expect(await run('call')).toMatchObject({ out: '1 bundle.js', hasCompiled: false });
  expect((await readFile(file)).length).toBe(whole.length);
});

test('without a writable cache the bundle still runs, its code is not serialized, and its caller is notified', async () => {
  await write(1);
  await writeFile(compiled(), 'in the way');
  expect(await run('call')).toEqual({
    out: '1 bundle.js',
    hasCompiled: false,
    isTold: true,
    isSerialized: false,
  });
});
