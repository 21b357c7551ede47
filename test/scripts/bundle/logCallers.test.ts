import { Script } from 'node:vm';
import { expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { logCallers } from '../../../scripts/bundle/logCallers.ts';

const SOURCE = `
const logger = { info: stackOf, warn: stackOf };
function stackOf() {
  return new Error('for its stack').stack;
}
// ☃ Characters that take several in ASCII move what is behind them.
const level = 'warn';
export const stacks = ['☃', logger.info('one'), logger[level]('two'),
  logger.warn('three')];
`;

const inAscii = (text: string) => text.replaceAll('☃', '\\u2603');

test('each log statement of a bundle is found in its source by its position in a stack', async () => {
  const { outputFiles } = await build({
    stdin: { contents: SOURCE, sourcefile: 'logging.ts', loader: 'ts' },
    outfile: 'bundle.js',
    bundle: true,
    format: 'cjs',
    banner: { js: '(function (module) {' },
    footer: { js: 'return module.exports;})' },
    charset: 'utf8',
    minifyWhitespace: true,
    sourcemap: 'external',
    write: false,
  });
  const [map, bundle] = outputFiles.map(({ text }) => text);
  if (map === undefined || bundle === undefined) throw new Error('no bundle');
  const callers = logCallers(bundle, map, inAscii);
  // The banner of the bundle opens a function that contains the whole bundle.
  const run = new Script(inAscii(bundle), { filename: 'bundle.js' }).runInThisContext() as (module: object) => unknown;
  const { stacks } = run({ exports: {} }) as { readonly stacks: readonly string[] };
  const positions = stacks.slice(1).map((stack) => /:(\d+:\d+)\)?$/.exec(stack.split('\n')[2] ?? '')?.[1] ?? '');
  expect(positions.map((position) => callers[position])).toEqual(['logging.ts:8', 'logging.ts:8', 'logging.ts:9']);
});
