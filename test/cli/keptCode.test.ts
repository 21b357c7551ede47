import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const execute = promisify(execFile);
const keptCode = join(import.meta.dirname, '../../cli/keptCode.mjs');

let directory = '';
let bundle = '';
const compiled = () => join(directory, 'compiled');

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'statelet-kept-'));
  bundle = join(directory, 'bundle.js');
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** A bundle of one build, with a function that is compiled when it is called. */
const write = (digest: string, answer: number) =>
  writeFile(
    bundle,
    `// ${digest}\n(function (exports, require, module, __filename) {\nfunction answer(of) { return of.map((each) => each + ${answer}); }\nif (process.argv[2] === 'call') console.log(answer([0])[0], require('node:path').basename(__filename));\n})\n`,
  );

/** Runs the bundle in a process, which ends at once; `hasCompiled` when what was kept spared it the work. */
async function run(...args: string[]): Promise<{ out: string; hasCompiled: boolean; calledBack: boolean }> {
  const main = join(directory, 'main.mjs');
  await writeFile(
    main,
    `import { Script } from 'node:vm';
     import { runKept } from ${JSON.stringify(keptCode)};
     let kept = false;
     let rejected;
     const { runInThisContext } = Script.prototype;
     Script.prototype.runInThisContext = function (...options) {
       rejected = this.cachedDataRejected;
       return runInThisContext.apply(this, options);
     };
     runKept(${JSON.stringify(bundle)}, ${JSON.stringify(compiled())}, () => { kept = true; });
     process.on('exit', () => console.error(JSON.stringify({ rejected, kept })));`,
  );
  const { stdout, stderr } = await execute(process.execPath, [main, ...args]);
  const told: unknown = JSON.parse(stderr);
  const { rejected, kept } = told as { rejected?: boolean; kept: boolean };
  return { out: stdout.trim(), hasCompiled: rejected === false, calledBack: kept };
}

const keptFile = async () => join(compiled(), (await readdir(compiled()))[0] ?? 'none');

test('what one run compiled the next need not, and the functions that it called are among it', async () => {
  await write('one', 1);
  expect(await run()).toMatchObject({ out: '', hasCompiled: false });
  const { length } = await readFile(await keptFile());
  expect(await run('call')).toMatchObject({ out: '1 bundle.js', hasCompiled: true });
  expect((await readFile(await keptFile())).length).toBeGreaterThan(length);
  expect(await run('call')).toMatchObject({ out: '1 bundle.js', hasCompiled: true });
  expect(await readdir(compiled())).toEqual([expect.stringMatching(/^one-v\d.*-\w+$/)]);
});

test('a run that calls nothing new leaves the file alone', async () => {
  await write('one', 1);
  await run('call');
  const before = await readFile(await keptFile());
  await run();
  expect((await readFile(await keptFile())).equals(before)).toBe(true);
});

test('another build of the same length has nothing to do with it', async () => {
  await write('one', 1);
  await run('call');
  await write('two', 2);
  expect(await run('call')).toMatchObject({ out: '2 bundle.js', hasCompiled: false });
});

test.each([
  ['cut short', (whole: Buffer) => whole.subarray(0, 100)],
  ['empty', () => Buffer.alloc(0)],
  ['in which bytes have changed', (whole: Buffer) => whole.fill(0x55, whole.length / 2, whole.length / 2 + 50)],
])('a file %s is not believed, and replaced', async (_how, damage) => {
  await write('one', 1);
  await run('call');
  const file = await keptFile();
  const whole = await readFile(file);
  await writeFile(file, damage(Buffer.from(whole)));
  expect(await run('call')).toMatchObject({ out: '1 bundle.js', hasCompiled: false });
  expect((await readFile(file)).length).toBe(whole.length);
});

test('where nothing can be kept the bundle runs all the same, and its caller is told that V8 is free', async () => {
  await write('one', 1);
  await writeFile(compiled(), 'in the way');
  expect(await run('call')).toEqual({ out: '1 bundle.js', hasCompiled: false, calledBack: true });
});
