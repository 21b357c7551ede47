import { SINGLE_RUNTIME_SUITES, TEST_RUNTIMES } from './test/e2e/support/runtimes.ts';

/**
 * The settings of all projects. Tests import the TypeScript sources directly, and swc only strips the types. V8 runs
 * them with `--no-compilation-cache` (scripts/unit.mjs), because with the cache a worker's heap grows by about 4 MB per
 * test file (from 28 to 99 MB over 22 small files), and every garbage collection scans all of it.
 */
export const projectConfig = {
  globalSetup: '<rootDir>/test/support/unchangedHost.ts',
  testEnvironment: '<rootDir>/test/support/testContext.ts',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        // Preserve import attributes, because JSON imports require them.
        jsc: { parser: { syntax: 'typescript' }, target: 'es2024', experimental: { keepImportAttributes: true } },
        module: { type: 'es6' },
      },
    ],
  },
};

/**
 * The tests against a real containerd, as one project per container runtime. `--selectProjects` selects a runtime. The
 * first project runs all suites, and the others run only the suites whose subject depends on the runtime.
 */
const runtimeProjects = TEST_RUNTIMES.map(({ name, programs }, index) => ({
  ...projectConfig,
  displayName: name,
  roots: ['<rootDir>/test/e2e'],
  testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
  testPathIgnorePatterns:
    index === 0 ? [] : Object.keys(SINGLE_RUNTIME_SUITES).map((name) => `/e2e/${name}\\.test\\.ts$`),
  testEnvironmentOptions: { runtime: name, programs },
}));

export default {
  // Guards against a hanging test, not against a slow machine. Set here, because Jest ignores this setting in a
  // project's configuration.
  testTimeout: 60_000,
  // Use more workers than a small machine has cores, because tests against a real containerd spend three quarters of
  // their time waiting.
  maxWorkers: 4,
  // Spreads the tests against a real containerd evenly over the run, so that the processors are neither idle at the
  // start nor overloaded at the end.
  testSequencer: '<rootDir>/test/support/testOrder.ts',
  reporters: ['default', '<rootDir>/test/support/projectNames.ts'],
  projects: [
    {
      ...projectConfig,
      displayName: 'unit',
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      // Exclude the tests of test/e2e, which run in the projects below, and those of test/vm, which run only with
      // `npm run vm` and test/vm/jest.config.mjs.
      testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/(vm|e2e)/'],
    },
    ...runtimeProjects,
  ],
};
