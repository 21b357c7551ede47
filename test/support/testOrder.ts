/** The order in which jest takes the test files: those that only calculate come among those that mostly wait. */
import { createRequire } from 'node:module';
import type sequencer from '@jest/test-sequencer';

type Test = Parameters<InstanceType<typeof sequencer.default>['sort']>[0][number];

// Its types are those of its CommonJS module; an import would load another one, without them.
const { default: Sequencer }: typeof sequencer = createRequire(import.meta.url)('@jest/test-sequencer');

const calculates = ({ path }: Pick<Test, 'path'>) =>
  /\/test\/testing\/simulation\/(everyFault\/|seededFaults\.)/.test(path);
const waits = ({ path }: Pick<Test, 'path'>) => path.includes('/test/e2e/');

/** The first ones evenly among the others. */
function among<T>(few: readonly T[], many: readonly T[]): T[] {
  const every = (few.length + many.length) / few.length;
  const mixed = [...many];
  for (const [index, each] of few.entries()) mixed.splice(Math.floor(index * every), 0, each);
  return mixed;
}

/** Puts those that mostly wait to the start, with those that only calculate among them. */
export function mixed<T extends Pick<Test, 'path'>>(files: readonly T[]): T[] {
  const rest = files.filter((each) => !calculates(each) && !waits(each));
  return [...among(files.filter(calculates), files.filter(waits)), ...rest];
}

export default class TestOrder extends Sequencer {
  /** Otherwise the longest first, or the largest where it is not known how long they take. */
  override async sort(tests: Test[]): Promise<Test[]> {
    return mixed(await super.sort(tests));
  }
}
