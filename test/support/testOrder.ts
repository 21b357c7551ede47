/** Determines the order in which jest runs the test files. CPU-bound files run beside files that mostly wait. */
import { createRequire } from 'node:module';
import type sequencer from '@jest/test-sequencer';

type Test = Parameters<InstanceType<typeof sequencer.default>['sort']>[0][number];
type Results = Parameters<InstanceType<typeof sequencer.default>['cacheResults']>[1];

// Use `require`, because the types describe the CommonJS module. An import would load another module, without them.
const { default: Sequencer }: typeof sequencer = createRequire(import.meta.url)('@jest/test-sequencer');

/** Whether a file takes up to a minute of processor time. */
const isCpuBound = ({ path }: Pick<Test, 'path'>) =>
  /\/test\/testing\/simulation\/(everyFault\/|seededFaults\.)/.test(path);
/** Whether a file mostly waits for real containers. */
const isWaiting = ({ path }: Pick<Test, 'path'>) => path.includes('/test/e2e/');

/**
 * The share of the other files that run beside the waiting files. The rest run last, so that the run does not end with
 * a long file.
 */
const MIXED_SHARE = 0.8;

/** Spreads the items of the first list evenly among those of the second. */
function spread<T>(few: readonly T[], many: readonly T[]): T[] {
  const distance = (few.length + many.length) / few.length;
  const mixed = [...many];
  for (const [index, item] of few.entries()) mixed.splice(Math.floor(index * distance), 0, item);
  return mixed;
}

/**
 * Spreads the files that mostly wait among most of the others, so that the processors are busy during the whole run, and
 * few real containers run at the same time.
 */
export function mixed<T extends Pick<Test, 'path'>>(files: readonly T[]): T[] {
  const others = files.filter((file) => !isCpuBound(file) && !isWaiting(file));
  const mixedCount = Math.ceil(others.length * MIXED_SHARE);
  const withWaiting = spread(files.filter(isWaiting), others.slice(0, mixedCount));
  return [...spread(files.filter(isCpuBound), withWaiting), ...others.slice(mixedCount)];
}

const projectOf = ({ context }: Test) => context.config.displayName?.name ?? '';

export default class TestOrder extends Sequencer {
  /**
   * Sorts the files by project, then by duration, or by size if their duration is unknown, and then spreads the waiting
   * and CPU-bound ones. So the runs of a suite on two container runtimes are far apart.
   */
  override async sort(tests: Test[]): Promise<Test[]> {
    const sorted = await super.sort(tests);
    return mixed(sorted.toSorted((a, b) => projectOf(a).localeCompare(projectOf(b))));
  }

  /** Records the durations of each project separately, because jest identifies a suite only by its path. */
  override cacheResults(tests: Test[], results: Results): void {
    for (const project of new Set(tests.map(projectOf))) {
      const testResults = results.testResults.filter(({ displayName }) => (displayName?.name ?? '') === project);
      super.cacheResults(
        tests.filter((test) => projectOf(test) === project),
        { ...results, testResults },
      );
    }
  }
}
