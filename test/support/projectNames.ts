import type sequencer from '@jest/test-sequencer';

type Sequencer = InstanceType<typeof sequencer.default>;
type Test = Parameters<Sequencer['sort']>[0][number];
type Results = Parameters<Sequencer['cacheResults']>[1];

/**
 * A reporter that adds the names of the suites' projects to the results that jest writes as JSON. These identify a suite
 * only by its path, which is the same on each container runtime.
 */
export default class ProjectNames {
  /** Sets the project of a suite that could not run, because jest does not. */
  onTestResult({ context }: Test, result: Results['testResults'][number]): void {
    const { displayName } = context.config;
    if (displayName !== undefined) result.displayName = displayName;
  }

  onRunComplete(_contexts: unknown, results: Results & { projectNames?: readonly (string | undefined)[] }): void {
    results.projectNames = results.testResults.map(({ displayName }) => displayName?.name);
  }
}
